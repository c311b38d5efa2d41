package rosargs

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFromEnv(t *testing.T) {
	for _, c := range []struct {
		env  string
		want Environment
	}{
		{"", Environment{}},
		{"ROS_DOMAIN_ID=42", Environment{DomainID: 42}},
		{"ROS_DOMAIN_ID=0x10", Environment{DomainID: 16}},
		{"ROS_DOMAIN_ID=010", Environment{DomainID: 8}},
		{"ROS_DOMAIN_ID=232", Environment{DomainID: 232}},
		{"ROS_AUTOMATIC_DISCOVERY_RANGE=SUBNET", Environment{}},
		{"ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST", Environment{Range: Localhost}},
		{"ROS_AUTOMATIC_DISCOVERY_RANGE=OFF", Environment{Range: Off}},
		{"ROS_AUTOMATIC_DISCOVERY_RANGE=SYSTEM_DEFAULT", Environment{Range: SystemDefault}},
		{"ROS_AUTOMATIC_DISCOVERY_RANGE=off", Environment{Range: Localhost, Warnings: []string{""}}},
		{"ROS_STATIC_PEERS=a;10.0.0.1; ;b", Environment{StaticPeers: []string{"a", "10.0.0.1", "b"}}},
		{"ROS_LOCALHOST_ONLY=0", Environment{}},
		{"ROS_LOCALHOST_ONLY=1", Environment{Range: Localhost, Warnings: []string{""}}},
		{"ROS_LOCALHOST_ONLY=1 ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST", Environment{Range: Localhost}},
		{"ROS_LOCALHOST_ONLY=1 ROS_STATIC_PEERS=a ROS_AUTOMATIC_DISCOVERY_RANGE=OFF", Environment{Range: Localhost, Warnings: []string{""}}},
	} {
		got, err := FromEnv(lookup(c.env), 232)
		if err != nil {
			t.Errorf("%s: %v", c.env, err)
		}
		for i := range got.Warnings {
			got.Warnings[i] = "" // how many there are
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.env, d)
		}
	}
	for _, id := range []string{"-1", "233", "12abc", "a", "1_0", "99999999999999999999", "+5", "1.0"} {
		if _, err := FromEnv(lookup("ROS_DOMAIN_ID="+id), 232); err == nil || !strings.Contains(err.Error(), id) {
			t.Errorf("ROS_DOMAIN_ID=%s: %v", id, err)
		}
	}
}

func lookup(env string) func(string) string {
	return func(name string) string {
		for pair := range strings.SplitSeq(env, "ROS_") {
			if key, value, ok := strings.Cut(strings.TrimSpace(pair), "="); ok && "ROS_"+key == name {
				return value
			}
		}
		return ""
	}
}
