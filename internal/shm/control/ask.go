package control

// Ask asks for the definition of a type that the receiver's process uses. It goes
// over a connection with [PurposeAsk]; the answer is a [Definition] or a Refuse.
type Ask struct {
	noFDs
	Name string // of the type, as "sensor_msgs/msg/Image"
	Hash string // "RIHS01_" and 64 hexadecimal digits
}

// Type returns [TypeAsk].
func (Ask) Type() Type { return TypeAsk }

func (m Ask) append(b []byte) ([]byte, error) {
	if err := checkTexts("ask", m.Name, m.Hash); err != nil {
		return nil, err
	}
	return appendText(appendText(b, m.Name), m.Hash), nil
}

// Definition answers an Ask. Its descriptor is a memory file, sealed and opened
// read-only, that holds the definition with all that it refers to, as text in the
// form called ros2msg.
type Definition struct {
	Size uint64 // bytes of text
}

// Type returns [TypeDefinition].
func (Definition) Type() Type { return TypeDefinition }

// FDs returns 1, 1: the text.
func (Definition) FDs() (least, most int) { return 1, 1 }

func (m Definition) append(b []byte) ([]byte, error) { return le.AppendUint64(b, m.Size), nil }
