package eval

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-smc/starling/uq"
)

// scored is ScoreFiles of files p, y and, if it is not empty, w, with these bytes.
func scored(t *testing.T, probs, labels, weights string, names []string) (*Scores, error) {
	t.Helper()
	dir := t.TempDir()
	p, y, w := filepath.Join(dir, "p"), filepath.Join(dir, "y"), ""
	save(t, p, probs)
	save(t, y, labels)
	if weights != "" {
		w = filepath.Join(dir, "w")
		save(t, w, weights)
	}
	return ScoreFiles(p, y, w, names)
}

// Three examples, two classes; the second is wrong. Labels of other types and files are the same labels.
func TestScoreFiles(t *testing.T) {
	probs := npy(t, []int{3, 2}, 0.75, 0.25, 0.5, 0.5, 0, 1)
	want := *uq.Score([]float64{0.75, 0.25, 0.5, 0.5, 0, 1}, 2, []int32{0, 1, 1})
	if want.Accuracy != 2./3 || !(math.Abs(float64(want.NLL)-(math.Log(4./3)+math.Ln2)/3) <= 1e-15) {
		t.Fatalf("scores %+v", want)
	}
	classes := []string{"ash", "birch"}
	for name, c := range map[string]struct {
		labels string
		names  []string
	}{
		"array":                    {integers(0, 1, 1), nil},
		"array, names known":       {integers(0, 1, 1), classes},
		"numbers":                  {"label\n0\n1\n1\n", nil},
		"numbers without header":   {"0\n1\n1\n", nil},
		"numbers, names known":     {"label\n0\n1\n1\n", classes},
		"names":                    {"label\nash\nbirch\nbirch\n", classes},
		"names without header":     {"ash\nbirch\nbirch\n", classes},
		"a header that is a class": {"birch\nash\nbirch\nbirch\n", classes},
		"names that are numbers":   {"label\n7\n3\n3\n", []string{"7", "3"}},
		"names that look like numbers of classes": {"1\n0\n0\n", []string{"1", "0"}},
		"some names are numbers":                  {"1\nx\nx\n", []string{"1", "x"}},
	} {
		s, err := scored(t, probs, c.labels, "", c.names)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s.N != 3 || s.Classes != 2 || s.Particles != 0 || s.Total != nil || fmt.Sprint(s.Evaluation) != fmt.Sprint(want) {
			t.Errorf("%s: %+v, want %+v", name, s, want)
		}
	}
}

