package scans

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestDocs: the examples of docs/scans.md are read as the page says, and each row of its tables gets the message beside it.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../docs/scans.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string]string{}
	for _, m := range regexp.MustCompile("(?s)```(\\w+)\n(.*?)```").FindAllSubmatch(page, -1) {
		blocks[string(m[1])] = string(m[2])
	}
	for _, format := range []string{"json", "csv"} {
		o := Options{}
		if format == "csv" {
			o.Truth = strings.NewReader(blocks["truth"])
		}
		records, faults := all(t, NewReader(strings.NewReader(blocks[format]), o))
		if len(faults) > 0 || len(records) != 3 || records[1].Len() != 0 || records[2].Len() != 2 || records[2].Missing != 1 || len(records[0].Truth) != 1 {
			t.Errorf("%s: %+v, %q", format, records, faults)
		}
	}
	rows := regexp.MustCompile("(?m)^\\| `(.*)` \\| (.*) \\|$").FindAllStringSubmatch(string(page), -1)
	if len(rows) < 19 {
		t.Errorf("%d rows of bad input", len(rows))
	}
	for _, row := range rows {
		before := "time,x,y\n12.5,1,2\n"
		if strings.HasPrefix(row[1], "{") {
			before = `{"time": 12.5, "measurements": [[1, 2]]}` + "\n"
		}
		if _, faults := all(t, NewReader(strings.NewReader(before+row[1]+"\n"), Options{})); len(faults) != 1 || !strings.Contains(faults[0], row[2]) {
			t.Errorf("%s: %q, want %s", row[1], faults, row[2])
		}
	}
}
