package nn

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/config"
)

// Architecture is a network and the likelihood of its outputs, as a config describes them.
type Architecture struct {
	Input      []int      `yaml:"input,omitempty"`      // [features] or [channels, height, width]; default: the shape of the data
	Layers     []Layer    `yaml:"layers"`               // in order; the last gives the outputs
	Random     Random     `yaml:"random,omitempty,one"` // all (default), first, last, or a list of layers' names
	Likelihood Likelihood `yaml:"likelihood"`           // no default
}

// Defaults implements config.Defaulter.
func (a *Architecture) Defaults() {
	if a.Random.All() {
		a.Random = nil
	}
}

// Check checks the shapes of the network, if its input shape is known.
func (a Architecture) Check(f *config.Faults) {
	found := len(f.All())
	for i, size := range a.Input {
		checkSizes(f, fmt.Sprint("input.", i), 1, size)
	}
	f.If(len(a.Layers) == 0, "", "needs layers, as in [{dense: 50}, relu, {dense: 1}]")
	for _, i := range Dropouts(a.Layers) {
		f.If(!feedsDense(a.Layers[i+1:]), fmt.Sprint("layers.", i), misplaced)
	}
	f.If(a.Likelihood == nil, "", "needs a likelihood: %s", Likelihoods.Forms())
	if a.Input != nil && !slices.Contains(a.Layers, nil) && len(f.All()) == found {
		a.shapes(f)
	}
}

// shapes derives the network's shapes and notes the first layer that does not fit: the last layer of the shortest part of the
// network that fails.
func (a Architecture) shapes(f *config.Faults) {
	net, err := a.Random.Network(a.Input, a.Layers, a.Likelihood)
	if err == nil {
		f.If(net.Parameters() > math.MaxInt32, "layers", "%d parameters are more than the %d that a network may have", net.Parameters(), math.MaxInt32)
		return
	}
	if random := new(RandomError); errors.As(err, &random) {
		f.Add(random.field(), "%v", err)
		return
	}
	for i := range a.Layers {
		part := append(slices.Clone(a.Layers[:i+1]), Dense{Units: 1, Name: "the rest"})
		if _, err := New(a.Input, part, Gaussian{SD: 1}); err != nil {
			f.Add(fmt.Sprint("layers.", i), "%v", err)
			return
		}
	}
	f.Add("likelihood", "%v", err)
}

// Network builds the network for the training examples of a problem. A missing input shape becomes the examples' shape.
// Faults are noted in f.
func (a *Architecture) Network(p *data.Problem, f *config.Faults) *Net {
	set, given := p.Train, a.Input != nil
	if !given {
		a.Input = slices.Clone(set.Shape)
		found := len(f.All())
		if a.Check(f); len(f.All()) > found {
			return nil
		}
	}
	net, err := a.Random.Network(a.Input, a.Layers, a.Likelihood)
	if err != nil {
		f.Add("", "%v", err)
		return nil
	}
	if given && !data.TakesShape(a.Input, set.Shape) {
		hint := "leave input out to take theirs"
		if s := set.Shape; len(s) == 3 && slices.Equal(a.Input, []int{s[2], s[0], s[1]}) {
			hint = "the axes of the images are height, width, channels: move the channels before you save the array, np.moveaxis(x, -1, 1)"
		}
		if p.Schema != nil {
			for i, f := range p.Schema.ColumnFindings() {
				if i == 0 {
					hint = f.Words()
				} else {
					hint += "; " + f.Words()
				}
			}
		}
		f.Add("input", "%s has examples of shape %v, the network takes %v: %s", p.Name, set.Shape, a.Input, hint)
		return nil
	}
	for _, part := range p.Parts() {
		if err := net.Takes(part.Set); err != nil {
			f.Add("layers.0", "%v", err)
			break
		}
	}
	field, message := a.Likelihood.mismatch(p, net.Outputs())
	if field == lastLayer {
		field = fmt.Sprint("layers.", len(a.Layers)-1)
	}
	f.If(message != "", field, "%s", message)
	return net
}
