package rosidl

import "github.com/tagus-ros/tagus/cdr"

// TypeSupport is what generated code knows about message type T. All functions
// are set. None keeps what it is given, but for Alias and Place, whose results
// point into the buffer.
type TypeSupport[T any] struct {
	Name string // "sensor_msgs/msg/Image"
	Hash string // "RIHS01_" and 64 hexadecimal digits

	// Flat is the length of the body if, on this platform, the first Flat bytes
	// of a T are its little-endian body: fixed size, without bool, string or
	// sequence, with the same padding. Then a T may lie in the buffer itself.
	// 0 if that is not so. Padding inside a T is not cleared by setting fields.
	Flat int

	// Size is the length of the body in bytes, without the encapsulation.
	Size func(m *T) int

	// Check verifies the bounds of strings (bytes; UTF-16 units for wide ones)
	// and sequences (elements). The error is a [*BoundError] that names the field.
	Check func(m *T) error

	// Encode writes the body into e, which was made over Size(m) bytes; e.Err
	// tells if m was changed since. A primitive sequence that lies at its place
	// in the buffer already is not copied.
	Encode func(e *cdr.Encoder, m *T)

	// Decode reads the body from d into m, using again the slices' capacity and
	// equal strings of m. After an error m holds any valid values.
	Decode func(d *cdr.Decoder, m *T) error

	// Alias is Decode with sequences of numbers (and of messages that are laid
	// out in memory as encoded) pointing into d's buffer, with cap = len. They are
	// copies if the byte order or the alignment of the buffer does not allow it.
	// Strings and bools never point there. Whatever the result, call Unalias
	// before m or the buffer is used again. m must never be given to Decode.
	Alias func(d *cdr.Decoder, m *T) error

	// Unalias sets the slices to nil that Alias may have pointed into a buffer.
	Unalias func(m *T)

	// Place writes m like Encode, but does not write the elements of sequences of
	// numbers directly in T: it points those fields of m to where the elements
	// belong in e's buffer (cap = len). False if T has none, or if m does not fit
	// or the buffer does not lie at a multiple of 8.
	Place func(e *cdr.Encoder, m *T) bool

	// Placed tells whether all sequences that Place pointed into body are still
	// where an Encode of m into body would put them, so that it writes the rest
	// only. False if T has none, and if m no longer fits into body.
	Placed func(m *T, body []byte) bool

	// Reset sets numbers to 0, strings to "" and slices to length 0 with their
	// capacity. Fixed arrays of over 4096 bytes are not cleared.
	Reset func(m *T)

	// Default is Reset, and sets the default values of the definition.
	Default func(m *T)

	// Copy makes dst a deep copy of src, using again the capacity of dst.
	Copy func(dst, src *T)

	// Equal compares by value; numbers are equal if their bits are, so that a NaN
	// equals itself and 0 differs from -0. Empty and nil slices are equal.
	Equal func(a, b *T) bool

	// Recycle is Reset for a message that a user had: a slice that is not the one
	// own holds for that field is dropped and replaced by own's.
	Recycle func(m *T, own *Owned)

	// Definition is the text of the definition with all that it refers to, in the
	// form called ros2msg.
	Definition func() string

	// Description is the type description, which must not be changed.
	Description func() *TypeDescription
}

// Message is satisfied by pointers to generated message types.
type Message[T any] interface {
	*T
	ROSType() *TypeSupport[T]
}

// Of is the type support of message type T.
func Of[T any, P Message[T]]() *TypeSupport[T] { return P(nil).ROSType() }

// Placed is ts.Placed.
func Placed[T any](ts *TypeSupport[T], m *T, body []byte) bool { return ts.Placed(m, body) }
