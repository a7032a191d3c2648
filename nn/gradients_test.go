package nn

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/pool"
)

// TestGradients checks every layer and likelihood by one helper, in chains: values against the float64 reference, gradients
// against its finite differences.
func TestGradients(t *testing.T) {
	wantReferences(t)
	pair := func(a, b int) [2]int { return [2]int{a, b} }
	conv := func(f, k, s, p int) Conv {
		return Conv{Filters: f, Kernel: pair(k, k), Stride: pair(s, s), Pad: pair(p, p)}
	}
	image, large := []int{2, 9, 10}, []int{2, 17, 18}
	cases := []struct {
		name   string
		input  []int
		layers []Layer
		lik    Likelihood
		n      int
	}{
		{"dense", []int{5}, []Layer{Dense{Units: 3}}, Categorical{}, 70},
		{"dense no bias", []int{17}, []Layer{Dense{Units: 1, NoBias: true}}, Bernoulli{}, 131},
		{"dense wide", []int{100}, []Layer{Dense{Units: 1}}, Bernoulli{}, 70},
		{"dense bias bernoulli", []int{3}, []Layer{Dense{Units: 1}}, Bernoulli{}, 20},
		{"mlp", []int{6}, []Layer{Dense{Units: 18}, ReLU, Dense{Units: 7}, Tanh, Dense{Units: 2}}, Gaussian{SD: .7}, 65},
		{"predicted noise", []int{6}, []Layer{Dense{Units: 9}, Tanh, Dense{Units: 2}}, Gaussian{SD: Predicted}, 65},
		{"predicted noise, floor", []int{6}, []Layer{Dense{Units: 9}, Tanh, Dense{Units: 4}}, Gaussian{SD: Predicted, Floor: .8}, 65},
		{"student", []int{6}, []Layer{Dense{Units: 9}, Tanh, Dense{Units: 2}}, Student{DF: 4, SD: .7}, 65},
		{"student, learned df", []int{4}, []Layer{Dense{Units: 5}, Tanh, Dense{Units: 2}}, Student{DF: Learned, SD: .7}, 90},
		{"student, learned", []int{4}, []Layer{Dense{Units: 5}, Swish, Dense{Units: 2}}, Student{DF: Learned, SD: Learned}, 333},
		{"student, learned sd", []int{4}, []Layer{Dense{Units: 5}, Swish, Dense{Units: 2}}, Student{DF: 3, SD: Learned}, 90},
		{"student, predicted", []int{6}, []Layer{Dense{Units: 9}, Tanh, Dense{Units: 4}}, Student{DF: Learned, SD: Predicted, Floor: .4}, 65},
		{"student of images", image, []Layer{conv(3, 3, 1, 0), Dense{Units: 1}}, Student{DF: Learned, SD: Learned}, 19},
		{"predicted noise of three", []int{2, 4, 5}, []Layer{conv(2, 3, 1, 1), Swish, Dense{Units: 6}}, Gaussian{SD: Predicted}, 37},
		{"relu first", []int{9}, []Layer{ReLU, Dense{Units: 4}}, Categorical{}, 33},
		{"learned sd", []int{4}, []Layer{Dense{Units: 5}, Swish, Dense{Units: 2}}, Gaussian{SD: Learned}, 90},
		{"gelu", []int{4}, []Layer{Dense{Units: 5}, GELU, Dense{Units: 3}}, Categorical{}, 16},
		{"relu then tanh", []int{4}, []Layer{Dense{Units: 5}, ReLU, Tanh, Dense{Units: 3}}, Categorical{}, 16},
		{"conv", image, []Layer{conv(3, 3, 1, 0), Dense{Units: 3}}, Categorical{}, 19},
		{"conv relu", image, []Layer{conv(3, 3, 1, 1), ReLU, Dense{Units: 3}}, Categorical{}, 19},
		{"conv conv", image, []Layer{conv(3, 3, 1, 1), ReLU, conv(4, 3, 1, 1), Dense{Units: 3}}, Categorical{}, 19},
		{"convs of one shape", image, []Layer{conv(4, 3, 1, 1), ReLU, conv(4, 3, 1, 1), ReLU, conv(4, 3, 1, 1), Tanh, conv(4, 3, 1, 1), ReLU, conv(4, 3, 1, 1), Dense{Units: 3}}, Categorical{}, 19},
		{"conv pool", image, []Layer{conv(3, 3, 1, 1), ReLU, MaxPool{Size: pair(2, 2)}, Dense{Units: 3}}, Categorical{}, 19},
		{"conv pool relu", image, []Layer{conv(7, 2, 1, 0), MaxPool{Size: pair(2, 2)}, ReLU, Dense{Units: 3}}, Categorical{}, 19},
		{"conv pool conv pool", image, []Layer{conv(3, 3, 1, 1), ReLU, MaxPool{Size: pair(2, 2)}, conv(9, 2, 1, 1), ReLU, MaxPool{Size: pair(2, 2)}, Dense{Units: 3}}, Categorical{}, 19},
		{"conv mean", image, []Layer{conv(3, 3, 1, 1), ReLU, AvgPool{Size: pair(2, 2)}, Dense{Units: 3}}, Categorical{}, 19},
		{"conv mean relu", image, []Layer{conv(3, 3, 1, 1), AvgPool{Size: pair(2, 2)}, ReLU, Dense{Units: 3}}, Categorical{}, 19},
		{"conv mean conv mean", image, []Layer{conv(7, 3, 1, 1), ReLU, AvgPool{Size: pair(2, 2)}, conv(9, 2, 1, 1), ReLU, AvgPool{Size: pair(2, 2)}, Dense{Units: 3}}, Categorical{}, 19},
		{"conv mean conv mean no bias", image, []Layer{conv(3, 3, 1, 1), ReLU, AvgPool{Size: pair(2, 2)}, Conv{Filters: 5, Kernel: pair(2, 2), Pad: pair(1, 1), NoBias: true}, ReLU, AvgPool{Size: pair(2, 2)}, Dense{Units: 3}}, Categorical{}, 19},
		{"stride max stride max", large, []Layer{conv(3, 3, 2, 1), ReLU, MaxPool{Size: pair(2, 2)}, conv(4, 2, 2, 1), ReLU, MaxPool{Size: pair(2, 2)}, Dense{Units: 3}}, Categorical{}, 19},
		{"stride mean stride mean", large, []Layer{conv(3, 3, 2, 1), ReLU, AvgPool{Size: pair(2, 2)}, conv(4, 2, 2, 1), ReLU, AvgPool{Size: pair(2, 2)}, Dense{Units: 3}}, Categorical{}, 19},
		{"ends in conv mean", image, []Layer{Conv{Filters: 2, Kernel: pair(3, 2), NoBias: true}, ReLU, AvgPool{Size: pair(2, 2)}}, Categorical{}, 21},
		{"conv tanh conv", image, []Layer{conv(3, 5, 1, 2), Tanh, conv(4, 3, 1, 1), Tanh, Dense{Units: 3}}, Categorical{}, 19},
		{"border gelu conv", []int{2, 6, 2}, []Layer{conv(2, 3, 1, 1), conv(3, 1, 1, 0), GELU, conv(2, 3, 1, 1), Dense{Units: 3}}, Categorical{}, 21},
		{"stride", image, []Layer{conv(3, 3, 2, 1), Swish, conv(6, 3, 2, 1), ReLU, GlobalAvgPool{}, Dense{Units: 3}}, Categorical{}, 19},
		{"stride over kernel", image, []Layer{conv(3, 3, 1, 0), ReLU, conv(6, 1, 3, 0), Dense{Units: 3}}, Categorical{}, 19},
		{"max pool 3", image, []Layer{conv(3, 3, 1, 1), ReLU, MaxPool{pair(3, 3), pair(2, 2), pair(1, 1)}, Dense{Units: 3}}, Categorical{}, 19},
		{"max pool first", image, []Layer{MaxPool{Size: pair(2, 2)}, conv(3, 3, 1, 1), Dense{Units: 3}}, Categorical{}, 19},
		{"avg pool", image, []Layer{conv(3, 3, 1, 1), AvgPool{pair(3, 2), pair(2, 1), pair(1, 0)}, conv(2, 3, 1, 1), ReLU, Dense{Units: 3}}, Categorical{}, 19},
		{"no dense", image, []Layer{conv(3, 3, 1, 1), ReLU, conv(4, 1, 1, 0), GlobalAvgPool{}}, Categorical{}, 37},
		{"one pixel", []int{1, 1, 1}, []Layer{conv(3, 1, 1, 0), ReLU, Flatten{}, Dense{Units: 2, Name: "head"}}, Categorical{}, 3},
		{"softmax regression on images", []int{1, 20, 20}, []Layer{Dense{Units: 10}}, Categorical{}, 70},
		{"mlp on images", []int{784}, []Layer{Dense{Units: 200}, ReLU, Dense{Units: 10}}, Categorical{}, 20},
		{"ends in relu", []int{3, 2, 6}, []Layer{Dense{Units: 11}, ReLU}, Categorical{}, 21},
		{"ends in conv", []int{1, 4, 4}, []Layer{conv(1, 3, 1, 1), ReLU, conv(1, 3, 1, 1)}, Gaussian{SD: 1}, 21},
		{"ends in conv relu pool", image, []Layer{conv(2, 3, 1, 1), ReLU, conv(2, 3, 1, 1), ReLU, MaxPool{Size: pair(2, 2)}}, Categorical{}, 21},
		{"activation behind flatten", image, []Layer{conv(2, 3, 1, 1), ReLU, conv(2, 3, 1, 1), Flatten{}, Tanh, Dense{Units: 3}}, Categorical{}, 21},
		// Sums with more terms than a kernel takes at once.
		{"many inputs", []int{20_000}, []Layer{Dense{Units: 2}, ReLU, Dense{Units: 2}}, Categorical{}, 18},
		{"many units", []int{2}, []Layer{Dense{Units: 3}, ReLU, Dense{Units: 17_000}, Tanh, Dense{Units: 2}}, Categorical{}, 3},
		{"many channels", []int{1, 3, 3}, []Layer{conv(2000, 1, 1, 0), ReLU, conv(2, 3, 1, 1), ReLU, Dense{Units: 2}}, Categorical{}, 3},
		{"many filters", []int{1, 3, 3}, []Layer{conv(2, 3, 1, 1), ReLU, conv(2000, 3, 1, 1), GlobalAvgPool{}, Dense{Units: 2}}, Categorical{}, 3},
		{"dropout", image, []Layer{conv(2, 3, 1, 1), ReLU, Dropout(0.5), Dense{Units: 4}, Tanh, Dropout(0.5), ReLU, Dense{Units: 3}}, Categorical{}, 19},
		{"residual", image, []Layer{conv(3, 3, 1, 1), ReLU, Residual{[]Layer{conv(6, 3, 2, 1), ReLU, conv(6, 3, 1, 1)}, []Layer{Pad{}}}, ReLU, Dense{Units: 3}}, Categorical{}, 19},
		{"frn", image, []Layer{conv(3, 3, 1, 1), FRN{}, Dense{Units: 3}}, Categorical{}, 19},
		{"frn first", image, []Layer{FRN{TLU: true, Eps: Learned}, Dense{Units: 3}}, Categorical{}, 37},
		{"frn tlu conv", image, []Layer{conv(3, 3, 1, 1), FRN{TLU: true}, conv(4, 3, 2, 1), FRN{Eps: 1e-3}, conv(2, 3, 1, 1), Dense{Units: 3}}, Categorical{}, 37},
		{"frn relu", image, []Layer{conv(3, 3, 1, 1), ReLU, FRN{}, ReLU, conv(2, 5, 1, 2), FRN{TLU: true}, ReLU, MaxPool{Size: pair(2, 2)}, Dense{Units: 3}}, Categorical{}, 19},
		{"frn swish", image, []Layer{conv(3, 3, 1, 1), FRN{TLU: true, Eps: Learned}, Swish, conv(2, 3, 1, 1), FRN{}, Tanh, GlobalAvgPool{}, Dense{Units: 3}}, Categorical{}, 19},
		{"frn learned", []int{2, 3, 4}, []Layer{conv(2, 3, 1, 1), FRN{Eps: Learned}, GELU, Dense{Units: 3}}, Categorical{}, 19},
		{"frn of a residual", image, []Layer{conv(3, 3, 1, 1), FRN{}, Residual{[]Layer{conv(6, 3, 2, 1), FRN{TLU: true}, conv(6, 3, 1, 1), FRN{}}, []Layer{Pad{}}}, Residual{[]Layer{FRN{}, Swish}, nil}, FRN{TLU: true}, Dense{Units: 3}}, Categorical{}, 19},
		{"norm", image, []Layer{Norm{Batch: Frozen}, conv(3, 3, 1, 1), Norm{Batch: Frozen}, ReLU, conv(3, 3, 1, 1), ReLU, Norm{Batch: Frozen}, Residual{[]Layer{conv(6, 3, 2, 1), Norm{Batch: Frozen, Eps: 0.1},
			Swish, conv(6, 3, 1, 1), Norm{Batch: Frozen}}, []Layer{conv(6, 1, 2, 0), Norm{Batch: Frozen}}}, ReLU, Norm{Batch: Frozen}, GlobalAvgPool{}, Dense{Units: 3}}, Categorical{}, 19},
		{"low rank", []int{19}, []Layer{LoRA{Units: 7, Rank: 3, Alpha: 5}}, Categorical{}, 70},
		{"low rank, one unit", []int{9}, []Layer{LoRA{Units: 1, Rank: 1, Alpha: 3, NoBias: true}}, Bernoulli{}, 70},
		{"low rank, full", []int{3}, []Layer{LoRA{Units: 2, Rank: 5, Alpha: 1, Full: true}, ReLU, Dense{Units: 3}}, Categorical{}, 33},
		{"low rank behind a layer", []int{6}, []Layer{Dense{Units: 18}, ReLU, LoRA{Units: 5, Rank: 2, Alpha: 3}, ReLU, LoRA{Units: 3, Rank: 1, Alpha: 1, NoBias: true}}, Categorical{}, 65},
		{"low rank of images", image, []Layer{conv(3, 3, 1, 0), ReLU, LoRA{Units: 4, Rank: 2, Alpha: 3}, Tanh, Dense{Units: 2}}, Categorical{}, 19},
		{"low rank in a residual", []int{6}, []Layer{Dense{Units: 5}, Residual{[]Layer{LoRA{Units: 5, Rank: 2, Alpha: 3}}, nil}, Dense{Units: 2}}, Categorical{}, 19},
		{"embed", []int{5}, []Layer{Embed{Tokens: 4, Width: 3}, Dense{Units: 3}}, Categorical{}, 70},
		{"embed, activation", []int{1}, []Layer{Embed{Tokens: 90, Width: 17}, Tanh, Dense{Units: 3}, ReLU, LoRA{Units: 2, Rank: 1, Alpha: 2}}, Categorical{}, 131},
		{"odd", odd(t).input, odd(t).layers, Categorical{}, 18},
	}
	var nets []*Net
	for _, c := range cases {
		net := mustNet(t, c.input, c.layers, c.lik)
		nets = append(nets, net)
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(len(c.name))))
			set := testSet(net, c.n, false, r)
			checkGradient(t, net, set, testTheta(net, 3, r), r)
		})
	}
	wantEveryRow(t, nets)
}

