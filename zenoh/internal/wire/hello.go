package wire

// maxLocators bounds the locators of a Hello; a datagram could hold more.
const maxLocators = 256

// Hello answers a Scout.
type Hello struct {
	Version  byte
	WhatAmI  WhatAmI
	ID       ID
	Locators []string // where the answerer listens
}

// Append encodes m.
func (m *Hello) Append(dst []byte) []byte {
	h := byte(IDHello)
	if len(m.Locators) > 0 {
		h |= flagHelloLocators
	}
	dst = m.ID.appendNibble(append(dst, h, m.Version), byte(m.WhatAmI))
	if len(m.Locators) > 0 {
		dst = AppendUint(dst, uint64(len(m.Locators)))
		for _, l := range m.Locators {
			dst = AppendBytes(dst, l)
		}
	}
	return dst
}

// Decode reads a Hello, header included.
func (m *Hello) Decode(r *Reader) {
	h := r.Byte("hello")
	*m = Hello{}
	if MessageID(h) != IDHello {
		r.Fail("hello: other message")
		return
	}
	m.Version = r.Byte("hello: version")
	b := r.Byte("hello: flags")
	if m.WhatAmI = WhatAmI(b & 3); m.WhatAmI > Client {
		r.Fail("hello: role")
	}
	m.ID = r.readID(uint64(b>>4)+1, "hello: id")
	if h&flagHelloLocators != 0 {
		for n := r.Bounded(maxLocators, "hello: locators"); n > 0 && !r.Failed(); n-- {
			m.Locators = append(m.Locators, string(r.Bytes(max8, "hello: locator")))
		}
	}
	skipExts(r, h)
}
