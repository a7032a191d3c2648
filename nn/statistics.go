package nn

import (
	"fmt"
	"slices"
)

// Fixed are the tensors whose values Net.With takes, in its order: the statistics of normalisations.
func (n *Net) Fixed() []Tensor {
	return slices.DeleteFunc(n.Tensors(), func(t Tensor) bool { return t.Role != RoleFixed })
}

// Statistics are the values of the tensors that are fixed, one after another; nil if none are known.
func (n *Net) Statistics() []float32 { return slices.Clone(n.statistics) }

// With is the same network with the given statistics of its normalisations: the values of Fixed, one after another. An error names a
// variance that is not positive, or a number that is not finite in float32. It panics if there are more numbers, or fewer.
func (n *Net) With(statistics []float64) (*Net, error) {
	if len(statistics) != n.fixed {
		panic(fmt.Sprintf("nn: With: %d statistics for a network of %d", len(statistics), n.fixed))
	}
	if n.fixed == 0 {
		return n, nil
	}
	with := *n
	with.statistics = make([]float32, n.fixed)
	for _, t := range n.Fixed() {
		for i, x := range statistics[t.Offset:][:t.Size] {
			v := float32(x)
			switch {
			case t.Kind == Variances && !(v > 0 && v-v == 0):
				return nil, fmt.Errorf("%s is %v, and a variance is a positive number: give the channel the variance of its inputs, or train again", t.Element(i), x)
			case v-v != 0:
				return nil, fmt.Errorf("%s is %v: want numbers that are finite in float32", t.Element(i), x)
			}
			with.statistics[t.Offset+i] = v
		}
	}
	return &with, nil
}

// normalisation is a layer that normalises its input.
type normalisation interface {
	needsStatistics() bool // of the network that was trained
}

// outer is a layer with others inside.
type outer interface{ chains() [][]Layer }

// holds reports whether a layer is such a normalisation, or has one inside.
func holds(l Layer, such func(normalisation) bool) bool {
	if n, ok := l.(normalisation); ok {
		return such(n)
	}
	o, ok := l.(outer)
	return ok && slices.ContainsFunc(slices.Concat(o.chains()...), func(l Layer) bool { return holds(l, such) })
}

// Normalised reports whether one of the layers is a normalisation, or has one inside.
func Normalised(layers []Layer) bool {
	return slices.ContainsFunc(layers, func(l Layer) bool { return holds(l, func(normalisation) bool { return true }) })
}

// Normed lists the places of the layers that need statistics, or have others inside that do.
func Normed(layers []Layer) (at []int) {
	for i, l := range layers {
		if holds(l, normalisation.needsStatistics) {
			at = append(at, i)
		}
	}
	return at
}
