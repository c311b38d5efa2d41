// Package gen writes Go packages from ROS 2 interface definitions: a struct for
// each message, with encoder, decoders, and all else that rosidl.TypeSupport
// asks for. It is what the command "tagus gen" and go generate run.
//
// The output depends on the definitions alone, is formatted, and is written
// only if everything was understood. The package may import rosidl and the
// definitions in msgs, nothing of the middleware.
package gen
