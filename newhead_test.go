package starling

import (
	"encoding/binary"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/testkit"
)

// array writes a file of an array.
func array(t *testing.T, name, dtype string, shape []int, values ...float64) string {
	t.Helper()
	b := arrays.NPYBegin(dtype, shape)
	for _, v := range values {
		switch dtype {
		case "<f2":
			b = binary.LittleEndian.AppendUint16(b, uint16(arrays.ToFloat16(float32(v))))
		case "<f4":
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
		case "<i8":
			b = binary.LittleEndian.AppendUint64(b, uint64(int64(v)))
		default:
			b = append(b, byte(v))
		}
	}
	if err := os.WriteFile(name, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestHeadConfig: the config of a head parses, and its run learns from features of any type and scale, classes and numbers, and files of odd
// names. Features a hundred times as large give the same predictions.
func TestHeadConfig(t *testing.T) {
	testkit.Elsewhere(t)
	t.Chdir(t.TempDir())
	const rows, width = 80, 3
	features := func(scale float64) (x []float64) {
		for i := range rows * width {
			x = append(x, scale*math.Round(100*math.Sin(float64(i*i)))/128) // exact in float16, also at 128 times
		}
		return x
	}
	x, y, many := features(1), []float64(nil), []float64(nil)
	for i := range rows {
		class := 0.
		if x[i*width] > 0 {
			class = 1
		}
		y, many = append(y, class), append(many, 1e4*x[i*width], -x[i*width+1])
	}
	small := []string{"method.mcmc.epochs=600", "method.mcmc.chains=2", "method.mcmc.keep=100", "map.epochs=20", "map.restarts=2"}
	fit := func(inputs, targets string) (*Result, Spec) {
		text, err := NewHeadConfig(inputs, targets)
		if err != nil {
			t.Fatal(err)
		}
		spec, err := ParseSpec("head.yaml", text, small...)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return fitted(t, spec, Options{}), spec
	}
	var nll [3]float64
	for i, c := range []struct {
		dtype string
		scale float64
	}{{"<f4", 1}, {"<f2", 1}, {"<f2", 128}} {
		r, spec := fit(array(t, "x.npy", c.dtype, []int{rows, width}, features(c.scale)...), array(t, "y.npy", "|u1", []int{rows}, y...))
		if nll[i] = float64(r.Metrics.NLL); nll[i] != nll[0] {
			t.Errorf("%+v: NLL %v, at first %v", c, nll[i], nll[0])
		}
		if spec.Data.Standardise != "inputs" || r.Posterior.Net.Classes() != 2 || spec.Name != "x" || !(float64(*r.Metrics.Accuracy) >= 0.7) {
			t.Errorf("%+v: %+v", c, r.Metrics)
		}
	}
	r, spec := fit("x.npy", array(t, "y.npy", "<f4", []int{rows, 2}, many...))
	if spec.Data.Standardise != "both" || r.Posterior.Net.Targets() != 2 || !(float64(*r.Metrics.R2) > 0.9) {
		t.Errorf("numbers: %+v", r.Metrics)
	}
	for _, name := range odd {
		if strings.ContainsAny(name, "/\n") {
			continue
		}
		inputs := array(t, name+".npy", "<f4", []int{rows, width}, x...)
		text, err := NewHeadConfig(inputs, array(t, name+"-labels.npy", "<i8", []int{rows, 1}, y...))
		if err != nil {
			t.Fatal(err)
		}
		spec, err := ParseSpec("", text)
		if err != nil || spec.Data.Train.Inputs != inputs || spec.Data.Train.Targets != name+"-labels.npy" {
			t.Errorf("%q: %v\n%s", name, err, text)
		}
	}

	// The budget and the validation rows are by the size.
	large, err := NewHeadConfig(array(t, "large.npy", "|u1", []int{2500, 8}, make([]float64, 20000)...), array(t, "labels.npy", "|u1", []int{2500}, append(make([]float64, 2499), 6)...))
	if err != nil || !strings.Contains(string(large), "split: {validate: 0.05}") || !strings.Contains(string(large), "one of 7 classes") || !strings.Contains(string(large), "epochs: 10000 ") {
		t.Errorf("%v\n%s", err, large)
	}
}

// TestHeadConfigRefuses: files that do not belong together are refused with place and mend.
func TestHeadConfigRefuses(t *testing.T) {
	testkit.Elsewhere(t)
	t.Chdir(t.TempDir())
	x := array(t, "x.npy", "<f4", []int{3, 2}, 1, 2, 3, 4, 5, 6)
	save(t, "cut.npy", []byte("\x93NUMPY\x01\x00"))
	save(t, "y.csv", []byte("y\n1\n2\n3\n"))
	for name, c := range map[string]struct{ inputs, targets, want string }{
		"fewer labels": {x, array(t, "fewer.npy", "<i8", []int{2}, 0, 1), "fewer.npy has labels of 2 rows, and x.npy has features of 3 rows: want a label for each row"},
		"more labels":  {x, array(t, "more.npy", "<i8", []int{4}, 0, 1, 1, 0), "more.npy has labels of 4 rows, and x.npy has features of 3 rows"},
		"one class":    {x, array(t, "same.npy", "<i8", []int{3}, 0, 0, 0), "same.npy: all labels are 0"},
		"below 0":      {x, array(t, "below.npy", "<i8", []int{3}, 0, -1, 0), "below.npy: example 1 has label -1"},
		"one-hot":      {x, array(t, "hot.npy", "<i8", []int{3, 2}, 0, 1, 1, 0, 1, 0), "hot.npy: labels of shape [3 2], want one for each row: [3]"},
		"cube":         {x, array(t, "cube.npy", "<f4", []int{3, 1, 1}, 0, 1, 1), "cube.npy: labels of shape [3 1 1]"},
		"images":       {array(t, "images.npy", "<f4", []int{1, 2, 2}, 1, 2, 3, 4), x, "images.npy: an array of shape [1 2 2], and a head takes features [rows, features]: save x.reshape"},
		"no rows":      {array(t, "none.npy", "<f4", []int{0, 2}), x, "none.npy: an array of shape [0 2]"},
		"a table":      {x, "y.csv", "y.csv is no array"},
		"missing":      {x, "nothing.npy", "nothing.npy: no such file"},
		"cut off":      {x, "cut.npy", "cut.npy: byte"},
	} {
		_, err := NewHeadConfig(c.inputs, c.targets)
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.As(err, new(*DataError)) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}
