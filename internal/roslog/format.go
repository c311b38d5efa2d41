package roslog

import (
	"strconv"
	"strings"
	"time"
)

// Line is what one line of a log is made of.
type Line struct {
	Level    Level
	Time     int64 // ns since the Unix epoch
	Logger   string
	Message  string
	Function string
	File     string
	Line     int
}

// DefaultFormat is how ROS 2 programs write, unless RCUTILS_CONSOLE_OUTPUT_FORMAT says otherwise.
const DefaultFormat = "[{severity}] [{time}] [{name}]: {message}"

// Format is a template of a line, taken to pieces.
type Format struct {
	parts    []part
	location bool // names the place in the source
}

type part struct {
	text string // literal if token is nil
	put  func(b []byte, l Line) []byte
}

var tokens = map[string]func(b []byte, l Line) []byte{
	"severity":            func(b []byte, l Line) []byte { return append(b, l.Level.String()...) },
	"name":                func(b []byte, l Line) []byte { return append(b, l.Logger...) },
	"message":             func(b []byte, l Line) []byte { return append(b, l.Message...) },
	"function_name":       func(b []byte, l Line) []byte { return append(b, l.Function...) },
	"file_name":           func(b []byte, l Line) []byte { return append(b, l.File...) },
	"line_number":         func(b []byte, l Line) []byte { return strconv.AppendInt(b, int64(l.Line), 10) },
	"time":                func(b []byte, l Line) []byte { return seconds(b, l.Time) },
	"time_as_nanoseconds": func(b []byte, l Line) []byte { return strconv.AppendInt(b, l.Time, 10) },
	"date_time_with_ms": func(b []byte, l Line) []byte {
		return time.Unix(0, l.Time).AppendFormat(b, "2006-01-02 15:04:05.000")
	},
}

// ParseFormat takes a template to pieces. What stands in braces and is no token stays as it is, and \n, \t, \" and the like are what they
// are in C, as in rcutils. Nothing at all means DefaultFormat.
func ParseFormat(template string) Format {
	if template == "" {
		template = DefaultFormat
	}
	template = unescape.Replace(template)
	var f Format
	for template != "" {
		open := strings.IndexByte(template, '{')
		if open < 0 {
			break
		}
		shut := strings.IndexByte(template[open:], '}')
		if shut < 0 {
			break
		}
		name := template[open+1 : open+shut]
		put, known := tokens[name]
		if !known { // what follows the brace may hold a token
			f.literal(template[:open+1])
			template = template[open+1:]
			continue
		}
		f.literal(template[:open])
		f.parts = append(f.parts, part{put: put})
		f.location = f.location || name == "function_name" || name == "file_name" || name == "line_number"
		template = template[open+shut+1:]
	}
	f.literal(template)
	return f
}

var unescape = strings.NewReplacer(`\a`, "\a", `\b`, "\b", `\f`, "\f", `\n`, "\n", `\r`, "\r", `\t`, "\t", `\v`, "\v", `\"`, `"`, `\'`, "'", `\\`, `\`)

func (f *Format) literal(text string) {
	if text == "" {
		return
	}
	if n := len(f.parts); n > 0 && f.parts[n-1].put == nil {
		f.parts[n-1].text += text
		return
	}
	f.parts = append(f.parts, part{text: text})
}

// NeedsLocation says whether lines name the place in the source that they come from.
func (f *Format) NeedsLocation() bool { return f.location }

// Append adds a line, without its end.
func (f *Format) Append(b []byte, l *Line) []byte {
	for i := range f.parts {
		if p := &f.parts[i]; p.put != nil {
			b = p.put(b, *l)
		} else {
			b = append(b, p.text...)
		}
	}
	return b
}

// seconds writes nanoseconds as seconds with nine digits after the point.
func seconds(b []byte, ns int64) []byte {
	if ns < 0 {
		b, ns = append(b, '-'), -ns
	}
	b = strconv.AppendInt(b, ns/1e9, 10)
	b = append(b, '.')
	frac := ns % 1e9
	for digit := int64(1e8); digit > 0; digit /= 10 {
		b = append(b, byte('0'+frac/digit%10))
	}
	return b
}

// colour begins the colour of a level on a terminal.
func colour(l Level) string {
	switch l {
	case Debug:
		return "\x1b[32m" // green
	case Warn:
		return "\x1b[33m" // yellow
	case Error, Fatal:
		return "\x1b[31m" // red
	}
	return ""
}

const plain = "\x1b[0m"
