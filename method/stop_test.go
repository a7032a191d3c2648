package method

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
)

// TestImproved: by hand. Of d = −1, −1, −1, x the standard error is |x + 1|/4 and the mean (x − 3)/4: at x = 1 they are equal, which is
// no improvement. Infinite losses that stay count as equal; one that becomes finite has improved, whatever the others.
func TestImproved(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		now, best []float64
		want      bool
	}{
		{[]float64{1, 1, 1, 3}, []float64{2, 2, 2, 2}, false},
		{[]float64{1, 1, 1, 2.99}, []float64{2, 2, 2, 2}, true},
		{[]float64{1, 1, 1, 3.01}, []float64{2, 2, 2, 2}, false},
		{[]float64{2, 2}, []float64{2, 2}, false},
		{[]float64{1, 1}, []float64{2, 2}, true}, // all alike: the standard error is 0
		{[]float64{3, 3}, []float64{2, 2}, false},
		{[]float64{inf, 2}, []float64{inf, 2}, false},
		{[]float64{50, 9}, []float64{inf, 2}, true},
		{[]float64{1}, []float64{2}, true},
	} {
		if got := improved(c.now, c.best); got != c.want {
			t.Errorf("%v after %v: improved %v, want %v", c.now, c.best, got, c.want)
		}
	}
}

// stopsAt is the iteration at which the rule stops a trace of losses; 0: it makes all iterations.
func stopsAt(iterations, patience int, losses func(k int) []float64) (at int, s Stopping) {
	for k := 1; k <= iterations; k++ {
		if s.Observe(losses(k), patience) {
			return k, s
		}
	}
	return 0, s
}

// noisy are losses of an iteration: of an example, base + shift(k) + .3 z.
func noisy(n int, shift func(k int) float64) func(k int) []float64 {
	return func(k int) []float64 {
		base, own := rng.Key{Seed: 1, Purpose: rng.Synthetic}.Stream(), rng.Key{Seed: 2, Purpose: rng.Synthetic, Iteration: k}.Stream()
		losses := make([]float64, n)
		for i := range losses {
			losses[i] = 2*base.Float64() + shift(k) + 0.3*own.Normal()
		}
		return losses
	}
}

// TestStopping: synthetic traces of 4,000 validation examples.
//
// Flat and worsening ones, whose mixture never gets better, stop patience iterations after the first.
//
// One that improves by .004 an iteration is never stopped within 150 iterations. Ten iterations after its best, at b, its mixture has
// gained .02 by the shift and v/2·(1/b − 1/(b+10)) by mixing, for the variance v = .09 of the noise; the standard error is about
// .3·√(1/b − 1/(b+10))/√4000. Their quotient τ is 13 at b = 1, 12.8 at 2, 15 at 5 and larger from there on, so that the last check alone
// misses the gain with probability Φ(1 − 12.8): a false stop is far less probable than 1e-6.
//
// One of equally good iterations gains by mixing alone, v/2m of the loss being left at m. The rule stops it when so little is left that
// validation examples do not show it: the loss there is within 1 % of that after 400 iterations.
func TestStopping(t *testing.T) {
	const n, patience = 4000, 10
	flat := noisy(n, func(int) float64 { return 0 })(1)
	if at, s := stopsAt(50, patience, func(int) []float64 { return flat }); at != 1+patience || s.BestAt != 1 {
		t.Errorf("a flat trace stops at %d, with its best at %d", at, s.BestAt)
	}
	worse := func(k int) []float64 {
		losses := slices.Clone(flat)
		for i := range losses {
			losses[i] += 0.01 * float64(k)
		}
		return losses
	}
	if at, s := stopsAt(50, 3, worse); at != 1+3 || s.BestAt != 1 || !s.Stopped {
		t.Errorf("a worsening trace stops at %d, with its best at %d", at, s.BestAt)
	}
	if at, s := stopsAt(150, patience, noisy(n, func(k int) float64 { return -0.004 * float64(k) })); at != 0 || s.BestAt < 145 {
		t.Errorf("an improving trace stops at %d, with its best at %d", at, s.BestAt)
	}
	turns := func(k int) float64 { return 0.02 * math.Abs(float64(k-30)) }
	if at, s := stopsAt(150, patience, noisy(n, turns)); at < 30+patience || at > 80 || s.BestAt != at-patience {
		t.Errorf("a trace that turns at 30 stops at %d, with its best at %d", at, s.BestAt)
	}
	mean := func(s Stopping) (l float64) {
		for _, x := range s.Losses() {
			l += x / n
		}
		return l
	}
	still := noisy(n, func(int) float64 { return 0 })
	at, s := stopsAt(400, patience, still)
	_, all := stopsAt(400, 1000, still)
	if at == 0 || at > 300 || mean(s) > 1.01*mean(all) {
		t.Errorf("a trace of equals stops at %d, at loss %v, after 400 iterations %v", at, mean(s), mean(all))
	}
}

