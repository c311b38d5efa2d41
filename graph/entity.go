package graph

import (
	"fmt"

	"github.com/tagus-ros/tagus/qos"
)

// Kind is what an entity is.
type Kind uint8

// Kinds of entities. The zero Kind is none.
const (
	KindNode Kind = iota + 1
	KindPublisher
	KindSubscription
	KindService
	KindClient
)

var kindWords = [...]string{KindNode: "node", KindPublisher: "publisher", KindSubscription: "subscription", KindService: "service", KindClient: "client"}

// String gives the word in lower case, for example "publisher".
func (k Kind) String() string {
	if k >= KindNode && k <= KindClient {
		return kindWords[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Node is one node of one participant. It is a comparable value and its own identity: two nodes of one name differ in participant
// or ID.
type Node struct {
	Participant ID
	Domain      int    // domain number, 0 or more
	ID          uint32 // from the one counter that the participant has for all its entities
	Enclave     string // "/" where there is none
	Namespace   string // "/" or "/a/b"
	Name        string // "talker"
}

// FullName is the namespace and the name, for example "/a/b/talker".
func (n Node) FullName() string {
	if n.Namespace == "" || n.Namespace == "/" {
		return "/" + n.Name
	}
	return n.Namespace + "/" + n.Name
}

// GID is the hash of the node's token.
func (n Node) GID() GID { return TokenGID(n.Token()) }

// Endpoint is one publisher, subscription, service or client. It is a comparable value, made by NewEndpoint or ParseToken; its
// identity is its GID.
type Endpoint struct {
	Kind Kind
	Node Node
	ID   uint32 // from the one counter that the participant has for all its entities
	Name string // fully qualified name of the topic or service, "/chatter"
	Type string // "std_msgs/msg/String"
	Hash string // "RIHS01_" and 64 hexadecimal digits; other middlewares may have other words
	QoS  qos.Profile
	GID  GID
}

// NewEndpoint makes an endpoint in its final form: the profile is resolved and the GID is the hash of the token. No text may be
// empty; names are not checked here.
func NewEndpoint(k Kind, n Node, id uint32, name, typeName, hash string, q qos.Profile) Endpoint {
	e := Endpoint{Kind: k, Node: n, ID: id, Name: name, Type: typeName, Hash: hash, QoS: q.Resolved()}
	e.GID = TokenGID(e.Token())
	return e
}

// String says what the endpoint is and where, for example "publisher of /talker on /chatter".
func (e Endpoint) String() string {
	if e.Kind == KindNode {
		return "node " + e.Node.FullName()
	}
	return e.Kind.String() + " of " + e.Node.FullName() + " on " + e.Name
}
