package method

import (
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
	"github.com/starling-smc/starling/uq"
)

// line is an iteration in a trace, on a target of all of 60 examples.
func line(progress, ess, variance float64, ancestors int) TraceLine {
	l := TraceLine{}
	l.Progress, l.ESS, l.LogWeightVar, l.Ancestors, l.Examples, l.Lambda = progress, ess, uq.Number(variance), ancestors, 60, 1
	l.Displacement = 1
	return l
}

// The last targets of all islands count: with all examples, and all of them in full.
func TestEndsAtPosterior(t *testing.T) {
	end := func(examples int, power float64) (l TraceLine) {
		l.Progress, l.Examples, l.Lambda = 1, examples, power
		return l
	}
	way := end(10, .1)
	way.Progress = .5
	for _, c := range []struct {
		what  string
		trace []TraceLine
		want  bool
	}{
		{"all of them", []TraceLine{way, end(60, 1), way, end(60, 1)}, true},
		{"a block with a tenth of its power", []TraceLine{way, end(60, .1)}, false},
		{"some not yet in", []TraceLine{way, end(50, 1)}, false},
		{"some not yet in on one island", []TraceLine{way, end(60, 1), way, end(50, 1)}, false},
		{"scaled", []TraceLine{end(10, 6)}, false},
	} {
		if got := endsAtPosterior(c.trace, 60); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}

// sampling is that of islands on a path of batches.
func sampling(particles, islands int) *Sampling {
	return SMC{Particles: particles, Islands: islands, Path: smc.Schedule[smc.Full]{Iterations: 3}, Move: mcmc.Unadjusted{}}.Sampling()
}

// ofWeights are the findings of a trace about degenerate weights and about evidence.
func ofWeights(s *Sampling, trace []TraceLine) (found []finding.Finding) {
	for _, f := range s.Findings(trace, &bnn.Ensemble{LogWeights: []float64{0}}, 60) {
		if finding.Is(f, finding.Optimiser{}, finding.Merged{}) || f.OfEvidence() {
			found = append(found, f)
		}
	}
	return found
}

// What tells an optimiser from a sampler is the population, however small, in most iterations: two particles of nearly equal
// weight are healthy, ten carry a variance of log 10 = 2.30, and a straggler leaves the others what they are. Resampling
// merges genealogies of healthy particles, too: a single ancestor has a finding of its own.
func TestHealthOfFew(t *testing.T) {
	const healthy, optimiser, merged = "evidence", "optimiser evidence-optimised", "merged evidence-merged"
	for _, c := range []struct {
		particles, ancestors int
		ess, variance        float64
		want                 string
	}{
		{2, 2, 1.9, 0.05, healthy}, {2, 2, 1.36, 0.7, healthy}, {2, 2, 1, 0, optimiser}, {2, 2, 1, 9, optimiser},
		{10, 4, 5, 0.7, healthy}, {10, 4, 4.9, 2.3, healthy}, {10, 4, 4.9, 2.31, optimiser}, {10, 4, 9, 90, healthy}, {10, 4, 1.5, 0.8, optimiser},
		{10, 1, 7.5, 0.37, merged}, {10, 1, 1.5, 0.8, optimiser}, {2, 1, 1.9, 0.05, merged},
		{1000, 400, 12, 6.9, healthy}, {1000, 400, 12, 6.91, optimiser},
	} {
		s := sampling(c.particles, 1)
		last, even := line(.5, c.ess, c.variance, c.ancestors), line(.5, float64(c.particles), 0, c.particles)
		for n, want := range map[int]string{0: c.want, 1: c.want, 3: healthy} {
			trace := append([]TraceLine{last, last}, slices.Repeat([]TraceLine{even}, n)...)
			if got := strings.Join(kinds(ofWeights(s, trace)), " "); got != want {
				t.Errorf("%+v, then %d healthy iterations: found %q, want %q", c, n, got, want)
			}
			d := s.Diagnostics(trace)
			if d.Optimiser() != (want == optimiser) || (d.Optimiser() || d.Merged()) != (want != healthy) {
				t.Errorf("%+v, then %d healthy iterations: optimiser %v, merged %v", c, n, d.Optimiser(), d.Merged())
			}
		}
	}
}

// Iterations of a tempered start tell nothing of the path, healthy or not; nor does no iteration at all.
func TestTemperedStartDoesNotCount(t *testing.T) {
	m := SMC{Particles: 10, Islands: 1, Path: smc.Schedule[smc.Full]{Iterations: 3}, Move: mcmc.Unadjusted{}, Start: FromTempered{}}
	s := m.Sampling()
	even, collapsed := line(0, 10, 0, 10), line(0, 1, 0, 1)
	for name, c := range map[string]struct {
		tempering, path TraceLine
		of              int
		want            bool
	}{
		"healthy before it collapses": {even, collapsed, 2, true}, "collapsed, then healthy": {collapsed, even, 2, false},
		"stopped before the path": {collapsed, even, 0, false},
	} {
		c.path.Progress = .5
		trace := append(slices.Repeat([]TraceLine{c.tempering}, 5), slices.Repeat([]TraceLine{c.path}, c.of)...)
		if d := s.Diagnostics(trace); d.Optimiser() != c.want || d.Merged() != c.want || d.Iterations != c.of {
			t.Errorf("%s: %+v: optimiser %v, merged %v", name, d, d.Optimiser(), d.Merged())
		}
	}
	// A path without a tempered start has no such iterations, even if one of its own makes no progress.
	if d := sampling(10, 1).Diagnostics([]TraceLine{collapsed}); d.Iterations != 1 {
		t.Errorf("%d iterations of a path that makes no progress, want 1", d.Iterations)
	}
	if d := s.Diagnostics(nil); d.Optimiser() || d.Merged() {
		t.Error("a run of no iterations behaved as an optimiser")
	}
}

// Iterations are counted over all islands, and particles on each of them. Of an even number the median is between two.
func TestDiagnosticsOfIslands(t *testing.T) {
	trace := []TraceLine{line(.5, 1, 1, 1), line(.5, 1.4, 2, 1), line(.5, 1.8, 8, 3), line(.5, 10, 9, 9)}
	trace[1].Resampled, trace[3].Resampled = true, true
	s := sampling(10, 2)
	want := Diagnostics{Iterations: 4, SingleAncestor: 2, Resampled: 2, ESS: 1.6, LogWeightVar: 5, particles: 10}
	if got := s.Diagnostics(trace); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	population := finding.Population{Islands: 2, Particles: 10, Iterations: 4, Single: 2, Resampled: 2, ESS: 1.6, LogWeightVar: 5}
	if found := ofWeights(s, trace); found[0].Words() != finding.Of(finding.Optimiser{Population: population}).Words() {
		t.Errorf("found %q, want %q", found[0].Words(), finding.Of(finding.Optimiser{Population: population}).Words())
	}
	for _, m := range []Method{SMC{Particles: 10, Islands: 2, Path: smc.Tempering{}, Move: mcmc.HMC{}}, MCMC{Chains: 2, Move: mcmc.HMC{}}} {
		s := m.Sampling()
		if d := s.Diagnostics(trace); d != (Diagnostics{}) || ofWeights(s, trace) != nil {
			t.Errorf("%s has diagnostics of batches: %+v", m.Title(), d)
		}
	}
}

// Where a line of the trace has several iterations, lines are counted, and called so.
func TestDiagnosticsOfLines(t *testing.T) {
	epochs, full := smc.Schedule[smc.Constant]{Epochs: 5, Rule: smc.Constant{Batch: 20}}, smc.Schedule[smc.Full]{Iterations: 7}
	for _, c := range []struct {
		path  smc.Path
		every int
		want  string
	}{
		{epochs, 0, "of 2 epochs"}, {epochs, 1, "of 2 epochs"}, {epochs, 2, "of 2 trace lines"}, {full, 0, "of 2 iterations"}, {full, 3, "of 2 trace lines"},
	} {
		s := SMC{Particles: 10, Islands: 1, Path: c.path, Move: mcmc.Unadjusted{}, Trace: IslandTrace{Trace: Trace{c.every}}}.Sampling()
		merged, optimised := line(.5, 7.5, .37, 1), line(.5, 1, 9, 1)
		for _, l := range []TraceLine{merged, optimised} {
			found := s.populationFindings([]TraceLine{l, l}, 60)
			if said := strings.ToLower(found[0].Sentence()); !strings.Contains(said, c.want) {
				t.Errorf("%v, a line of %d: %q, want %q", c.path, c.every, said, c.want)
			}
		}
	}
}

// Every reason why there is no evidence is told.
func TestNoEvidence(t *testing.T) {
	for _, c := range []struct {
		start   Place
		literal bool
		want    []finding.Kind
	}{
		{FromPrior{}, true, []finding.Kind{finding.NoPathOfTargets{Weight: "literal"}}},
		{FromMAP{}, false, []finding.Kind{finding.NoEvidence{Start: "map"}}},
		{FromUntrained{By: bnn.JAX{}}, false, []finding.Kind{finding.NoEvidence{Start: "jax"}}},
		{FromInit{}, false, []finding.Kind{finding.NoEvidence{Start: "init"}}},
		{FromRestarts{}, true, []finding.Kind{finding.NoEvidence{Start: "sgd"}, finding.NoPathOfTargets{Weight: "literal"}}},
	} {
		var want []finding.Finding
		for _, k := range c.want {
			want = append(want, finding.Of(k))
		}
		s := SMC{Particles: 9, Islands: 1, Start: c.start, Path: smc.Schedule[smc.Constant]{Iterations: 3}, Move: mcmc.Unadjusted{}, Weight: smc.Momentum{Literal: c.literal}}.Sampling()
		trace := []TraceLine{line(1, 1, 0, 1)}
		found := ofWeights(s, trace)
		if found[0].Kind != "optimiser" || words(found[1:]) != words(want) {
			t.Errorf("start %T, literal %v: %q, want %q", c.start, c.literal, words(found), words(want))
		}
		if f := s.evidence(trace, 60); words(f) != words(want) {
			t.Errorf("start %T, literal %v: evidence %q", c.start, c.literal, words(f))
		}
	}
}

// An evidence is the posterior's, or islands can be weighted by it, where path, start and weight alone say so. A finding says
// what the evidence of a run is of.
func TestEvidenceOf(t *testing.T) {
	part, all := line(1, 8, 0, 8), line(1, 8, 0, 8)
	part.Examples = 30
	for _, c := range []struct {
		path   smc.Path
		end    TraceLine
		target finding.Target
		sure   bool
	}{
		{smc.Schedule[smc.Full]{Iterations: 2}, all, finding.EveryTarget, true},
		{smc.Schedule[smc.Automated]{Iterations: 10}, all, finding.LastTarget, true},
		{smc.Schedule[smc.Linear]{Iterations: 9}, all, finding.LastTarget, false},
		{smc.Schedule[smc.Linear]{Iterations: 9}, part, finding.PartialTarget, false},
		{smc.SDA{Iterations: 60}, part, finding.PartialTarget, false},
		{smc.SDA{Iterations: 60}, all, finding.LastTarget, false},
	} {
		for _, start := range []Place{FromPrior{}, FromTempered{}} {
			s := SMC{Particles: 8, Islands: 2, Start: start, Path: c.path, Move: mcmc.Unadjusted{}, Weight: smc.Momentum{}}.Sampling()
			f := s.evidence([]TraceLine{c.end}, 60)
			if want := finding.Of(finding.Evidence{Estimated: finding.Estimated{Target: c.target, Traced: !c.sure}}); len(f) != 1 || f[0].Words() != want.Words() || s.Comparable != c.sure || !s.Drawn {
				t.Errorf("%v, start %T: %q, want %q; comparable %v", c.path, start, words(f), want.Words(), s.Comparable)
			}
		}
	}
	for _, path := range []smc.Path{smc.Schedule[smc.Constant]{Iterations: 9, Rule: smc.Constant{Batch: 30}}, smc.Schedule[smc.ConstantToRefine]{Iterations: 10}} {
		s := SMC{Particles: 8, Islands: 2, Start: FromPrior{}, Path: path, Move: mcmc.Unadjusted{}, Weight: smc.Momentum{}}.Sampling()
		if f := s.evidence([]TraceLine{all}, 60); words(f) != finding.Of(finding.NoEvidenceByFresh{Path: smc.Paths.Name(path), Others: "tempering, ladder, full, linear, automated and sda"}).Words() || s.Comparable || s.estimates() {
			t.Errorf("%v: %q; comparable %v, in the trace %v", path, words(f), s.Comparable, s.estimates())
		}
	}
	for _, start := range []Place{FromMAP{}, FromRestarts{}, FromInit{}, FromUntrained{By: bnn.He{}}, FromUntrained{By: bnn.JAX{}, Shared: true}} {
		if s := (SMC{Particles: 8, Islands: 2, Start: start, Path: smc.Schedule[smc.Full]{}, Move: mcmc.HMC{}}).Sampling(); s.Drawn || s.Comparable {
			t.Errorf("start %T: %+v", start, s)
		}
	}
}

// Particles have merged where more than half of the iterations have one ancestor.
func TestMergedInMostIterations(t *testing.T) {
	for single, want := range map[int]bool{0: false, 2: false, 3: true, 4: true} {
		if got := (Diagnostics{Iterations: 4, SingleAncestor: single}).Merged(); got != want {
			t.Errorf("one ancestor in %d of 4 iterations: merged %v", single, got)
		}
	}
}
