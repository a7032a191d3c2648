package nn

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Net is the architecture of a network: its layers with all shapes derived. It is immutable.
type Net struct {
	input, output []int // shapes of one example
	layers        []Layer
	nodes         []node // of the layers
	lik           Likelihood
	tensors       []Tensor
	dim           int       // D, of θ
	learned       int       // length of ψ
	frozen        int       // of what follows ψ in φ
	fixed         int       // of the statistics behind φ
	statistics    []float32 // their values; nil: none yet
	multiplyAdds  int       // of one example's log-likelihood and gradient
	drops         []*drop
	dropped       int // values of one example that dropout layers mask

	compiled *compiled // shared by the networks of With
}

// compiled are the programs of a network, once a model has needed them.
type compiled struct {
	once, onceDropout, onceApart sync.Once

	prog        *program
	progDropout *program // with dropout layers, for training
	progApart   *program // with an op for each layer, for curvature
	still       *node    // as in compileApart
}

// Tensor places one named array of parameters in θ: θ[Offset : Offset+Size], row-major in Shape; or in φ, if it is not random; or in
// the statistics of Net.With, if it is fixed.
type Tensor struct {
	Name   string // as in the state_dict of an nn.Sequential of the same layers, including the implicit flatten
	Shape  []int
	Offset int
	Size   int
	Kind   Kind
	Place  string // of its layer, by numbers in an nn.Sequential and attributes of its modules, as in 2.body.0; empty for the likelihood's parameters
	Of     string // its layer's kind, such as conv; empty likewise
	FanIn  int    // inputs of one unit (a bias has its layer's); 0 for the tensors of other kinds
	Layer  int    // index of its layer in Net.Layers; −1 for the likelihood's parameters
	Zero   int    // its last values, for outputs that are scales (Likelihood): 0 at the start where they are learned or descend
	Role   Role
}

// Element names value i of the tensor as Python does: "2.weight[0, 3]".
func (t Tensor) Element(i int) string {
	at := make([]string, len(t.Shape))
	for d := len(t.Shape) - 1; d >= 0; d-- {
		at[d] = strconv.Itoa(i % t.Shape[d])
		i /= t.Shape[d]
	}
	return t.Name + "[" + strings.Join(at, ", ") + "]"
}

// program is the compiled network, where dropout layers are left out. The first model of the network compiles it, and all models
// share it.
func (n *Net) program() *program {
	n.compiled.once.Do(func() { n.compiled.prog = compile(n, false) })
	return n.compiled.prog
}

// training returns the program of training steps, whose dropout layers mask their inputs; program() if nothing is ever masked.
func (n *Net) training() *program {
	if !slices.ContainsFunc(n.drops, func(d *drop) bool { return d.rate > 0 }) {
		return n.program()
	}
	n.compiled.onceDropout.Do(func() { n.compiled.progDropout = compile(n, true) })
	return n.compiled.progDropout
}

// apart returns the program of curvature (curvature.go).
func (n *Net) apart() *program {
	n.compiled.onceApart.Do(func() { n.compiled.progApart, n.compiled.still = compileApart(n) })
	return n.compiled.progApart
}

// Dim is D, the number of parameters in θ.
func (n *Net) Dim() int { return n.dim }

// Learned is the length of ψ.
func (n *Net) Learned() int { return n.learned }

// Shared is the length of φ: of ψ, and of the frozen parameters behind it.
func (n *Net) Shared() int { return n.learned + n.frozen }

// Partly reports whether particles share a part of the parameters.
func (n *Net) Partly() bool { return n.Shared() > 0 }

// Parameters is the number of parameters of one network: those in θ and in φ.
func (n *Net) Parameters() int { return n.dim + n.Shared() }

// Tensors are the parameters, and the statistics of normalisations, in the order of the layers.
func (n *Net) Tensors() []Tensor { return slices.Clone(n.tensors) }

// Random are the tensors in θ, in its order.
func (n *Net) Random() []Tensor {
	return slices.DeleteFunc(n.Tensors(), func(t Tensor) bool { return t.Role != RoleRandom })
}

// Input is the shape of one example.
func (n *Net) Input() []int { return slices.Clone(n.input) }

// Title names the layers that change shapes: "conv 4 → pool → dense 8"; three or more in a row with one title as "9 × residual".
func (n *Net) Title() string {
	var titles []string
	for _, same := range repeats(n.layers) {
		if same.count > 2 {
			titles = append(titles, fmt.Sprintf("%d × %s", same.count, same.title))
			continue
		}
		for range same.count {
			titles = append(titles, same.title)
		}
	}
	return strings.Join(titles, " → ")
}

// repeat is a title and how many layers in a row have it, apart from those without one.
type repeat struct {
	title string
	count int
}

func repeats(layers []Layer) (all []repeat) {
	for _, l := range layers {
		title := l.Title()
		switch last := len(all) - 1; {
		case title == "":
		case last >= 0 && all[last].title == title:
			all[last].count++
		default:
			all = append(all, repeat{title, 1})
		}
	}
	return all
}

// Layers are the layers that New was given.
func (n *Net) Layers() []Layer { return slices.Clone(n.layers) }

// Likelihood is the likelihood that New was given.
func (n *Net) Likelihood() Likelihood { return n.lik }

// Outputs is K, the number of output values of one example.
func (n *Net) Outputs() int { return volume(n.output...) }

// Classes is the number of classes that the network predicts, 0 for a regression.
func (n *Net) Classes() int { return n.lik.Classes(n.Outputs()) }

// Targets is the number of target values of one example that the network predicts, 0 for classes.
func (n *Net) Targets() int { return n.lik.Targets(n.Outputs()) }

// Flops is the arithmetic of one example's log-likelihood and gradient: 2 × the multiply-adds of the forward pass, of
// the weight gradients and of the input gradients. The input gradient of the first random layer is left out, and so are the
// gradients of layers that are not random.
func (n *Net) Flops() float64 { return 2 * float64(n.multiplyAdds) }

// features is the number of input values of one example.
func (n *Net) features() int { return volume(n.input...) }

// place appends a tensor to the parameters of its role.
func (n *Net) place(name string, layer int, role Role, kind Kind, fanIn int, shape ...int) {
	end := [...]*int{RoleRandom: &n.dim, RoleLearned: &n.learned, RoleFrozen: &n.frozen, RoleFixed: &n.fixed}[role]
	t := Tensor{Name: name, Shape: slices.Clone(shape), Offset: *end, Size: volume(shape...), Kind: kind, FanIn: fanIn, Layer: layer, Role: role}
	n.tensors = append(n.tensors, t)
	*end += t.Size
}