// Particles: two that are certain of opposite classes, and one of no weight.
func TestScoreFilesOfParticles(t *testing.T) {
	probs := npy(t, []int{3, 1, 2}, 1, 0, 0, 1, 0.5, 0.5)
	s, err := scored(t, probs, integers(0), npy(t, []int{3}, 2, 2, 0), nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.Particles != 3 || *s.Total != math.Ln2 || *s.Aleatoric != 0 || *s.Epistemic != math.Ln2 || s.Accuracy != 1 {
		t.Errorf("%+v", s)
	}
	equal, err := scored(t, probs, integers(0), "", nil)
	if err != nil || !(math.Abs(float64(*equal.Aleatoric)-math.Ln2/3) <= 1e-15) {
		t.Errorf("equal weights: %+v, %v", equal, err)
	}
}

// Every fault is an InputError with file and place.
func TestScoreFilesErrors(t *testing.T) {
	good := npy(t, []int{3, 2}, 0.75, 0.25, 0.5, 0.5, 0, 1)
	particles := npy(t, []int{3, 1, 2}, 1, 0, 0, 1, 0.5, 0.5)
	rows := func(values ...float64) string { return npy(t, []int{len(values) / 2, 2}, values...) }
	classes := []string{"ash", "birch"}
	for name, c := range map[string]struct {
		probs, labels, weights string
		names                  []string
		want                   string
	}{
		"logits":           {rows(0.5, 0.5, 3, -1), integers(0, 1), "", nil, "p: row 1, class 1 is -1: want probabilities; are these logits?"},
		"sum":              {rows(0.5, 0.5, 1, 1), integers(0, 1), "", nil, "p: row 1 sums to 2, not 1: want probabilities; are these logits?"},
		"NaN":              {rows(0.5, 0.5, math.NaN(), 1), integers(0, 1), "", nil, "p: row 1, class 0 is NaN"},
		"off":              {npy(t, []int{1, 1, 2}, 0.51, 0.5), integers(0), "", nil, "p: particle 0, row 0 sums to 1.01"},
		"flat":             {npy(t, []int{3}, 0.2, 0.3, 0.5), integers(0), "", nil, "p: shape [3], want probabilities"},
		"nothing":          {npy(t, []int{0, 2}), integers(0), "", nil, "nothing to score"},
		"an archive":       {"PK\x03\x04", integers(0), "", nil, "p: is a zip archive"},
		"few labels":       {good, integers(0, 1), "", nil, "y has 2 labels, [2], for 3 examples in"},
		"many classes":     {good, integers(0, 1, 2), "", nil, "y: label 2 of example 2:"},
		"labels of floats": {good, npy(t, []int{3}, 0, 1, 1), "", nil, "y: labels of type float64, want integers"},
		"half":             {good, "label\n0\n0.5\n1\n", "", nil, "y: line 3: label 0.5: classes are integers from 0"},
		"half, names":      {good, "label\n0\n0.5\n1\n", "", classes, "y: line 3: label 0.5: classes are integers from 0"},
		"two columns":      {good, "row,label\n0,0\n1,1\n2,1\n", "", nil, "y has 2 columns, want one of labels"},
		"two of names":     {good, "row,label\n0,ash\n1,ash\n2,ash\n", "", classes, "y has more than one column, want one of labels"},
		"names without a run": {good, "label\nash\nbirch\nash\n", "", nil,
			`y: line 2, column 1 (label): "ash" is not a number: classes are integers from 0, or also names if their run is given`},
		"an unknown name":  {good, "label\nash\nbirhc\nash\n", "", classes, `y: line 3: "birhc" is not a class of the run: did you mean "birch"? (classes: "ash", "birch")`},
		"the first":        {good, "pine\nbirch\nash\n", "", classes, `y: line 1: "pine" is not a class of the run (classes: "ash", "birch")`},
		"an empty cell":    {good, "label\nash\n\nash\n", "", classes, `y: line 3: "" is not a class of the run`},
		"names and number": {good, "label\nash\n1\nash\n", "", classes, `y: line 3: "1" is not a class of the run`},
		"few names":        {good, "birch\nash\n", "", classes, "y has 2 labels, [2], for 3 examples"},
		"few columns":      {good, "ash\nash\nbirch\n", "", append(classes, "oak"), `p: shape [3 2] has 2 classes, the run has 3: want a column for each, in the order of the run's names ("ash", "birch", "oak")`},
		"many columns":     {good, integers(0, 0, 1), "", classes[:1], "p: shape [3 2] has 2 classes, the run has 1: want a column for each"},
		"weights' shape":   {particles, integers(1), npy(t, []int{2}, 1, 1), nil, "w: weights of shape [2] for 3 particles, want [3]"},
		"log-weights":      {particles, integers(1), npy(t, []int{3}, -1, -2, 0), nil, "w: weight 0 is -1: want a number from 0 (weights, not their logarithms)"},
		"all dead":         {particles, integers(1), npy(t, []int{3}, 0, 0, 0), nil, "w: the weights sum to 0"},
		"weights of none":  {good, integers(0, 1, 1), npy(t, []int{3}, 1, 1, 1), nil, "w: weights for particles, but"},
	} {
		var bad *InputError
		if _, err := scored(t, c.probs, c.labels, c.weights, c.names); !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := ScoreFiles(filepath.Join(t.TempDir(), "nowhere"), "", "", nil); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := scored(t, rows(0.5005, 0.5), integers(0), "", nil); err != nil {
		t.Errorf("a row that is off by rounding: %v", err)
	}
}
