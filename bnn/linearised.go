package bnn

import (
	"context"
	"fmt"
	"slices"

	"github.com/starling-smc/starling/internal/safetensors"
	"github.com/starling-smc/starling/nn"
)

// A linearised ensemble has draws of θ from a Gaussian that fits at one network, θ*, alone, such as that of Laplace. Far from θ* the network
// does not follow its own tangents, and the draws are not networks of the posterior. The curvature that made the Gaussian is that of
//
//	f(x; θ*) + J(x)(θ − θ*)        J(x) = ∂f(x; θ*)/∂θ
//
// whose outputs are linear in θ (Khan, Immer, Abedi, Korzepa 2019; Immer, Korzepa, Bauer 2021): by these outputs it predicts. Where θ* is Centre,
// they are the outputs of a particle in all that follows: probabilities, entropies, densities and draws.

// What the metadata of a file say of it.
const (
	predicts   = "predict"
	linearised = "linearised"
	ofCentre   = "centre/" // before the names of tensors: no network has one of such a name
)

// linear is memory for a pass of a linearised ensemble.
type linear struct {
	centre []float64 // θ*
	base   []float32 // its outputs
}

// outputs sets out to the outputs of some particles for some examples, in the order of nn.Model.Outputs.
func (e *Ensemble) outputs(ctx context.Context, model *nn.Model, rows []int32, particles []int, own *wide, out []float32) error {
	theta, err := own.of(e, particles)
	if err != nil {
		return err
	}
	if e.Centre == nil {
		return model.Outputs(ctx, rows, theta, out)
	}
	own.centre = widen(own.centre[:0], e.Centre)
	for i := range theta {
		theta[i] -= own.centre[i%len(own.centre)]
	}
	if err := model.Tangents(ctx, rows, own.centre, theta, out); err != nil {
		return err
	}
	n := len(out) / len(particles)
	own.base = slices.Grow(own.base[:0], n)[:n]
	if err := model.Outputs(ctx, rows, own.centre, own.base); err != nil {
		return err
	}
	for i := range out {
		out[i] += own.base[i%n]
	}
	return nil
}

// centre is θ* as tensors of a file.
func (e *Ensemble) centre() (tensors []safetensors.Tensor) {
	for _, t := range e.Net.Random() {
		values := e.Centre[t.Offset:][:t.Size]
		tensors = append(tensors, safetensors.Tensor{Name: ofCentre + t.Name, DType: safetensors.Float32.DType(), Shape: t.Shape, Data: safetensors.Float32.Append(nil, values)})
	}
	return tensors
}

// centreOf are the names of the tensors with θ* of a file with such metadata; nil: it has none.
func centreOf(metadata map[string]string, net *nn.Net) (names []string, err error) {
	switch by, is := metadata[predicts]; {
	case !is:
		return nil, nil
	case by != linearised:
		return nil, fmt.Errorf("the metadata say %s: %s, and this program knows %s alone: read the file with the version that wrote it", predicts, shown(by), linearised)
	}
	for _, t := range net.Random() {
		names = append(names, ofCentre+t.Name)
	}
	return names, nil
}

// centre reads θ*.
func (f *stacked) centre() ([]float32, error) {
	centre := make([]float32, 0, f.net.Dim())
	for _, t := range f.net.Random() {
		a := f.extra[ofCentre+t.Name]
		if a.DType != safetensors.Float32.DType() || !slices.Equal(a.Shape, t.Shape) {
			return nil, fmt.Errorf("tensor %s is %s %v in the file, want F32 %v", a.Name, a.DType, a.Shape, t.Shape)
		}
		for i, x := range a.Float64s() {
			if x-x != 0 {
				return nil, fmt.Errorf("%s%s is %v: want finite numbers", ofCentre, t.Element(i), x)
			}
			centre = append(centre, float32(x))
		}
	}
	return centre, nil
}
