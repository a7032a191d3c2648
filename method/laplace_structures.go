package method

import (
	"slices"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/nn"
)

// structure is what of the curvature is kept.
type structure struct {
	name  string
	form  func(g ground) (form, error)
	bytes func(net *nn.Net) int64             // an estimate of its memory
	check func(net *nn.Net, f *config.Faults) // refuses a network that it is not for
}

// structures are all, the default first.
var structures = []structure{
	{"kron", newKron, kronBytes, checkKron}, {"diagonal", newDiagonal, diagonalBytes, checkDiagonal}, {"full", newFull, fullBytes, checkFull},
}

// structureOf is the structure of that name, which Check has seen.
func structureOf(name string) structure {
	return structures[slices.IndexFunc(structures, func(s structure) bool { return s.name == name })]
}

// lastLayer is the place of the last layer with random parameters, and their number.
func lastLayer(net *nn.Net) (place string, size int) {
	for _, t := range net.Random() {
		if t.Kind == nn.Own {
			continue
		}
		if t.Place != place {
			place, size = t.Place, 0
		}
		size += t.Size
	}
	return place, size
}

// orLast adds the last layer alone to what a refused structure says to do, if the structure is for that and more is random now.
func orLast(net *nn.Net, forLast bool) string {
	if place, _ := lastLayer(net); forLast && slices.ContainsFunc(net.Random(), func(t nn.Tensor) bool { return t.Kind != nn.Own && t.Place != place }) {
		return " or, for the last layer alone, of: last"
	}
	return ""
}

func structureNames() (names []string) {
	for _, s := range structures {
		names = append(names, s.name)
	}
	return names
}
