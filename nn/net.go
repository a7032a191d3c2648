package nn

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
)

// Net is the architecture of a network: its layers with all shapes derived. It is immutable.
type Net struct {
	input   []int
	layers  []Layer
	lik     Likelihood
	shapes  [][]int // shapes[l] is the input of layer l, shapes[len(layers)] the output
	params  [][]int // params[l] are the tensors of layer l: weight, then bias if any
	tensors []Tensor
	dim     int

	once sync.Once
	prog *program
}

// program is the network's, compiled when a first model asks for it: all models of a network share it.
func (n *Net) program() *program {
	n.once.Do(func() { n.prog = compile(n) })
	return n.prog
}

// Bounds that keep all offsets of the kernels' tables in 32 bits.
const (
	maxValues     = 1 << 22 // of one example, padding included, between two layers
	maxParameters = 1 << 28
)

// volume is the product of sizes, or more than any bound if it is too large.
func volume(sizes ...int) int {
	v := 1
	for _, s := range sizes {
		if s > maxParameters || v > maxParameters {
			return maxParameters + 1
		}
		v *= s
	}
	return v
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
	input, layers = slices.Clone(input), slices.Clone(layers)
	net := &Net{input: input, layers: layers, lik: lik, shapes: [][]int{input}}
	names := map[string]bool{}
	number := 0 // of the module in an nn.Sequential, where flattening is a module of its own
	shape := input
	for i, l := range layers {
		at := func(format string, args ...any) error {
			return fmt.Errorf("layer %d (%s): "+format, append([]any{i, kind(l)}, args...)...)
		}
		var owned []int
		add := func(name, part string, fanIn int, shape ...int) {
			size := volume(shape...)
			owned = append(owned, len(net.tensors))
			net.tensors = append(net.tensors, Tensor{name + "." + part, shape, net.dim, size, fanIn})
			net.dim += size
		}
		claim := func(name string) (string, error) {
			if name == "" {
				name = strconv.Itoa(number)
			}
			if names[name] {
				return "", at("the name %q is taken by an earlier layer", name)
			}
			names[name] = true
			return name, nil
		}
		switch l := l.(type) {
		case Dense:
			if l.Units <= 0 {
				return nil, at("units must be positive, have %d", l.Units)
			}
			if len(shape) == 3 {
				number++ // the implicit flatten
				shape = []int{shape[0] * shape[1] * shape[2]}
			}
			name, err := claim(l.Name)
			if err != nil {
				return nil, err
			}
			in := shape[0]
			add(name, "weight", in, l.Units, in)
			if !l.NoBias {
				add(name, "bias", in, l.Units)
			}
			shape = []int{l.Units}
		case Conv:
			if len(shape) != 3 {
				return nil, at("needs an input of shape [channels, height, width], has %v", shape)
			}
			l.Stride = ones(l.Stride)
			if l.Filters <= 0 {
				return nil, at("filters must be positive, have %d", l.Filters)
			}
			out, err := windowed(shape, l.Kernel, l.Stride, l.Pad)
			if err != nil {
				return nil, at("%v", err)
			}
			name, err := claim(l.Name)
			if err != nil {
				return nil, err
			}
			fan := shape[0] * l.Kernel[0] * l.Kernel[1]
			add(name, "weight", fan, l.Filters, shape[0], l.Kernel[0], l.Kernel[1])
			if !l.NoBias {
				add(name, "bias", fan, l.Filters)
			}
			shape = []int{l.Filters, out[0], out[1]}
		case MaxPool, AvgPool:
			size, stride, pad := window(l)
			if len(shape) != 3 {
				return nil, at("needs an input of shape [channels, height, width], has %v", shape)
			}
			if 2*pad[0] > size[0] || 2*pad[1] > size[1] {
				return nil, at("padding %v is more than half of the window %v", pad, size)
			}
			out, err := windowed(shape, size, stride, pad)
			if err != nil {
				return nil, at("%v", err)
			}
			shape = []int{shape[0], out[0], out[1]}
		case GlobalAvgPool:
			if len(shape) != 3 {
				return nil, at("needs an input of shape [channels, height, width], has %v", shape)
			}
			shape = shape[:1]
		case Flatten:
			if len(shape) == 3 {
				shape = []int{shape[0] * shape[1] * shape[2]}
			}
		case Activation:
			if l < ReLU || l > Swish {
				return nil, at("unknown activation")
			}
		default:
			return nil, at("unknown kind of layer")
		}
		if volume(shape...) > maxValues {
			return nil, at("gives %v, more than %d values an example", shape, maxValues)
		}
		if net.dim > maxParameters {
			return nil, at("brings the network to more than %d parameters", maxParameters)
		}
		number++
		net.params = append(net.params, owned)
		net.shapes = append(net.shapes, shape)
	}
	if net.dim == 0 {
		return nil, fmt.Errorf("the network has no parameters")
	}
	k := net.Outputs()
	switch lik := lik.(type) {
	case Categorical:
		if k < 2 {
			return nil, fmt.Errorf("categorical likelihood needs at least 2 outputs, the network has %d (bernoulli takes 1)", k)
		}
	case Bernoulli:
		if k != 1 {
			return nil, fmt.Errorf("bernoulli likelihood needs 1 output, the network has %d", k)
		}
	case Gaussian:
		if lik.Learned {
			net.tensors = append(net.tensors, Tensor{"log_sd", []int{1}, net.dim, 1, 0})
			net.dim++
		} else if prec := float32(1 / (lik.SD * lik.SD)); !(lik.SD > 0) || prec == 0 || math.IsInf(float64(prec), 1) {
			return nil, fmt.Errorf("gaussian likelihood needs a positive sd whose 1/sd² is a float32, has %v", lik.SD)
		}
	default:
		return nil, fmt.Errorf("unknown likelihood %T", lik)
	}
	return net, nil
}

