// Package lifecycle makes managed nodes: nodes that are configured, activated, deactivated and shut down by somebody else, by the state
// machine that ROS 2 publishes, and that are quiet unless they are active.
//
//	n, err := lifecycle.NewNode(d, "lidar", lifecycle.Callbacks{
//		Configure: func(ctx context.Context, _ lifecycle.State) error { return driver.open(ctx) },
//		Activate:  func(context.Context, lifecycle.State) error { return driver.start() },
//	})
//	scans, err := lifecycle.NewPublisher[sensor_msgs.LaserScan](n, "scan", qos.SensorData())
//	n.Autostart(lifecycle.Active, lifecycle.Retry{})
//
// # States
//
// A node is unconfigured, inactive, active or finalized. Between these it is in a transition state, as configuring, while a callback runs.
// A callback that returns an error has failed: the node goes back to where it came from. One that panics, or returns an error marked by
// [Fault], leaves the node in an unknown condition: it goes to errorprocessing, where the Error callback either makes it unconfigured
// again or gives it up.
//
// A node makes one transition at a time. A change that is asked for meanwhile is refused at once, with a [*BusyError]. The services answer
// while a callback runs, however long it takes; the caller of change_state gets its answer when the transition has ended.
//
// # Quiet unless active
//
// The managed entities, made by [NewPublisher], [NewSubscription] and [Node.NewTimer], work in the state active only:
//
//   - Publishers refuse with [ErrInactive]. What was accepted is out before a deactivation goes on.
//   - Subscriptions do not run their callback. What comes outside active is dropped and counted, with one exception: a transient-local
//     subscription is given the kept messages of its publishers anew at each activation, as a late joiner is.
//   - Timers do not exist outside active. Each activation begins a new grid of points in time.
//
// Callbacks of managed entities never run beside a callback of the state machine: a deactivation waits for those that run, then runs
// its own. Entities made with the functions of package tagus on [Node.Node] are not managed: they work in every state, as services do.
//
// Transition callbacks run on the goroutine of whoever asked for the change: a caller of [Node.Configure] and its kin, or a goroutine
// for each request that came by the service. They do not run on the executor, which goes on with other nodes meanwhile.
//
// The package uses public packages of tagus only.
package lifecycle
