package qos

import "time"

// AsAvailable is a deadline or a lease duration that is chosen at creation by what the other side has.
const AsAvailable time.Duration = Infinite - 1

// ForSubscription returns p with each best-available policy replaced by the strongest that all these publishers offer, so that the
// subscription matches all of them. Where there is no publisher yet it is the policy that matches every publisher to come.
func (p Profile) ForSubscription(publishers []Profile) Profile {
	reliable, latched, manual := len(publishers) > 0, len(publishers) > 0, len(publishers) > 0
	var deadline, lease time.Duration = 1, 1
	for _, o := range publishers {
		reliable = reliable && o.Reliability == Reliable
		latched = latched && o.Durability == TransientLocal
		manual = manual && o.Liveliness == ManualByTopic
		deadline, lease = max(deadline, endless(o.Deadline)), max(lease, endless(o.LivelinessLeaseDuration))
	}
	if p.Reliability == ReliabilityBestAvailable {
		p.Reliability = BestEffort
		if reliable {
			p.Reliability = Reliable
		}
	}
	if p.Durability == DurabilityBestAvailable {
		p.Durability = Volatile
		if latched {
			p.Durability = TransientLocal
		}
	}
	if len(publishers) == 0 {
		deadline, lease = 0, 0
	}
	return p.available(manual, deadline, lease)
}

// ForPublisher returns p with each best-available policy replaced by one that all these subscriptions can take: reliable and transient local,
// which every subscription can, and the rest as strong as the most demanding of them.
func (p Profile) ForPublisher(subscriptions []Profile) Profile {
	manual, deadline, lease := false, Infinite, Infinite
	for _, r := range subscriptions {
		manual = manual || r.Liveliness == ManualByTopic
		deadline, lease = min(deadline, endless(r.Deadline)), min(lease, endless(r.LivelinessLeaseDuration))
	}
	if p.Reliability == ReliabilityBestAvailable {
		p.Reliability = Reliable
	}
	if p.Durability == DurabilityBestAvailable {
		p.Durability = TransientLocal
	}
	return p.available(manual, deadline, lease)
}

func (p Profile) available(manual bool, deadline, lease time.Duration) Profile {
	if p.Liveliness == LivelinessBestAvailable {
		p.Liveliness = Automatic
		if manual {
			p.Liveliness = ManualByTopic
		}
	}
	if p.Deadline == AsAvailable {
		p.Deadline = deadline
	}
	if p.LivelinessLeaseDuration == AsAvailable {
		p.LivelinessLeaseDuration = lease
	}
	return p.Resolved()
}
