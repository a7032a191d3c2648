package scans

import (
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/ssm"
)

// Which measurements of a scan are held out is drawn anew for every scan and seed: by streams of their own, so that scans of as many
// measurements lose other rows.
func TestEveryScanIsHeldByItsOwnStream(t *testing.T) {
	seen, rows := map[rng.Key]bool{}, map[float64]int{}
	for _, seed := range []uint64{1, 2} {
		for k := range 20 {
			r := Record{Scan: ssm.Scan{Width: 1}}
			for i := range 12 {
				r.Values = append(r.Values, float64(i))
			}
			for _, key := range rng.Opened(func() { r.Hold(0.25, seed, k) }) {
				if seen[key] {
					t.Errorf("scan %d with seed %d draws once more by %+v", k, seed, key)
				}
				seen[key] = true
			}
			if len(r.Held) != 3 || r.Len() != 9 || slices.ContainsFunc(r.Held, func(v float64) bool { return slices.Contains(r.Values, v) }) {
				t.Fatalf("scan %d holds %v and keeps %v", k, r.Held, r.Values)
			}
			for _, v := range r.Held {
				rows[v]++
			}
		}
	}
	if len(seen) != 40 || len(rows) != 12 { // a row is never held in 40 draws of 3 of 12 with probability 1e-5
		t.Errorf("%d streams, and rows are held as often as %v", len(seen), rows)
	}
}
