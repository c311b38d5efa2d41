package pool

import (
	"os"
	"strings"
	"testing"
)

func TestBoundsFromEnvironment(t *testing.T) {
	type read func(func(string)) int64
	for _, c := range []struct {
		name  string
		read  read
		value string
		want  int64
		warns bool
	}{
		{EnvRetain, RetainFromEnv, "1048576", 1 << 20, false},
		{EnvRetain, RetainFromEnv, "0", 0, false},
		{EnvRetain, RetainFromEnv, "", DefaultRetain, true},
		{EnvRetain, RetainFromEnv, "16M", DefaultRetain, true},
		{EnvRetain, RetainFromEnv, "-1", DefaultRetain, true},
		{EnvRetain, RetainFromEnv, "1e6", DefaultRetain, true},
		{EnvRetain, RetainFromEnv, " 5", DefaultRetain, true},
		{EnvRetain, RetainFromEnv, "99999999999999999999", DefaultRetain, true},
		{EnvShmLimit, ShmLimitFromEnv, "67108864", 64 << 20, false},
		{EnvShmLimit, ShmLimitFromEnv, "0", DefaultShmLimit, true},
		{EnvShmLimit, ShmLimitFromEnv, "", DefaultShmLimit, true},
		{EnvShmLimit, ShmLimitFromEnv, "lots", DefaultShmLimit, true},
	} {
		t.Setenv(c.name, c.value)
		var warnings []string
		got := c.read(func(msg string) { warnings = append(warnings, msg) })
		if got != c.want || len(warnings) > 0 != c.warns {
			t.Errorf("%s=%q: %d with warnings %q, want %d and a warning: %v", c.name, c.value, got, warnings, c.want, c.warns)
		}
		for _, w := range warnings {
			if !strings.Contains(w, c.name) {
				t.Errorf("the warning %q does not name the variable", w)
			}
		}
		c.read(nil) // a caller that does not care
	}
}

func TestUnsetIsNoMistake(t *testing.T) {
	for _, name := range []string{EnvRetain, EnvShmLimit} {
		t.Setenv(name, "") // so that it is restored
		os.Unsetenv(name)
	}
	warn := func(msg string) { t.Errorf("unexpected warning: %s", msg) }
	if got := RetainFromEnv(warn); got != DefaultRetain {
		t.Errorf("retain %d, want %d", got, DefaultRetain)
	}
	if got := ShmLimitFromEnv(warn); got != DefaultShmLimit {
		t.Errorf("limit %d, want %d", got, DefaultShmLimit)
	}
}