// Dim is D, the number of parameters.
func (n *Net) Dim() int { return n.dim }

// Tensors are the parameters in the order of θ.
func (n *Net) Tensors() []Tensor { return slices.Clone(n.tensors) }

// Input is the shape of one example.
func (n *Net) Input() []int { return slices.Clone(n.input) }

// Layers are the layers that New was given.
func (n *Net) Layers() []Layer { return slices.Clone(n.layers) }

// Likelihood is the likelihood that New was given.
func (n *Net) Likelihood() Likelihood { return n.lik }

// Outputs is K, the number of output values of one example.
func (n *Net) Outputs() int {
	k := 1
	for _, d := range n.shapes[len(n.shapes)-1] {
		k *= d
	}
	return k
}

// Flops is the arithmetic of one example's log-likelihood and gradient: 2 × the multiply-adds of the forward pass, of
// the weight gradients and of the input gradients, the first layer's input gradient left out.
func (n *Net) Flops() float64 {
	total, first := 0, true
	for i, l := range n.layers {
		in, out := n.shapes[i], n.shapes[i+1]
		macs := 0
		switch l := l.(type) {
		case Dense:
			macs = out[0]
			for _, d := range in {
				macs *= d
			}
		case Conv:
			macs = in[0] * l.Kernel[0] * l.Kernel[1] * out[0] * out[1] * out[2]
		default:
			continue
		}
		total += 3 * macs
		if first {
			total -= macs
			first = false
		}
	}
	return 2 * float64(total)
}

// features is the number of input values of one example.
func (n *Net) features() int {
	p := 1
	for _, d := range n.input {
		p *= d
	}
	return p
}

func kind(l Layer) string {
	switch l := l.(type) {
	case Dense:
		return "dense"
	case Conv:
		return "conv"
	case MaxPool:
		return "maxpool"
	case AvgPool:
		return "avgpool"
	case GlobalAvgPool:
		return "global_avgpool"
	case Flatten:
		return "flatten"
	case Activation:
		if l >= ReLU && l <= Swish {
			return l.String()
		}
	}
	return fmt.Sprintf("%T", l)
}

// window returns the geometry of a pooling layer, defaults filled in.
func window(l Layer) (size, stride, pad [2]int) {
	switch l := l.(type) {
	case MaxPool:
		size, stride, pad = l.Size, l.Stride, l.Pad
	case AvgPool:
		size, stride, pad = l.Size, l.Stride, l.Pad
	}
	if stride == [2]int{} {
		stride = size
	}
	return size, stride, pad
}

func ones(stride [2]int) [2]int {
	if stride == [2]int{} {
		return [2]int{1, 1}
	}
	return stride
}

// windowed is the output height and width of a sliding window over shape [c, h, w].
func windowed(shape []int, size, stride, pad [2]int) (out [2]int, err error) {
	for d := range 2 {
		switch {
		case size[d] <= 0 || stride[d] <= 0 || pad[d] < 0:
			return out, fmt.Errorf("window %v, stride %v, padding %v: sizes and strides must be positive, padding not negative", size, stride, pad)
		case volume(shape[0], shape[1]+2*min(pad[0], maxValues), shape[2]+2*min(pad[1], maxValues)) > maxValues:
			return out, fmt.Errorf("padding %v makes more than %d values of %v", pad, maxValues, shape)
		case size[d] > shape[1+d]+2*pad[d]:
			return out, fmt.Errorf("the window %v is larger than the input %v with padding %v", size, shape[1:], pad)
		}
		out[d] = (shape[1+d]+2*pad[d]-size[d])/stride[d] + 1
	}
	return out, nil
}
