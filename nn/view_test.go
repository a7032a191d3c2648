package nn

import (
	"testing"

	"github.com/starling-smc/starling/internal/rng"
)

// The masks and the changes of images of a step are drawn by the seed, the restart and the epoch, and by the example: no two of them have a
// stream in common, also where there are more examples than a field of a key can hold; and no pass of a prediction has that of a step or of
// another pass.
func TestEveryViewHasItsStream(t *testing.T) {
	seen := map[rng.Key]string{}
	note := func(what string, draw func()) {
		for _, key := range rng.Opened(draw) {
			if before, ok := seen[key]; ok {
				t.Errorf("%s draws by the stream of %s, %+v", what, before, key)
			}
			seen[key] = what
		}
	}
	for _, restart := range []int{0, 3} {
		for _, epoch := range []int{1, 2} {
			for _, example := range []int{0, 1, 63, 64, rng.MaxIslands - 1, rng.MaxIslands, rng.MaxIslands + 1, 3 * rng.MaxIslands} {
				v := View{Seed: 5, Restart: restart, Epoch: epoch}
				note("a mask", func() { v.stream(rng.Dropout, example) })
				note("a change", func() { v.stream(rng.Augment, example) })
			}
		}
	}
	for n := range 7 {
		note("a pass", func() { pass(5, n) })
	}
	if len(seen) != 2*2*2*8+7 {
		t.Errorf("%d streams", len(seen))
	}
}
