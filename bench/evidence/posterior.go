package main

import (
	"math"

	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
)

// posterior is one of which the evidence, the means and the variances are known.
type posterior struct {
	model          mcmc.Model
	prior          mcmc.Prior
	logZ           float64
	mean, variance []float64
}

// squareError is that of the particles' weighted mean, in exact variances, mean over coordinates.
func (p posterior) squareError(st *smc.State) (square float64) {
	for i, exact := range p.mean {
		off := -exact
		for j, l := range st.LogW {
			off += float64(math.Exp(l) * st.Theta[j*st.D+i])
		}
		square += float64(off*off) / p.variance[i] / float64(st.D)
	}
	return square
}
