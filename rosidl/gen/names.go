package gen

import (
	"strings"
	"unicode"
)

// initialisms are written in capitals, as Go does.
var initialisms = map[string]bool{
	"api": true, "cdr": true, "cpu": true, "csv": true, "dns": true, "eof": true, "gid": true, "html": true,
	"http": true, "https": true, "id": true, "ip": true, "json": true, "qos": false, "ram": true, "rpc": true,
	"sql": true, "ssh": true, "tcp": true, "tls": true, "ttl": true, "udp": true, "uid": true, "uri": true,
	"url": true, "uuid": true, "xml": true,
}

// word is w with its first letter in upper case, or an initialism.
func word(w string) string {
	switch {
	case w == "":
		return ""
	case w == "qos":
		return "QoS"
	case initialisms[w]:
		return strings.ToUpper(w)
	}
	return strings.ToUpper(w[:1]) + w[1:]
}

// fieldGoName is the Go name of a field: frame_id gives FrameID.
func fieldGoName(ros string) string {
	var b strings.Builder
	for _, w := range strings.Split(ros, "_") {
		b.WriteString(word(w))
	}
	return b.String()
}

// typeGoName is the Go name of a type or of a part of one: AddTwoInts_Request
// gives AddTwoIntsRequest.
func typeGoName(ros string) string { return strings.ReplaceAll(ros, "_", "") }

// constantGoName is the Go name of a constant of the Go type typ, without what
// the name repeats of the type's: STATUS_NO_FIX of NavSatStatus gives
// NavSatStatusNoFix. The second name repeats it, for when the first is taken.
func constantGoName(typ, ros string) (short, long string) {
	words := strings.Split(strings.ToLower(ros), "_")
	long = typ + joinWords(words)
	typeWords := splitWords(typ)
	for n := min(len(typeWords), len(words)-1); n > 0; n-- {
		same := true
		for i := range n {
			same = same && strings.EqualFold(typeWords[len(typeWords)-n+i], words[i])
		}
		if same && !unicode.IsDigit(rune(words[n][0])) {
			return typ + joinWords(words[n:]), long
		}
	}
	return long, long
}

func joinWords(words []string) string {
	var b strings.Builder
	for i, w := range words {
		// Digits on both sides of an underscore would run together.
		if i > 0 && unicode.IsDigit(rune(w[0])) && unicode.IsDigit(rune(words[i-1][len(words[i-1])-1])) {
			b.WriteByte('_')
		}
		if w == "cdr" {
			b.WriteString("Cdr") // the type's name with CDR is taken
			continue
		}
		b.WriteString(word(w))
	}
	return b.String()
}

// splitWords splits a name at its capitals: NavSatStatus gives Nav, Sat, Status.
func splitWords(name string) []string {
	var words []string
	start := 0
	runes := []rune(name)
	for i := 1; i < len(runes); i++ {
		if unicode.IsUpper(runes[i]) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			words = append(words, string(runes[start:i]))
			start = i
		}
	}
	return append(words, string(runes[start:]))
}

// goBase is the Go type of a base type.
var goBase = map[string]string{
	"int8": "int8", "uint8": "uint8", "int16": "int16", "uint16": "uint16", "int32": "int32", "uint32": "uint32",
	"int64": "int64", "uint64": "uint64", "float32": "float32", "float64": "float64", "bool": "bool", "byte": "byte",
	"string": "string", "wstring": "string",
}
