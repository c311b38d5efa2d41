// Package qos holds the quality-of-service profile of a publisher, subscription, service or client, the ROS 2 presets,
// and the rule that says whether what a publisher offers is enough for what a subscription requests.
//
// The zero value of every field means what ROS 2's default profile says, so that a literal states only what differs:
//
//	qos.Profile{Depth: 1, Durability: qos.TransientLocal}
//
// The package knows no transport and no wire form; it imports only the standard library and must stay that way, since
// everything else stands on it.
package qos
