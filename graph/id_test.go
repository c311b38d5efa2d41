package graph

import (
	"strings"
	"testing"
)

func TestIDText(t *testing.T) {
	// Wire bytes and text as seen on the wire of a Zenoh session.
	id := ID{0x05, 0x09, 0xfe, 0x55, 0x40, 0x6f, 0x0b, 0xb7, 0xbb, 0x83, 0x19, 0x71, 0x1c, 0x8c, 0x7f, 0x77}
	if id.String() != zid {
		t.Errorf("String: %s, want %s", id, zid)
	}
	if got := mustID(t, zid); got != id {
		t.Errorf("ParseID: % x", got)
	}
	short := mustID(t, "a05")
	if short != (ID{0x05, 0x0a}) || short.text() != "a05" || short.String() != strings.Repeat("0", 29)+"a05" {
		t.Errorf("short id: % x, %q, %q", short, short.text(), short.String())
	}
	for _, s := range []string{"", "0", strings.Repeat("0", 32), zid + "0", "AB", "0x1", "g", "a b", "-1"} {
		if id, err := ParseID(s); err == nil {
			t.Errorf("%q was read as %s", s, id)
		}
	}
}

func TestNewID(t *testing.T) {
	seen := map[ID]bool{}
	for range 2000 {
		id := NewID()
		if seen[id] {
			t.Fatalf("%s twice", id)
		}
		seen[id] = true
		if id.text() != id.String() || len(id.String()) != 32 {
			t.Fatalf("%s has a short form", id)
		}
		if got := mustID(t, id.String()); got != id {
			t.Fatalf("%s reads back as %s", id, got)
		}
	}
}

func TestIDCompare(t *testing.T) {
	a, b := mustID(t, "ff"), mustID(t, "100")
	if a.Compare(b) != -1 || b.Compare(a) != 1 || a.Compare(a) != 0 {
		t.Error("IDs are not ordered as numbers")
	}
}
