package main

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestJSONKeys keeps what --json prints: programs read it, so a key that was there once stays. New ones are added to the file by running the
// test with UPDATE_JSON_KEYS=1, which takes none away.
func TestJSONKeys(t *testing.T) {
	const file = "testdata/json_keys.txt"
	var keys []string
	for verb, v := range map[string]any{
		"bench list": listedCase{}, "bench list --types": listedType{}, "demo": demoSummary{}, "version": versionInfo{},
		"interface hash": hashedInterface{}, "interface list": listedInterface{}, "interface packages": listedPackage{}, "interface show": shownInterface{},
		"topic bw": topicBandwidth{}, "topic delay": topicDelay{}, "topic echo": echoedMessage{}, "topic hz": topicRate{}, "topic info": topicInfo{},
		"topic list": listedTopic{}, "topic pub": publishedMessage{}, "topic pub, last line": publishedSummary{}, "topic type": typedTopic{},
	} {
		keys = append(keys, jsonKeys(verb+":", reflect.TypeOf(v))...)
	}
	slices.Sort(keys)
	data, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	kept := strings.FieldsFunc(string(data), func(r rune) bool { return r == '\n' })
	for _, k := range kept {
		if !slices.Contains(keys, k) {
			t.Errorf("%s is gone", k)
		}
	}
	if os.Getenv("UPDATE_JSON_KEYS") != "" && !t.Failed() {
		if err := os.WriteFile(file, []byte(strings.Join(keys, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, k := range keys {
		if !slices.Contains(kept, k) {
			t.Errorf("%s is new: run this test with UPDATE_JSON_KEYS=1", k)
		}
	}
}

// jsonKeys are the paths of the keys that encoding/json writes for a type.
func jsonKeys(prefix string, t reflect.Type) (out []string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		out = append(out, prefix+" "+name)
		out = append(out, jsonKeys(prefix+" "+name, f.Type)...)
	}
	return out
}
