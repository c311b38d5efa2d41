// Package dynamic handles messages whose type is known only at run time, by its
// description: it decodes and encodes them, reads and sets fields by name, prints
// them as the ROS 2 tools do and as JSON, and builds them from such text.
//
// It keeps to the same limits as generated code: lengths are checked before
// memory is taken, bounds hold both ways, nothing panics on input. It may import
// the standard library, cdr and rosidl.
package dynamic
