package method

import (
	"maps"
	"slices"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/smc"
)

// A place that is no network trained before and no draw of the prior is a start of descents, and each such start is a place: with settings of
// its own, and told from the others when a config is written.
func TestPlacesAreStarts(t *testing.T) {
	var want []string
	for _, row := range bnn.Starts {
		if row.Part == (bnn.FromPrior{}) {
			continue
		}
		want = append(want, row.Name)
		for _, shared := range []bool{false, true} {
			if name := Places.Name(FromUntrained{row.Part, shared}); name != row.Name {
				t.Errorf("start %s, shared %v, is written as %q", row.Name, shared, name)
			}
		}
	}
	if names := Places.Names(); !slices.Equal(names[5:], want) {
		t.Errorf("places %v, want at the end %v", names, want)
	}
}

// Each particle begins at a draw of its own, from a stream of its own, for any number of threads; with shared: true, all particles of an island
// at the first of these, and islands never share one. What particles share by the network is drawn with it: ψ is that of the first particle's
// network. Where a trained network is given, ψ is that network's.
func TestUntrainedPlaces(t *testing.T) {
	for part, role := range roles {
		for _, row := range Places {
			place, ok := row.Part.(FromUntrained)
			if !ok {
				continue
			}
			for _, place.Shared = range []bool{false, true} {
				job := partly(t, 1, role)
				whole := job.Net.Whole()
				first := []float64(nil)
				for island := range 2 {
					var wantTheta, wantPsi []float64
					for j := range 3 {
						key := rng.Key{Seed: job.Seed, Purpose: rng.Start, Island: island, Particle: j, Mutation: 3}
						if place.Shared {
							key.Particle = 0
						}
						one := make([]float64, whole.Dim())
						place.By.Draw(whole.Random(), nil, key.Stream(), one)
						theta, psi := job.Net.Split(one)
						if wantTheta = append(wantTheta, theta...); j == 0 {
							wantPsi = psi
						}
					}
					theta, psi := place.start().begin(job, island, 3)
					if !slices.Equal(theta, wantTheta) || len(psi) != job.Net.Learned() || job.Net.Learned() > 0 && !slices.Equal(psi, wantPsi) {
						t.Errorf("%s random, %s, shared %v, island %d: begins at %v, %v; want %v, %v", part, row.Name, place.Shared, island, theta, psi, wantTheta, wantPsi)
					}
					d := len(theta) / 3
					if same := slices.Equal(theta[:d], theta[d:2*d]); same != place.Shared || slices.Equal(theta[:d], theta[2*d:]) != same {
						t.Errorf("%s random, %s, shared %v: particles begin alike: %v", part, row.Name, place.Shared, same)
					}
					if slices.Equal(theta, first) {
						t.Errorf("%s random, %s, shared %v: both islands begin alike", part, row.Name, place.Shared)
					}
					first = theta
				}
				if job.Net.Learned() == 0 {
					continue
				}
				job.Init = make([]float64, whole.Dim())
				for i := range job.Init {
					job.Init[i] = float64(i)
				}
				_, want := job.Net.Split(job.Init)
				if _, psi := place.start().begin(job, 0, 3); !slices.Equal(psi, want) {
					t.Errorf("%s random, %s: ψ begins at %v, not at the network that is given", part, row.Name, psi)
				}
			}
		}
	}
}

// A whole run begins at these draws, and its weights estimate no evidence: none is in the trace, and the finding names the start. Each draw
// has a stream of its own, which is opened once.
func TestRunFromUntrained(t *testing.T) {
	for _, shared := range []bool{false, true} {
		m := still(FromUntrained{By: bnn.Torch{}, Shared: shared})
		m.Path = smc.Schedule[smc.Full]{Iterations: 3}
		job := newJob(t, 2)
		var out *Outcome
		opened := map[rng.Key]int{}
		for _, k := range rng.Opened(func() { out = do(t, job, m) }) {
			if k.Purpose == rng.Start {
				opened[k]++
			}
		}
		draws := 6
		if shared {
			draws = 2
		}
		if n := slices.Max(slices.Collect(maps.Values(opened))); len(opened) != draws || n > 1 {
			t.Errorf("shared %v: %d draws of networks, want %d; one of them %d times", shared, len(opened), draws, n)
		}
		var want []float64
		for island := range 2 {
			theta, _ := m.start().begin(job, island, 3)
			want = append(want, theta...)
		}
		if !(away(out.Posterior, want) <= 1e-6) {
			t.Errorf("shared %v: the particles are %v from their start", shared, away(out.Posterior, want))
		}
		for _, l := range out.Trace {
			if l.LogZ != 0 {
				t.Errorf("shared %v: log evidence %v in iteration %d", shared, l.LogZ, l.K)
			}
		}
		if out.Posterior.LogEvidence[0] != 0 || !has(out.Findings, "no-evidence") || has(out.Findings, "began-at-init") {
			t.Errorf("shared %v: evidences %v, found %q", shared, out.Posterior.LogEvidence, words(out.Findings))
		}
	}
}
