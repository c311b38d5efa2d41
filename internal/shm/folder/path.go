package folder

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// DirVariable is the environment variable that names the folder above the
// domain folders. It must be an absolute path of an existing folder.
const DirVariable = "TAGUS_DIR"

// defaultBase is the folder above the domain folders when DirVariable is not
// set; unlike that one it is made when missing.
func defaultBase() string { return "/dev/shm/tagus-" + strconv.Itoa(os.Geteuid()) }

// Path returns the path of a domain's folder: $TAGUS_DIR/<domain>, or
// /dev/shm/tagus-<uid>/<domain> when the variable is empty. The domain must
// not be negative. Nothing is made or checked; see [Open].
func Path(domain int) (string, error) {
	if domain < 0 {
		return "", fmt.Errorf("domain %d: must not be negative", domain)
	}
	base := os.Getenv(DirVariable)
	if base == "" {
		base = defaultBase()
	} else if !filepath.IsAbs(base) {
		return "", &FolderError{Path: base, Op: "use " + DirVariable, Code: CodePath, UID: os.Geteuid(), Own: -1,
			Hint: "it must be absolute, or processes in different folders would not meet"}
	}
	return filepath.Join(base, strconv.Itoa(domain)), nil
}
