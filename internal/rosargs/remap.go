package rosargs

import "github.com/tagus-ros/tagus/internal/names"

// Kind says which names a rule is for.
type Kind uint8

// The kinds of rules. A rule without rostopic:// or rosservice:// is for both topics and services.
const (
	Topic Kind = 1 << iota
	Service
	NodeName
	Namespace
)

// Remap is one remapping rule.
type Remap struct {
	Kind Kind
	Node string // only for nodes of this name; empty: for all
	From string // of topics and services: relative to the node, or full
	To   string
}

// Remaps are rules in the order in which they count: the first that fits is used and no other. Rules for one node go before those of the
// process.
type Remaps []Remap

// first gives the first rule of the kind that is for the node and fits.
func (r Remaps) first(kind Kind, node string, fits func(Remap) bool) (Remap, bool) {
	for _, rule := range r {
		if rule.Kind&kind != 0 && (rule.Node == "" || rule.Node == node) && fits(rule) {
			return rule, true
		}
	}
	return Remap{}, false
}

func always(Remap) bool { return true }

// ForNode gives the name and the namespace of a node that a program makes with this name and namespace. As in rcl a rule for the namespace
// that names a node means the node's new name. The error is a *names.Error.
func (r Remaps) ForNode(name, namespace string) (newName, newNamespace string, err error) {
	newName, newNamespace = name, names.Namespace(namespace)
	if rule, ok := r.first(NodeName, name, always); ok {
		newName = rule.To
	}
	if rule, ok := r.first(Namespace, newName, always); ok {
		newNamespace = rule.To
	}
	if err := names.CheckNode(newName); err != nil {
		return "", "", err
	}
	return newName, newNamespace, names.CheckNamespace(newNamespace)
}

// ForTopic gives the full name of the topic that a node with this (new) name and namespace means by name. The error is a *names.Error.
func (r Remaps) ForTopic(name, node, namespace string) (string, error) {
	return r.forName(Topic, "topic name", name, node, namespace)
}

// ForService gives the full name of the service that a node with this (new) name and namespace means by name. The error is a *names.Error.
func (r Remaps) ForService(name, node, namespace string) (string, error) {
	return r.forName(Service, "service name", name, node, namespace)
}

func (r Remaps) forName(kind Kind, what, name, node, namespace string) (string, error) {
	full, err := names.Expand(what, name, node, namespace)
	if err != nil {
		return "", err
	}
	rule, ok := r.first(kind, node, func(rule Remap) bool {
		from, err := names.Expand(what, rule.From, node, namespace)
		return err == nil && from == full
	})
	if !ok {
		return full, nil
	}
	return names.Expand(what, rule.To, node, namespace)
}
