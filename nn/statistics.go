package nn

import "slices"

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
