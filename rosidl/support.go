package rosidl

// ServiceSupport is what generated code knows about a service.
type ServiceSupport[Req, Resp any] struct {
	Name        string // "example_interfaces/srv/AddTwoInts"
	Hash        string // of the service as a whole; keys and tokens carry this one
	Request     *TypeSupport[Req]
	Response    *TypeSupport[Resp]
	Source      string                  // the .srv file, or "" if an action implies the service
	Description func() *TypeDescription // of the service as a whole; must not be changed
}

// Service is satisfied by the marker type that is generated for each service:
// with it as type argument, request and response are inferred.
type Service[Req, Resp any] interface {
	ROSService() *ServiceSupport[Req, Resp]
}

// ActionSupport is what generated code knows about an action with goal G,
// result R and feedback F.
type ActionSupport[G, R, F any] struct {
	Name        string // "example_interfaces/action/Fibonacci"
	Hash        string // of the action as a whole
	Goal        *TypeSupport[G]
	Result      *TypeSupport[R]
	Feedback    *TypeSupport[F]
	Source      string                  // the .action file
	Description func() *TypeDescription // of the action as a whole; must not be changed

	// What clients and servers of the action exchange. Goals are canceled through
	// action_msgs/srv/CancelGoal and reported in action_msgs/msg/GoalStatusArray.
	SendGoal        *ServiceSupport[SendGoalRequest[G], SendGoalResponse]
	GetResult       *ServiceSupport[GetResultRequest, GetResultResponse[R]]
	FeedbackMessage *TypeSupport[FeedbackMessage[F]]
}

// Action is satisfied by the marker type that is generated for each action:
// with it as type argument, goal, result and feedback are inferred.
type Action[G, R, F any] interface {
	ROSAction() *ActionSupport[G, R, F]
}

// Time is builtin_interfaces/msg/Time where a message of this package has one.
type Time struct {
	Sec     int32
	Nanosec uint32
}

// SendGoalRequest asks an action server to take a goal.
type SendGoalRequest[G any] struct {
	GoalID [16]uint8 // goal_id, chosen by the client
	Goal   G         // goal
}

// SendGoalResponse tells whether the goal was taken, and when.
type SendGoalResponse struct {
	Accepted bool // accepted
	Stamp    Time // stamp
}

// GetResultRequest asks an action server for the result of a goal; the answer
// comes when the goal has ended.
type GetResultRequest struct {
	GoalID [16]uint8 // goal_id
}

// GetResultResponse is how a goal ended.
type GetResultResponse[R any] struct {
	Status int8 // status, one of those in action_msgs/msg/GoalStatus
	Result R    // result
}

// FeedbackMessage is what an action server publishes while it works on a goal.
type FeedbackMessage[F any] struct {
	GoalID   [16]uint8 // goal_id
	Feedback F         // feedback
}
