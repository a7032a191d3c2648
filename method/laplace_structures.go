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

func structureNames() (names []string) {
	for _, s := range structures {
		names = append(names, s.name)
	}
	return names
}
