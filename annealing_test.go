package starling

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/nn"
)

// Check 8 of data annealing: the networks of the presets have the paper's numbers of parameters, and their gradients are
// what finite differences of their values say. All numbers are fixed by seeds, and their bits are the same on every
// machine: what passes once passes always, a false-failure rate of 0.
func TestAnnealingCheck8GradientsOfThePresets(t *testing.T) {
	counts := map[string]int{"mnist-lenet5": 61_706, "fashion-cnn": 96_658}
	checked := map[string]bool{}
	for _, name := range Presets() {
		if !strings.HasPrefix(name, "mnist-lenet5-") && !strings.HasPrefix(name, "fashion-cnn-") {
			continue
		}
		spec, err := Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		net, err := nn.New(spec.Model.Input, spec.Model.Layers, spec.Model.Likelihood)
		if err != nil {
			t.Fatal(err)
		}
		family := name[:strings.LastIndexByte(strings.TrimSuffix(name, "-ld"), '-')]
		if want, ok := counts[family]; !ok || net.Dim() != want {
			t.Errorf("%s: %d parameters, want %d", name, net.Dim(), want)
		}
		pools, relus := 0, 0
		for _, l := range spec.Model.Layers {
			switch l := l.(type) {
			case nn.AvgPool:
				pools++
			case nn.Activation:
				if l == nn.ReLU {
					relus++
				}
			}
		}
		if pools != 2 || relus < 3 {
			t.Errorf("%s: %d average pools and %d ReLUs", name, pools, relus)
		}
		if !checked[family] { // the others are the same network
			checked[family] = true
			t.Run(family, func(t *testing.T) {
				if testing.Short() {
					t.Skip("minutes without assembly, and every kernel has the same bits")
				}
				checkGradient(t, net)
			})
		}
	}
	if len(checked) != len(counts) {
		t.Errorf("checked %v", checked)
	}
}

// checkGradient compares, at a draw of the prior, slopes with differences of values. Each tensor has two directions of its
// own: its gradient and random signs. The slope is the mean over the segment (trapezoidal rule), so that a ReLU that turns
// on the way is no error. Values are sums of float32 outputs, known to about 1e-7 an example: over 2h, with what the rule
// leaves of the turns, differences are up to 9e-4 of a gradient's size, and a third of the tolerance.
func checkGradient(t *testing.T, net *nn.Net) {
	r := rand.New(rand.NewPCG(8, uint64(net.Dim())))
	const n = 24
	set := &data.Set{Name: "strokes", Shape: []int{1, 28, 28}, U8: make([]uint8, n*28*28), Classes: 10}
	for i := range set.U8 {
		if r.IntN(4) == 0 {
			set.U8[i] = uint8(r.IntN(256))
		}
	}
	for range n {
		set.Labels = append(set.Labels, int32(r.IntN(10)))
	}
	model, err := nn.NewModel(net, set, pool.New(2))
	if err != nil {
		t.Fatal(err)
	}
	theta := make([]float64, net.Dim())
	for _, p := range net.Tensors() {
		for i := range p.Size {
			theta[p.Offset+i] = math.Sqrt(2/float64(p.FanIn)) * r.NormFloat64()
		}
	}
	const nodes, h = 33, 3e-3
	d := net.Dim()
	ll, grad := make([]float64, nodes), make([]float64, d)
	line, grads := make([]float64, nodes*d), make([]float64, nodes*d)
	if err := model.LogLik(context.Background(), nil, theta, ll[:1], grad); err != nil {
		t.Fatal(err)
	}
	for _, p := range net.Tensors() {
		size := 0.0
		for _, g := range grad[p.Offset:][:p.Size] {
			size += g * g
		}
		size = math.Sqrt(size)
		for what, component := range map[string]func(i int) float64{
			"its gradient": func(i int) float64 { return grad[p.Offset+i] / size },
			"random signs": func(int) float64 { return float64(2*r.IntN(2)-1) / math.Sqrt(float64(p.Size)) },
		} {
			direction := make([]float64, p.Size)
			for i := range direction {
				direction[i] = component(i)
			}
			for k := range nodes {
				at := line[k*d : (k+1)*d]
				copy(at, theta)
				for i, v := range direction {
					at[p.Offset+i] += h * (2*float64(k)/(nodes-1) - 1) * v
				}
			}
			if err := model.LogLik(context.Background(), nil, line, ll, grads); err != nil {
				t.Fatal(err)
			}
			mean := 0.0
			for k := range nodes {
				slope := 0.0
				for i, v := range direction {
					slope += v * grads[k*d+p.Offset+i]
				}
				if k == 0 || k == nodes-1 {
					slope /= 2
				}
				mean += slope / (nodes - 1)
			}
			got := (ll[nodes-1] - ll[0]) / (2 * h)
			if off := math.Abs(got-mean) / size; !(off <= 3e-3) {
				t.Errorf("%s along %s: slope %.6g, finite difference %.6g (gradient of size %.4g)", p.Name, what, mean, got, size)
			}
		}
	}
}
