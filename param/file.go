package param

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/tagus-ros/tagus/internal/names"
)

// parametersKey stands between the name of a node and its parameters.
const parametersKey = "ros__parameters"

// ReadFile reads a parameter file from disk. See ParseFile.
func ReadFile(path string) ([]Override, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &FileError{Path: path, Text: cause(err), Err: err}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFileSize+1))
	if err != nil {
		return nil, &FileError{Path: path, Text: cause(err), Err: err}
	}
	return ParseFile(path, data)
}

// cause leaves out the path, which the error has already.
func cause(err error) string {
	var p *os.PathError
	if errors.As(err, &p) {
		return fmt.Sprintf("%s: %v", p.Op, p.Err)
	}
	return err.Error()
}

// ParseFile reads a parameter file, which gives the parameters of nodes below their names, namespaces and wildcards:
//
//	/**:                      # every node
//	  ros__parameters:
//	    use_sim_time: true
//	/front:
//	  camera:                 # the node /front/camera
//	    ros__parameters:
//	      rate: 30
//	      exposure:
//	        auto: false       # the parameter exposure.auto
//
// The assignments come in the order in which they count: those with wildcards first, as these give way to a node's own. Aliases are refused,
// as in ROS 2. path is for errors only; these are *FileError.
func ParseFile(path string, data []byte) ([]Override, error) {
	docs, err := parseYAML(string(data))
	if err != nil {
		return nil, fileError(path, err)
	}
	r := fileReader{path: path}
	for _, doc := range docs {
		if doc == nil || doc.missing {
			continue
		}
		if err := r.nodes(doc, ""); err != nil {
			return nil, fileError(path, err)
		}
	}
	slices.SortStableFunc(r.out, func(a, b Override) int {
		switch wa, wb := wildcard(a.Node), wildcard(b.Node); {
		case wa && !wb:
			return -1
		case wb && !wa:
			return 1
		}
		return 0
	})
	return r.out, nil
}

func fileError(path string, err error) error {
	out := &FileError{Path: path, Text: err.Error()}
	var y *yamlError
	if errors.As(err, &y) {
		out.Line, out.Column, out.Text = y.line, y.column, y.text
	}
	return out
}

type fileReader struct {
	path string
	out  []Override
}

// nodes reads what lies below a namespace: names of nodes and further namespaces.
func (r *fileReader) nodes(n *yamlNode, namespace string) error {
	if n.kind != yamlMapping {
		return n.fail("names of nodes are wanted here, with their parameters below %s", parametersKey)
	}
	for _, pair := range n.pairs {
		key := pair.key
		switch {
		case key.text == "":
			return key.fail("a name is missing")
		case key.text != parametersKey:
			if err := r.nodes(pair.value, join(namespace, key.text)); err != nil {
				return err
			}
			continue
		case namespace == "":
			return key.fail("%s has no node above it", parametersKey)
		case pair.value.kind != yamlMapping:
			return key.fail("%s needs names of parameters below it", parametersKey)
		}
		if err := checkPattern(namespace); err != nil {
			return key.fail("%v", err)
		}
		if err := r.parameters(pair.value, namespace, ""); err != nil {
			return err
		}
	}
	return nil
}

func join(namespace, name string) string {
	if namespace == "" || strings.HasSuffix(namespace, "/") {
		return namespace + name
	}
	return namespace + "/" + name
}

// parameters reads what lies below a node: values and, nested, parts of names.
func (r *fileReader) parameters(n *yamlNode, node, prefix string) error {
	for _, pair := range n.pairs {
		if pair.key.text == "" {
			return pair.key.fail("a parameter's name is missing")
		}
		name := prefix + pair.key.text
		if pair.value.kind == yamlMapping {
			if err := r.parameters(pair.value, node, name+Separator); err != nil {
				return err
			}
			continue
		}
		v, err := pair.value.value(rclScalar)
		if err != nil {
			y := err.(*yamlError)
			return &yamlError{y.line, y.column, fmt.Sprintf("parameter %s: %s", shorten(name), y.text)}
		}
		r.out = append(r.out, Override{Node: node, Name: name, Value: v, Source: fmt.Sprintf("%s:%d", r.path, pair.key.line)})
	}
	return nil
}

// checkPattern says whether a text can stand for nodes: valid names and wildcards that are whole parts, a slash between them.
func checkPattern(pattern string) error {
	parts := strings.Split(strings.TrimPrefix(pattern, "/"), "/")
	for i, part := range parts {
		if part == "*" || part == "**" {
			continue
		}
		err := names.CheckNode(part)
		if i < len(parts)-1 && part != "" {
			err = names.CheckNamespace("/" + part)
		}
		if err != nil {
			return fmt.Errorf("%q stands for no node: %w", shorten(pattern), err)
		}
	}
	return nil
}
