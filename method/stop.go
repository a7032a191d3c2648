package method

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/safetensors"
	"github.com/starling-smc/starling/smc"
	"github.com/starling-smc/starling/uq"
)

// Stop says when an island ends before its path does.
type Stop interface {
	// Iterations is the number of iterations without an improvement after which an island ends; 0: it does not end early.
	Iterations() int
}

// Stops lists what a config can say of the end.
var Stops = config.Table[Stop]{
	{Name: "none", Part: Unstopped{}},
	{Name: "patience", Part: DefaultPatience},
}

// DefaultPatience is that of the stopping sheet in docs/results/smc-sghmc.md. It was chosen on the runs from the prior that stand there: with
// 20, one of them stops while the NLL of its ensemble still falls by 3 %.
const DefaultPatience = Patience(30)

// Unstopped makes all iterations of the path, as in smc-sghmc-ensembles.
type Unstopped struct{}

// Iterations is 0.
func (Unstopped) Iterations() int { return 0 }

// Patience ends an island when its kept ensemble has not improved for so many iterations: see Stopping.
type Patience int

// Iterations is the patience.
func (p Patience) Iterations() int { return int(p) }

// Check notes impossible settings.
func (p Patience) Check(f *config.Faults) { f.AtLeast("", int(p), 1) }

// Stopping decides when the ensemble kept so far, the states of all iterations after the warm-up, has stopped improving. The loss of
// validation example i after m kept iterations is that of their mixture,
//
//	l_i(m) = −log (1/m) Σ_{t≤m} p̄_t(y_i|x_i),
//
// with p̄_t the weighted mean of the predictions of iteration t. The ensemble was best at b. After each iteration, with
//
//	d_i = l_i(m) − l_i(b)        D = mean(d)        S = sd(d)/√n,
//
// it has improved if D < −S, and then b = m. The rule stops when m − b = patience.
//
// The difference is paired: examples that are hard for all networks cancel. It is taken from b and not from one iteration before, so
// that small gains add up. A mixture of many iterations changes ever more slowly, by O(1/m) an iteration; its D and S shrink
// alike, so that D/S does not depend on the pace, only on whether examples agree that it is better. If D has the expectation −τS and is
// normal, a check misses the gain with probability Φ(1−τ), and the rule stops falsely only if it misses it at each of patience checks.
// Without any gain a check finds one with probability .16 and the run goes on for another patience iterations: the rule errs towards
// going on.
//
// The zero value is the start. It is plain data.
type Stopping struct {
	LogSum  []float64 // n, log Σ_t p̄_t(y_i|x_i)
	Kept    int       // m
	Best    []float64 // n, l_i(b)
	BestAt  int       // b
	Stopped bool
}

// Observe adds an iteration, whose losses are −log p̄_t(y_i|x_i), and reports whether to stop. A loss that is NaN counts as infinite.
func (s *Stopping) Observe(losses []float64, patience int) bool {
	if s.LogSum == nil {
		s.LogSum = make([]float64, len(losses))
		for i := range s.LogSum {
			s.LogSum[i] = math.Inf(-1)
		}
	}
	for i, l := range losses {
		if l < math.Inf(1) {
			s.LogSum[i] = logAdd(s.LogSum[i], -l)
		}
	}
	s.Kept++
	if now := s.Losses(); s.BestAt == 0 || improved(now, s.Best) {
		s.Best, s.BestAt = now, s.Kept
	}
	s.Stopped = s.Kept-s.BestAt >= patience
	return s.Stopped
}

// Losses are those of the ensemble kept so far, l_i(m).
func (s *Stopping) Losses() []float64 {
	now := make([]float64, len(s.LogSum))
	for i, l := range s.LogSum {
		now[i] = rng.Log(float64(s.Kept)) - l
	}
	return now
}

// logAdd is log(eᵃ + eᵇ), for b above −Inf.
func logAdd(a, b float64) float64 {
	return max(a, b) + rng.Log(1+rng.Exp(min(a, b)-max(a, b)))
}

// rounding is the gain in nats that is none: sums of the same numbers differ by less.
const rounding = 1e-9

// improved reports whether the mean of now − best is below 0 by more than its standard error. Losses that are infinite in both count as
// equal. A mixture that gave an example probability 0 has improved when it no longer does.
func improved(now, best []float64) bool {
	d := make([]float64, len(now))
	for i := range now {
		if math.IsInf(best[i], 1) {
			if !math.IsInf(now[i], 1) {
				return true
			}
			continue
		}
		d[i] = now[i] - best[i]
	}
	mean, square := uq.Mean(d), 0.0
	for _, x := range d {
		square += float64((x - mean) * (x - mean))
	}
	n := float64(len(d))
	return mean < -max(rounding, math.Sqrt(square/max(1, n-1)/n))
}

const stoppingKind = "method.Stopping/1"

// writeTo packs the state before that of an island, whose bytes follow as they are.
func (s *Stopping) writeTo(w io.Writer, island *smc.State) (int64, error) {
	stopped := 0
	if s.Stopped {
		stopped = 1
	}
	e := ckpt.NewEncoder(stoppingKind)
	e.Ints("counts", s.Kept, s.BestAt, stopped)
	e.Float64s("log_sum", s.LogSum)
	e.Float64s("best", s.Best)
	return writeBefore(w, e.Encode(), island)
}

// unpack is the inverse of writeTo. It returns the bytes of the island, and refuses a state of another number of validation examples.
func (s *Stopping) unpack(b []byte, examples int) (island []byte, err error) {
	own, island, err := cutBefore(b)
	if err != nil {
		return nil, err
	}
	d, err := ckpt.NewDecoder(bytes.Clone(own), stoppingKind)
	if err != nil {
		return nil, err
	}
	var r Stopping
	var stopped int
	d.Ints("counts", &r.Kept, &r.BestAt, &stopped)
	r.LogSum, r.Best = d.Float64s("log_sum"), d.Float64s("best")
	if err := d.Err(); err != nil {
		return nil, err
	}
	want := examples * min(r.Kept, 1)
	if r.BestAt < min(r.Kept, 1) || r.BestAt > r.Kept || len(r.LogSum) != want || len(r.Best) != want {
		return nil, fmt.Errorf("a stopping rule at %d of %d kept iterations, with %d sums and %d losses; there are %d validation examples",
			r.BestAt, r.Kept, len(r.LogSum), len(r.Best), examples)
	}
	r.Stopped = stopped != 0
	*s = r
	return island, nil
}

// after is a Keeper that keeps the states of all iterations after a warm-up, in files if they are many.
type after interface {
	Keeps(path smc.Targets, st *smc.State) bool
	Format() safetensors.Format
}
