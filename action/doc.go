// Package action has servers and clients of ROS 2 actions: goals that take a while, tell
// how far they are, can be canceled and end with a result.
//
// A server needs a name and what to do with a goal; one type argument says which action it
// is, the types of goal, result and feedback follow:
//
//	srv, err := action.NewServer[ex.Fibonacci](n, "fibonacci", action.Handlers[ex.FibonacciGoal, ex.FibonacciResult, ex.FibonacciFeedback]{
//		Execute: func(ctx context.Context, g *action.ServerGoal[ex.FibonacciGoal, ex.FibonacciFeedback]) (*ex.FibonacciResult, error) {
//			…
//		},
//	})
//
// A client sends goals and follows each until it has ended:
//
//	c, err := action.NewClient[ex.Fibonacci](n, "fibonacci")
//	err = c.WaitForServer(ctx)
//	g, err := c.SendGoal(ctx, &ex.FibonacciGoal{Order: 10})
//	for f := range g.Feedback(ctx) {
//		…
//	}
//	result, status, err := g.Result(ctx)
//
// # On the server
//
// Accept and Cancel run on the node's executor, one at a time, and decide. Execute runs on a
// goroutine of its own, one for each goal; its context ends when a cancel request was
// granted, when the goal is preempted (see [Policy]), or when the server closes, and
// [context.Cause] says which. What it returns is the end of the goal: without an error
// it succeeded; with one it was canceled if a cancel request had been granted, else aborted.
// The result, if any, is sent in each case.
//
// An ended goal is kept, so that its result can be asked for, for a time that counts from
// its end (see [WithRetention]).
//
// A goal goes on when the client that sent it is gone. [ServerGoal.ClientGone] says so, and
// with [WithCancelOrphans] it is canceled.
//
// # On the client
//
// A client needs no executor: its calls may be made from callbacks too. It asks for the
// result of each accepted goal at once, so that a goal ends at the client as soon as it
// ends at the server, and ends with tagus.ErrServerDied when the server is gone. Every
// call that waits takes a context; the errors are those of [tagus.Client.Call], wrapped in
// a [*Error], and the ones of this package.
//
// Two servers of one name confuse each other's clients, as everywhere in ROS 2: both take
// every goal.
//
// # In the graph
//
// An action is three services and two topics below its name, as in rcl:
// _action/send_goal, _action/get_result, _action/cancel_goal, _action/feedback and
// _action/status, which is transient local and has the state of all goals.
//
// The package is made of what everybody can use: it imports the root package, rosidl, qos,
// graph and messages, and must not import anything internal.
package action
