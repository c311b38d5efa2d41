package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tagus-ros/tagus/rosidl/gen"
)

func newGen() *cobra.Command {
	var o gen.Options
	var imports []string
	var srv, action string
	cmd := &cobra.Command{
		Use:   "gen DIR [DIR…]",
		Short: "Write Go packages from message, service and action definitions",
		Long: "Write a Go package for each ROS package in the folders: DIR is a package, or a folder of packages, with .msg, .srv and .action files.\n" +
			"The packages that come with tagus are known; what the definitions refer to beside these is looked for in --search and\n" +
			"AMENT_PREFIX_PATH. On an error nothing is written. In a Go file, for go generate:\n\n" +
			"    //go:generate go run github.com/tagus-ros/tagus/cmd/tagus gen --out . ../my_msgs",
		Args: cobra.MinimumNArgs(1),
		RunE: verb(func(_ *cobra.Command, args []string) error {
			o.Dirs = args
			o.Imports = map[string]string{}
			for _, i := range imports {
				pkg, path, ok := strings.Cut(i, "=")
				if !ok || pkg == "" || path == "" {
					return usage{fmt.Errorf("--import is %q, want PACKAGE=PATH", i)}
				}
				o.Imports[pkg] = path
			}
			o.Suffixes = map[string]string{}
			if srv != "" {
				o.Suffixes["srv"] = srv
			}
			if action != "" {
				o.Suffixes["action"] = action
			}
			return gen.Run(o)
		}),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
	fl := cmd.Flags()
	fl.StringVarP(&o.Out, "out", "o", ".", "folder in which a folder for each package is made")
	fl.StringVar(&o.ImportBase, "import-base", "", "Go import path of that folder; without it go.mod above it tells")
	fl.StringArrayVar(&imports, "import", nil, "PACKAGE=PATH: Go import path of a ROS package that was generated before; may be repeated")
	fl.StringArrayVar(&o.Search, "search", nil, "folder with definitions that are referred to; may be repeated")
	fl.StringVar(&srv, "srv-suffix", "", "appended to the Go name of a service that a message of its package has, too")
	fl.StringVar(&action, "action-suffix", "", "appended to the Go name of an action that a message of its package has, too")
	_ = cmd.MarkFlagDirname("out")
	_ = cmd.MarkFlagDirname("search")
	return cmd
}
