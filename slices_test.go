package starling

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
)

// TestSlicesFitAsFiles: the same rows as a table, as float64 arrays in files and as slices in memory make the same run, whose
// predictions and scores are the same to the last bit. One input is a time in seconds, which float32 cannot tell from the next;
// so is a target.
func TestSlicesFitAsFiles(t *testing.T) {
	const n = 80
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	var flat, y []float64
	var x [][]float64
	var labels []int
	numbers, classes := "t,u,y\n", "t,u,y\n"
	bytes := []byte{0, 0, 8, 1, 0, 0, 0, n} // IDX
	for i := range n {
		a, b := 1.7e9+20*math.Sin(float64(i)), math.Cos(float64(3*i))/7
		v := 3e9 + 20*b + (a-1.7e9)/3
		x, flat, y, labels, bytes = append(x, []float64{a, b}), append(flat, a, b), append(y, v), append(labels, i%2), append(bytes, byte(i%2))
		numbers += fmt.Sprintf("%v,%v,%v\n", a, b, v)
		classes += fmt.Sprintf("%v,%v,%d\n", a, b, i%2)
	}
	save(t, file("x.npy"), npy(t, []int{n, 2}, flat...))
	save(t, file("y.npy"), npy(t, []int{n}, y...))
	save(t, file("labels.idx"), bytes)
	save(t, file("rows.csv"), []byte(numbers))
	// A table of classes is divided by class, and arrays are not, so the parts of classes have files of their own.
	const held = 8
	classesOf := strings.SplitAfter(classes, "\n")
	rows := func(from, to int) string { return classesOf[0] + strings.Join(classesOf[1+from:1+to], "") }
	part := func(name string, from, to int) string {
		save(t, file(name+".csv"), []byte(rows(from, to)))
		save(t, file(name+".npy"), npy(t, []int{to - from, 2}, flat[2*from:2*to]...))
		save(t, file(name+".idx"), slices.Concat([]byte{0, 0, 8, 1, 0, 0, 0, byte(to - from)}, bytes[8+from:8+to]))
		return file(name)
	}
	train, test, validate := part("train", 0, n-2*held), part("test", n-2*held, n-held), part("validate", n-held, n)
	slice := func(from, to int) *data.Slices { return &data.Slices{Inputs: x[from:to], Labels: labels[from:to]} }
	for _, c := range []struct {
		table, arrays, targets, likelihood, standardise string
		memory                                          data.Memory
	}{
		{
			fmt.Sprintf("csv: {file: %s.csv, test: %s.csv, validate: %s.csv, target: y}", train, test, validate),
			fmt.Sprintf("train: {inputs: %[1]s.npy, targets: %[1]s.idx}, test: {inputs: %[2]s.npy, targets: %[2]s.idx}, validate: {inputs: %[3]s.npy, targets: %[3]s.idx}", train, test, validate),
			"labels.idx", "bernoulli", "inputs", data.Memory{Train: slice(0, n-2*held), Test: slice(n-2*held, n-held), Validate: slice(n-held, n)},
		},
		{
			fmt.Sprintf("csv: {file: %s, target: y}", file("rows.csv")), fmt.Sprintf("train: {inputs: %s, targets: %s}", file("x.npy"), file("y.npy")),
			"y.npy", "{gaussian: {sd: learned}}", "both", data.Memory{Train: &data.Slices{Inputs: x, Targets: y}},
		},
	} {
		table := tiny(t, fmt.Sprintf("{%s, standardise: %s}", c.table, c.standardise), c.likelihood, 1, "seed=5")
		arrays := tiny(t, fmt.Sprintf("{%s, standardise: %s}", c.arrays, c.standardise), c.likelihood, 1, "seed=5")
		memory := tiny(t, fmt.Sprintf("{memory: {}, standardise: %s}", c.standardise), c.likelihood, 1, "seed=5")
		if _, err := Fit(t.Context(), memory, Options{}); err == nil {
			t.Errorf("%s: a config without examples is fitted", c.likelihood)
		}
		memory.Data.Memory = &c.memory
		var first *Run
		var want [][]string
		var nll []float64
		for _, spec := range []Spec{table, arrays, memory} {
			r, folder := kept(t, spec)
			run, err := OpenRun(folder)
			if err != nil {
				t.Fatal(err)
			}
			if run.Spec.Data.Memory != nil {
				run.Spec.Data.Memory = spec.Data.Memory // whoever opens the run gives the examples again
			}
			if first == nil {
				first, want = run, predicted(t, run, file("x.npy"))
			}
			if !slices.Equal(run.Posterior.Theta, first.Posterior.Theta) || !slices.Equal(run.Posterior.LogWeights, first.Posterior.LogWeights) {
				t.Errorf("%s: another posterior than of the table", spec.YAML())
			}
			if a, b := run.Schema, first.Schema; !reflect.DeepEqual(a.Inputs, b.Inputs) || !reflect.DeepEqual(a.Targets, b.Targets) {
				t.Errorf("%s: measured %v %v, of the table %v %v", spec.YAML(), a.Inputs, a.Targets, b.Inputs, b.Targets)
			}
			if got := predicted(t, run, file("x.npy")); !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("%s: %v, want %v", spec.YAML(), got[1], want[1])
			}
			for _, on := range []On{{}, {Data: file("x.npy"), Labels: file(c.targets), OOD: []string{file("x.npy")}}} {
				a, err := run.Evaluate(t.Context(), on, Options{})
				if err != nil {
					t.Fatal(err)
				}
				if nll = append(nll, float64(a.Metrics.NLL)); on.Data == "" && a.Metrics.NLL != r.Metrics.NLL {
					t.Errorf("%s: NLL %v, was %v", spec.YAML(), a.Metrics.NLL, r.Metrics.NLL)
				}
				if on.OOD != nil && !slices.Equal(a.Problem.Groups[0].Set.F32, a.Problem.Test.F32) {
					t.Errorf("%s: a group is not seen as the test examples are", spec.YAML())
				}
			}
		}
		if nll[0] != nll[2] || nll[0] != nll[4] || nll[1] != nll[3] || nll[1] != nll[5] || nll[0] == nll[1] {
			t.Errorf("%s: NLL %v", c.table, nll)
		}
	}
}

