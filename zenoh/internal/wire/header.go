package wire

// Identifiers in the lower five bits of a message's header byte.
const (
	idMask = 0x1f

	// transport
	IDInit      = 0x01
	IDOpen      = 0x02
	IDClose     = 0x03
	IDKeepAlive = 0x04
	IDFrame     = 0x05
	IDFragment  = 0x06

	// network, inside a frame
	IDInterest      = 0x19
	IDResponseFinal = 0x1a
	IDResponse      = 0x1b
	IDRequest       = 0x1c
	IDPush          = 0x1d
	IDDeclare       = 0x1e
	IDOAM           = 0x1f

	// bodies
	idPut   = 0x01
	idDel   = 0x02
	idQuery = 0x03
	idReply = 0x04
	idErr   = 0x05
)

// TransportOAM is an OAM message outside a frame.
const TransportOAM = 0x00

// Version is the protocol version of Zenoh 1.x.
const Version = 0x09

// MessageID extracts the identifier from a header byte.
func MessageID(h byte) byte { return h & idMask }

// IsNetwork reports whether a header byte begins a network message, which keeps a frame going.
func IsNetwork(h byte) bool { return h&idMask >= IDInterest }

// WhatAmI is the role of a session.
type WhatAmI uint8

// The roles, as they stand in INIT and HELLO.
const (
	Router WhatAmI = iota
	Peer
	Client
)

// String names the role.
func (w WhatAmI) String() string {
	switch w {
	case Router:
		return "router"
	case Peer:
		return "peer"
	case Client:
		return "client"
	}
	return "unknown"
}
