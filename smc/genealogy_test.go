package smc

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/mcmc"
)

// weighing is one weighting of a history: normalised weights before and after it, and whose children the particles are; nil: they were
// not resampled since the weighting before.
type weighing struct {
	before, after []float64
	parents       []int32
}

// history makes up weightings of n particles: some with resampling, some without.
func history(n, weighings int) (all []weighing) {
	stream := rng.Key{Seed: 5, Purpose: rng.Resample}.Stream()
	last := make([]float64, n)
	for j := range last {
		last[j] = 1 / float64(n)
	}
	for k := range weighings {
		w := weighing{before: last}
		if k%3 != 1 && k > 0 {
			w.parents, w.before = make([]int32, n), make([]float64, n)
			Multinomial{}.Ancestors(last, stream.Float64, w.parents)
			for j := range w.before {
				w.before[j] = 1 / float64(n)
			}
		}
		w.after = make([]float64, n)
		sum := 0.0
		for j, b := range w.before {
			w.after[j] = b * math.Exp(1.5*stream.Float64())
			sum += w.after[j]
		}
		for j := range w.after {
			w.after[j] /= sum
		}
		all, last = append(all, w), w.after
	}
	return all
}

// varianceOf is V of a lag by its definition: the families of every weighting are found by going back through all parents.
func varianceOf(all []weighing, lag int) (v float64) {
	n := len(all[0].before)
	for k := range all {
		from := max(0, k-lag)
		now, before, mass := make([]float64, n), make([]float64, n), make([]float64, n)
		for m := from; m <= k; m++ {
			share, next := make([]float64, n), make([]float64, n)
			for j := range n {
				a := j
				for back := m; back > from; back-- {
					if all[back].parents != nil {
						a = int(all[back].parents[a])
					}
				}
				share[a] += all[m].before[j]
				next[a] += all[m].after[j]
			}
			copy(before, now)
			for i := range n {
				if share[i] < 1-1e-9 && next[i] < 1-1e-9 {
					now[i] += math.Log((1 - share[i]) / (1 - next[i]))
				}
			}
			mass = share
		}
		for i := range n {
			if mass[i] < 1-1e-9 {
				v += (1 - mass[i]) * (now[i]*now[i] - before[i]*before[i])
			}
		}
	}
	return v
}

// The estimate, kept weighting by weighting, is its definition over the whole history, for every lag; also after more weightings than
// it remembers, where all particles have one ancestor.
func TestVarianceByItsDefinition(t *testing.T) {
	all := history(7, 25)
	var g Genealogy
	for k, w := range all {
		if w.parents != nil {
			g.resampled(w.parents)
		}
		g.weighted(w.before, w.after, 0)
		if err := g.check(7); err != nil {
			t.Fatal(err)
		}
		largest := 0.0
		for lag, got := range g.Variance {
			want := varianceOf(all[:k+1], lag)
			if !golden.Near(got, want, 1e-10, 1e-12) {
				t.Fatalf("after %d weightings: V at lag %d is %v, want %v", k+1, lag, got, want)
			}
			largest = max(largest, want)
		}
		if sd := g.SD(); !golden.Near(sd, math.Sqrt(largest), 1e-10, 0) {
			t.Fatalf("after %d weightings: sd %v, want the root of the largest, %v", k+1, sd, largest)
		}
	}
	if g.Variance[0] == g.Variance[1] || g.Variance[7] == g.Variance[8] {
		t.Error("lags do not differ")
	}
}

// A step that fails goes back to a copy, which what happens to the families afterwards leaves alone.
func TestFamiliesAreCopied(t *testing.T) {
	var g, kept Genealogy
	all := history(7, 25)
	for _, w := range all {
		if w.parents != nil {
			g.resampled(w.parents)
		}
		g.weighted(w.before, w.after, 0)
	}
	kept.copy(&g)
	want := fmt.Sprint(kept)
	if want != fmt.Sprint(g) {
		t.Error("the copy differs")
	}
	g.resampled([]int32{0, 0, 0, 0, 0, 0, 0})
	g.weighted(all[3].before, all[3].after, 0)
	if got := fmt.Sprint(kept); got != want || got == fmt.Sprint(g) {
		t.Errorf("the copy changed from %s to %s", want, got)
	}
}

// Of one weighting of J equal weights the estimate is the jackknife's of the logarithm of a mean.
func TestVarianceIsTheJackknifes(t *testing.T) {
	x := []float64{1, 2, 2.5, 4, 7}
	n, sum := float64(len(x)), 16.5
	before, after, logs, mean := make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x)), 0.0
	for j, v := range x {
		before[j], after[j] = 1/n, v/sum
		logs[j] = math.Log((sum - v) / (n - 1))
	}
	for _, l := range logs {
		mean += (l - math.Log(sum/n)) / n
	}
	want := 0.0 // about the whole mean's logarithm, not about the mean of those of the others
	for _, l := range logs {
		want += (n - 1) / n * (l - math.Log(sum/n)) * (l - math.Log(sum/n))
	}
	var g Genealogy
	g.weighted(before, after, 0)
	if got := g.Variance[0]; !golden.Near(got, want, 1e-12, 0) {
		t.Errorf("variance %v, want %v", got, want)
	}
}

