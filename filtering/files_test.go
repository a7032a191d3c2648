package filtering

import (
	"bytes"
	"slices"
	"testing"

	"github.com/starling-smc/starling/filter"
)

// FuzzReadParticles: particles that were written are read back, and any bytes are read or refused without a panic.
func FuzzReadParticles(f *testing.F) {
	for _, weights := range [][]float64{nil, {-1, -2, -3, -4}} {
		p := &Pass{state: filter.State{K: 2, Dim: 3, X: make([]float64, 6)}}
		p.kept, p.weight = []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, weights
		var b bytes.Buffer
		if err := p.WriteParticles(&b); err != nil {
			f.Fatal(err)
		}
		x, logWeights, err := ReadParticles(b.Bytes())
		if err != nil || !slices.Equal(x, p.kept) || !slices.Equal(logWeights, weights) {
			f.Fatalf("%v and %v, %v, want %v and %v", x, logWeights, err, p.kept, weights)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte("{}"))
	f.Fuzz(func(_ *testing.T, text []byte) { ReadParticles(text) })
}
