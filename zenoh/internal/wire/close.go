package wire

import "fmt"

// Reason is why a session is closed.
type Reason uint8

// The reasons of the protocol.
const (
	ReasonGeneric Reason = iota
	ReasonUnsupported
	ReasonInvalid
	ReasonMaxSessions
	ReasonMaxLinks
	ReasonExpired
	ReasonUnresponsive
	ReasonConnectionToSelf
)

// String names the reason.
func (r Reason) String() string {
	names := [...]string{"generic", "unsupported", "invalid", "max-sessions", "max-links", "expired", "unresponsive", "connection-to-self"}
	if int(r) < len(names) {
		return names[r]
	}
	return fmt.Sprintf("reason-%d", uint8(r))
}

const flagCloseSession = 0x20

// Close ends the session, or only the link it comes over.
type Close struct {
	Reason  Reason
	Session bool
}

// Append encodes m.
func (m *Close) Append(dst []byte) []byte {
	h := byte(IDClose)
	if m.Session {
		h |= flagCloseSession
	}
	return append(dst, h, byte(m.Reason))
}

// Decode reads a Close, header included.
func (m *Close) Decode(r *Reader) {
	h := r.Byte("close")
	m.Session = h&flagCloseSession != 0
	m.Reason = Reason(r.Byte("close: reason"))
	skipExts(r, h)
}
