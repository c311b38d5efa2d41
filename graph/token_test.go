package graph

import "testing"

const talker = "@ros2_lv/0/0123456789abcdef0123456789abcdef/0/3/MP/%/%/talker/%chatter/std_msgs::msg::dds_::String_/RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18/::,7:,:,:,,"

func TestTokenGIDGolden(t *testing.T) {
	if got := TokenGID(talker).Hex(); got != "cd4d128892173f43f99a74ef799efb1c" {
		t.Errorf("got %s", got)
	}
}
