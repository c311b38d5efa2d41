package roslog

import (
	"log/slog"
	"testing"
)

func TestLevels(t *testing.T) {
	l := NewLevels(Unset)
	node, child, other := l.Logger("a.b"), l.Logger("a.b.c"), l.Logger("x")
	check := func(step string, want map[*Logger]Level) {
		t.Helper()
		for g, level := range want {
			if got := l.Effective(g.Name); got != level {
				t.Errorf("%s: %s has %v, want %v", step, g.Name, got, level)
			}
			for _, at := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError, SlogFatal} {
				if got, want := g.Enabled(at), LevelOf(at) >= level; got != want {
					t.Errorf("%s: %s at %v: enabled %v, want %v", step, g.Name, at, got, want)
				}
			}
		}
	}
	set := func(name string, level Level) {
		t.Helper()
		if err := l.Set(name, level); err != nil {
			t.Error(err)
		}
	}
	check("the default", map[*Logger]Level{node: Info, child: Info, other: Info})
	set("a", Debug)
	check("a above", map[*Logger]Level{node: Debug, child: Debug, other: Info})
	set("a.b", Error)
	check("its own", map[*Logger]Level{node: Error, child: Error, other: Info})
	set("", Fatal)
	check("the process", map[*Logger]Level{node: Error, child: Error, other: Fatal})
	set("a.b", Unset)
	check("taken away", map[*Logger]Level{node: Debug, child: Debug, other: Fatal})
	late := l.Logger("a.z")
	check("made later", map[*Logger]Level{late: Debug})
	l.Drop(node)
	set("a", Warn)
	if !node.Enabled(slog.LevelDebug) {
		t.Error("a dropped logger followed")
	}
	for _, bad := range []Level{5, 60, 255} {
		if err := l.Set("a", bad); err == nil {
			t.Errorf("took level %d", bad)
		}
	}
	if l.Own("a") != Warn || l.Own("a.b") != Unset || l.Own("") != Fatal {
		t.Error("own levels are wrong")
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{"/talker": "talker", "/a/b/talker": "a.b.talker"} {
		if got := LoggerName(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for level, want := range map[slog.Level]Level{-8: Debug, -4: Debug, -1: Debug, 0: Info, 3: Info, 4: Warn, 8: Error, 11: Error, 12: Fatal, 100: Fatal} {
		if got := LevelOf(level); got != want {
			t.Errorf("%v: %v, want %v", level, got, want)
		}
	}
}
