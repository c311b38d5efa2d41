package zenoh

import (
	"strconv"
	"strings"

	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

// Encoding tells what a payload is. The zero value means raw bytes and costs nothing on the wire.
type Encoding struct {
	ID     uint32 // of the protocol's table; 31 bits
	Schema string // at most 255 bytes; free text
}

// Some encodings of the protocol's table.
var (
	EncodingBytes  = Encoding{}
	EncodingString = Encoding{ID: 1}
	EncodingText   = Encoding{ID: 4}
	EncodingJSON   = Encoding{ID: 5}
	EncodingCDR    = Encoding{ID: 7}
)

var encodingNames = [...]string{
	"zenoh/bytes", "zenoh/string", "zenoh/serialized", "application/octet-stream", "text/plain", "application/json",
	"text/json", "application/cdr", "application/cbor", "application/yaml", "text/yaml", "text/json5",
	"application/python-serialized-object", "application/protobuf", "application/java-serialized-object",
	"application/openmetrics-text", "image/png", "image/jpeg", "image/gif", "image/bmp", "image/webp", "application/xml",
	"application/x-www-form-urlencoded", "text/html", "text/xml", "text/css", "text/javascript", "text/markdown", "text/csv",
	"application/sql", "application/coap-payload", "application/json-patch+json", "application/json-seq",
	"application/jsonpath", "application/jwt", "application/mp4", "application/soap+xml", "application/yang", "audio/aac",
	"audio/flac", "audio/mp4", "audio/ogg", "audio/vorbis", "video/h261", "video/h263", "video/h264", "video/h265",
	"video/h266", "video/mp4", "video/ogg", "video/raw", "video/vp8", "video/vp9",
}

// String gives the media type and, after a semicolon, the schema.
func (e Encoding) String() string {
	name := "unknown(" + strconv.FormatUint(uint64(e.ID), 10) + ")"
	if e.ID < uint32(len(encodingNames)) {
		name = encodingNames[e.ID]
	}
	if e.Schema == "" {
		return name
	}
	if e.ID == 0 {
		return e.Schema // a media type that the table does not have
	}
	return name + ";" + e.Schema
}

// ParseEncoding is the inverse of Encoding.String. A media type that the table
// does not have becomes the schema of raw bytes, as in other implementations.
func ParseEncoding(s string) Encoding {
	name, schema, _ := strings.Cut(s, ";")
	for i, n := range encodingNames {
		if n == name {
			return Encoding{uint32(i), schema}
		}
	}
	return Encoding{Schema: s}
}

func (e *Encoding) wire() wire.Encoding { return wire.Encoding{ID: e.ID, Schema: bytesOf(e.Schema)} }

func encodingOf(e *wire.Encoding) Encoding { return Encoding{e.ID, string(e.Schema)} }

func (e *Encoding) check() error {
	if e.ID >= 1<<31 {
		return &ValueError{"encoding id", uint64(e.ID), 1<<31 - 1}
	}
	if len(e.Schema) > 255 {
		return &ValueError{"bytes of encoding schema", uint64(len(e.Schema)), 255}
	}
	return nil
}
