package starling

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/rng"
)

// threeSlices are examples in memory of three classes, in four parts.
func threeSlices(seed uint64) *data.Memory {
	r := rng.Key{Seed: seed, Purpose: rng.Synthetic}.Stream()
	part := func(n int) *data.Slices {
		s := &data.Slices{}
		for range n {
			y := r.IntN(3)
			s.Inputs, s.Labels = append(s.Inputs, []float64{float64(y) + r.Normal(), r.Normal()}), append(s.Labels, y)
		}
		return s
	}
	return &data.Memory{
		Train: part(60), Validate: part(40), Test: part(50), Calibrate: part(80),
		Foreign: []data.MemoryGroup{{Name: "far", Slices: data.Slices{Inputs: [][]float64{{30, 30}, {-20, 9}, {8, -40}, {9, 9}, {-9, 9}, {12, 0}}}}},
	}
}

// deciding is a config that decides all there is to decide.
const deciding = `
name: deciding
data: {memory: {}}
model: {input: [2], layers: [{dense: 4}, tanh, {dense: 3}], likelihood: categorical}
prior: {normal: {variance: 1}}
map: {restarts: 3, epochs: 8}
method: {mcmc: {chains: 2, epochs: 60, keep: 6, move: {pcn: {}}}}
decide: {temperature: true, sets: {score: aps, rate: 0.9}, abstain: {by: classifier, at: f1}}
`

// TestTestExamplesTeachNothing: whatever the test examples are, what a run decides by is the same, byte for byte. Other calibration or validation
// examples change it.
func TestTestExamplesTeachNothing(t *testing.T) {
	decision := func(change func(m *data.Memory)) []byte {
		spec, err := ParseSpec("deciding.yaml", []byte(deciding))
		if err != nil {
			t.Fatal(err)
		}
		spec.Data.Memory = threeSlices(1)
		change(spec.Data.Memory)
		_, dir := kept(t, spec)
		return read(t, dir, decisionFile)
	}
	other := threeSlices(2)
	was := decision(func(*data.Memory) {})
	if got := decision(func(m *data.Memory) { m.Test = other.Test }); !bytes.Equal(got, was) {
		t.Errorf("with other test examples the decision is\n%s, was\n%s", got, was)
	}
	if bytes.Equal(decision(func(m *data.Memory) { m.Calibrate = other.Calibrate }), was) || bytes.Equal(decision(func(m *data.Memory) { m.Validate = other.Validate }), was) {
		t.Error("other examples teach the same decision: the test says nothing")
	}
}

// TestLessonsAreNoTestExamples: what learns a decision takes data.Lessons and neither sets nor problems, and only Problem.Lessons makes these: it reads the
// training, validation and calibration part and the foreign inputs.
func TestLessonsAreNoTestExamples(t *testing.T) {
	for name, learns := range map[string]any{"Decide": eval.Decide, "ForLast": eval.ForLast} {
		f := reflect.TypeOf(learns)
		takes := ""
		for i := range f.NumIn() {
			takes += f.In(i).String() + " "
		}
		if !strings.Contains(takes, "data.Lessons") || strings.Contains(takes, "data.Set") || strings.Contains(takes, "data.Problem") {
			t.Errorf("eval.%s takes %s", name, takes)
		}
	}
	files, err := filepath.Glob("data/*.go")
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	look := func(n ast.Node) bool {
		literal, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		if name, ok := literal.Type.(*ast.Ident); !ok || name.Name != "Lessons" {
			return true
		}
		made++
		for _, e := range literal.Elts {
			read := e.(*ast.KeyValueExpr).Value.(*ast.SelectorExpr).Sel.Name
			if !strings.Contains("Train Validate Calibrate Foreign", read) {
				t.Errorf("Lessons have the problem's %s", read)
			}
		}
		return true
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, look)
	}
	if made != 1 {
		t.Errorf("Lessons are made at %d places, want 1", made)
	}
}
