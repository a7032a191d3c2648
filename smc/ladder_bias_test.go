package smc

import (
	"context"
	"math"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/mcmc"
)

// draws are J log-likelihoods −½χ²_d, of which log E e^{h l} = −(d/2) log(1 + h) is known, with equal log-weights.
func draws(stream *rng.Stream, j, d int) (logw, ll []float64) {
	x := make([]float64, d)
	for range j {
		stream.Normals(x)
		l := 0.0
		for _, v := range x {
			l -= 0.5 * v * v
		}
		logw, ll = append(logw, -rng.Log(float64(j))), append(ll, l)
	}
	return logw, ll
}

// The bias is what leaving out one particle after the other says, computed here as it is written: by the path's own next step for the
// others, renormalised. The steps that are found by one step of Newton's differ by a fiftieth of themselves.
func TestLadderBiasLeavesOutOneByOne(t *testing.T) {
	for _, path := range []Tempering{{}, {ESS: 0.8}} {
		for _, j := range []int{10, 60} {
			logw, ll := draws(rng.Key{Seed: 3, Particle: j}.Stream(), j, 12)
			for i := range logw { // uneven, and one is dead, of likelihood 0
				logw[i] = 0.1 * float64(i%3)
			}
			logw[4], ll[4] = math.Inf(-1), math.Inf(-1)
			norm := logSumExp(logw)
			for i := range logw {
				logw[i] -= norm
			}
			const longest = 100
			h, err := path.next(0, longest, logw, ll)
			if err != nil {
				t.Fatal(err)
			}
			logMean := func(h float64) float64 {
				all := make([]float64, j)
				for i := range all {
					all[i] = logw[i] + h*ll[i]
				}
				return logSumExp(all)
			}
			mean := 0.0
			for i := range ll {
				if math.IsInf(logw[i], -1) {
					continue
				}
				var w1, l1 []float64
				for k := range ll {
					if k != i && !math.IsInf(logw[k], -1) {
						w1, l1 = append(w1, logw[k]-math.Log(1-math.Exp(logw[i]))), append(l1, ll[k])
					}
				}
				other, err := path.next(0, longest, w1, l1)
				if err != nil {
					t.Fatal(err)
				}
				mean += math.Exp(logw[i] + other*ll[i] - logMean(other))
			}
			want, got := -math.Log(mean), path.stepBias(h, longest, logw, ll)
			if !golden.Near(got, want, 0.02, 1e-4) {
				t.Errorf("%v, %d particles: bias %v, want %v", path, j, got, want)
			}
			t.Logf("%v, %d particles: bias %v, want %v", path, j, got, want)
		}
	}
}

func logSumExp(x []float64) float64 {
	top, sum := math.Inf(-1), 0.0
	for _, v := range x {
		top = max(top, v)
	}
	for _, v := range x {
		sum += math.Exp(v - top)
	}
	return top + math.Log(sum)
}

// For many particles the bias is −Cov(φ, ψ)/(J s). With l = −½χ²_d and u = h/(1 + λ) at λ = 0 its parts are those of a gamma law: with
// A, B, C the means of e^{hl}, e^{2hl}, e^{3hl} and l_m the mean of l under e^{mhl}, J b = −(2 (B/A²) (l_2 − l_1) − (C/(AB)) (l_3 − l_1)) /
// (2 (l_1 − l_2)): −.55 for d = 20, as ten million particles would give it. Of 30,000 particles an estimate scatters by .06; one that
// lacks the sign, a factor of two or one of the terms is off by more than the bound, six times that.
func TestLadderBiasOfManyParticles(t *testing.T) {
	const j, d = 30000, 20
	logw, ll := draws(rng.Key{Seed: 8}.Stream(), j, d)
	h, err := Tempering{}.next(0, 100, logw, ll)
	if err != nil {
		t.Fatal(err)
	}
	log := func(m float64) float64 { return -0.5 * d * math.Log(1+m*h) }
	l := func(m float64) float64 { return -0.5 * d / (1 + m*h) }
	want := -(2*math.Exp(log(2)-2*log(1))*(l(2)-l(1)) - math.Exp(log(3)-log(1)-log(2))*(l(3)-l(1))) / (2 * (l(1) - l(2)))
	if got := j * (Tempering{}).stepBias(h, 100, logw, ll); !(math.Abs(got-want) <= 0.36) || !(math.Abs(want+0.55) <= 0.03) {
		t.Errorf("J·b is %v, want %v, and that is −.55", got, want)
	}
}