// Gains add up. Of two examples the mixture's losses are 1 − .001 m ± .01, with the other sign in every iteration: from one iteration to
// the next one example gets better by far more than the mean does, and over two iterations both do by .002.
func TestStoppingAddsUp(t *testing.T) {
	prob := func(m, i int) float64 {
		return math.Exp(-(1 - 0.001*float64(m) + 0.01*float64(1-2*((m+i)%2))))
	}
	at, s := stopsAt(20, 3, func(m int) (losses []float64) {
		for i := range 2 {
			losses = append(losses, -math.Log(float64(m)*prob(m, i)-float64(m-1)*prob(m-1, i)))
		}
		return losses
	})
	if at != 0 || s.BestAt < 19 {
		t.Errorf("stopped at %d, with its best at %d", at, s.BestAt)
	}
}

// The mixture's losses are −log of the mean of the probabilities, also where these underflow or are 0. NaN counts as probability 0.
func TestStoppingMixes(t *testing.T) {
	var s Stopping
	inf := math.Inf(1)
	for _, losses := range [][]float64{{1, 2000, inf, inf, math.NaN()}, {2, 2001, 3, inf, 1}, {3, 2002, inf, inf, inf}} {
		s.Observe(losses, 100)
	}
	mixed := -math.Log((1 + math.Exp(-1) + math.Exp(-2)) / 3)
	for i, want := range []float64{1 + mixed, 2000 + mixed, 3 + math.Log(3), inf, 1 + math.Log(3)} {
		if got := s.Losses()[i]; !(got == want || math.Abs(got-want) <= 1e-12) {
			t.Errorf("example %d has loss %v, want %v", i, got, want)
		}
	}
}

// stopping are islands that stop early.
func stopping(patience int) SMC {
	m := full(40)
	m.Islands, m.Move = 2, mcmc.Unadjusted{Steps: 2, Step: 0.1}
	m.Keep, m.Stop = smc.After{Iterations: 1}, Patience(patience)
	return m
}

