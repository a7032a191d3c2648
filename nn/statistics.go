package nn

import "slices"

// normalisation is a layer that normalises its input.
type normalisation interface {
	needsStatistics() bool // of the network that was trained
}

// outer is a layer with others inside.
type outer interface{ chains() [][]Layer }

// Normalised reports whether one of the layers is a normalisation, or has one inside.
func Normalised(layers []Layer) bool { return placesOf(layers, isNormalisation) != nil }

// Normed lists the places of the layers that need statistics, or have others inside that do.
func Normed(layers []Layer) (at []int) { return placesOf(layers, hasStatistics) }

func isNormalisation(l Layer) bool {
	_, is := l.(normalisation)
	return is
}

func hasStatistics(l Layer) bool {
	n, is := l.(normalisation)
	return is && n.needsStatistics()
}

// placesOf lists the places of such layers, and of those that have some inside.
func placesOf(layers []Layer, such func(Layer) bool) (at []int) {
	for i, l := range layers {
		inside := false
		if o, ok := l.(outer); ok {
			inside = placesOf(slices.Concat(o.chains()...), such) != nil
		}
		if inside || such(l) {
			at = append(at, i)
		}
	}
	return at
}
