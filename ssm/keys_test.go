package ssm

import (
	"testing"

	"github.com/starling-smc/starling/internal/rng"
)

// Every state and every scan of a scene has random numbers of its own: no stream is opened twice, and each has the scene's seed.
func TestEveryStreamOfASceneIsItsOwn(t *testing.T) {
	for _, m := range examples(3) {
		s, seen := Scene{Model: m, Seed: 17}, map[rng.Key]bool{}
		for k := range 5 {
			var err error
			keys := rng.Opened(func() { _, _, err = s.Next() })
			if want := 3 - min(k, 1); err != nil || len(keys) != want { // the start, the state, the measurements
				t.Fatalf("%T: scan %d draws by %d streams, want %d (%v)", m, k+1, len(keys), want, err)
			}
			for _, key := range keys {
				if seen[key] || key.Seed != 17 {
					t.Errorf("%T: scan %d draws by %+v", m, k+1, key)
				}
				seen[key] = true
			}
		}
	}
}
