package nn

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/testkit"
)

// TestRandomNets draws architectures and checks each against the float64 reference: the log-likelihood, the gradient
// along random directions, and the same bits from every kernel. It looks for faults that the cases of TestGradients
// miss.
func TestRandomNets(t *testing.T) {
	wantReferences(t)
	nets := 200
	switch {
	case testkit.Long(t, 1):
		nets = 400
	case testing.Short():
		nets = 60
	}
	// Networks with a pool fused into the first convolution, whose gradient goes through the masks, and into a later one; and those with
	// a residual inside another, and with a normalisation inside a residual.
	fused := map[string]int{"max, first": 0, "max, later": 0, "mean, first": 0, "mean, later": 0, "nested": 0, "normed": 0}
	least := nets / 80 // a short run has too few networks to ask for any
	for seed := uint64(0); nets > 0; seed++ {
		r := rand.New(rand.NewPCG(seed, 99))
		input, layers, lik := drawNet(r)
		net, err := New(input, layers, lik)
		if err != nil || net.Outputs() > 300 || net.dim > 5000 {
			continue
		}
		nets--
		kinds := fusedPools(net)
		walk(net.nodes, func(outer *node) {
			for _, chain := range outer.inner {
				for _, n := range chain {
					kinds["nested"], kinds["normed"] = kinds["nested"] || n.inner != nil, kinds["normed"] || kind(n.layer) == "frn"
				}
			}
		})
		for name, has := range kinds {
			if has {
				fused[name]++
			}
		}
		n := []int{1, 3, 16, 17, 40, 64, 65, 100}[r.IntN(8)]
		particles := []int{1, 2, 3, 7}[r.IntN(4)]
		if len(input) == 1 {
			n, particles = min(n, 20), []int{1, 5, 64, 65, 70}[r.IntN(5)]
		}
		if err := tryNet(net, n, particles, r); err != nil {
			t.Errorf("seed %d: input %v, layers %+v, %T, %d examples, %d particles: %v", seed, input, layers, lik, n, particles, err)
		}
	}
	for name, n := range fused {
		if n < least {
			t.Errorf("%s: in %d nets, want at least %d", name, n, least)
		}
	}
}

// fusedPools lists the kinds of pool that are fused into a network's convolutions.
func fusedPools(net *Net) map[string]bool {
	kinds := map[string]bool{}
	for _, o := range net.program().ops[stageConv] {
		if o, ok := o.(*convOp); ok && o.pooled {
			kinds[map[bool]string{false: "max", true: "mean"}[o.mean]+map[bool]string{false: ", later", true: ", first"}[o.unpooled == nil]] = true
		}
	}
	return kinds
}

func drawNet(r *rand.Rand) (input []int, layers []Layer, lik Likelihood) {
	pair := func(lo, hi int) [2]int { return [2]int{lo + r.IntN(hi-lo+1), lo + r.IntN(hi-lo+1)} }
	image := r.IntN(4) > 0
	input = []int{1 + r.IntN(20)}
	if image {
		input = []int{1 + r.IntN(4), 1 + r.IntN(16), 1 + r.IntN(16)}
	}
	var activations []Layer
	for _, row := range Layers {
		if a, ok := row.Part.(Activation); ok {
			activations = append(activations, a)
		}
	}
	conv := func() Conv {
		return Conv{Filters: 1 + r.IntN(9), Kernel: pair(1, 5), Stride: pair(1, 1+r.IntN(3)), Pad: pair(0, 2), NoBias: r.IntN(2) == 0}
	}
	for range 1 + r.IntN(6) {
		switch kind := r.IntN(12); {
		case kind < 6 && !image:
		case kind == 10 && image:
			layers = append(layers, FRN{TLU: r.IntN(2) == 0, Eps: []float64{0, 1e-3, Learned}[r.IntN(3)]})
		case kind >= 10:
			if net, err := New(input, append(slices.Clone(layers), Dense{Units: 2}), Categorical{}); err == nil {
				layers = append(layers, drawResidual(net.nodes[len(layers)].in, activations, 2, r))
			}
		case kind < 2:
			layers = append(layers, conv())
		case kind < 4: // with a pool that is computed with it
			top, mean := MaxPool{Size: [2]int{2, 2}}, AvgPool{Size: [2]int{2, 2}}
			layers = append(layers, conv())
			layers = append(layers, [][]Layer{{ReLU, top}, {top, ReLU}, {ReLU, mean}, {ReLU, mean}}[r.IntN(4)]...)
		case kind == 4:
			layers = append(layers, []Layer{MaxPool{Size: [2]int{2, 2}}, AvgPool{Size: [2]int{2, 2}}}[r.IntN(2)])
		case kind == 5:
			layers = append(layers, []Layer{MaxPool{pair(1, 3), pair(1, 3), pair(0, 1)}, AvgPool{pair(1, 3), pair(1, 3), pair(0, 1)}, GlobalAvgPool{}}[r.IntN(3)])
		case kind < 8:
			layers = append(layers, activations[r.IntN(len(activations))])
		case kind == 8:
			layers = append(layers, Flatten{})
		default:
			layers = append(layers, Dense{Units: 1 + r.IntN(20), NoBias: r.IntN(2) == 0})
		}
	}
	if r.IntN(3) > 0 {
		layers = append(layers, Dense{Units: 1 + r.IntN(5), NoBias: r.IntN(2) == 0})
	}
	if r.IntN(8) == 0 {
		return input, append(layers, Dense{Units: 1, NoBias: r.IntN(2) == 0}), Bernoulli{}
	}
	return input, layers, []Likelihood{Categorical{}, Gaussian{SD: .8}, Gaussian{SD: Learned}}[r.IntN(3)]
}

