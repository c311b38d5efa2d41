// Package rosidl is what tagus knows about ROS 2 interface definitions: it
// parses .msg, .srv and .action files, resolves what they refer to, computes
// type descriptions and RIHS01 type hashes, and defines [TypeSupport], the table
// of functions through which everything else handles a message type.
//
// Generated message packages (written by rosidl/gen) import it; it uses no
// reflection. It may import the standard library and cdr, nothing else.
package rosidl
