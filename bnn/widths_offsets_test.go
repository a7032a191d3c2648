package bnn

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/nn"
)

// broad is two islands of particles with weights of a network whose layers have different sizes: one with more weights than are read
// at a time, one of which a few particles are, and small ones.
func broad(t *testing.T) (net *nn.Net, islands []Island) {
	t.Helper()
	net, err := nn.New([]int{300}, []nn.Layer{nn.Dense{Units: 1000}, nn.Tanh, nn.Dense{Units: 90}, nn.Tanh, nn.Dense{Units: 2}}, nn.Gaussian{SD: nn.Learned})
	if err != nil {
		t.Fatal(err)
	}
	for p, n := range []int{3, 4} {
		one := Island{Theta: make([]float64, n*net.Dim()), LogEvidence: float64(p)}
		for j := range n {
			s := rng.Key{Seed: 5, Purpose: rng.Synthetic, Island: p, Particle: j}.Stream()
			one.LogWeights = append(one.LogWeights, 0.3*s.Normal())
			for _, t := range net.Tensors() { // each tensor of each particle has a width of its own
				part, sd := one.Theta[j*net.Dim()+t.Offset:][:t.Size], math.Exp(s.Normal())
				s.Normals(part)
				for i := range part {
					part[i] *= sd
				}
			}
		}
		islands = append(islands, one)
	}
	return net, islands
}

// widthsOf are the widths of the ensemble of some islands.
func widthsOf(t *testing.T, net *nn.Net, islands []Island) []Width {
	t.Helper()
	e, err := Combine(net, islands, Equal{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := LearnedPrior{Shape: 1.5, Rate: 0.7}.Widths(e)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The widths of a tensor are those of its own components, over the weighted particles of all islands. One island of all particles, with
// the weights that they have in the ensemble, has the same widths, and so have particles that lie in files. Where one particle has all the weight, they are
// those of its network alone. Where a tensor is wider in one
// particle, the last of an island, its own widths change and no others.
func TestWidthsAreOfTheirOwnTensor(t *testing.T) {
	net, islands := broad(t)
	want := widthsOf(t, net, islands)
	e, err := Combine(net, islands, Equal{})
	if err != nil {
		t.Fatal(err)
	}
	together := []Island{{Theta: slices.Concat(islands[0].Theta, islands[1].Theta), LogWeights: e.LogWeights}}
	var files []Island
	for _, one := range islands {
		if err := one.Store(net); err != nil {
			t.Fatal(err)
		}
		files = append(files, one)
	}
	for what, other := range map[string][]Island{"one island": together, "files": files} {
		if got := widthsOf(t, net, other); !slices.Equal(got, want) {
			t.Errorf("%s: widths %v, want %v", what, got, want)
		}
	}
	d := net.Dim()
	for j := range e.Size() {
		heavy := slices.Repeat([]float64{math.Inf(-1)}, e.Size())
		heavy[j] = 0
		all, alone := together[0].Theta, Island{Theta: together[0].Theta[j*d : (j+1)*d]}
		if got, want := widthsOf(t, net, []Island{{Theta: all, LogWeights: heavy}}), widthsOf(t, net, []Island{alone}); !slices.Equal(got, want) {
			t.Errorf("where particle %d has all the weight the widths are %v, its own are %v", j, got, want)
		}
	}
	for k, tensor := range net.Tensors() {
		for p, one := range islands {
			last := len(one.Theta)/d - 1
			was := slices.Clone(one.Theta[last*d:][tensor.Offset:][:tensor.Size])
			for i := range was {
				one.Theta[last*d+tensor.Offset+i] *= 30 // wide beyond all others
			}
			for i, w := range widthsOf(t, net, islands) {
				if same := w == want[i]; same == (i == k) {
					t.Errorf("where %s is wider in the last particle of island %d, the widths of %s are the same: %v", tensor.Name, p, w.Tensor, same)
				}
			}
			copy(one.Theta[last*d+tensor.Offset:], was)
		}
	}
}
