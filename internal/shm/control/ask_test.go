package control

import "testing"

func TestAskRefusesEmptyTexts(t *testing.T) {
	if _, err := Append(nil, Ask{Name: "std_msgs/msg/String"}); err == nil {
		t.Error("an ask without a hash was made")
	}
}