// TestIslandsStop: an island stops where the rule says, which is found here by the log-likelihoods of the states that a run without it
// keeps: the ensemble is those states up to there, and the run says so.
func TestIslandsStop(t *testing.T) {
	const warmup, patience = 1, 2
	m := stopping(patience)
	out := do(t, newJob(t, 2), m)
	m.Stop = Unstopped{}
	job := newJob(t, 1)
	phases, err := m.Phases(job)
	if err != nil {
		t.Fatal(err)
	}
	if err := job.Run.Phase(t.Context(), job.Pool, phases[0]); err != nil {
		t.Fatal(err)
	}
	model, err := nn.NewModel(job.Net, job.Data.Validate, nil)
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for i, part := range phases[0].Parts {
		st := part.(*island).state
		kept := len(st.KeptLL) / st.J
		probs := make([][]float64, kept) // of the ensembles of 1, 2, … kept iterations
		sum := make([]float64, job.Data.Validate.Len())
		for k := range kept {
			for row := range sum {
				ll := make([]float64, st.J)
				if err := model.LogLik(t.Context(), []int32{int32(row)}, st.Kept[k*st.J*st.D:(k+1)*st.J*st.D], ll, nil); err != nil {
					t.Fatal(err)
				}
				for j, l := range ll {
					sum[row] += math.Exp(l + st.KeptLogW[k*st.J+j])
				}
				probs[k] = append(probs[k], sum[row]/float64(k+1))
			}
		}
		lines := byIsland(out.Trace)[i]
		mean := func(k int) (nll float64) { // of the ensemble of k+1 iterations
			for _, p := range probs[k] {
				nll -= math.Log(p) / float64(len(probs[k]))
			}
			return nll + eval.LogScale(job.Data, job.Data.Validate)
		}
		if lines[warmup-1].KeptNLL != nil || lines[warmup].KeptNLL == nil {
			t.Fatalf("island %d: lines of the warm-up have the NLL of what is kept, or those after it have not", i)
		}
		best, stop := 0, 0
		for k := 1; k < kept && stop == 0; k++ {
			var d, square float64
			n := float64(len(sum))
			for row := range sum {
				x := math.Log(probs[best][row] / probs[k][row])
				d, square = d+x/n, square+x*x
			}
			if d < -math.Sqrt((square-n*d*d)/(n-1)/n) {
				best = k
			} else if k-best == patience {
				stop = warmup + k + 1
			}
			got := []float64{float64(*lines[warmup+k].KeptNLL), float64(*lines[warmup+k].BestKeptNLL)}
			wantNear(t, fmt.Sprintf("island %d after %d kept iterations", i, k+1), got, []float64{mean(k), mean(best)}, 1e-5)
		}
		if stop == 0 || len(lines) != stop || lines[stop-1].Progress != 1 || lines[stop-2].Progress == 1 {
			t.Errorf("island %d has %d lines, and should stop at %d of 40", i, len(lines), stop)
		}
		size += st.J * (stop - warmup)
	}
	if out.Posterior.Size() != size {
		t.Errorf("%d members, want %d", out.Posterior.Size(), size)
	}
	if said := words(out.Findings); !strings.Contains(said, "2 of 2 islands stopped after iteration ") || !strings.Contains(said, " of 40, as the validation NLL no longer fell (stop: {patience: 2})") {
		t.Errorf("findings %s", said)
	}
}

// A saved rule that does not fit is refused, and so are cut bytes.
func TestStoppingIsSaved(t *testing.T) {
	m := stopping(10)
	part := func() *island {
		phases, err := m.Phases(newJob(t, 1))
		if err != nil {
			t.Fatal(err)
		}
		return phases[0].Parts[0].(*island)
	}
	p := part()
	for range 6 {
		if _, err := p.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	saved := packed(t, p)
	back := part()
	if err := back.UnmarshalBinary(saved); err != nil || back.stopping.Kept != 5 || !slices.Equal(back.stopping.LogSum, p.stopping.LogSum) {
		t.Errorf("read back %+v, %v", back.stopping, err)
	}
	for _, cut := range []int{0, 7, 8, 100, len(saved) - 1} {
		if err := part().UnmarshalBinary(saved[:cut]); err == nil {
			t.Errorf("%d of %d bytes are read", cut, len(saved))
		}
	}
	p.stopping.Best = p.stopping.Best[1:]
	if err := part().UnmarshalBinary(packed(t, p)); err == nil || !strings.Contains(err.Error(), "30 sums and 29 losses; there are 30 validation examples") {
		t.Errorf("a rule of other examples: %v", err)
	}
}

// A rule is refused where nothing can be judged, or where its end would be another posterior's.
func TestStopIsRefused(t *testing.T) {
	for want, change := range map[string]func(*SMC, *Around){
		"":                                 func(*SMC, *Around) {},
		"the data hold none out":           func(_ *SMC, a *Around) { a.Judged = false },
		"keep: {after: {iterations: 25}}":  func(m *SMC, _ *Around) { m.Keep = nil },
		"only the targets of path full":    func(m *SMC, _ *Around) { m.Path = smc.Schedule[smc.Linear]{Iterations: 40, Rule: smc.Linear{Batch: 9}} },
		"a line of the trace has 2: leave": func(m *SMC, _ *Around) { m.Trace.Every = 2 },
	} {
		m, a := stopping(5), around(stopping(5))
		a.Judged = true
		change(&m, &a)
		got := strings.Join(faults(func(f *config.Faults) { m.Settle(a, f) }), "\n")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("faults %q, want %q", got, want)
		}
		m.Stop = Unstopped{}
		if got := strings.Join(faults(func(f *config.Faults) { m.Settle(a, f) }), "\n"); strings.Contains(got, ".stop") {
			t.Errorf("refused without a rule: %q", got)
		}
	}
}