// drawResidual draws a residual for an input of that shape, with others inside to a depth.
func drawResidual(shape []int, activations []Layer, depth int, r *rand.Rand) Layer {
	if len(shape) == 1 {
		body := []Layer{Dense{Units: 1 + r.IntN(8)}, activations[r.IntN(len(activations))], Dense{Units: shape[0], NoBias: r.IntN(2) == 0}}
		return Residual{Body: body[r.IntN(2)*2:]}
	}
	norm := func(chain []Layer) []Layer {
		if r.IntN(2) == 0 {
			chain = append(chain, FRN{TLU: r.IntN(2) == 0})
		}
		if r.IntN(2) == 0 {
			chain = append(chain, activations[r.IntN(len(activations))])
		}
		return chain
	}
	conv := func(filters, stride int) Layer {
		k := r.IntN(3) // of one, three or five pixels; all keep the size of the planes, or halve it
		return Conv{Filters: filters, Kernel: [2]int{2*k + 1, 2*k + 1}, Stride: [2]int{stride, stride}, Pad: [2]int{k, k}, NoBias: r.IntN(2) == 0}
	}
	filters, stride := shape[0], 1
	var l Residual
	switch r.IntN(3) {
	case 0:
		filters, stride = filters+r.IntN(5), 1+r.IntN(2)
		l.Shortcut = []Layer{Pad{}}
	case 1:
		filters, stride = 1+r.IntN(6), 1+r.IntN(2)
		l.Shortcut = norm([]Layer{conv(filters, stride)})
	}
	l.Body = norm(nil)
	for range r.IntN(2) {
		l.Body = norm(append(l.Body, conv(shape[0], 1)))
	}
	if depth > 0 && r.IntN(2) == 0 {
		l.Body = append(l.Body, drawResidual(shape, activations, depth-1, r))
		l.Body = norm(l.Body)
	}
	l.Body = append(l.Body, conv(filters, stride))
	return Residual{norm(l.Body), l.Shortcut}
}

// tryNet compares one network with the reference.
func tryNet(net *Net, n, particles int, r *rand.Rand) error {
	set, theta, d := testSet(net, n, r.IntN(2) == 0, r), testTheta(net, particles, r), net.dim
	var rows, examples []int32
	if r.IntN(2) == 0 {
		for range 1 + r.IntN(2*n) {
			rows = append(rows, int32(r.IntN(n)))
		}
		examples = rows
	} else {
		for i := range n {
			examples = append(examples, int32(i))
		}
	}
	var first []float64
	for _, kernel := range lanes.Kernels() {
		restore, err := lanes.SetKernel(kernel)
		if err != nil {
			return err
		}
		m, err := NewModel(net, set, pool.New(1+r.IntN(3)))
		if err == nil {
			all := make([]float64, particles*(1+d))
			err = m.LogLik(context.Background(), rows, theta, all[:particles], all[particles:])
			if first == nil {
				first = all
			}
			for i := range all {
				if math.Float64bits(all[i]) != math.Float64bits(first[i]) {
					err = fmt.Errorf("%s: value %d is %v, not %v", kernel, i, all[i], first[i])
				}
			}
		}
		restore()
		if err != nil {
			return err
		}
	}
	j := r.IntN(particles)
	own, grad := theta[j*d:(j+1)*d], first[particles+j*d:][:d]
	value := func(theta []float64) (sum float64) {
		for _, i := range examples {
			sum += net.logLik(net.outputs(theta, net.example(set, int(i))), theta, set, int(i))
		}
		return sum
	}
	if want := value(own); !golden.Near(first[j], want, 1e-5, 1e-4) {
		return fmt.Errorf("log-likelihood %v, reference %v", first[j], want)
	}
	// A kink may lie between the two ends of one difference, hardly of three.
	var wrong []error
	for range 3 {
		const h = 1e-6
		up, down, slope := make([]float64, d), make([]float64, d), 0.0
		for i := range own {
			v := r.NormFloat64()
			up[i], down[i] = own[i]+h*v, own[i]-h*v
			slope += grad[i] * v
		}
		if want := (value(up) - value(down)) / (2 * h); !(math.Abs(want-slope) <= 1e-3*(norm(grad)+1)) {
			wrong = append(wrong, fmt.Errorf("directional derivative %v, finite difference %v", slope, want))
		}
	}
	if len(wrong) > 1 {
		return wrong[0]
	}
	return nil
}
