//go:build !linux

package arena

import "os"

// readFile returns the contents of a file, nil if there is none.
func readFile(name string) []byte {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	return b
}
