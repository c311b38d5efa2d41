package dynamic

import (
	"regexp"
	"strings"
)

// text writes a text in the style that the YAML library of the ROS 2 tools
// chooses: plain if nothing could be misread, else in single quotes, else in
// double quotes. Lines after the first begin at indent.
func (w *yamlWriter) text(s string, indent int) {
	a := analyze(s)
	switch {
	case s != "" && !implicit(s) && (w.p.Flow && a.flowPlain || !w.p.Flow && a.blockPlain):
		w.write(s)
	case a.single:
		w.singleQuoted(s, indent)
	default:
		w.doubleQuoted(s)
	}
}

// implicit tells whether s, written plainly, would be read as something other
// than text.
func implicit(s string) bool { return implicitForm.MatchString(s) }

var implicitForm = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF`,
	`[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?`,
	`\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?`,
	`[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*`,
	`[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)`,
	`[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+`,
	`[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+`,
	`<<|=|~|null|Null|NULL`,
	`[0-9]{4}-[0-9]{2}-[0-9]{2}`,
	`[0-9]{4}-[0-9][0-9]?-[0-9][0-9]?(?:[Tt]|[ \t]+)[0-9][0-9]?:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9][0-9]?(?::[0-9]{2})?))?`,
}, "|") + `)$`)

// analysis says in which styles a text can be written.
type analysis struct{ flowPlain, blockPlain, single bool }

func isBreak(r rune) bool { return r == '\n' || r == 0x85 || r == 0x2028 || r == 0x2029 }

func isBlank(r rune) bool { return r == 0 || r == ' ' || r == '\t' || r == '\r' || isBreak(r) }

// printable tells whether r may stand in a text outside of escapes.
func printable(r rune) bool {
	return r == '\n' || r >= 0x20 && r <= 0x7e || r == 0x85 ||
		r >= 0xa0 && r <= 0xd7ff || r >= 0xe000 && r <= 0xfffd && r != 0xfeff || r >= 0x10000 && r < 0x10ffff
}

func analyze(s string) analysis {
	runes := []rune(s)
	block, flow := false, false // signs that mean something in either
	if strings.HasPrefix(s, "---") || strings.HasPrefix(s, "...") {
		block, flow = true, true
	}
	var breaks, special, edge, breakSpace, spaceBreak bool
	wasSpace, wasBreak, afterBlank := false, false, true
	for i, r := range runes {
		beforeBlank := i+1 == len(runes) || isBlank(runes[i+1])
		switch {
		case i == 0 && strings.ContainsRune("#,[]{}&*!|>'\"%@`", r):
			block, flow = true, true
		case i == 0 && (r == '?' || r == ':'):
			flow, block = true, block || beforeBlank
		case i == 0 && r == '-' && beforeBlank:
			block, flow = true, true
		case i > 0 && strings.ContainsRune(",?[]{}", r):
			flow = true
		case i > 0 && r == ':':
			flow, block = true, block || beforeBlank
		case i > 0 && r == '#' && afterBlank:
			block, flow = true, true
		}
		breaks = breaks || isBreak(r)
		special = special || !printable(r)
		edge = edge || (i == 0 || i == len(runes)-1) && (r == ' ' || isBreak(r))
		switch {
		case r == ' ':
			breakSpace = breakSpace || wasBreak
			wasSpace, wasBreak = true, false
		case isBreak(r):
			spaceBreak = spaceBreak || wasSpace
			wasSpace, wasBreak = false, true
		default:
			wasSpace, wasBreak = false, false
		}
		afterBlank = isBlank(r)
	}
	plain := !edge && !breakSpace && !spaceBreak && !special && !breaks
	return analysis{
		flowPlain: plain && !flow, blockPlain: plain && !block,
		single: !breakSpace && !spaceBreak && !special,
	}
}

// singleQuoted doubles quotes, and line breaks but for one of each run.
func (w *yamlWriter) singleQuoted(s string, indent int) {
	w.write("'")
	var run []rune
	end := func() {
		if len(run) == 0 {
			return
		}
		if run[0] == '\n' {
			w.write("\n")
		}
		for _, r := range run {
			w.write(string(r))
		}
		w.indent(indent)
		run = run[:0]
	}
	for _, r := range s {
		if isBreak(r) {
			run = append(run, r)
			continue
		}
		end()
		if r == '\'' {
			w.write("'")
		}
		w.write(string(r))
	}
	end()
	w.write("'")
}

var doubleEscapes = map[rune]byte{
	0: '0', 7: 'a', 8: 'b', 9: 't', 10: 'n', 11: 'v', 12: 'f', 13: 'r', 27: 'e', '"': '"', '\\': '\\',
	0x85: 'N', 0x2028: 'L', 0x2029: 'P',
}

func (w *yamlWriter) doubleQuoted(s string) {
	w.write(`"`)
	for _, r := range s {
		escape, ok := doubleEscapes[r]
		switch {
		case ok:
			w.dst = append(w.dst, '\\', escape)
		case r >= 0x20 && r <= 0x7e || r >= 0xa0 && r <= 0xd7ff || r >= 0xe000 && r <= 0xfffd && r != 0xfeff:
			w.write(string(r))
		case r <= 0xff:
			w.hex('x', r, 2)
		case r <= 0xffff:
			w.hex('u', r, 4)
		default:
			w.hex('U', r, 8)
		}
	}
	w.write(`"`)
}

func (w *yamlWriter) hex(kind byte, r rune, digits int) {
	w.dst = append(w.dst, '\\', kind)
	start := len(w.dst)
	w.dst = appendHex(w.dst, uint32(r), digits)
	copy(w.dst[start:], strings.ToUpper(string(w.dst[start:])))
}
