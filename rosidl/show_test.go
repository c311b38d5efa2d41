package rosidl

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestShow(t *testing.T) {
	set, err := load(t, map[string]string{
		"std_msgs/msg/Header.msg":         "# When.\n\nbuiltin_interfaces/Time stamp  # of acquisition\nstring frame_id\n",
		"builtin_interfaces/msg/Time.msg": "# A time.\nint32 sec # seconds\nuint32 nanosec\n",
		"a/msg/Scan.msg":                  "# One scan.\n\nstd_msgs/Header header\nfloat32[] ranges # metres\nInner[2] two\n\n",
		"a/msg/Inner.msg":                 "int8 A=1  # one\nint8   x\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	for c, want := range map[Comments]string{
		TopComments: "# One scan.\n\nstd_msgs/Header header\n\tbuiltin_interfaces/Time stamp\n\t\tint32 sec\n\t\tuint32 nanosec\n\tstring frame_id\n" +
			"float32[] ranges # metres\nInner[2] two\n\tint8 A=1\n\tint8   x\n\n",
		NoComments: "std_msgs/Header header\n\tbuiltin_interfaces/Time stamp\n\t\tint32 sec\n\t\tuint32 nanosec\n\tstring frame_id\n" +
			"float32[] ranges\nInner[2] two\n\tint8 A=1\n\tint8   x\n",
		AllComments: "# One scan.\n\nstd_msgs/Header header\n\t# When.\n\n\tbuiltin_interfaces/Time stamp  # of acquisition\n\t\t# A time.\n\t\tint32 sec # seconds\n\t\tuint32 nanosec\n\tstring frame_id\n" +
			"float32[] ranges # metres\nInner[2] two\n\tint8 A=1  # one\n\tint8   x\n\n",
	} {
		got, err := set.Show("a/msg/Scan", c)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%d: %v\n%s", c, err, diff)
		}
	}
	if _, err := set.Show("a/msg/None", TopComments); err == nil {
		t.Error("an unknown type was shown")
	}
	if diff := cmp.Diff([]string{"a", "builtin_interfaces", "std_msgs"}, set.Packages()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a/msg/Inner", "a/msg/Scan", "builtin_interfaces/msg/Time", "std_msgs/msg/Header"}, set.List(KindMessage)); diff != "" {
		t.Error(diff)
	}
}
