package paper

import (
	"bytes"
	"testing"

	"github.com/starling-smc/starling"
)

// Every cell of every table has a config that parses under both protocols, and whose YAML reads back to the same Spec.
func TestEveryCellParses(t *testing.T) {
	for _, table := range Tables {
		seen := map[string]bool{}
		for _, c := range table.Cells {
			if seen[c.Name] {
				t.Errorf("%s: two cells are named %s", table.Name, c.Name)
			}
			seen[c.Name] = true
			for _, reduced := range []bool{false, true} {
				spec, err := c.Spec(3, reduced, "run", "data")
				if err != nil {
					t.Errorf("%s: %s, reduced %v: %v\n%s", table.Name, c.Name, reduced, err, c.Config(Place{Data: "data", Rows: "rows"}).Text)
					continue
				}
				back, err := starling.ParseSpec("back", spec.YAML())
				if err != nil || !bytes.Equal(back.YAML(), spec.YAML()) || spec.Seed != 3 {
					t.Errorf("%s: %s reads back as\n%s\n%v", table.Name, c.Name, back.YAML(), err)
				}
			}
		}
	}
}
