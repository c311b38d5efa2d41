package tagus

import (
	"fmt"
	"log/slog"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

var textBuffers = sync.Pool{New: func() any { return new([]byte) }}

// text is the message with the attributes.
func (h *logHandler) text(r *slog.Record) string {
	p := textBuffers.Get().(*[]byte)
	b := append((*p)[:0], r.Message...)
	b = append(b, h.attrs...)
	r.Attrs(func(a slog.Attr) bool {
		b = appendAttr(b, h.group, a)
		return true
	})
	s := string(b)
	if cap(b) <= 64<<10 {
		*p = b
		textBuffers.Put(p)
	}
	return s
}

// appendAttr writes " key=value", groups taken to pieces.
func appendAttr(b []byte, group string, a slog.Attr) []byte {
	v := a.Value.Resolve()
	if a.Equal(slog.Attr{}) {
		return b
	}
	if v.Kind() == slog.KindGroup {
		if a.Key != "" {
			group += a.Key + "."
		}
		for _, in := range v.Group() {
			b = appendAttr(b, group, in)
		}
		return b
	}
	b = append(b, ' ')
	b = append(b, group...)
	b = append(b, a.Key...)
	b = append(b, '=')
	switch v.Kind() {
	case slog.KindInt64:
		return strconv.AppendInt(b, v.Int64(), 10)
	case slog.KindUint64:
		return strconv.AppendUint(b, v.Uint64(), 10)
	case slog.KindFloat64:
		return strconv.AppendFloat(b, v.Float64(), 'g', -1, 64)
	case slog.KindBool:
		return strconv.AppendBool(b, v.Bool())
	case slog.KindTime:
		return v.Time().AppendFormat(b, time.RFC3339Nano)
	case slog.KindDuration:
		return append(b, v.Duration().String()...)
	case slog.KindString:
		return appendText(b, v.String())
	}
	return appendText(b, fmt.Sprintf("%+v", v.Any()))
}

// appendText quotes what would not be told from what stands around it.
func appendText(b []byte, s string) []byte {
	if s == "" || strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c == '"' || c == '=' || c == 0x7f }) {
		return strconv.AppendQuote(b, s)
	}
	return append(b, s...)
}

// site is a place in the source.
type site struct {
	function, file string
	line           int
}

// sites has the places that have logged: as many as there are in the program.
var sites = struct {
	sync.RWMutex
	of map[uintptr]*site
}{of: make(map[uintptr]*site)}

func siteOf(pc uintptr) *site {
	sites.RLock()
	s := sites.of[pc]
	sites.RUnlock()
	if s != nil {
		return s
	}
	s = &site{}
	if pc != 0 {
		f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
		s.function, s.file, s.line = f.Function[strings.LastIndexByte(f.Function, '/')+1:], f.File, f.Line
	}
	sites.Lock()
	defer sites.Unlock()
	sites.of[pc] = s
	return s
}
