package control

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Type of a message.
type Type uint16

// Types. The numbers are part of the protocol and never used again for
// something else.
const (
	TypeLook     Type = 1
	TypeHello    Type = 2
	TypeHelloAck Type = 3
	TypeMemory   Type = 4
	TypeOpen     Type = 5
	TypeAccept   Type = 6
	TypeRefuse   Type = 7
	TypeLive     Type = 8
	TypeClose    Type = 9
	TypeClosed   Type = 10

	TypeAsk        Type = 11
	TypeDefinition Type = 12
)

var typeWords = [...]string{TypeLook: "look", TypeHello: "hello", TypeHelloAck: "hello-ack", TypeMemory: "memory", TypeOpen: "open",
	TypeAccept: "accept", TypeRefuse: "refuse", TypeLive: "live", TypeClose: "close", TypeClosed: "closed", TypeAsk: "ask", TypeDefinition: "definition"}

func (t Type) String() string {
	if int(t) < len(typeWords) && t != 0 {
		return typeWords[t]
	}
	return fmt.Sprintf("message type %d", uint16(t))
}

const (
	// headSize is the size of a message's head: type, flags, length.
	headSize = 8
	// MaxMessage is the largest message, in bytes with its head; a buffer for
	// receiving needs no more.
	MaxMessage = 4096
	// MaxCode is the longest code of a refusal or a closing, in bytes.
	MaxCode = 64

	// flagCritical marks a message that must be understood. A receiver that
	// does not know its type closes the connection; unmarked ones of unknown
	// type are passed over.
	flagCritical = 1
)

// Message is one of [Look], [Hello], [HelloAck], [Memory], [Open], [Accept],
// [Refuse], [Live], [Close], [Closed], [Ask], [Definition] and [Unknown].
type Message interface {
	Type() Type
	// FDs is the least and the largest number of descriptors that come with
	// the message.
	FDs() (least, most int)

	append(b []byte) ([]byte, error)
}

// Unknown is a message of a newer program that may be passed over.
type Unknown struct{ Kind Type }

// Type returns what the message says it is.
func (m Unknown) Type() Type { return m.Kind }

// FDs returns 0 and the most that a message can carry: all are to be closed.
func (m Unknown) FDs() (least, most int) { return 0, 255 }

func (m Unknown) append(b []byte) ([]byte, error) {
	return nil, fmt.Errorf("%s cannot be sent", m.Kind)
}

// noFDs is part of messages without descriptors.
type noFDs struct{}

// FDs returns 0, 0.
func (noFDs) FDs() (least, most int) { return 0, 0 }

// Append appends the bytes of m, one whole packet, to b.
func Append(b []byte, m Message) ([]byte, error) {
	start := len(b)
	b = le.AppendUint16(b, uint16(m.Type()))
	b = le.AppendUint16(b, flagCritical)
	b = le.AppendUint32(b, 0)
	b, err := m.append(b)
	if err != nil {
		return nil, err
	}
	le.PutUint32(b[start+4:], uint32(len(b)-start-headSize))
	return b, nil
}

// Parse reads one packet. The message keeps nothing of b.
//
// A body may be longer than what is known of it: a newer program of the same
// protocol version may have added fields, which are passed over.
//
// Errors: *[ParseError]; *[VersionError] for a hello of another version.
func Parse(b []byte) (Message, error) {
	if len(b) > MaxMessage {
		return nil, &ParseError{What: "message", Why: fmt.Sprintf("it has %d bytes, MaxMessage is %d", len(b), MaxMessage)}
	}
	c := cursor{s: string(b), end: len(b), what: "message"}
	t, flags, length := Type(c.u16()), c.u16(), c.u32()
	if c.err == nil && uint64(length) != uint64(len(b)-headSize) {
		c.fail(4, "its length says %d, %d bytes follow the head", length, len(b)-headSize)
	}
	if c.err != nil {
		return nil, c.err
	}
	c.what = t.String()
	var m Message
	switch t {
	case TypeLook:
		m = parseLook(&c)
	case TypeHello, TypeHelloAck:
		m = parseHello(&c, t)
	case TypeMemory:
		m = parseMemory(&c)
	case TypeOpen:
		m = parseOpen(&c)
	case TypeAccept:
		m = parseAccept(&c)
	case TypeRefuse:
		m = Refuse{Conn: c.u32(), Code: c.code(), Text: c.text("text")}
	case TypeLive:
		m = Live{Conn: c.conn()}
	case TypeClose:
		m = Close{Conn: c.conn(), Code: c.code()}
	case TypeClosed:
		m = Closed{Conn: c.conn()}
	case TypeAsk:
		m = Ask{Name: c.text("name"), Hash: c.text("hash")}
	case TypeDefinition:
		m = Definition{Size: c.u64()}
	default:
		if flags&flagCritical != 0 {
			return nil, &ParseError{What: "message", Why: fmt.Sprintf("type %d is unknown but must be understood", uint16(t))}
		}
		m = Unknown{Kind: t}
	}
	if c.err != nil {
		return nil, c.err
	}
	return m, nil
}

// CheckFDs tells whether n descriptors may come with m. Whoever received them
// closes them if not.
func CheckFDs(m Message, n int) error {
	if least, most := m.FDs(); n < least || n > most {
		return &ParseError{What: m.Type().String(), Why: fmt.Sprintf("%d descriptors came with it, not %d to %d", n, least, most)}
	}
	return nil
}

// conn reads the number of a connection, which is never 0.
func (c *cursor) conn() uint32 {
	at := c.at
	n := c.u32()
	if c.err == nil && n == 0 {
		c.fail(at, "connection number 0")
	}
	return n
}

// code reads the code of a refusal: lower-case letters, digits and hyphens.
func (c *cursor) code() string {
	at := c.at
	s := c.text("code")
	if c.err == nil && !validCode(s) {
		c.fail(at, "%q is not a code", s)
	}
	return s
}

func validCode(s string) bool {
	if s == "" || len(s) > MaxCode {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

func appendCode(b []byte, code string) ([]byte, error) {
	if !validCode(code) {
		return nil, fmt.Errorf("%q is not a code: 1 to %d of a-z, 0-9 and hyphen", code, MaxCode)
	}
	return appendText(b, code), nil
}

// shorten makes a text for people fit: valid UTF-8 of at most MaxText bytes.
func shorten(s string) string {
	s = strings.ToValidUTF8(s, "?")
	if len(s) <= MaxText {
		return s
	}
	n := MaxText
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
