package rosargs

import "testing"

// What rcl's lexer finds at the beginning of these texts, by its own tests.
func TestLexer(t *testing.T) {
	for _, c := range []struct {
		text string
		kind lexeme
		n    int
	}{
		{"", lexEnd, 0},
		{"foo", lexToken, 3}, {"foo/", lexToken, 3}, {"foo_", lexToken, 4}, {"foo_:", lexToken, 4}, {"_", lexToken, 1}, {"A", lexToken, 1},
		{"@", lexBad, 1}, {"[", lexBad, 1}, {"`", lexBad, 1}, {"{", lexBad, 1}, {"0", lexBad, 1}, {"9", lexBad, 1}, {"é", lexBad, 1}, {" ", lexBad, 1},
		{"_abcd", lexToken, 5}, {"ab_cd", lexToken, 5}, {"_a_b_c_d_", lexToken, 9},
		{"_a__bcd", lexToken, 3}, {"a__bcd", lexToken, 2}, {"A__bcd", lexToken, 2}, {"__a", lexBad, 1}, {"__A", lexBad, 1},
		{"_0_", lexToken, 3}, {"a0a", lexToken, 3}, {"_9", lexToken, 2},
		{"ro", lexToken, 2}, {"rosservice", lexToken, 10}, {"rosservice:", lexToken, 10}, {"rosservice:=", lexToken, 10},
		{"rosservice:/", lexToken, 10}, {"rosservice:/a", lexToken, 10}, {"rostopic:/a", lexToken, 8}, {"rostopi", lexToken, 7},
		{"rosservice://", lexServiceURL, 13}, {"rosservice:///", lexServiceURL, 13}, {"rostopic://abcd", lexTopicURL, 11},
		{`\1`, lexBackReference, 2}, {`\9a`, lexBackReference, 2}, {`\0`, lexBad, 1}, {`\a`, lexBad, 1}, {`\`, lexBad, 1},
		{"/", lexSlash, 1}, {"//", lexSlash, 1}, {"/_", lexSlash, 1},
		{"*", lexOne, 1}, {"*/", lexOne, 1}, {"**", lexMany, 2}, {"**/", lexMany, 2},
		{":", lexColon, 1}, {":r", lexColon, 1}, {":=", lexSeparator, 2}, {":=0", lexSeparator, 2}, {"::=", lexColon, 1},
		{"__ns", lexNamespace, 4}, {"__nsssss", lexNamespace, 4}, {"__", lexBad, 1}, {"__n", lexBad, 1}, {"__n!", lexBad, 1},
		{"__name", lexNode, 6}, {"__namessss", lexNode, 6}, {"__na", lexBad, 1}, {"__nama", lexBad, 1}, {"__node", lexNode, 6}, {"__nodessss", lexNode, 6},
		{"~/", lexTilde, 2}, {"~", lexBad, 1}, {"~a", lexBad, 1}, {".", lexDot, 1},
	} {
		if kind, n := cutLexeme(c.text); kind != c.kind || n != c.n {
			t.Errorf("%q: %s of %d, want %s of %d", c.text, kind, n, c.kind, c.n)
		}
	}
}
