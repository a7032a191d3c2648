package nn

import (
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/lanes"
)

// lanesOf spreads the values of one example over the vectors of a group: every lane has the same.
func lanesOf(values ...float32) []float32 {
	z := make([]float32, len(values)*lanes.Lanes)
	for i := range z {
		z[i] = values[i/lanes.Lanes]
	}
	return z
}

// Two values by hand: N(3; 1, 2²), one standard deviation off, and N(0; 1, ½²), two off. With log σ beyond its bounds the
// density is that at the bound, and only the mean has a gradient; at the bound itself log σ has one, as in PyTorch's clamp.
func TestPredictedByHand(t *testing.T) {
	for _, kernel := range lanes.Kernels() {
		t.Run(kernel, func(t *testing.T) {
			restore, err := lanes.SetKernel(kernel)
			if err != nil {
				t.Fatal(err)
			}
			defer restore()
			predictedByHand(t)
		})
	}
}

func predictedByHand(t *testing.T) {
	ln2 := float32(math.Ln2)
	low, high := float32(lanes.LowestLogSD), float32(lanes.HighestLogSD)
	over, under := math.Nextafter32(high, 20), math.Nextafter32(low, -20)
	if float64(over) <= lanes.HighestLogSD || float64(under) >= lanes.LowestLogSD {
		t.Fatal("the neighbours of the bounds are not beyond them")
	}
	for _, c := range []struct {
		name     string
		z, y     []float32
		ll       float64
		gradient []float64
	}{
		{"two", []float32{1, 1, ln2, -ln2}, []float32{3, 0}, -0.5 - 2 - 2*halfLog2Pi, []float64{2. / 4, -1 * 4, 0, 3}},
		{"far above", []float32{5, 40}, []float32{2e6 + 5}, -2 - math.Log(1e6) - halfLog2Pi, []float64{2e-6, 0}},
		{"above", []float32{5, over}, []float32{5}, -math.Log(1e6) - halfLog2Pi, []float64{0, 0}},
		{"far below", []float32{0, -40}, []float32{0x1p-20}, -0x1p-41*1e12 + math.Log(1e6) - halfLog2Pi, []float64{0x1p-20 * 1e12, 0}},
		{"below", []float32{5, under}, []float32{5}, math.Log(1e6) - halfLog2Pi, []float64{0, 0}},
		{"infinite", []float32{5, float32(math.Inf(-1))}, []float32{5}, math.Log(1e6) - halfLog2Pi, []float64{0, 0}},
		{"within, highest", []float32{5, math.Nextafter32(high, 0)}, []float32{5}, -math.Log(1e6) - halfLog2Pi, []float64{0, -1}},
		{"within, lowest", []float32{5, math.Nextafter32(low, 0)}, []float32{5}, math.Log(1e6) - halfLog2Pi, []float64{0, -1}},
	} {
		z, y, ll := lanesOf(c.z...), lanesOf(c.y...), make([]float32, lanes.Lanes)
		dz := make([]float32, len(z))
		lanes.PredictedNormal(z, y, 0, ll, dz)
		near := func(got float32, want float64) bool { return math.Abs(float64(got)-want) <= 1e-5*math.Abs(want)+1e-6 }
		for l := range lanes.Lanes {
			if !near(ll[l], c.ll) {
				t.Fatalf("%s: log-likelihood %v, want %v", c.name, ll[l], c.ll)
			}
			for k, want := range c.gradient {
				if got := dz[k*lanes.Lanes+l]; !near(got, want) {
					t.Fatalf("%s: ∂/∂output %d is %v, want %v", c.name, k, got, want)
				}
			}
		}
		value := make([]float32, lanes.Lanes)
		lanes.PredictedNormal(z, y, 0, value, nil)
		if value[3] != ll[3] {
			t.Errorf("%s: without a gradient %v, with one %v", c.name, value[3], ll[3])
		}
		mean, sd := make([]float64, len(c.y)), make([]float64, len(c.y))
		Gaussian{SD: Predicted}.Predicts(c.z, nil, mean, sd)
		for k, s := range sd {
			if want := min(1e6, max(1e-6, math.Exp(float64(c.z[len(sd)+k])))); mean[k] != float64(c.z[k]) || !(math.Abs(s/want-1) <= 1e-12) {
				t.Errorf("%s: N(%v, %v²), want N(%v, %v²)", c.name, mean[k], s, c.z[k], want)
			}
		}
	}
	z, ll := lanesOf(0, float32(math.NaN())), make([]float32, lanes.Lanes)
	if lanes.PredictedNormal(z, lanesOf(0), 0, ll, z); !math.IsNaN(float64(ll[0])) {
		t.Errorf("the log-likelihood with a log σ of NaN is %v", ll[0])
	}
}

