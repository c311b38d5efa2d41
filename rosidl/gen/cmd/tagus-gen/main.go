// Command tagus-gen runs the generator for go generate in this repository.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/tagus-ros/tagus/rosidl/gen"
)

func main() {
	out := flag.String("out", ".", "folder of the generated packages")
	registry := flag.String("registry", "", "test file that lists all message types")
	flag.Parse()
	err := gen.Run(gen.Options{
		Dirs: flag.Args(), Out: *out, Registry: *registry,
		Suffixes: map[string]string{"srv": "Srv", "action": "Action"},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
