package filter_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/ssm"
)

// worked sums up a run on one thread.
type worked struct {
	joint, ess  []float64 // of each scan
	seconds     float64
	rhat, looks float64 // the largest; mean share of the measurements that a decision looks at
}

func work(t *testing.T, m ssm.Model, way filter.Method, seed uint64, scans []*ssm.Scan) (w worked) {
	t.Helper()
	f, err := way.On(filter.Job{Model: m, Seed: seed, Pool: mcmc.NewPool(1)})
	if err != nil {
		t.Fatal(err)
	}
	st, err := f.Init(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, scan := range scans {
		began := time.Now()
		info, err := f.Step(t.Context(), st, scan)
		if err != nil {
			t.Fatal(err)
		}
		w.seconds += time.Since(began).Seconds()
		w.joint, w.ess = append(w.joint, info.Joint), append(w.ess, slices.Min(info.ESS))
		if info.RHat != nil {
			w.rhat = max(w.rhat, slices.Max(info.RHat))
		}
		if info.Seen != nil {
			w.looks += info.Seen.Joint / float64(len(scans))
		}
	}
	return w
}

func (w worked) String() string {
	worst := 0
	for k, v := range w.joint {
		if v < w.joint[worst] {
			worst = k
		}
	}
	return fmt.Sprintf("accepted %.4f, %.4f in scan %d; ESS %.0f, least %.0f; R-hat up to %.2f; %.4f s a scan, %.0f ESS a second", average(w.joint),
		w.joint[worst], worst+1, average(w.ess), slices.Min(w.ess), w.rhat, w.seconds/float64(len(w.ess)), w.perSecond())
}

func (w worked) perSecond() float64 { return average(w.ess) * float64(len(w.ess)) / w.seconds }

func average(x []float64) (mean float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	return mean
}

// TestGuidedTable makes the tables of docs/filtering.md, section "Guided draws": the presets clutter3 and clutter3-crossing beside an adapted
// walk of the same number of samples, and two targets side by side.
func TestGuidedTable(t *testing.T) {
	testkit.Takes(t, 5)
	walk := filter.SMCMC{Particles: 4000, Repeat: 8, Burn: 250, Index: filter.ExactIndex{}, Refine: filter.Walk{SD: filter.Adapted}}
	beside := filter.SMCMC{Particles: 4000, Repeat: 8, Burn: 250, Joint: filter.Guided{}, Index: filter.ExactIndex{}, Refine: filter.Walk{SD: filter.Adapted}}
	crossing := clutter3(1500, 4000)
	for i, mean := range [][]float64{{-40, -30, 4, 3}, {-40, 30, 4, -3}, {45, 0, -4, 0}} {
		crossing.Initial[i].Mean = mean
	}
	for _, c := range []struct {
		name  string
		model ssm.Clutter
		least float64 // mean acceptance
	}{{"clutter3", clutter3(1500, 4000), 0.9}, {"clutter3-crossing", crossing, 0.8}} {
		for seed := range uint64(3) {
			scans := drawn(t, c.model, seed, 20)
			slow, fast := work(t, c.model, walk, seed, scans), work(t, c.model, guided, seed, scans)
			t.Logf("%s, seed %d: guided: %v; with a walk beside: %v; walk alone: %v", c.name, seed, fast, work(t, c.model, beside, seed, scans), slow)
			if !(average(fast.joint) >= c.least) || !(slices.Min(fast.ess) >= 0.7*4000) || !(fast.perSecond() >= 10*slow.perSecond()) {
				t.Errorf("%s: guided draws fall short", c.name)
			}
		}
	}
	for _, c := range []struct{ returns, clutter, acceleration float64 }{{1500, 4000, 0.5}, {20, 50, 0.14}} {
		for _, apart := range []float64{20, 2, 1, 0.3} {
			m := ssm.Clutter{Interval: 1, Acceleration: c.acceleration, Returns: ssm.Returns{Rate: c.returns, SD: 1},
				Background: ssm.Background{Rate: c.clutter, Region: [4]float64{-100, 100, -100, 100}}}
			for i := range 2 {
				m.Initial = append(m.Initial, ssm.Initial{Mean: []float64{-20, float64(i) * apart, 2, 0}, SD: []float64{1, 1, 0.5, 0.5}})
			}
			s := rng.Key{Seed: 7, Purpose: rng.Synthetic}.Stream()
			var scans []*ssm.Scan
			for k := range 20 {
				scan, x := &ssm.Scan{Time: float64(k + 1)}, -18+2*float64(k)
				m.Measure(s, []float64{x, 0, 2, 0, x, apart, 2, 0}, scan)
				scans = append(scans, scan)
			}
			t.Logf("%.0f returns, %v sd apart: guided: %v; with a walk beside: %v; walk alone: %v", c.returns, apart, work(t, m, guided, 1, scans), work(t, m, beside, 1, scans), work(t, m, walk, 1, scans))
		}
	}
	for _, scale := range []float64{1, 12, 118} { // decisions by subsampling, 10⁴ to 10⁶ returns
		m := clutter3(1500*scale, 4000*scale)
		way := guided
		way.Particles, way.Repeat, way.Decide = 1000, 1, filter.Subsample{Order: 2, Rows: filter.NearRows, Delta: 0.1, Power: 2, Growth: 1.2, GiveUp: 1}
		scans := drawn(t, m, 1, 2)
		w := work(t, m, way, 1, scans)
		t.Logf("%d returns, decided by subsampling: accepted %.5f, %.3g measurements a decision", scans[1].Len(), average(w.joint), w.looks*float64(scans[1].Len()))
	}
}

// drawn are scans that a model draws.
func drawn(t *testing.T, m ssm.Clutter, seed uint64, n int) (scans []*ssm.Scan) {
	t.Helper()
	scene := ssm.Scene{Model: m, Seed: seed}
	for range n {
		_, scan, err := scene.Next()
		if err != nil {
			t.Fatal(err)
		}
		scans = append(scans, &scan)
	}
	return scans
}
