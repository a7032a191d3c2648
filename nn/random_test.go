package nn

import (
	"context"
	"fmt"
	"maps"
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
	// Networks with a pool fused into the first convolution, whose gradient goes through the masks, and into a later one; with a sum that
	// takes the place of an input, and one whose inputs have its gradient.
	seen := map[string]int{"max, first": 0, "max, later": 0, "mean, first": 0, "mean, later": 0, "sum in place": 0, "joined": 0, "by group": 0, "by tile": 0}
	least := nets / 80 // a short run has too few networks to ask for any
	for seed := uint64(0); nets > 0; seed++ {
		r := rand.New(rand.NewPCG(seed, 99))
		input, layers, lik := drawNet(r)
		net, err := New(input, layers, lik)
		if err != nil || net.Outputs() > 300 || net.dim > 5000 {
			continue
		}
		nets--
		net = measured(net)
		for name := range ways(net) {
			seen[name]++
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
	for name, n := range seen {
		if n < least {
			t.Errorf("%s: in %d nets, want at least %d", name, n, least)
		}
	}
}

// ways lists the kinds of pool that are fused into a network's convolutions, what its sums share, and how it goes through a tile.
func ways(net *Net) map[string]bool {
	p := net.program()
	kinds := map[string]bool{map[bool]string{false: "by tile", true: "by group"}[p.byGroup]: true}
	for _, o := range p.ops[stageConv] {
		switch o := o.(type) {
		case *convOp:
			if o.pooled {
				kinds[map[bool]string{false: "max", true: "mean"}[o.mean]+map[bool]string{false: ", later", true: ", first"}[o.unpooled == nil]] = true
			}
		case *sumOp:
			for _, v := range o.in {
				kinds["sum in place"] = kinds["sum in place"] || v.act == o.out.act
				kinds["joined"] = kinds["joined"] || v.grad >= 0 && v.grad == o.out.grad
			}
		}
	}
	maps.DeleteFunc(kinds, func(_ string, is bool) bool { return !is })
	return kinds
}

func drawNet(r *rand.Rand) (input []int, layers []Layer, lik Likelihood) {
	pair := func(lo, hi int) [2]int { return [2]int{lo + r.IntN(hi-lo+1), lo + r.IntN(hi-lo+1)} }
	image := r.IntN(4) > 0
	input = []int{1 + r.IntN(20)}
	if image {
		input = []int{1 + r.IntN(4), 1 + r.IntN(16), 1 + r.IntN(16)}
	}
	conv := func() Conv {
		return Conv{Filters: 1 + r.IntN(9), Kernel: pair(1, 5), Stride: pair(1, 1+r.IntN(3)), Pad: pair(0, 2), NoBias: r.IntN(2) == 0}
	}
	for range 1 + r.IntN(6) {
		switch kind := r.IntN(13); {
		case kind >= 10:
			if shape := shapeBehind(input, layers); shape != nil {
				block, _ := drawResidual(r, shape, 2)
				layers = append(layers, block)
			}
		case kind < 6 && !image:
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
			layers = append(layers, drawActivation(r))
		case kind == 8:
			layers = append(layers, []Layer{Flatten{}, Norm{Batch: Frozen}}[r.IntN(2)])
		default:
			layers = append(layers, Dense{Units: 1 + r.IntN(20), NoBias: r.IntN(2) == 0})
		}
	}
	layers = withNorms(layers, r)
	if r.IntN(3) > 0 {
		layers = append(layers, Dense{Units: 1 + r.IntN(5), NoBias: r.IntN(2) == 0})
	}
	if r.IntN(8) == 0 {
		return input, append(layers, Dense{Units: 1, NoBias: r.IntN(2) == 0}), Bernoulli{}
	}
	return input, layers, []Likelihood{Categorical{}, Gaussian{SD: .8}, Gaussian{SD: Learned}}[r.IntN(3)]
}

// drawResidual draws a residual over an input of the given shape, with residuals inside it down to a depth. It returns the shape of its sum.
func drawResidual(r *rand.Rand, in []int, depth int) (block Residual, out []int) {
	conv := func(filters, stride int) Layer { // keeps the size of the planes, or halves it
		k := 1 + 2*r.IntN(3)
		return Conv{Filters: filters, Kernel: [2]int{k, k}, Stride: [2]int{stride, stride}, Pad: [2]int{k / 2, k / 2}, NoBias: r.IntN(2) == 0}
	}
	chain := func(shape []int) (layers []Layer) {
		for range r.IntN(4) {
			switch kind := r.IntN(6); {
			case kind == 0 && depth > 0:
				var inner Residual
				inner, shape = drawResidual(r, shape, depth-1)
				layers = append(layers, inner)
			case kind < 3:
				layers = append(layers, drawActivation(r))
			case len(shape) == 1:
				shape = []int{1 + r.IntN(6)}
				layers = append(layers, Dense{Units: shape[0]})
			case kind == 3:
				window := MaxPool{[2]int{3, 3}, [2]int{1, 1}, [2]int{1, 1}}
				layers = append(layers, []Layer{window, AvgPool(window)}[r.IntN(2)])
			case kind == 4:
				layers = append(layers, []Layer{Norm{Batch: Frozen}, FRN{TLU: r.IntN(2) == 0}}[r.IntN(2)])
			default:
				shape = []int{1 + r.IntN(6), shape[1], shape[2]}
				layers = append(layers, conv(shape[0], 1))
			}
		}
		return layers
	}
	// end is nothing, or an activation, or two.
	end := func() (layers []Layer) {
		for range r.IntN(3) {
			layers = append(layers, drawActivation(r))
		}
		return layers
	}
	kind := r.IntN(5) // identity, pad, projections, or a body that keeps the shape without a convolution
	if len(in) == 1 {
		out = slices.Clone(in)
		if kind > 1 {
			out[0] = 1 + r.IntN(6)
			block.Shortcut = append(chain(in), Dense{Units: out[0]})
		}
		block.Body = append(append(chain(in), Dense{Units: out[0]}), end()...)
		return block, out
	}
	filters, stride := in[0], 1
	switch kind {
	case 0:
	case 1:
		filters, stride = in[0]+r.IntN(4), 1+r.IntN(2)
		block.Shortcut = append([]Layer{Pad{}}, end()...)
	case 2, 3:
		filters, stride = in[0]+r.IntN(4), 1+r.IntN(2)
		block.Shortcut = append(append(chain(in), conv(filters, stride)), end()...)
	default:
		block.Body = append(end(), drawActivation(r))
		if r.IntN(2) == 0 {
			block.Body, block.Shortcut = append(block.Body, Flatten{}), append(end(), Flatten{})
			return block, []int{volume(in...)}
		}
		block.Shortcut = end()
		return block, in
	}
	block.Body = append(append(chain(in), conv(filters, stride)), end()...)
	return block, []int{filters, (in[1]-1)/stride + 1, (in[2]-1)/stride + 1}
}

// drawActivation draws a layer that is an Activation.
func drawActivation(r *rand.Rand) Layer {
	var all []Layer
	for _, row := range Layers {
		if a, ok := row.Part.(Activation); ok {
			all = append(all, a)
		}
	}
	return all[r.IntN(len(all))]
}

// shapeBehind is the shape that layers give; nil if they do not fit.
func shapeBehind(input []int, layers []Layer) []int {
	if len(layers) == 0 {
		return input
	}
	net, err := New(input, layers, Gaussian{SD: 1})
	if err != nil {
		return nil
	}
	return net.nodes[len(layers)-1].out
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
