package nn

import (
	"errors"

	"github.com/starling-smc/starling/internal/numeral"
)

// Role says who moves a tensor of a network (guided-open-horizon-smc, section 2). The parameters of a network are two vectors: θ,
// of which every particle has its own, and φ, which all particles share.
type Role int

const (
	RoleRandom  Role = iota // in θ: each particle has its own values
	RoleLearned             // in φ, where it is a part of ψ: shared by all particles, and learned while they move
	RoleFrozen              // in φ, after ψ: shared by all particles, and moved by nobody
)

// String is the role's name in files.
func (r Role) String() string { return [...]string{"random", "learned", "frozen"}[r] }

// NewPartly is New for a network of which a part is random. role gives the role of the tensors of a module: a layer's name or,
// without one, its number in an nn.Sequential. Parameters of the likelihood are learned, unless all tensors are random.
func NewPartly(input []int, layers []Layer, lik Likelihood, role func(module string) Role) (*Net, error) {
	return newNet(input, layers, lik, role)
}

func allRandom(string) Role { return RoleRandom }

// checkRandom refuses a network without random tensors.
func (n *Net) checkRandom() error {
	switch {
	case len(n.tensors) == 0:
		return errors.New("the network has no parameters")
	case n.dim == 0:
		return errors.New("no tensor of the network is random")
	}
	return nil
}

// settle gives the likelihood's parameters a role, and all tensors that particles share their offsets: ψ comes first in φ.
func (n *Net) settle() {
	role := RoleRandom
	for _, t := range n.tensors {
		if t.Role != RoleRandom {
			role = RoleLearned
		}
	}
	for _, name := range n.lik.Parameters() {
		n.place(name, -1, role, 0, 1)
	}
	for i := range n.tensors {
		if t := &n.tensors[i]; t.Role == RoleFrozen {
			t.Offset += n.learned
		}
	}
}

// Learned is the length of ψ.
func (n *Net) Learned() int { return n.learned }

// Shared is the length of φ: of ψ, and of the frozen parameters behind it.
func (n *Net) Shared() int { return n.learned + n.frozen }

// Partly reports whether particles share a part of the parameters.
func (n *Net) Partly() bool { return n.Shared() > 0 }

// Size says how many parameters the network has: "9,541 parameters, 4,050 of them random".
func (n *Net) Size() string {
	size := numeral.Several(n.Parameters(), "parameter")
	if n.Partly() {
		size += ", " + numeral.Count(n.dim) + " of them random"
	}
	return size
}

// Whole is the same network with every tensor random: its θ is all parameters in the order of Tensors. It is n itself if n is
// such a network.
func (n *Net) Whole() *Net {
	if !n.Partly() {
		return n
	}
	whole, err := New(n.input, n.layers, n.lik)
	if err != nil {
		panic("nn: " + err.Error()) // n has the same layers
	}
	return whole
}

// Split divides the parameters of Whole into θ and φ.
func (n *Net) Split(whole []float64) (theta, phi []float64) {
	theta, phi = make([]float64, n.dim), make([]float64, n.Shared())
	at := 0
	for _, t := range n.tensors {
		copy(t.in(theta, phi), whole[at:at+t.Size])
		at += t.Size
	}
	return theta, phi
}

// Join is the inverse of Split.
func (n *Net) Join(theta, phi []float64) (whole []float64) {
	for _, t := range n.tensors {
		whole = append(whole, t.in(theta, phi)...)
	}
	return whole
}

// in returns the tensor's part of θ or φ.
func (t Tensor) in(theta, phi []float64) []float64 {
	if t.Role == RoleRandom {
		return theta[t.Offset:][:t.Size]
	}
	return phi[t.Offset:][:t.Size]
}

// SharedName names φ_i, as in "2.weight[0, 3]".
func (n *Net) SharedName(i int) string {
	for _, t := range n.tensors {
		if t.Role != RoleRandom && i >= t.Offset && i < t.Offset+t.Size {
			return t.Element(i - t.Offset)
		}
	}
	panic("nn: no shared parameter has this index")
}

// param is a tensor as an op sees it.
type param struct {
	role Role
	at   int // offset in θ or φ
	grad int // offset in the sums of the gradient of θ or ψ
}

// gradRows is the place of a tensor's gradient: rows of a given pitch in the float32 sums, dense in θ or ψ.
type gradRows struct{ at, grad, rows, cols, pitch int }

// layout is the float32 sums of the gradient of θ, for one particle, or of ψ.
type layout struct {
	size int
	rows []gradRows
}
