package paper

import (
	"bytes"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
	"github.com/starling-smc/starling/uq"
)

// referencePoints are the runs from the prior that GOHSMC and OHSMC are compared with (guided-open-horizon-smc, section 3.4). A step of
// SMC-pBNN takes all examples in blocks of the size of GOHSMC's batches. A step of SGSMC takes such a batch in five blocks.
var referencePoints = []struct {
	name         string
	batch, block int
}{{"SMC-pBNN", 0, 50}, {"SGSMC", 50, 10}}

// pointOfReference is one of them on the problem of a cell, with the ψ at which the cell's run with this seed begins.
func pointOfReference(t *testing.T, result *starling.Result, batch, block, particles int, workers *pool.Pool) (*smc.Restarting, *smc.Restarts) {
	t.Helper()
	model, err := nn.NewTraining(result.Net, result.Data, workers)
	if err != nil {
		t.Fatal(err)
	}
	prior, err := result.Spec.Prior.Family.Prior(result.Net.Random(), result.Data.Train.Len())
	if err != nil {
		t.Fatal(err)
	}
	phi := bnn.DrawShared(result.Net, rng.Key{Seed: result.Spec.Seed, Purpose: rng.Start, Mutation: 1}.Stream())
	r := &smc.Restarting{
		Model: bnn.Learning{Training: model.At(phi)}, Prior: prior, Move: mcmc.PCN{}, Particles: particles, Batch: batch, Block: block,
		Learn: smc.By[nn.Adam]{Rate: 0.01}, Seed: result.Spec.Seed, Pool: workers,
	}
	return r, &smc.Restarts{Psi: phi}
}

// rmseOf is the RMSE of an ensemble on the test rows, in the network's units.
func rmseOf(t *testing.T, result *starling.Result, e *bnn.Ensemble, workers *pool.Pool) float64 {
	t.Helper()
	a, err := result.Spec.Evaluate(t.Context(), &eval.Ensembles{Posterior: e}, result.Data, workers)
	if err != nil {
		t.Fatal(err)
	}
	targets := result.Data.Schema.Targets
	return uq.RMSE(a.Regression.Mean, a.Regression.Targets) / (targets.SD[0] / targets.To)
}

// ensembleOf is the ensemble at the end of a step.
func ensembleOf(t *testing.T, result *starling.Result, end *smc.State) *bnn.Ensemble {
	t.Helper()
	e, err := bnn.Combine(result.Net, []bnn.Island{{Theta: end.Theta, LogWeights: end.LogW, Shared: end.Psi}}, bnn.Equal{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// SMC-pBNN and SGSMC on yacht, on the network, split and first ψ of the cell yacht-gohsmc: the same bytes for any number of threads.
func TestReferencePoints(t *testing.T) {
	dir := os.Getenv("STARLING_DATA")
	if dir == "" {
		t.Skip("set STARLING_DATA: skips the points of reference on yacht")
	}
	cell := GOHSMC.cell(t, "yacht-gohsmc")
	result := fitted(t, cell, 1, true, dir)
	for _, p := range referencePoints {
		var want []byte
		for _, threads := range []int{1, 3} {
			workers := pool.New(threads)
			r, st := pointOfReference(t, result, p.batch, p.block, 10, workers)
			var end *smc.State
			for range 2 {
				var err error
				if end, err = r.Step(t.Context(), st); err != nil {
					t.Fatal(err)
				}
			}
			got, _ := end.MarshalBinary()
			if want == nil {
				want = got
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s: %d threads give other bytes", p.name, threads)
			}
			if e := rmseOf(t, result, ensembleOf(t, result, end), workers); !(e > 0 && e < 3) {
				t.Errorf("%s: RMSE %v", p.name, e)
			}
		}
		if len(want) < 10*8*result.Net.Dim() {
			t.Errorf("%s: a state of %d bytes", p.name, len(want))
		}
	}
}

// cell returns a cell by its name.
func (t *Table) cell(test *testing.T, name string) Cell {
	test.Helper()
	for _, c := range t.Cells {
		if c.Name == name {
			return c
		}
	}
	test.Fatalf("no cell %s", name)
	return Cell{}
}

// fitted is a run of a cell that is not saved.
func fitted(t *testing.T, cell Cell, seed uint64, reduced bool, dir string) *starling.Result {
	t.Helper()
	spec, err := specOf(cell, seed, reduced, "", dir)
	if err != nil {
		t.Fatal(err)
	}
	result, err := starling.Fit(t.Context(), spec, starling.Options{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// TestReferencePointsTable prints what SMC-pBNN and SGSMC reach with as many evaluations of an example by a particle as a run of the cell
// makes, and with eight times as many, with the seeds 1 to 3: the figures of docs/results/gohsmc-reference-points.md. The state of the
// lowest validation NLL counts, as for the cell.
func TestReferencePointsTable(t *testing.T) {
	testkit.Takes(t, 30)
	dir := os.Getenv("STARLING_DATA")
	if dir == "" {
		t.Skip("set STARLING_DATA: skips the points of reference on yacht")
	}
	for seed := range uint64(3) {
		referenceFigures(t, GOHSMC.cell(t, "yacht-gohsmc"), seed+1, dir)
	}
}

// referenceFigures prints the figures of a seed.
func referenceFigures(t *testing.T, cell Cell, seed uint64, dir string) {
	t.Helper()
	began := time.Now()
	result := fitted(t, cell, seed, false, dir)
	workers := pool.New(0)
	budget := result.Cost.Gradients + result.Cost.Values
	t.Logf("seed %d  GOHSMC: RMSE %.3f, %d evaluations, %.0f s", seed, rmseOf(t, result, result.Posterior, workers), budget, time.Since(began).Seconds())
	for _, p := range referencePoints {
		r, st := pointOfReference(t, result, p.batch, p.block, particles, workers)
		began := time.Now()
		best, at, bestNLL := (*bnn.Ensemble)(nil), 0, math.Inf(1)
		for _, times := range []int{1, 8} {
			ancestors, from := 0, st.K
			for st.Gradients+st.Values < times*budget {
				end, err := r.Step(t.Context(), st)
				if err != nil {
					t.Fatal(err)
				}
				ancestors += len(slices.Compact(slices.Sorted(slices.Values(end.Roots))))
				if st.K%4 != 0 { // an epoch of GOHSMC has four steps, and is judged once
					continue
				}
				e := ensembleOf(t, result, end)
				nll, _, err := eval.Validation(t.Context(), e, result.Data.Validate, result.Data, workers)
				if err != nil {
					t.Fatal(err)
				}
				if float64(nll) < bestNLL {
					best, at, bestNLL = e, st.K, float64(nll)
				}
			}
			t.Logf("seed %d  %s, %d × the evaluations: RMSE %.3f (best of %d steps: %d), %.1f of %d ancestors, %.0f s",
				seed, p.name, times, rmseOf(t, result, best, workers), st.K, at, float64(ancestors)/float64(st.K-from), particles, time.Since(began).Seconds())
		}
	}
}
