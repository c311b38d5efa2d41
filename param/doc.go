// Package param holds the parameters of a node: typed handles, descriptors, checks before a change and watches after it, batches that are
// taken as a whole or not at all, and the values that command lines and parameter files give.
//
//	rate, err := param.Declare(node, "rate", 10.0, param.Descriptor{
//		Description:   "images a second",
//		FloatingPoint: &param.FloatingPointRange{From: 1, To: 60},
//	})
//	rate.Watch(func(old, new float64) { timer.Reset(new) })
//	period := time.Duration(float64(time.Second) / rate.Value())
//
// Reading a value takes no lock and allocates nothing. Values have the ten types of rcl_interfaces; an integer is accepted where a double is
// wanted, as people write 1 for 1.0.
//
// A Store is the parameters of one node. It speaks to nobody: the node publishes the events it gives to [Store.Subscribe], and answers the
// parameter services from Get, Set, Describe and List.
//
// # Values given from outside
//
// [ParseFile] reads a parameter file, [Parse] the value of a command-line assignment, both by the rules of rcl's reader, and [Guess] a value
// by those of "ros2 param set" (YAML 1.1 as Python reads it: 1e3 is a string there, yes is true). Two things are taken that rcl refuses:
// a list of integers and doubles together is a list of doubles, and an empty list is an empty list of whatever type is wanted.
//
// Where several assignments give a parameter of a node, the last one counts, in the order of the command line. Within one file those that
// spell the node's name out count more than those with a wildcard. (rclcpp keeps for each node pattern the place of its first mention, so
// that there "-p rate:=5" can lose against a file named before it.)
//
// The package imports nothing of tagus but the rules of names, and go-yaml in one file.
package param
