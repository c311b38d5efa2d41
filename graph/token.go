package graph

import (
	"fmt"
	"strconv"
	"strings"
)

// TokenPrefix is the first part of every liveliness token.
const TokenPrefix = "@ros2_lv"

// MaxTokenLength is the longest token that ParseToken reads, in bytes.
const MaxTokenLength = 64 << 10

var kindTokens = [...]string{KindNode: "NN", KindPublisher: "MP", KindSubscription: "MS", KindService: "SS", KindClient: "SC"}

// Token is the node's liveliness token: @ros2_lv/<domain>/<participant>/<node>/<node>/NN/<enclave>/<namespace>/<name>.
func (n Node) Token() string {
	b := make([]byte, 0, 128)
	b = n.appendHead(b, KindNode, n.ID)
	return string(b)
}

// Token is the endpoint's liveliness token, the node's parts followed by /<name>/<type>/<hash>/<qos>. For an endpoint that
// ParseToken read from another implementation it is the canonical form, which need not be the text that was read.
func (e Endpoint) Token() string {
	if e.Kind == KindNode {
		return e.Node.Token()
	}
	b := make([]byte, 0, 320)
	b = e.Node.appendHead(b, e.Kind, e.ID)
	b = append(b, '/')
	b = appendMangled(b, e.Name)
	b = append(b, '/')
	b = appendMangled(b, DDSType(e.Type))
	b = append(b, '/')
	b = appendMangled(b, e.Hash)
	b = append(b, '/')
	b = appendQoS(b, e.QoS)
	return string(b)
}

func (n Node) appendHead(b []byte, k Kind, id uint32) []byte {
	b = append(b, TokenPrefix...)
	b = append(b, '/')
	b = strconv.AppendInt(b, int64(n.Domain), 10)
	b = append(b, '/')
	b = append(b, n.Participant.text()...)
	b = append(b, '/')
	b = strconv.AppendUint(b, uint64(n.ID), 10)
	b = append(b, '/')
	b = strconv.AppendUint(b, uint64(id), 10)
	b = append(b, '/')
	if int(k) < len(kindTokens) {
		b = append(b, kindTokens[k]...)
	}
	b = append(b, '/')
	b = appendMangled(b, slashIfEmpty(n.Enclave))
	b = append(b, '/')
	b = appendMangled(b, slashIfEmpty(n.Namespace))
	b = append(b, '/')
	return appendMangled(b, n.Name)
}

func slashIfEmpty(s string) string {
	if s == "" {
		return "/"
	}
	return s
}

// appendMangled writes s with "%" for "/", so that it is one part of a key.
func appendMangled(b []byte, s string) []byte {
	for i := range len(s) {
		c := s[i]
		if c == '/' {
			c = '%'
		}
		b = append(b, c)
	}
	return b
}

func demangle(s string) string { return strings.ReplaceAll(s, "%", "/") }

// TokenError says which part of a liveliness token cannot be read.
type TokenError struct {
	Token string // the token, cut to 200 bytes
	Part  string // which part: "kind", "participant", "qos" …; "parts" for the token as a whole
	Text  string // the part's text, cut to 200 bytes
	Want  string // what was expected
}

func (e *TokenError) Error() string {
	return fmt.Sprintf("graph: liveliness token %q: %s is %q, want %s", e.Token, e.Part, e.Text, e.Want)
}

// ParseToken reads a liveliness token. For a node the result has KindNode, the node, and nothing else but its ID and GID. The GID is the
// hash of the text as it stands, also where another implementation writes a part differently than Token does. Parts after
// the thirteenth are ignored. The error is a *TokenError; a token of an unknown kind has Part "kind".
func ParseToken(token string) (Endpoint, error) {
	fail := func(part, text, want string) (Endpoint, error) {
		return Endpoint{}, &TokenError{Token: cut(token), Part: part, Text: cut(text), Want: want}
	}
	if len(token) > MaxTokenLength {
		return fail("length", strconv.Itoa(len(token)), "at most "+strconv.Itoa(MaxTokenLength)+" bytes")
	}
	var part [13]string
	count := 0
	for rest, more := token, true; more; count++ {
		var p string
		p, rest, more = strings.Cut(rest, "/")
		if p == "" {
			return fail("part "+strconv.Itoa(count), "", "a text that is not empty")
		}
		if count < len(part) {
			part[count] = p
		}
	}
	if part[0] != TokenPrefix {
		return fail("prefix", part[0], TokenPrefix)
	}
	if count < 9 {
		return fail("parts", strconv.Itoa(count), "at least 9")
	}
	domain, err := strconv.ParseUint(part[1], 10, 31)
	if err != nil {
		return fail("domain", part[1], "a decimal number below 2^31")
	}
	participant, err := ParseID(part[2])
	if err != nil {
		return fail("participant", part[2], "1 to 32 lower-case hexadecimal digits, not all zero")
	}
	nid, err := strconv.ParseUint(part[3], 10, 32)
	if err != nil {
		return fail("node id", part[3], "a decimal number below 2^32")
	}
	id, err := strconv.ParseUint(part[4], 10, 32)
	if err != nil {
		return fail("entity id", part[4], "a decimal number below 2^32")
	}
	e := Endpoint{
		ID: uint32(id),
		Node: Node{
			Participant: participant,
			Domain:      int(domain),
			ID:          uint32(nid),
			Enclave:     demangle(part[6]),
			Namespace:   demangle(part[7]),
			Name:        demangle(part[8]),
		},
		GID: TokenGID(token),
	}
	for k := KindNode; k <= KindClient; k++ {
		if part[5] == kindTokens[k] {
			e.Kind = k
		}
	}
	switch {
	case e.Kind == 0:
		return fail("kind", part[5], "NN, MP, MS, SS or SC")
	case e.Kind == KindNode:
		return e, nil
	case count < 13:
		return fail("parts", strconv.Itoa(count), "at least 13 for a "+e.Kind.String())
	}
	e.Name, e.Type, e.Hash = demangle(part[9]), ROSType(demangle(part[10])), demangle(part[11])
	if e.QoS, err = ParseQoS(part[12]); err != nil {
		return fail("qos", part[12], err.Error())
	}
	return e, nil
}

func cut(s string) string {
	if len(s) > 200 {
		return s[:200]
	}
	return s
}

// DDSType is the name of a type in keys and tokens: "std_msgs/msg/String" becomes "std_msgs::msg::dds_::String_". A text that has not
// three plain parts stays as it is.
func DDSType(ros string) string {
	pkg, rest, ok := strings.Cut(ros, "/")
	kind, name, ok2 := strings.Cut(rest, "/")
	if !ok || !ok2 || !plainType(pkg, kind, name) {
		return ros
	}
	return pkg + "::" + kind + "::dds_::" + name + "_"
}

// ROSType is the reverse of DDSType. A text of another form stays as it is.
func ROSType(dds string) string {
	head, name, ok := strings.Cut(dds, "::dds_::")
	pkg, kind, ok2 := strings.Cut(head, "::")
	name, ok3 := strings.CutSuffix(name, "_")
	if !ok || !ok2 || !ok3 || !plainType(pkg, kind, name) {
		return dds
	}
	return pkg + "/" + kind + "/" + name
}

func plainType(pkg, kind, name string) bool {
	return pkg != "" && kind != "" && name != "" && !strings.ContainsAny(pkg, ":/") && !strings.ContainsAny(kind, ":/") && !strings.ContainsAny(name, ":/")
}
