package presets

import (
	"strings"
	"testing"
)

// TestTable: every line of the template stands where what it needs is given, and no other; comments begin at one column, unless the text
// before is longer.
func TestTable(t *testing.T) {
	least := Table{Name: "NAME", File: "FILE", Target: "TARGET", Folder: "FOLDER", Size: "SIZE", Kind: "KIND", Layers: "ACT, ", Likelihood: "LIKE", Move: "MOVE"}
	most := least
	most.Delimiter, most.Header, most.Drop, most.Keep, most.Missing, most.OneHot, most.Constant, most.Counted = "DELIM", "HEADER", "DROP", "KEEP", "MISSING", "ONEHOT", "CONSTANT", "COUNTED"
	most.Numbered, most.Doubtful = "NUMBERED", "DOUBTFUL"
	most.Unlike, most.Units, most.Empty, most.StandsFor = "UNLIKE", "UNITS", "EMPTY", "MEAN"
	most.File = strings.Repeat("größe", 20)
	if text := string(least.Config()); strings.Count(text, "drop:") != 1 {
		t.Errorf("no example of columns to drop:\n%s", text)
	}
	for _, table := range []Table{least, most} {
		text := string(table.Config())
		given := map[string]string{
			"delimiter: DELIM ": table.Delimiter, "header: HEADER": table.Header, "missing: indicator ": table.Missing, "other: zeros ": table.OneHot, "    keep: KEEP ": table.Keep, "    # keep: COUNTED ": table.Counted,
			"    # drop: DOUBTFUL ": table.Doubtful, "number them: NUMBERED": table.Numbered, "other rows: UNLIKE": table.Unlike, "alone): UNITS": table.Units,
			"    drop: DROP ": table.Drop, "all rows: CONSTANT": table.Constant, "all rows: EMPTY": table.Empty, "MISSING: MEAN stands for": table.Missing,
			"name: NAME": "yes", "target: TARGET": "yes", "file: " + table.File: "yes", "predict FOLDER ": "yes", "SIZE": "yes", "# KIND": "yes", "ACT": "yes", "likelihood: LIKE": "yes", "move: MOVE": "yes",
		}
		for line, by := range given {
			if strings.Contains(text, line) != (by != "") {
				t.Errorf("%q, given by %q:\n%s", line, by, text)
			}
		}
		for line := range strings.Lines(text) {
			k := strings.LastIndex(line, "  # ")
			before := line[:max(k, 0)]
			if n := len([]rune(before)) + 2; k > 4 && n != 37 && before[len(before)-1] == ' ' || strings.Contains(line, "\t") || strings.TrimRight(line, " \n") != strings.TrimRight(line, "\n") {
				t.Errorf("a comment at column %d: %q", n, line)
			}
		}
	}
}
