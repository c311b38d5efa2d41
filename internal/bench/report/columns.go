package report

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// columns lays out lines as the iRobot benchmark does: left-aligned fields of fixed width, or fields with commas between. A field that
// fills its width still gets a blank, so that names of any length stay apart.
type columns struct {
	csv    bool
	widths []int
	out    bytes.Buffer
}

func (c *columns) line(fields ...string) {
	for i, f := range fields {
		last := i == len(fields)-1
		c.out.WriteString(f)
		switch {
		case last:
		case c.csv:
			c.out.WriteByte(',')
		default:
			c.out.WriteString(strings.Repeat(" ", max(1, c.widths[min(i, len(c.widths)-1)]-utf8.RuneCountInString(f))))
		}
	}
	c.out.WriteByte('\n')
}

// Table lays out lines for people: each column as wide as its widest field, numbers to the right.
type Table struct {
	left int // that many columns are text, to the left
	rows [][]string
}

// NewTable makes a table whose first columns, left of them, are text.
func NewTable(left int) *Table { return &Table{left: left} }

// Add appends a line.
func (t *Table) Add(fields ...string) { t.rows = append(t.rows, fields) }

func (t *Table) String() string {
	var widths []int
	for _, r := range t.rows {
		for i, f := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(f))
		}
	}
	var b strings.Builder
	for _, r := range t.rows {
		var line strings.Builder
		for i, f := range r {
			if i > 0 {
				line.WriteString("  ")
			}
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(f))
			if i < t.left {
				line.WriteString(f + pad)
			} else {
				line.WriteString(pad + f)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}
