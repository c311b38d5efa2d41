package action

import (
	"fmt"

	"github.com/tagus-ros/tagus/msgs/action_msgs"
)

// Status says how far a goal is. The values are those of action_msgs/msg/GoalStatus.
type Status int8

// The states of a goal. The last three are final.
const (
	StatusUnknown   = Status(action_msgs.GoalStatusUnknown)
	StatusAccepted  = Status(action_msgs.GoalStatusAccepted)  // taken, not begun
	StatusExecuting = Status(action_msgs.GoalStatusExecuting) // under way
	StatusCanceling = Status(action_msgs.GoalStatusCanceling) // a cancel request was granted
	StatusSucceeded = Status(action_msgs.GoalStatusSucceeded)
	StatusCanceled  = Status(action_msgs.GoalStatusCanceled)
	StatusAborted   = Status(action_msgs.GoalStatusAborted)
)

var statusNames = [...]string{"UNKNOWN", "ACCEPTED", "EXECUTING", "CANCELING", "SUCCEEDED", "CANCELED", "ABORTED"}

// String gives the name that ROS 2 prints: "SUCCEEDED".
func (s Status) String() string {
	if s < 0 || int(s) >= len(statusNames) {
		return fmt.Sprintf("STATUS(%d)", int8(s))
	}
	return statusNames[s]
}

// Final reports whether a goal with this status has ended.
func (s Status) Final() bool { return s >= StatusSucceeded && s <= StatusAborted }

// cancelable reports whether a cancel request can be granted.
func (s Status) cancelable() bool { return s == StatusAccepted || s == StatusExecuting }
