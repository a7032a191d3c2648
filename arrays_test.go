package starling

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
)

// TestArraysFitAsTables: the same rows as a table and as float64 arrays make the same run, whose predictions and scores
// are the same to the last bit. One input is a time in seconds, which float32 cannot tell from the next; so is a target.
func TestArraysFitAsTables(t *testing.T) {
	const n = 80
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	array := func(name string, shape []int, values []float64) {
		var b bytes.Buffer
		if err := data.WriteNPY(&b, shape, values); err != nil {
			t.Fatal(err)
		}
		save(t, file(name), b.Bytes())
	}
	var x, y, labels []float64
	rows, classes := "t,u,y\n", "t,u,y\n"
	for i := range n {
		a, b := 1.7e9+20*math.Sin(float64(i)), math.Cos(float64(3*i))/7
		v := 3e9 + 20*b + (a-1.7e9)/3
		x, y, labels = append(x, a, b), append(y, v), append(labels, float64(i%2))
		rows += fmt.Sprintf("%v,%v,%v\n", a, b, v)
		classes += fmt.Sprintf("%v,%v,%d\n", a, b, i%2)
	}
	array("x.npy", []int{n, 2}, x)
	array("y.npy", []int{n}, y)
	save(t, file("labels.csv"), []byte(classes))
	save(t, file("rows.csv"), []byte(rows))
	var b bytes.Buffer
	b.Write(data.NPYHeader([]int{n}))
	header := strings.Replace(b.String(), "<f8", "|u1", 1)
	for _, v := range labels {
		header += string(rune(v))
	}
	save(t, file("labels.npy"), []byte(header))
	for _, c := range []struct{ table, targets, likelihood, standardise string }{
		{"labels.csv", "labels.npy", "bernoulli", "inputs"},
		{"rows.csv", "y.npy", "{gaussian: {sd: learned}}", "both"},
	} {
		sets := []string{"seed=5"}
		tableRun := tiny(t, fmt.Sprintf("{csv: {file: %s, target: y}, standardise: %s}", file(c.table), c.standardise), c.likelihood, 1, sets...)
		arrayRun := tiny(t, fmt.Sprintf("{train: {inputs: %s, targets: %s}, standardise: %s}", file("x.npy"), file(c.targets), c.standardise), c.likelihood, 1, sets...)
		if a, b := tableRun.Schema, arrayRun.Schema; !reflect.DeepEqual(a.Inputs, b.Inputs) || !reflect.DeepEqual(a.Targets, b.Targets) {
			t.Errorf("%s: measured %v %v, of the arrays %v %v", c.table, a.Inputs, a.Targets, b.Inputs, b.Targets)
		}
		want := predicted(t, tableRun, file(c.table))
		for _, run := range []*Run{tableRun, arrayRun} {
			if got := predicted(t, run, file("x.npy")); !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("%s: %v of arrays, %v of the table", c.table, got[1], want[1])
			}
		}
		var nll []float64
		for _, on := range []On{{}, {Data: file("x.npy"), Labels: file(c.targets), OOD: []string{file("x.npy")}}} {
			for _, run := range []*Run{tableRun, arrayRun} {
				j, err := run.Judge(t.Context(), on, Options{})
				if err != nil {
					t.Fatal(err)
				}
				nll = append(nll, float64(j.Metrics.NLL))
				if on.OOD != nil && !slices.Equal(j.Problem.Groups[0].Set.F32, j.Problem.Test.F32) {
					t.Errorf("%s: a group is not seen as the test examples are", c.table)
				}
			}
		}
		if nll[0] != nll[1] || nll[2] != nll[3] || nll[0] == nll[2] {
			t.Errorf("%s: NLL %v", c.table, nll)
		}
	}
}

// TestConstantFeatures: features of arrays that become 0 are noted, few by name.
func TestConstantFeatures(t *testing.T) {
	const n = 30
	dir := t.TempDir()
	inputs, targets := filepath.Join(dir, "x.npy"), filepath.Join(dir, "y.npy")
	var x, y []float64
	for i := range n {
		x, y = append(x, float64(i), 1e17, 3, math.Sin(float64(i))), append(y, float64(i))
	}
	for file, values := range map[string][]float64{inputs: x, targets: y} {
		var b bytes.Buffer
		if err := data.WriteNPY(&b, []int{n, len(values) / n}, values); err != nil {
			t.Fatal(err)
		}
		save(t, file, b.Bytes())
	}
	for standardise, want := range map[string]string{
		"inputs": "2 features (from 0: 1, 2) are constant over the training examples: the network sees them as 0 everywhere",
		"none":   "",
	} {
		run := tiny(t, fmt.Sprintf("{train: {inputs: %s, targets: %s}, standardise: %s}", inputs, targets, standardise), "{gaussian: {sd: 1}}", 1)
		if got := strings.Join(run.Manifest.Notes, "; "); got != want {
			t.Errorf("%s: notes %q", standardise, got)
		}
	}
	schema := &data.Schema{Inputs: &data.Standard{SD: make([]float64, 784)}}
	if got := alwaysZero(schema); !strings.HasPrefix(got, "784 features (from 0: 0, 1, 2") || !strings.Contains(got, " 19, …) are constant") {
		t.Error(got)
	}
	schema.Inputs.SD = []float64{1, 0}
	if got := alwaysZero(schema); !strings.HasPrefix(got, "feature 1 (from 0) is constant") {
		t.Error(got)
	}
}

// TestChannelsLastNoted: images whose channels seem to come last are noted, and taken as they stand.
func TestChannelsLastNoted(t *testing.T) {
	const n = 20
	dir := t.TempDir()
	file := func(name string, shape ...int) string {
		size := 1
		for _, d := range shape {
			size *= d
		}
		values := make([]float64, size)
		for i := range values {
			values[i] = math.Sin(float64(i))
		}
		var b bytes.Buffer
		if err := data.WriteNPY(&b, shape, values); err != nil {
			t.Fatal(err)
		}
		save(t, filepath.Join(dir, name), b.Bytes())
		return filepath.Join(dir, name)
	}
	targets := file("y.npy", n, 1)
	last, first := file("last.npy", n, 4, 4, 3), file("first.npy", n, 3, 4, 4)
	for inputs, want := range map[string]string{
		last:  last + ": taken as 4 channels of 4×3; images with channels last need np.moveaxis(x, -1, 1)",
		first: "",
	} {
		run := tiny(t, fmt.Sprintf("{train: {inputs: %s, targets: %s}}", inputs, targets), "{gaussian: {sd: 1}}", 1)
		if got := strings.Join(run.Manifest.Notes, "; "); got != want {
			t.Errorf("notes %q, want %q", got, want)
		}
	}
}
