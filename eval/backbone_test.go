package eval

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/nn"
)

// TestBackboneDisk: features that the disk has no room for are refused before anything is written; as many as it has room for are not.
func TestBackboneDisk(t *testing.T) {
	net, err := nn.New([]int{3}, []nn.Layer{nn.Dense{Units: 5}}, nn.Gaussian{SD: 1})
	if err != nil {
		t.Fatal(err)
	}
	in := saved(t, "in.npy", npy(t, []int{40, 3}, make([]float64, 120)...))
	schema, err := data.ArraySchema(&data.Array{Name: "x", Shape: []int{2, 3}, Values: make([]float32, 6)}, nil, nil, 2, false, false)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	out := filepath.Join(dir, "out.npy")
	var asked []string
	b := &Backbone{Net: net, Theta: make([]float64, net.Dim()), Schema: schema, free: func(dir string) int64 {
		asked = append(asked, dir)
		return 40*5*4 - 1
	}}
	_, err = b.File(t.Context(), in, out, Float32)
	if want := "40 rows of 5 features take 800 bytes, and the disk of " + dir + " has 799 bytes left: make room"; err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, new(*InputError)) {
		t.Errorf("%v, want %s", err, want)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 || len(asked) != 1 || asked[0] != dir {
		t.Errorf("left %v, %v; asked for %v", left, err, asked)
	}
	if n, err := b.File(t.Context(), in, out, Float16); err != nil || n != 40 {
		t.Errorf("float16: %d rows, %v", n, err)
	}
}

// TestFilesOfTokens: a number that is no token is a fault of the file, whose row is named, also behind the first block.
func TestFilesOfTokens(t *testing.T) {
	net, err := nn.New([]int{2}, []nn.Layer{nn.Embed{Tokens: 4, Width: 3}, nn.Dense{Units: 2}}, nn.Categorical{})
	if err != nil {
		t.Fatal(err)
	}
	tokens := make([]float64, 2*(2*block+10))
	wrong := 2*block + 3
	tokens[2*wrong+1] = 4
	in := saved(t, "in.npy", npy(t, []int{len(tokens) / 2, 2}, tokens...))
	schema, err := data.ArraySchema(&data.Array{Name: "x", Shape: []int{2, 2}, Values: make([]float32, 4)}, nil, nil, 2, false, false)
	if err != nil {
		t.Fatal(err)
	}
	posterior, err := bnn.Combine(net, []bnn.Island{{Theta: make([]float64, net.Dim())}}, bnn.Equal{})
	if err != nil {
		t.Fatal(err)
	}
	before, err := net.Before("last")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	_, predicted := (&Predictor{Posterior: posterior, Schema: schema}).File(t.Context(), in, filepath.Join(dir, "out.csv"))
	_, features := (&Backbone{Net: before, Theta: make([]float64, before.Dim()), Schema: schema}).File(t.Context(), in, filepath.Join(dir, "out.npy"), Float32)
	for name, err := range map[string]error{"predict": predicted, "features": features} {
		if want := fmt.Sprintf("row %d, place 1 is 4, and embed takes", wrong); err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, new(*InputError)) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// TestHeadNamesRows: features that the head cannot take are named by their row of the file, also in a later block of it.
func TestHeadNamesRows(t *testing.T) {
	net, err := nn.New([]int{1}, []nn.Layer{nn.Dense{Units: 1, NoBias: true}}, nn.Gaussian{SD: 1})
	if err != nil {
		t.Fatal(err)
	}
	schema, err := data.ArraySchema(&data.Array{Name: "x", Shape: []int{2, 1}, Values: make([]float32, 2)}, nil, nil, 2, false, false)
	if err != nil {
		t.Fatal(err)
	}
	b := &Backbone{Net: net, Theta: []float64{3e38}, Schema: schema}
	set, err := schema.Examples("new", &data.Array{Name: "new.npy", First: 70, Shape: []int{2, 1}, Values: []float32{1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.head(t.Context(), schema, set); err == nil || !strings.Contains(err.Error(), "features of new.npy: example 71, feature 0 is +Inf") {
		t.Errorf("row 71: %v", err)
	}
}
