package method

import (
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/mcmc"
)

// checkGaussian refuses a prior whose components are not independent normals for who needs one; at is where that is set, and other what
// to take in its place.
func checkGaussian(who, at, other string, around Around, f *config.Faults) {
	if around.Prior.Family != nil && !around.Prior.Gaussian() {
		f.Conflict([]string{at, "prior"}, "%s needs a normal prior with a given width, and this prior learns its own: take %s, or a variance, "+
			"as in prior: {normal: {variance: 1}}", who, other)
	}
}

// checkMove is checkGaussian for a move, which may be nil.
func checkMove(move mcmc.Move, around Around, at string, f *config.Faults) {
	if move != nil && move.Traits().Gaussian {
		checkGaussian(move.String(), at+".move."+mcmc.Moves.Name(move), "move: hmc", around, f)
	}
}
