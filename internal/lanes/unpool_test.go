package lanes

import (
	"math/rand/v2"
	"testing"
)

func TestUnpool(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 9 {
		const guard = 32
		row := 2*n*Lanes + 48
		dy, masks := numbers(r, n*Lanes, 3), make([]uint16, 4*n)
		for p := range n {
			for l := range Lanes { // at most one of the four won
				if q := r.IntN(5); q < 4 {
					masks[4*p+q] |= 1 << l
				}
			}
		}
		fill := func() []float32 {
			dx := make([]float32, row+2*n*Lanes+guard)
			for i := range dx {
				dx[i] = 7
			}
			return dx
		}
		want := fill()
		unpoolGo(dy, masks, want, row)
		eachKernel(t, func(t *testing.T) {
			got := fill()
			Unpool(dy, masks, got[:row+2*n*Lanes], row)
			sameBits(t, "Unpool", got, want)
		})
	}
}
