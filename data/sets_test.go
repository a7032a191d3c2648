package data

import (
	"testing"

	"github.com/starling-smc/starling/internal/testkit"
)

// FuzzSets: sets that are made of any table are consistent, and so is their schema.
func FuzzSets(f *testing.F) {
	for _, raw := range testkit.Seeds(f, "../internal/formats/testdata/files/csv_*") {
		f.Add(raw, "a")
	}
	f.Fuzz(func(t *testing.T, raw []byte, target string) {
		for _, words := range []bool{false, true} {
			table, err := DecodeCSV("f", raw, CSV{Target: target, Words: words})
			if err != nil || target == "" {
				continue
			}
			for _, c := range []Columns{{Target: target, Classes: true, SD: 1, Missing: words}, {Target: target, Intercept: true, Missing: true, Zeros: true}} {
				sets, s, err := c.Sets(table, table.All())
				if err != nil {
					continue
				}
				if err := sets[0].Check(); err != nil {
					t.Fatal(err)
				}
				if err := s.check(); err != nil {
					t.Fatalf("%v: %+v", err, s)
				}
			}
		}
	})
}