// TestSlicesAreTheRuns: a run of slices is resumed and evaluated with the same slices, and with no others.
func TestSlicesAreTheRuns(t *testing.T) {
	spec := tiny(t, "{memory: {}}", "categorical", 2)
	make := func(shift float64) *data.Memory {
		s := new(data.Slices)
		for i := range 40 {
			s.Inputs, s.Labels = append(s.Inputs, []float64{math.Sin(float64(i)) + shift, float64(i%2) - 0.5}), append(s.Labels, i%2)
		}
		return &data.Memory{Train: s}
	}
	spec.Data.Memory = make(0)
	dir := filepath.Join(t.TempDir(), "run")
	interruptAfter(t, dir, spec, 6)
	other := spec
	other.Data.Memory = make(1e-3)
	var another *OtherRunError
	if _, err := resume(t.Context(), dir, other, Options{}); !errors.As(err, &another) || !strings.Contains(err.Error(), "train examples") {
		t.Errorf("resumed with other slices: %v", err)
	}
	if _, err := resume(t.Context(), dir, spec, Options{}); err != nil {
		t.Fatal(err)
	}
	run, err := OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		memory *data.Memory
		want   string
	}{{spec.Data.Memory, ""}, {other.Data.Memory, "are not those of the run"}, {run.Spec.Data.Memory, "Memory"}} {
		run.Spec.Data.Memory = c.memory
		if _, err := run.Evaluate(t.Context(), On{}, Options{}); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("evaluated with slices: %v, want %q", err, c.want)
		}
	}
}
