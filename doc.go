// Package tagus makes a Go program a ROS 2 node: publishers, subscriptions and
// timers on typed topics, without a ROS 2 installation and without cgo.
//
// A program joins a domain, makes nodes in it and endpoints in those, and spins:
//
//	d, err := tagus.Join()
//	n, err := d.NewNode("talker")
//	pub, err := tagus.NewPublisher[std_msgs.String](n, "chatter", qos.Default())
//	n.NewTimer(time.Second, func(context.Context, tagus.TimerInfo) {
//		pub.Publish(&std_msgs.String{Data: "hello"})
//	})
//	err = d.Spin(ctx)
//
// Inside a process a message moves by pointer; between processes of one host it
// lies in recycled shared memory, where the publisher encoded it and the
// subscription reads it in place. In the steady state nothing is allocated,
// mapped, faulted in or polled per message.
//
// # Who owns a message
//
// [Publisher.Publish] leaves the message with the caller. [Publisher.PublishOwned]
// takes it with everything reachable from it: readers in the process get that very
// pointer. [Publisher.Loan] gives memory of the transport to fill, so that not even
// the encoding copies the payload.
//
// A subscription's callback is lent the message: it is read-only and valid until
// the callback returns, unless the [Sample] is retained. Strings taken from it are
// safe to keep, slices are not. [WithPrivateCopy] gives a message that may be
// changed.
//
// # What every node has
//
// As any ROS 2 node, a node answers the parameter services and get_type_description, tells
// of changes on /parameter_events, and logs to the console and to /rosout through
// [Node.Logger]. Its clock, [Node.Clock], and its timers follow /clock when use_sim_time
// is set. [WithoutROSServices] makes a node without all that.
//
// # When callbacks run
//
// Callbacks run on an executor's thread, one at a time, and only while it spins.
// The thread that waits runs them: there is no hand-over between goroutines.
package tagus
