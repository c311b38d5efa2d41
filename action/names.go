package action

// What an action consists of, below its name.
const (
	partSendGoal   = "/_action/send_goal"
	partGetResult  = "/_action/get_result"
	partCancelGoal = "/_action/cancel_goal"
	partFeedback   = "/_action/feedback"
	partStatus     = "/_action/status"
)
