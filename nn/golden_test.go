package nn

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/pool"
)

type goldenLayer struct {
	Type, Fn                string
	In, Out                 int
	Kernel, Stride, Padding [2]int
	Bias                    *bool
	TLU                     bool
	Eps                     float64
	Rank                    int
	Alpha                   float64
	Body, Shortcut          []goldenLayer
}

type goldenHash struct {
	Seed uint32
	Log2 int `json:"log2scale"`
	N    int
	Then string
}

type goldenNet struct {
	Layers     []goldenLayer
	ParamNames []string `json:"param_names"`
	Shapes     [][]int  `json:"param_shapes"`
	NumParams  int      `json:"num_params"`
	Likelihood string
	Sigma      float64
	Theta      []float64
	ThetaHash  *goldenHash `json:"theta_hash"`
	X          []float64
	XHash      *goldenHash `json:"x_hash"`
	XShape     []int       `json:"x_shape"`
	Frozen     struct {    // of a low-rank update
		Weight [][]float64
		Bias   []float64
	}
	Y json.RawMessage
}

type goldenResult struct {
	Output    [][]float64
	LogLik    float64
	Grad      []float64
	GradL2    float64   `json:"grad_l2"`
	GradSum   float64   `json:"grad_sum"`
	GradMax   float64   `json:"grad_absmax"`
	GradIndex []int     `json:"grad_index"`
	GradAt    []float64 `json:"grad_at_index"`
}

// values generates the numbers of a full-size case by the formula in the conventions of the file.
func (h *goldenHash) values(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		u := uint32(i)*2654435761 + h.Seed*40503
		u ^= u >> 15
		u *= 2246822519
		u ^= u >> 13
		v[i] = (float64(u>>8)/(1<<24) - .5) * math.Ldexp(1, h.Log2)
		if h.Then != "" {
			v[i] = max(0, v[i])
		}
	}
	return v
}

func layersOf(t *testing.T, golden []goldenLayer) []Layer {
	var out []Layer
	for _, l := range golden {
		noBias := l.Bias != nil && !*l.Bias
		switch l.Type {
		case "linear":
			out = append(out, Dense{Units: l.Out, NoBias: noBias})
		case "conv2d":
			out = append(out, Conv{Filters: l.Out, Kernel: l.Kernel, Stride: l.Stride, Pad: l.Padding, NoBias: noBias})
		case "maxpool2d":
			out = append(out, MaxPool{l.Kernel, l.Stride, l.Padding})
		case "avgpool2d":
			out = append(out, AvgPool{l.Kernel, l.Stride, l.Padding})
		case "frn":
			out = append(out, FRN{TLU: l.TLU, Eps: l.Eps})
		case "lora_linear":
			out = append(out, LoRA{Units: l.Out, Rank: l.Rank, Alpha: l.Alpha})
		case "residual":
			out = append(out, Residual{layersOf(t, l.Body), layersOf(t, l.Shortcut)})
		default: // without settings, and called as in a config
			name := l.Type
			if name == "act" {
				name = l.Fn
			}
			layer, ok := Layers.Find(name)
			if !ok {
				t.Fatalf("unknown layer %q", name)
			}
			out = append(out, layer)
		}
	}
	return out
}

// TestGoldenNets compares outputs, log-likelihoods and gradients with values computed in float64 elsewhere.
func TestGoldenNets(t *testing.T) {
	raw, err := os.ReadFile("testdata/net.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Name     string
			Inputs   goldenNet
			Expected goldenResult
		}
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			in, want := c.Inputs, c.Expected
			var lik Likelihood = Categorical{}
			if in.Likelihood == "gaussian" {
				lik = Gaussian{SD: in.Sigma}
			}
			net, err := New(in.XShape[1:], layersOf(t, in.Layers), lik)
			if err != nil {
				t.Fatal(err)
			}
			if net.Dim() != in.NumParams {
				t.Fatalf("D = %d, want %d", net.Dim(), in.NumParams)
			}
			if net, err = net.With(append(slices.Concat(in.Frozen.Weight...), in.Frozen.Bias...)); err != nil {
				t.Fatal(err)
			}
			for i, p := range net.Random() {
				if p.Name != in.ParamNames[i] || len(p.Shape) != len(in.Shapes[i]) {
					t.Errorf("tensor %d is %s %v, want %s %v", i, p.Name, p.Shape, in.ParamNames[i], in.Shapes[i])
				}
			}
			theta, x := in.Theta, in.X
			if in.ThetaHash != nil {
				theta, x = in.ThetaHash.values(in.ThetaHash.N), in.XHash.values(in.XShape[0]*net.features())
			}
			set := &data.Set{Name: c.Name, Shape: in.XShape[1:], Classes: net.Outputs(), Outputs: net.Outputs()}
			for _, v := range x {
				set.F32 = append(set.F32, float32(v))
			}
			if in.Likelihood == "gaussian" {
				var y [][]float32
				if err := json.Unmarshal(in.Y, &y); err != nil {
					t.Fatal(err)
				}
				for _, v := range y {
					set.Values = append(set.Values, v...)
				}
			} else if err := json.Unmarshal(in.Y, &set.Labels); err != nil {
				t.Fatal(err)
			}
			m, err := NewModel(net, set, pool.New(1))
			if err != nil {
				t.Fatal(err)
			}
			ll, grad := make([]float64, 1), make([]float64, net.Dim())
			if err := m.LogLik(context.Background(), nil, theta, ll, grad); err != nil {
				t.Fatal(err)
			}
			out := make([]float32, set.Len()*net.Outputs())
			if err := m.Outputs(context.Background(), nil, theta, out); err != nil {
				t.Fatal(err)
			}
			// The file's float32 tolerance; gradients of full-size nets are compared on the scale of their norm.
			near := func(what string, got, want, scale float64) {
				t.Helper()
				if !golden.Near(got, want, 2e-4, 2e-5*max(1, scale)) {
					t.Errorf("%s = %.9g, want %.9g", what, got, want)
				}
			}
			for i, row := range want.Output {
				for k, v := range row {
					near("output", float64(out[i*len(row)+k]), v, 1)
				}
			}
			near("log-likelihood", ll[0], want.LogLik, 1)
			if want.Grad != nil {
				scale := norm(want.Grad)
				for i, v := range want.Grad {
					near("gradient", grad[i], v, scale)
				}
				return
			}
			sum, largest := 0.0, 0.0
			for _, v := range grad {
				sum, largest = sum+v, max(largest, math.Abs(v))
			}
			near("norm of the gradient", norm(grad), want.GradL2, 1)
			near("sum of the gradient", sum, want.GradSum, want.GradL2*math.Sqrt(float64(len(grad))))
			near("largest gradient", largest, want.GradMax, 1)
			for i, at := range want.GradIndex {
				near("gradient", grad[at], want.GradAt[i], want.GradL2)
			}
		})
	}
}

func norm(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v * v
	}
	return math.Sqrt(s)
}
