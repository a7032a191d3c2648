package starling

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/method"
)

// TestEvidenceTable prints the table of docs/choosing.md, “How many particles”: log evidences by ten particles and by default. By default
// those of linear models are the exact ones: the mean of n runs within five standard errors and .15 nats.
func TestEvidenceTable(t *testing.T) {
	testkit.Takes(t, 10)
	for _, c := range []struct{ rows, inputs, units, seeds int }{
		{12, 1, 0, 20}, {60, 5, 0, 20}, {60, 20, 0, 20}, {500, 10, 0, 20}, {3000, 10, 0, 3}, {60, 5, 10, 10}, {500, 10, 16, 2},
	} {
		t.Run(fmt.Sprintf("%d rows of %d inputs to %d units", c.rows, c.inputs, c.units), func(t *testing.T) {
			drawn := drawnRegression(t, c.rows, c.inputs)
			exact := math.NaN()
			log := func(seeds int, sets ...string) (z []float64, r *Result) {
				model := "[{dense: 1}]"
				if c.units > 0 {
					model = fmt.Sprintf("[{dense: %d}, tanh, {dense: 1}]", c.units)
				}
				for seed := range seeds {
					spec, err := ParseSpec("regression.yaml", []byte(`
data: {csv: {file: `+drawn+`, target: y}, whole: true}
model: {layers: `+model+`, likelihood: {gaussian: {sd: 0.5}}}
prior: {normal: {variance: 1}}
method: {smc: {}}
`), append(sets, fmt.Sprint("seed=", seed))...)
					if err != nil {
						t.Fatal(err)
					}
					r = fitted(t, spec, Options{Threads: 1})
					z = append(z, r.Posterior.LogEvidence[0])
				}
				return z, r
			}
			few, r := log(max(c.seeds, 10), "method.smc.particles=10")
			if c.units == 0 {
				exact = straightEvidence(r.Data.Train)
			}
			usual, r := log(c.seeds)
			mean, sd := numeral.Spread(few)
			most, scatter := numeral.Spread(usual)
			t.Logf("%d parameters: exact %.2f; 10 particles %.2f ± %.2f (%d seeds); %d particles %.2f ± %.2f (%d seeds)",
				r.Net.Dim(), exact, mean, sd, len(few), r.Spec.Method.(method.SMC).Particles, most, scatter, c.seeds)
			if c.units == 0 && !(math.Abs(most-exact) <= 5*scatter/math.Sqrt(float64(c.seeds))+0.15) {
				t.Errorf("log Z is %v ± %v, want %v", most, scatter, exact)
			}
		})
	}
}

// drawnRegression is a file of draws of a linear model: standard normal inputs, coefficients of variance 1/inputs and noise of sd .5.
func drawnRegression(t *testing.T, rows, inputs int) (file string) {
	t.Helper()
	s := rng.Key{Seed: uint64(1000*rows + inputs), Purpose: rng.Synthetic}.Stream()
	w := make([]float64, inputs)
	var table strings.Builder
	for k := range w {
		w[k] = s.Normal() / math.Sqrt(float64(inputs))
		fmt.Fprintf(&table, "x%d,", k)
	}
	table.WriteString("y\n")
	for range rows {
		y := 0.5 * s.Normal()
		for _, v := range w {
			x := s.Normal()
			fmt.Fprintf(&table, "%.6f,", x)
			y += v * x
		}
		fmt.Fprintf(&table, "%.6f\n", y)
	}
	file = filepath.Join(t.TempDir(), "regression.csv")
	save(t, file, []byte(table.String()))
	return file
}
