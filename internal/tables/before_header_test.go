package tables

import (
	"strings"
	"testing"
)

// TestBeforeHeader: lines before the header, and one of units below it, are named. What only looks like them is read.
func TestBeforeHeader(t *testing.T) {
	const rows = "1,2,3\n4,5,6\n7,8,9\n"
	for _, c := range []struct{ text, want string }{
		{"% made by us\na,b,y\n" + rows, "line 1 is no header: line 2 has the column \"y\": remove line 1"},
		{"; made, by, us\na,b,y\n" + rows, "line 2 has the column"},
		{"-- made\n-- by us\na,b,y\n" + rows, "line 1 is no header: line 3 has the column \"y\": remove the lines before it"},
		{"! made\na,b,y\n" + rows, "line 2 has the column"},
		{"\"# made, by us\"\na,b,y\n" + rows, "line 1"},
		{"# made, by us, in 2024\na,b,y\n" + rows, "line 2 has the column"},
		{"Report: sales 2024\n\na,b,y\n" + rows, "line 3 has the column"},
		{",,,\na,b,y\n" + rows, "line 2 has the column"},
		{"Report\na;b;y\n1;2;3\n4;5;6\n", "line 2 has the column"},
		{"a,b,y\nkg,m,EUR\n" + rows, "line 2 has no numbers, as \"kg\""},
		{"a,b,y\nfloat,float,float\n" + rows, "units or types: remove it"},
		{"a,b,y\nkg,,\n" + rows, "units or types"},
		{"a,b,y\nkg,m,EUR\nNA,?,1\n" + rows, "units or types"},
		{"\"y\"\nA00\n\"\"\n2\n", ""},
		{"a,b,y\n" + rows, ""},
		{"a,b,y\nred,x,no\nblue,z,yes\nred,z,y\n", ""},
		{"a,b,y\nred,1,1\nblue,2,2\nred,2,3\n", ""},
		{"a,b,y\nNA,,\n" + rows, ""},
		{"a,b,y\n-,?,NA\n" + rows, ""},
		{"a,b,y\n1,2,y\n3,4,n\n", ""},
		{"a b,b,\"y\"\n" + rows, ""},
		{"a y\n1 2\n3 4\n5 6\n", ""},
		{"y\n1\n2\n3\n", ""},
		{"kg\ny\n1\n2\n3\n", "line 2 has the column"},
	} {
		_, err := decode("f", []byte(c.text), CSV{Target: "y", Words: true})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}
