package qos

import (
	"fmt"
	"time"
)

// Reason is a finding: one cause why two endpoints do not match. It is data, so that events, the log, the command line and a web
// page can all show the same one.
type Reason struct {
	Code string // stable, lower-case with hyphens, for example "qos-reliability"
	Text string // which side has what
	Fix  string // what to change
}

// String gives the text with its code.
func (r Reason) String() string { return r.Text + " [" + r.Code + "]" }

// Codes of the reasons that Compatible gives.
const (
	CodeReliability     = "qos-reliability"
	CodeDurability      = "qos-durability"
	CodeDeadline        = "qos-deadline"
	CodeLiveliness      = "qos-liveliness"
	CodeLivelinessLease = "qos-liveliness-lease"
)

// Compatible says why a publisher that offers one profile cannot serve a subscription that requests the other; empty means that it
// can. The offer must be at least as strong as the request, policy by policy; history, depth and lifespan never matter. A
// best-available or unknown policy is compatible with everything. It allocates only when there is a reason.
func Compatible(offered, requested Profile) []Reason {
	var out []Reason
	if offered.Reliability == BestEffort && requested.Reliability == Reliable {
		out = append(out, weaker(CodeReliability, "reliability", offered.Reliability, requested.Reliability))
	}
	if offered.Durability == Volatile && requested.Durability == TransientLocal {
		out = append(out, weaker(CodeDurability, "durability", offered.Durability, requested.Durability))
	}
	if o, r := endless(offered.Deadline), endless(requested.Deadline); o > r && o != AsAvailable && r != AsAvailable {
		out = append(out, longer(CodeDeadline, "deadline", o, r))
	}
	if offered.Liveliness == Automatic && requested.Liveliness == ManualByTopic {
		out = append(out, weaker(CodeLiveliness, "liveliness", offered.Liveliness, requested.Liveliness))
	}
	if o, r := endless(offered.LivelinessLeaseDuration), endless(requested.LivelinessLeaseDuration); o > r && o != AsAvailable && r != AsAvailable {
		out = append(out, longer(CodeLivelinessLease, "liveliness lease duration", o, r))
	}
	return out
}

func weaker(code, policy string, offered, requested fmt.Stringer) Reason {
	return Reason{
		Code: code,
		Text: fmt.Sprintf("the publisher offers %s %s, the subscription requests %s", policy, offered, requested),
		Fix:  fmt.Sprintf("set %s %s on the publisher or %s on the subscription", policy, requested, offered),
	}
}

func longer(code, policy string, offered, requested time.Duration) Reason {
	return Reason{
		Code: code,
		Text: fmt.Sprintf("the publisher offers a %s of %s, the subscription requests at most %s", policy, span(offered), span(requested)),
		Fix:  fmt.Sprintf("set a %s of at most %s on the publisher or of at least %s on the subscription", policy, span(requested), span(offered)),
	}
}

func endless(d time.Duration) time.Duration {
	if d <= 0 {
		return Infinite
	}
	return d
}

func span(d time.Duration) string {
	switch d {
	case Infinite:
		return "infinite"
	case AsAvailable:
		return "best_available"
	}
	return d.String()
}