// checkGradient compares LogLik of the particles with the float64 reference at up to 12 parameters.
func checkGradient(t *testing.T, net *Net, set *data.Set, theta []float64, r *rand.Rand) {
	t.Helper()
	m, err := NewModel(net, set, pool.New(2))
	if err != nil {
		t.Fatal(err)
	}
	d := net.Dim()
	components := min(d, 12)
	if testing.Short() { // the race detector makes the reference ten times slower
		components = min(d, 3)
	}
	particles := len(theta) / d
	ll, grad := make([]float64, particles), make([]float64, len(theta))
	for i := range grad {
		grad[i] = 7 // the result does not depend on what was there
	}
	if err := m.LogLik(context.Background(), nil, theta, ll, grad); err != nil {
		t.Fatal(err)
	}
	value := func(theta []float64) (sum float64) {
		for i := range set.Len() {
			sum += net.logLik(net.outputs(theta, net.example(set, i)), theta, set, i)
		}
		return sum
	}
	for j := range particles {
		own := append([]float64(nil), theta[j*d:(j+1)*d]...)
		want := value(own)
		if !golden.Near(ll[j], want, 1e-5, 1e-5) {
			t.Fatalf("particle %d: log-likelihood %.9g, reference %.9g", j, ll[j], want)
		}
		scale := norm(grad[j*d:(j+1)*d]) / math.Sqrt(float64(d))
		for range components {
			i := r.IntN(d)
			const h = 1e-6
			at := own[i]
			own[i] = at + h
			up := value(own)
			own[i] = at - h
			down := value(own)
			own[i] = at
			// Error of the difference quotient: rounding of the values over h; of float32 sums: 1e-4 of the
			// gradient's size. A kink within h of a pixel would show, but has probability below 1e-3 a case.
			want, tol := (up-down)/(2*h), 2e-4*scale+1e-4*math.Abs((up-down)/(2*h))+1e-9*math.Abs(up)/h*1e-4+1e-5
			if got := grad[j*d+i]; math.IsInf(want, 0) || !(math.Abs(got-want) <= tol) {
				t.Fatalf("particle %d: ∂/∂θ[%d] = %.8g, finite difference %.8g (tolerance %.2g)", j, i, got, want, tol)
			}
		}
	}
}
