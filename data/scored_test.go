package data

import (
	"slices"
	"strings"
	"testing"
)

// TestReadLabels: labels as integers, or by the names of classes.
func TestReadLabels(t *testing.T) {
	dir := t.TempDir()
	words, numbers := []string{"cat", "dog"}, []string{"3", "10"}
	for _, c := range []struct {
		text  string
		names []string
		want  []int32
		err   string
	}{
		{"0\n1\n1\n", nil, []int32{0, 1, 1}, ""},
		{"label\n0\n1\n", nil, []int32{0, 1}, ""},
		{"0\n1\n1\n", words, []int32{0, 1, 1}, ""},
		{"label\n0\n1\n", words, []int32{0, 1}, ""},
		{"dog\ncat\ndog\n", words, []int32{1, 0, 1}, ""},
		{"label\ndog\ncat\n", words, []int32{1, 0}, ""},
		{"3\n10\n3\n", numbers, []int32{0, 1, 0}, ""},
		{"label\n10\n3.0\n", numbers, []int32{1, 0}, ""},
		{"0\n1\n", numbers, []int32{0, 1}, ""},
		{"dog\ncow\ncat\n", words, nil, `line 2: "cow" is no class of the run ("cat", "dog")`},
		{"dog\n\ncat\n", words, nil, `line 2: "" is no class of the run`},
		{"1\ndog\n", words, nil, `line 1: "1" is no class of the run`},
		{"label\n1\ndog\n", words, nil, `line 2: "1" is no class of the run`},
		{"dog\ncat\n", nil, nil, "line 2, column 1 (dog): \"cat\" is not a number"},
		{"0\n-1\n", nil, nil, "line 2: label -1: classes are integers from 0"},
		{"0\n0.5\n", words, nil, "line 2: label 0.5: classes are integers from 0"},
		{"0\n\n1\n", nil, nil, "line 2: label NaN"},
		{"0,1\n", nil, nil, "has 2 columns, want one of labels"},
		{"0,1\n", words, nil, "has 2 columns, want one of labels"},
	} {
		got, err := readLabels(put(t, dir, "labels.csv", c.text), c.names)
		if c.err == "" && (err != nil || !slices.Equal(got, c.want)) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%q, names %q: %v, error %v; want %v %q", c.text, c.names, got, err, c.want, c.err)
		}
	}
}

// TestReadScored: probabilities, labels and weights that fit, and the first thing that does not.
func TestReadScored(t *testing.T) {
	dir := t.TempDir()
	probs := func(shape []int, v ...float64) string { return putNPY(t, dir, "p.npy", shape, v) }
	p, err := ReadProbabilities(probs([]int{2, 1, 2}, 0.25, 0.75, 0.5, 0.5))
	if err != nil || p.Particles != 2 || p.Examples != 1 || p.Classes != 2 || len(p.Values) != 4 {
		t.Fatalf("%+v, %v", p, err)
	}
	if y, err := p.ReadLabels(putLabels(t, dir, "y.npy", []byte{1}), nil); err != nil || !slices.Equal(y, []int32{1}) {
		t.Errorf("labels %v, %v", y, err)
	}
	for want, labels := range map[string][]byte{
		"y.npy: label 2 of example 0: " + p.Name + " has 2 classes, 0 to 1":   {2},
		"y.npy has 2 labels, [2], for 1 examples in " + p.Name + ", [2 1 2]":  {0, 1},
		"y.npy has 0 labels, [0], for 1 examples in " + p.Name + ", [2 1 2]":  {},
		"y.npy: label 255 of example 0: " + p.Name + " has 2 classes, 0 to 1": {255},
		"y.npy has 3 labels, [3], for 1 examples in " + p.Name + ", [2 1 2]":  {0, 1, 0},
		"y.npy has 4 labels, [4], for 1 examples in " + p.Name + ", [2 1 2]":  {0, 1, 9, 9},
	} {
		if _, err := p.ReadLabels(putLabels(t, dir, "y.npy", labels), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	for want, file := range map[string]func() string{
		"shape [2], want probabilities [examples, classes] or":   func() string { return probs([]int{2}, 1, 0) },
		"shape [0 2]: there is nothing to score":                 func() string { return probs([]int{0, 2}) },
		"row 1, class 1 is NaN: want a probability":              func() string { return probs([]int{2, 2}, 1, 0, 1, nan()) },
		"row 0, class 0 is -1: want probabilities; are these lo": func() string { return probs([]int{1, 2}, -1, 2) },
		"row 1 sums to 1.5, not 1: want probabilities; are thes": func() string { return probs([]int{2, 2}, 1, 0, 1, 0.5) },
		"particle 1, row 0 sums to 0, not 1":                     func() string { return probs([]int{2, 1, 2}, 1, 0, 0, 0) },
	} {
		if _, err := ReadProbabilities(file()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if w, err := ReadWeights("", 3); err != nil || !slices.Equal(w, []float64{1, 1, 1}) {
		t.Errorf("no weights: %v, %v", w, err)
	}
	if w, err := ReadWeights(putNPY(t, dir, "w.npy", []int{2}, []float64{0, 3}), 2); err != nil || !slices.Equal(w, []float64{0, 3}) {
		t.Errorf("weights %v, %v", w, err)
	}
	for want, w := range map[string][]float64{
		"w.npy: weights of shape [3] for 2 particles, want [2]": {1, 2, 3},
		"w.npy: weight 1 is -1: want a number from 0 (weights":  {1, -1},
		"w.npy: weight 0 is NaN: want a number from 0":          {nan(), 1},
		"w.npy: the weights sum to 0":                           {0, 0},
		"w.npy: the weights sum to +Inf":                        {1e308, 1e308},
	} {
		if _, err := ReadWeights(putNPY(t, dir, "w.npy", []int{len(w)}, w), 2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
