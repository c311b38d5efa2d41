// Package match holds the one rule of which two endpoints belong together. Every transport, every event and every report asks here, so
// that they never disagree about who is connected and why not.
//
// It compares descriptions only: no transport, no message package, no state.
package match

import (
	"fmt"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/qos"
)

// Reason is one cause why two endpoints do not match: a code, which side has what, and what to change.
type Reason = qos.Reason

// Codes of the reasons that Check gives, beside those of package qos. A code is never given a new meaning.
const (
	CodeKind            = "kind"              // not a publisher with a subscription or a service with a client
	CodeDomain          = "domain"            // different domain numbers
	CodeName            = "name"              // different topics or services
	CodeTypeName        = "type-name"         // one name, two types
	CodeTypeHash        = "type-hash"         // one type name, two definitions
	CodeTypeHashUnknown = "type-hash-unknown" // one side's middleware has no type hashes
)

// HashNotSupported stands in the place of a type hash where the middleware has none (ROS 2 humble).
const HashNotSupported = "TypeHashNotSupported"

// Check says why two endpoints do not belong together; nil means that they do. One is a publisher and the other a subscription, or one
// a service and the other a client, in either order. A cause hides its effects: with different names nothing else is compared, with
// different types no hash. Quality of service is compared for topics only: what services exchange is always reliable and volatile. It
// allocates only when there is a reason.
func Check(a, b *graph.Endpoint) []Reason {
	offer, request := a, b
	if a.Kind == graph.KindSubscription || a.Kind == graph.KindClient {
		offer, request = b, a
	}
	switch {
	case offer.Kind == graph.KindPublisher && request.Kind == graph.KindSubscription:
	case offer.Kind == graph.KindService && request.Kind == graph.KindClient:
	default:
		return []Reason{{
			Code: CodeKind,
			Text: fmt.Sprintf("a %s and a %s have nothing to say to each other", a.Kind, b.Kind),
			Fix:  "pair a publisher with a subscription, or a service with a client",
		}}
	}
	if offer.Node.Domain != request.Node.Domain {
		return []Reason{differ(CodeDomain, offer, request, "domain",
			fmt.Sprint(offer.Node.Domain), fmt.Sprint(request.Node.Domain), "set ROS_DOMAIN_ID to the same number for both processes")}
	}
	if offer.Name != request.Name {
		return []Reason{differ(CodeName, offer, request, "name", offer.Name, request.Name, "use or remap to one name")}
	}
	var out []Reason
	switch {
	case offer.Type != request.Type:
		out = append(out, differ(CodeTypeName, offer, request, "type", offer.Type, request.Type,
			"use one type on the topic or service, or another name for one of them"))
	case offer.Hash == request.Hash:
	case offer.Hash == HashNotSupported || request.Hash == HashNotSupported:
		out = append(out, differ(CodeTypeHashUnknown, offer, request, "type hash", offer.Hash, request.Hash,
			"use a distribution with type hashes (iron or later) on both sides"))
	default:
		out = append(out, differ(CodeTypeHash, offer, request, "hash of "+offer.Type, offer.Hash, request.Hash,
			"build both programs from the same definition of "+offer.Type))
	}
	if offer.Kind == graph.KindPublisher {
		for _, r := range qos.Compatible(offer.QoS, request.QoS) {
			r.Text = fmt.Sprintf("%s: %s (publisher of %s, subscription of %s)", offer.Name, r.Text, offer.Node.FullName(), request.Node.FullName())
			out = append(out, r)
		}
	}
	return out
}

func differ(code string, offer, request *graph.Endpoint, what, offered, requested, fix string) Reason {
	on := ""
	if offer.Name == request.Name {
		on = offer.Name + ": "
	}
	return Reason{
		Code: code,
		Text: fmt.Sprintf("%sthe %s of %s has %s %s, the %s of %s has %s", on,
			offer.Kind, offer.Node.FullName(), what, offered, request.Kind, request.Node.FullName(), requested),
		Fix: fix,
	}
}
