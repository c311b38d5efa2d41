// Package component puts nodes together into one process at run time. A component is a factory of nodes that is registered by a name; a
// [Container] is a node that loads components, unloads them and lists them when it is asked to by the services of ROS 2
// (composition_interfaces), so that "ros2 component" and launch files can deal with it.
//
//	func init() {
//		component.Register("lidar_driver", "lidar::Driver", func(ctx context.Context, o component.Options) (component.Node, error) {
//			return newDriver(o.Domain, o.NodeName("lidar"), o.NodeOptions()...)
//		})
//	}
//
//	func main() {
//		d, err := tagus.Join(tagus.WithArgs(os.Args))
//		c, err := component.NewContainer(d, "container", nil)
//		err = d.Spin(ctx)
//	}
//
// Nodes of one container are in one domain, so that messages between them move by pointer. A Go program cannot load code at run time: a
// container knows the components that are built into it.
//
// Loading and unloading happens on goroutines of its own, as much of it at a time as is asked for: the executor goes on with the nodes that
// are there, and a factory that takes long, waits for others or hangs keeps nobody from being loaded.
//
// The package uses public packages of tagus only.
package component