// A run tells no error where one particle had all the weight, and where nothing was weighted.
func TestErrorIsUnknown(t *testing.T) {
	var none, lost Genealogy
	lost.weighted([]float64{0.5, 0.5}, []float64{1, 0}, 0)
	lost.weighted([]float64{0.5, 0.5}, []float64{0.6, 0.4}, 0)
	for what, g := range map[string]*Genealogy{"nothing was weighted": &none, "one particle had all": &lost} {
		if sd := g.SD(); !math.IsNaN(sd) {
			t.Errorf("%s: sd %v", what, sd)
		}
	}
	s := kinds()["chains"](0)
	st, err := s.Init(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	info, err := s.Step(context.Background(), st)
	if err != nil {
		t.Fatal(err)
	}
	if info.LogZSD != nil || info.LadderBias != nil || len(st.Genealogy.Acted) > 0 {
		t.Errorf("chains have an error of log Z: %+v", info)
	}
}

// What a run says of the error of its log Z is the spread of log Z over runs: root mean square over standard deviation. The sd of 200
// runs is known to 5 %, so chance alone moves the ratio by 25 % once in 10⁶ times, all cells together. By nature the ratio is .9 to 1.15:
// where moves forget nothing (a walk) families are lost before their common errors are, and the largest of nine noisy variances is too
// large. The test asks for .68 to 1.45. V_0 alone, as if moves forgot everything, is .5 for the walk.
func TestErrorIsTheSpreadOfRuns(t *testing.T) {
	testkit.Statistics(t)
	line := separate(5)
	hmc := mcmc.HMC{}.ForPopulation(mcmc.Mutations{}, false)
	for _, c := range []struct {
		name string
		p    problem
		s    Sampler
	}{
		{"hmc, 10 particles", conjugate(), Sampler{Path: Tempering{}, Move: hmc, Particles: 10}},
		{"hmc, 50 particles", conjugate(), Sampler{Path: Tempering{}, Move: hmc, Particles: 50}},
		{"hmc, 300 particles", conjugate(), Sampler{Path: Tempering{}, Move: hmc, Particles: 300}},
		{"hmc, five parameters", line, Sampler{Path: Tempering{}, Move: hmc, Particles: 50}},
		{"hmc, five parameters, 10 particles", line, Sampler{Path: Tempering{}, Move: hmc, Particles: 10}},
		{"walk", line, Sampler{Path: Tempering{}, Move: mcmc.Metropolis{SD: 0.05}, Particles: 50}},
		{"rare resampling", line, Sampler{Path: Ladder{[]float64{0.003, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1}}, Move: hmc, Particles: 100, Resample: Resampler{When: BelowRatio(0.4), Scheme: Systematic{}}}},
		{"no resampling", conjugate(), Sampler{Path: Ladder{[]float64{0.1, 0.3, 0.6, 1}}, Move: hmc, Particles: 50, Resample: Resampler{When: Never{}}}},
		{"energy errors", conjugate(), Sampler{
			Path: Ladder{[]float64{0.03, 0.1, 0.2, 0.4, 0.7, 1}}, Move: mcmc.Unadjusted{Steps: 3, Step: 0.3}, Weighting: Momentum{}, Particles: 100,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			const runs = 200
			c.s.Seed = 21
			var logZ, square spread
			for _, st := range replicate(t, c.p, runs, c.s) {
				logZ.add(st.LogZ)
				square.add(st.Genealogy.SD() * st.Genealogy.SD())
			}
			ratio := math.Sqrt(square.mean / (logZ.variance() * runs / (runs - 1)))
			t.Logf("sd of log Z %.3f; ratio %.3f; variance estimated with a relative sd of %.2f", logZ.sd(), ratio, square.sd()/square.mean)
			if !(square.n == runs && ratio >= 0.68 && ratio <= 1.45) {
				t.Errorf("%v runs say an error of %v times the spread of log Z, want .68 to 1.45", square.n, ratio)
			}
		})
	}
}

// separate is the likelihood exp(−50 Σ(θ_i − 1)²) over N(0, 1): each of d parameters on its own.
func separate(d int) problem {
	const precision = 100.0
	m := density{d, func(theta, grad []float64) (l float64) {
		for i, x := range theta {
			l -= 0.5 * precision * (x - 1) * (x - 1)
			if grad != nil {
				grad[i] = -precision * (x - 1)
			}
		}
		return l
	}}
	logZ := -0.5 * float64(d) * (math.Log(1+precision) + precision/(1+precision))
	return problem{name: fmt.Sprint("separate ", d), model: m, prior: normal{d: d, sd: 1}, logZ: logZ}
}

// The jackknife error of log Z by the definition, and without any noise.
func TestJackknifeByHand(t *testing.T) {
	logZ := []float64{-3.2, -2.9, -4.4, -3.0}
	c, err := Combine(logZ)
	if err != nil {
		t.Fatal(err)
	}
	var without []float64
	mean := 0.0
	for p := range logZ {
		sum := 0.0
		for q, z := range logZ {
			if q != p {
				sum += math.Exp(z) / 3
			}
		}
		without = append(without, math.Log(sum))
		mean += math.Log(sum) / 4
	}
	square := 0.0
	for _, l := range without {
		square += (l - mean) * (l - mean)
	}
	if want := math.Sqrt(square * 3 / 4); !(math.Abs(c.Jackknife-want) <= 1e-12) {
		t.Errorf("jackknife %v, want %v", c.Jackknife, want)
	}
	if c, err := Combine([]float64{-7, -7, -7}); err != nil || !(c.Jackknife <= 1e-12) {
		t.Errorf("islands that agree have an error of %v, %v", c.Jackknife, err)
	}
	if c, err := Combine([]float64{-7}); err != nil || !math.IsNaN(c.Jackknife) {
		t.Errorf("one island has an error of %v, %v", c.Jackknife, err)
	}
}
