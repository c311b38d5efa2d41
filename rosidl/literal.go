package rosidl

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ParseDefault reads the default of a field: a literal, or literals in brackets.
func ParseDefault(t FieldType, s string) (*Default, error) {
	if t.ID == Nested {
		return nil, fmt.Errorf("only primitives have defaults")
	}
	d := &Default{Text: s}
	if t.Shape == Single {
		v, err := parseValue(t, s)
		d.Values = []Value{v}
		return d, err
	}
	if len(s) < 2 || s[0] != '[' || s[len(s)-1] != ']' {
		return nil, fmt.Errorf("%q is not a list in brackets", s)
	}
	items, err := splitList(s[1 : len(s)-1])
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		v, err := parseValue(t, item)
		if err != nil {
			return nil, err
		}
		d.Values = append(d.Values, v)
	}
	if n := len(d.Values); t.Shape == Array && n != t.Capacity || t.Shape == Bounded && n > t.Capacity {
		return nil, fmt.Errorf("%d values for %s", n, t)
	}
	return d, nil
}

// splitList splits at commas outside quotes.
func splitList(s string) ([]string, error) {
	if strings.TrimSpace(s) == "" {
		return nil, nil
	}
	var items []string
	var quote byte
	start := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\'') && strings.TrimSpace(s[start:i]) == "":
			quote = c
		case quote == 0 && c == ',':
			items = append(items, strings.TrimSpace(s[start:i]))
			start = i + 1
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote is not closed in %q", s)
	}
	return append(items, strings.TrimSpace(s[start:])), nil
}

// parseValue reads one literal of t's base type and checks its range or bound.
func parseValue(t FieldType, s string) (Value, error) {
	switch t.ID {
	case Bool:
		switch strings.ToLower(s) {
		case "true", "1":
			return true, nil
		case "false", "0":
			return false, nil
		}
		return nil, fmt.Errorf("%q is not true or false", s)
	case Int8, Int16, Int32, Int64:
		v, err := strconv.ParseInt(leadingZeros(s), 0, t.ID.Size()*8)
		if err != nil {
			return nil, fmt.Errorf("%q is not a value of %s", s, baseNames[t.ID])
		}
		return v, nil
	case Uint8, Uint16, Uint32, Uint64, Byte:
		v, err := strconv.ParseUint(strings.TrimPrefix(leadingZeros(s), "+"), 0, t.ID.Size()*8)
		if err != nil {
			return nil, fmt.Errorf("%q is not a value of %s", s, baseNames[t.ID])
		}
		return v, nil
	case Float32, Float64:
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || t.ID == Float32 && !math.IsInf(v, 0) && math.Abs(v) > math.MaxFloat32 {
			return nil, fmt.Errorf("%q is not a value of %s", s, baseNames[t.ID])
		}
		return v, nil
	}
	v, err := unquote(s)
	if err != nil {
		return nil, err
	}
	n, unit := len(v), "bytes"
	if t.ID.IsWide() {
		n, unit = utf16Len(v), "UTF-16 units"
	}
	if t.StringCapacity > 0 && n > t.StringCapacity {
		return nil, fmt.Errorf("%q has %d %s, at most %d are allowed", v, n, unit, t.StringCapacity)
	}
	return v, nil
}

// leadingZeros makes 007 decimal, as the ROS tools read it.
func leadingZeros(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
		sign, s = s[:1], s[1:]
	}
	if strings.Trim(s, "0123456789") == "" {
		if s = strings.TrimLeft(s, "0"); s == "" {
			s = "0"
		}
	}
	return sign + s
}

func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// unquote removes quotes of either kind, inside which a backslash escapes
// quotes, itself, and n, t, r. Text without quotes is taken as it is.
func unquote(s string) (string, error) {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		return s, nil
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == s[0]:
			if i != len(s)-1 {
				return "", fmt.Errorf("text after the closing quote in %s", s)
			}
			return b.String(), nil
		case s[i] == '\\' && i+1 < len(s):
			i++
			switch s[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case 'r':
				b.WriteByte('\r')
			case '"', '\'', '\\':
				b.WriteByte(s[i])
			default:
				b.WriteByte('\\')
				b.WriteByte(s[i])
			}
		default:
			b.WriteByte(s[i])
		}
	}
	return "", fmt.Errorf("a quote is not closed in %s", s)
}
