package filter

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/ssm"
)

// crowd is three targets in clutter, with the rates of the paper times a factor.
func crowd(factor float64, evaluate string) ssm.Clutter {
	m := ssm.Clutter{Interval: 1, Acceleration: 0.5, Returns: ssm.Returns{Rate: 1500 * factor, SD: 1}, Evaluate: evaluate,
		Background: ssm.Background{Rate: 4000 * factor, Region: [4]float64{-100, 100, -100, 100}}}
	for _, mean := range [][]float64{{-60, -40, 3, 2}, {50, -50, -2, 3}, {0, 60, 1, -3}} {
		m.Initial = append(m.Initial, ssm.Initial{Mean: mean, SD: []float64{1, 1, 0.5, 0.5}})
	}
	return m
}

// decisions is a chain on a scan of three targets in clutter that decides on the positions of one target after another, with x⁺ at the mode. A
// step is normal with 2.4/√2 of the posterior's standard deviation.
type decisions struct {
	*chain
	sd     []float64 // of the posterior, by the Hessian
	stream *ssm.Stream
	next   int
	step   float64 // sd of a step; 0: 2.4/√2 of the posterior's
}

func newDecisions(t testing.TB, m ssm.Clutter, d Decision) *decisions {
	t.Helper()
	scene := ssm.Scene{Model: m, Seed: 7}
	truth, scan, err := scene.Next()
	if err != nil {
		t.Fatal(err)
	}
	like, err := bind(m, &scan, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &chain{blocks: ssm.Blocks(m), like: like, x: slices.Clone(truth), y: make([]float64, len(truth)), order: max(1, d.order())}
	c.decider = d.begin(c)
	series, err := c.expandable()
	if err != nil {
		t.Fatal(err)
	}
	cov := make([]float64, len(truth)*len(truth))
	for i := range truth {
		cov[i*len(truth)+i] = 100
	}
	var ok bool
	if c.newton, ok = newNewton(series, truth, cov, nil); !ok {
		t.Fatal("no prior")
	}
	best, ok := c.newton.climb(truth, mostPasses)
	if !ok {
		t.Fatal("no mode")
	}
	out := &decisions{chain: c, sd: make([]float64, len(truth)), stream: rng.Key{Seed: 11, Purpose: rng.Synthetic}.Stream()}
	list := coordinatesOf(series, len(truth))
	n := len(list)
	precision := make([]float64, n*n)
	for a, i := range list {
		for b, j := range list {
			precision[a*n+b] = -best.Hessian[i*len(truth)+j]
		}
	}
	if !dense.Cholesky(precision, n) {
		t.Fatal("no posterior")
	}
	c.settle(best)
	copy(c.x, best.at)
	for a, i := range list {
		unit := make([]float64, n)
		unit[a] = 1
		dense.Solve(precision, unit)
		out.sd[i] = math.Sqrt(unit[a])
		c.x[i] += out.sd[i] * out.stream.Normal()
	}
	c.like.Set(c.x)
	return out
}

// propose makes the next proposal and draws log u.
func (d *decisions) propose() (b ssm.Block, logU float64) {
	b = d.blocks[d.next%len(d.blocks)]
	d.key = rng.Key{Seed: 3, Purpose: rng.Chain, Particle: d.next}
	d.chain.stream(refineFrom)
	d.next++
	copy(d.y, d.x)
	for i := b.From; i < b.To; i++ {
		sd := 2.4 / math.Sqrt2 * d.sd[i]
		if d.step > 0 && d.sd[i] > 0 {
			sd = d.step
		}
		d.y[i] += sd * d.stream.Normal()
	}
	return b, rng.Log(d.stream.Float64())
}

// TestRowsTable prints how many rows a decision looks at without give_up, by the number of returns: with steps of 2.4/√2 of the posterior's
// standard deviation, and with the paper's walk of sd .1. Decisions that differ from those by all returns are at most a share δ.
func TestRowsTable(t *testing.T) {
	testkit.Takes(t, 5)
	const made = 2000
	for _, c := range []struct {
		order int
		rows  Rows
		step  float64
	}{{2, NearRows, 0}, {1, NearRows, 0}, {2, EveryRow, 0}, {1, EveryRow, 0}, {2, NearRows, 0.1}, {1, NearRows, 0.1}, {1, EveryRow, 0.1}} {
		name := fmt.Sprintf("order %d, rows: %s, step %v", c.order, c.rows, c.step)
		var logM, logMean, logMedian []float64
		for _, f := range []float64{1, 4, 11.8, 35.3, 117.6} {
			d := newDecisions(t, crowd(f, "near"), Subsample{c.order, c.rows, 0.1, 2, 1.2, 1})
			d.step = c.step
			s := d.decider.(*subsampling)
			check, err := bind(crowd(f, "near"), sceneScan(t, crowd(f, "near")), nil)
			if err != nil {
				t.Fatal(err)
			}
			check.Set(d.x)
			differ, reached, tied := 0, 0, 0
			rows, total, ties := make([]float64, made), 0.0, 0.0
			for i := range rows {
				b, logU := d.propose()
				ok, _ := s.decide(d.chain, b, logU, 0)
				exact := check.Try(d.y, b)
				if ok != (logU < exact) {
					differ++
				}
				rows[i] = float64(d.looked.rows)
				if d.looked.summed > 0 {
					rows[i] = float64(s.region.n)
					reached++
				}
				total += rows[i]
				if math.Abs(exact-logU) < 0.1 {
					ties, tied = ties+rows[i], tied+1
				}
				if ok {
					d.move()
					check.Keep()
				}
			}
			if d.fault != nil {
				t.Fatal(d.fault)
			}
			slices.Sort(rows)
			m, mean, median := float64(s.like.Len()), total/made, rows[made/2]
			logM, logMean, logMedian = append(logM, math.Log(m)), append(logMean, math.Log(mean)), append(logMedian, math.Log(median))
			t.Logf("%s: M %.0f, of which %d are drawn from: mean %.1f, median %.0f, 90 %% %.0f, S/M %.4f; within .1 nats are %.1f %% of the decisions and %.0f %% of the rows; %d look at all; %d of %d differ",
				name, m, s.region.n, mean, median, rows[made*9/10], mean/m, 100*float64(tied)/made, 100*ties/total, reached, differ, made)
			if !(float64(differ) <= 0.1*made) {
				t.Errorf("%s, M %.0f: %d of %d decisions differ from those by all measurements", name, m, differ, made)
			}
		}
		mean, median := slope(logM[1:], logMean[1:]), slope(logM[1:], logMedian[1:])
		t.Logf("%s: slopes from 34,000 returns on: mean %.2f, median %.2f", name, mean, median)
		if c.step == 0 && c.rows == NearRows && !(c.order == 1 && mean <= 0.3 || c.order == 2 && median <= 0) {
			t.Errorf("%s: slopes %v and %v", name, mean, median)
		}
	}
}

// TestTimesTable prints how long a decision takes on one thread, the best of some rounds, by the number of returns.
func TestTimesTable(t *testing.T) {
	testkit.Takes(t, 5)
	const rounds = 25
	for _, f := range []float64{0.25, 0.5, 1, 2, 4, 11.8, 35.3, 117.6} {
		line := ""
		for _, w := range []struct {
			name, evaluate string
			decide         Decision
		}{{"order 2", "near", Subsample{2, NearRows, 0.1, 2, 1.2, 0.01}}, {"order 1", "near", Subsample{1, NearRows, 0.1, 2, 1.2, 0.01}},
			{"decide: all, evaluate: near", "near", AllRows{}}, {"evaluate: all", "all", AllRows{}}} {
			d := newDecisions(t, crowd(f, w.evaluate), w.decide)
			best, summed, n := math.Inf(1), 0, 1000
			if w.evaluate == "all" {
				n = max(20, int(1000/max(1, f)))
			}
			for range rounds {
				start := time.Now()
				for range n {
					b, logU := d.propose()
					if ok, _ := d.decider.decide(d.chain, b, logU, 0); ok {
						d.move()
					}
					summed += d.looked.summed
				}
				best = min(best, time.Since(start).Seconds()/float64(n))
			}
			line += fmt.Sprintf("; %s %.2f µs", w.name, 1e6*best)
			if w.decide.order() > 0 {
				line += fmt.Sprintf(" (%.1f %% by the sum, %.1f rows)", 100*float64(summed)/float64(rounds*n), float64(d.residuals)/float64(rounds*n))
			}
		}
		t.Logf("M %.0f%s", 8500*f, line)
	}
}

// sceneScan is the scan of newDecisions.
func sceneScan(t testing.TB, m ssm.Clutter) *ssm.Scan {
	scene := ssm.Scene{Model: m, Seed: 7}
	_, scan, err := scene.Next()
	if err != nil {
		t.Fatal(err)
	}
	return &scan
}

// slope is that of the line of least squares.
func slope(x, y []float64) float64 {
	n, mx, my, xy, xx := float64(len(x)), 0.0, 0.0, 0.0, 0.0
	for i := range x {
		mx, my = mx+x[i]/n, my+y[i]/n
	}
	for i := range x {
		xy += (x[i] - mx) * (y[i] - my)
		xx += (x[i] - mx) * (x[i] - mx)
	}
	return xy / xx
}

// BenchmarkSubsample is a decision on one of three targets in clutter.
func BenchmarkSubsample(b *testing.B) {
	for _, f := range []float64{4, 11.8, 117.6} {
		b.Run(fmt.Sprintf("%.0f", 8500*f), func(b *testing.B) {
			d := newDecisions(b, crowd(f, "near"), Subsample{2, NearRows, 0.1, 2, 1.2, 0.01})
			b.ReportAllocs()
			for b.Loop() {
				block, logU := d.propose()
				if ok, _ := d.decider.decide(d.chain, block, logU, 0); ok {
					d.move()
				}
			}
			b.ReportMetric(float64(d.residuals)/float64(d.next), "rows")
		})
	}
}
