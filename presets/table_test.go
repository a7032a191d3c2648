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

// TestHead: the template has a line of its own for the share that validates, and each setting at its place.
func TestHead(t *testing.T) {
	h := Head{
		Name: "NAME", Inputs: "IN", Target: "TARGET", Folder: "FOLDER", Size: "SIZE", Kind: "KIND", Standardise: "STD", Scaled: "SCALED", Prior: "PRIOR",
		Likelihood: "LIKE", Move: "MOVE", Descent: "DESCENT", Outputs: 7, Chains: 11, Epochs: 13, States: 17, Batch: 19,
	}
	for _, h.Validate = range []string{"", "0.25"} {
		text := string(h.Config())
		for _, line := range []string{
			"name: NAME\n", "TARGET from IN, SIZE. ", "predict FOLDER ", "  train: {inputs: IN, targets: TARGET}  # KIND\n", "  standardise: STD ", "# SCALED\n",
			"  layers: [{dense: 7}] ", "  likelihood: LIKE\n", "  learned: PRIOR ", "map: {restarts: 11, DESCENT, batch: 19, ", "    chains: 11\n", "    epochs: 13 ",
			"    keep: 17 ", "    move: MOVE\n",
		} {
			if !strings.Contains(text, line) {
				t.Errorf("no %q:\n%s", line, text)
			}
		}
		if strings.Contains(text, "\t") || strings.Contains(text, "  split: {validate: 0.25} ") != (h.Validate != "") || strings.Contains(text, "# a tenth of the rows is held out to validate") == (h.Validate != "") {
			t.Errorf("validate %q:\n%s", h.Validate, text)
		}
	}
}