// What the estimate says is what adaptation does: the mean of the weight of an adapted step over what it should be, for draws of known
// law. 20,000 steps of 50 particles (50 parameters, −.020) give its logarithm to 5 %, and those of ten particles (20 parameters, −.09) to
// 2 %; the mean estimate of some of them has an error like it. An estimate of a third or less, or of twice as much, would be found: by
// moments of the particles (−Cov/(J s)) it is a third, and for ten particles of the wrong sign.
func TestLadderBiasIsWhatAdaptationDoes(t *testing.T) {
	testkit.Statistics(t)
	for _, c := range []struct {
		j, d, runs, every int
		low, high         float64 // of the estimate over what is true, for few particles
	}{{50, 50, 20000, 20, 0.7, 1.35}, {10, 20, 60000, 30, 0.6, 1.1}} {
		stream := rng.Key{Seed: 9, Particle: c.d}.Stream()
		var ratio, bias spread
		for i := range c.runs {
			logw, ll := draws(stream, c.j, c.d)
			h, err := Tempering{}.next(0, 100, logw, ll)
			if err != nil {
				t.Fatal(err)
			}
			all := make([]float64, c.j)
			for k := range all {
				all[k] = logw[k] + h*ll[k]
			}
			ratio.add(math.Exp(logSumExp(all) + 0.5*float64(c.d)*math.Log(1+h)))
			if i%c.every == 0 {
				bias.add(Tempering{}.stepBias(h, 100, logw, ll))
			}
		}
		truth, error := math.Log(ratio.mean), 5*(math.Hypot(ratio.sd()/math.Sqrt(ratio.n), bias.sd()/math.Sqrt(bias.n)))
		t.Logf("%d particles, %d parameters: log of the mean %.5f, estimate %.5f, within %.5f", c.j, c.d, truth, bias.mean, error)
		if !(bias.mean <= c.low*truth+error && bias.mean >= c.high*truth-error && error <= 0.4*math.Abs(truth)) {
			t.Errorf("%d particles: the adaptation of a step moves log Z by %v, the estimate says %v ± %v", c.j, truth, bias.mean, error)
		}
	}
}

// The state has the sum over the steps; the last step, which ends at 1 whatever the particles, and paths without such steps add nothing.
func TestLadderBiasIsOfAllSteps(t *testing.T) {
	s := Sampler{Model: separate(5).model, Prior: separate(5).prior, Path: Tempering{}, Move: mcmc.HMC{}.ForPopulation(mcmc.Mutations{}, false), Particles: 30, Seed: 4}
	st, err := s.Init(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for !s.Done(st) {
		before := new(State)
		before.copy(st)
		info, err := s.Step(context.Background(), st)
		if err != nil {
			t.Fatal(err)
		}
		if st.Lambda < 1 {
			sum += Tempering{}.stepBias(st.Lambda-before.Lambda, 1-before.Lambda, before.LogW, before.LL)
		}
		if !golden.Near(st.LadderBias, sum, 1e-12, 1e-15) || info.LadderBias == nil || float64(*info.LadderBias) != st.LadderBias {
			t.Fatalf("at λ = %v: bias %v, want %v", st.Lambda, st.LadderBias, sum)
		}
	}
	if sum == 0 {
		t.Error("no bias")
	}
	for _, kind := range []string{"ladder, systematic", "linear", "sda"} {
		st, infos := run(t, kinds()[kind](0))
		if st.LadderBias != 0 || infos[0].LadderBias != nil {
			t.Errorf("%s: bias %v", kind, st.LadderBias)
		}
	}
	s = *kinds()["tempered linear"](0)
	reachedAt := 0.0
	if _, err := s.Init(context.Background()); err != nil {
		t.Fatal(err)
	}
	end, infos := run(t, &s)
	for _, info := range infos {
		if info.Progress == 0 {
			reachedAt = float64(*info.LadderBias)
		}
	}
	if reachedAt == 0 || end.LadderBias != reachedAt {
		t.Errorf("tempered start: bias %v when it reached the batch, %v at the end", reachedAt, end.LadderBias)
	}
	logw, ll := draws(rng.Key{Seed: 6}.Stream(), 30, 5)
	h, err := Tempering{}.next(0, 100, logw, ll)
	if err != nil {
		t.Fatal(err)
	}
	if last, other := (Tempering{}).stepBias(h, h, logw, ll), (Tempering{}).stepBias(h, 2*h, logw, ll); last != 0 || other == 0 {
		t.Errorf("a last step has a bias of %v, the same step on the way %v", last, other)
	}
	dead := math.Inf(-1)
	for _, logw := range [][]float64{{-rng.Log(2), -rng.Log(2)}, {-rng.Log(2), dead, -rng.Log(2), dead, dead}} {
		if few := (Tempering{}).stepBias(0.1, 1, logw, []float64{-1, -2, -2, -1, -3}[:len(logw)]); !math.IsNaN(few) {
			t.Errorf("two particles of %d: bias %v, want NaN: a step of one particle has no bound", len(logw), few)
		}
	}
}