// Outputs that are no pairs, or not a pair for each target value, are refused with their place.
func TestPredictedOutputs(t *testing.T) {
	problem := func(outputs int) *data.Problem {
		return &data.Problem{Name: "table", Train: &data.Set{Name: "train", Shape: []int{3}, F32: make([]float32, 3), Values: make([]float32, outputs), Outputs: outputs}}
	}
	for _, c := range []struct {
		units, targets int
		want           string
	}{
		{2, 1, ""},
		{4, 2, ""},
		{1, 1, "model.likelihood: sd: predicted takes two outputs for each target value, its mean and its log σ: want an even number of outputs, the network has 1"},
		{3, 1, "want an even number of outputs, the network has 3"},
		{4, 1, "model.layers.1: table has 1 target values an example, the network 4 outputs: sd: predicted takes two for each value, want 2"},
		{2, 2, "model.layers.1: table has 2 target values an example, the network 2 outputs: sd: predicted takes two for each value, want 4"},
	} {
		a := Architecture{Layers: []Layer{ReLU, Dense{Units: c.units}}, Likelihood: Gaussian{SD: Predicted}}
		f := config.NewFaults()
		a.Network(problem(c.targets), f.In("model"))
		all := ""
		for _, fault := range f.All() {
			all += fmt.Sprintf("%s: %s\n", fault.Path, fault.Message)
		}
		if c.want == "" && all != "" || !strings.Contains(all, c.want) || strings.Count(all, "\n") > 1 {
			t.Errorf("%d outputs for %d values: %q, want %q", c.units, c.targets, all, c.want)
		}
	}
}

// BenchmarkPredicted is one particle and 16 examples: time an operation over 16 is that of a particle and example.
func BenchmarkPredicted(b *testing.B) {
	z, y, ll := lanesOf(0.5, -0.25), lanesOf(1), make([]float32, lanes.Lanes)
	dz := make([]float32, len(z))
	for b.Loop() {
		lanes.PredictedNormal(z, y, 0, ll, dz)
	}
}

// The values that begin at 0 are the rows of log σ, the last ones, in the weight and the bias of the layer that gives the outputs.
// Other tensors, other likelihoods, and a layer whose units are no outputs have none.
func TestScalesBeginAtZero(t *testing.T) {
	conv := Conv{Filters: 4, Kernel: [2]int{2, 3}, Name: "out"}
	for _, c := range []struct {
		name   string
		input  []int
		layers []Layer
		lik    Likelihood
		want   map[string]int
	}{
		{"dense", []int{3}, []Layer{Dense{Units: 4, Name: "in"}, Tanh, Dense{Units: 4, Name: "out"}}, Gaussian{SD: Predicted}, map[string]int{"out.weight": 8, "out.bias": 2}},
		{"no bias, activation", []int{3}, []Layer{Dense{Units: 2, Name: "out", NoBias: true}, Tanh}, Gaussian{SD: Predicted}, map[string]int{"out.weight": 3}},
		{"filters", []int{5, 4, 4}, []Layer{conv, GlobalAvgPool{}}, Gaussian{SD: Predicted}, map[string]int{"out.weight": 2 * 5 * 2 * 3, "out.bias": 2}},
		{"pixels", []int{1, 2, 4}, []Layer{conv}, Gaussian{SD: Predicted}, nil},
		{"residual", []int{4}, []Layer{Dense{Units: 4}, Residual{Body: []Layer{Dense{Units: 4}}}}, Gaussian{SD: Predicted}, nil},
		{"learned", []int{3}, []Layer{Dense{Units: 2}}, Gaussian{SD: Learned}, nil},
		{"classes", []int{3}, []Layer{Dense{Units: 2}}, Categorical{}, nil},
	} {
		net, err := New(c.input, c.layers, c.lik)
		if err != nil {
			t.Fatal(c.name, err)
		}
		got := map[string]int{}
		for _, x := range net.Tensors() {
			if x.Zero != 0 {
				got[x.Name] = x.Zero
			}
		}
		if len(got) != len(c.want) || !maps.Equal(got, c.want) && c.want != nil {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
