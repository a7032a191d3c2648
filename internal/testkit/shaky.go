package testkit

import (
	"math/rand/v2"
	"sync"
	"time"
)

// Shaky is the fate of frames on a wire: after how long each arrives, once, twice or never. It loses 15 %, brings 10 % twice, and reorders them
// within a quarter of a second.
func Shaky(seed uint64) func(frame []byte) (after []time.Duration) {
	var turn sync.Mutex
	g := rand.New(rand.NewPCG(seed, 1))
	return func([]byte) (after []time.Duration) {
		turn.Lock()
		defer turn.Unlock()
		for range 1 + g.IntN(10)/9 {
			if g.IntN(100) >= 15 {
				after = append(after, time.Duration(g.IntN(250))*time.Millisecond)
			}
		}
		return after
	}
}
