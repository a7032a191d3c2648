package nn

import (
	"errors"
	"fmt"
	"slices"
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
	dim           int
	multiplyAdds  int // of one example's log-likelihood and gradient

	once sync.Once
	prog *program
}

// Tensor places one named array of parameters in θ: θ[Offset : Offset+Size], row-major in Shape.
type Tensor struct {
	Name   string // as in the state_dict of an nn.Sequential of the same layers, the implicit flatten counted
	Shape  []int
	Offset int
	Size   int
	FanIn  int // inputs of one unit (a bias has its layer's); 0 for the likelihood's parameters
	Layer  int // index of its layer in Net.Layers; −1 for the likelihood's parameters
}

// New derives the shapes of a network whose input has shape [features] or [channels, height, width]. An error names
// the layer (counted from 0) that does not fit, and why.
func New(input []int, layers []Layer, lik Likelihood) (*Net, error) {
	if len(input) != 1 && len(input) != 3 {
		return nil, fmt.Errorf("input shape %v: want [features] or [channels, height, width]", input)
	}
	for _, d := range input {
		if d <= 0 {
			return nil, fmt.Errorf("input shape %v: every size must be positive", input)
		}
	}
	if volume(input...) > maxValues {
		return nil, fmt.Errorf("input shape %v: more than %d values an example", input, maxValues)
	}
	net := &Net{input: slices.Clone(input), layers: slices.Clone(layers), lik: lik}
	b := &builder{net: net, names: map[string]bool{}}
	var err error
	if net.nodes, err = b.chain(net.layers, net.input, stagePre); err != nil {
		return nil, err
	}
	if net.dim == 0 {
		return nil, errors.New("the network has no parameters")
	}
	net.output = net.nodes[len(net.nodes)-1].out
	if lik == nil {
		return nil, errors.New("the network has no likelihood")
	}
	if err := lik.checkOutputs(net.Outputs()); err != nil {
		return nil, err
	}
	for _, name := range lik.Parameters() {
		net.place(name, -1, 0, 1)
	}
	return net, nil
}

// program is the compiled network. The first model of the network compiles it, and all models share it.
func (n *Net) program() *program {
	n.once.Do(func() { n.prog = compile(n) })
	return n.prog
}

// Dim is D, the number of parameters.
func (n *Net) Dim() int { return n.dim }

// Tensors are the parameters in the order of θ.
func (n *Net) Tensors() []Tensor { return slices.Clone(n.tensors) }

// Input is the shape of one example.
func (n *Net) Input() []int { return slices.Clone(n.input) }

// Title names the layers that change shapes: "conv 4 → pool → dense 8".
func (n *Net) Title() string {
	var titles []string
	for _, l := range n.layers {
		if title := l.Title(); title != "" {
			titles = append(titles, title)
		}
	}
	return strings.Join(titles, " → ")
}

// Layers are the layers that New was given.
func (n *Net) Layers() []Layer { return slices.Clone(n.layers) }

// Likelihood is the likelihood that New was given.
func (n *Net) Likelihood() Likelihood { return n.lik }

// Outputs is K, the number of output values of one example.
func (n *Net) Outputs() int { return volume(n.output...) }

// Classes is the number of classes that the network predicts, 0 for a regression.
func (n *Net) Classes() int { return n.lik.Classes(n.Outputs()) }

// Flops is the arithmetic of one example's log-likelihood and gradient: 2 × the multiply-adds of the forward pass, of
// the weight gradients and of the input gradients. The first layer's input gradient is left out.
func (n *Net) Flops() float64 { return 2 * float64(n.multiplyAdds) }

// features is the number of input values of one example.
func (n *Net) features() int { return volume(n.input...) }
