// Package msgs holds the definitions of the ROS 2 packages that tagus brings
// along; the folders below it are the Go packages generated from them.
//
// The definitions are those of ROS 2 Jazzy where distributions differ. The
// package must not import anything but embed.
package msgs

import "embed"

//go:generate go run ../rosidl/gen/cmd/tagus-gen -out . -registry all_test.go .

// Definitions holds <package>/msg/<Name>.msg for every message, and likewise srv
// and action.
//
//go:embed */msg/*.msg */srv/*.srv */action/*.action
var Definitions embed.FS
