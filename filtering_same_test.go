package starling

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/starling-smc/starling/filtering"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/scans"
	"github.com/starling-smc/starling/ssm"
)

// smallClutter is the preset clutter3 with fewer returns, 340 a scan, and with the decisions of the paper beside a walk that learns.
func smallClutter(t *testing.T, sets ...string) Filtering {
	t.Helper()
	s, err := PresetFiltering("clutter3", append([]string{"model.clutter.returns.rate=60", "model.clutter.clutter.rate=160",
		"scans.simulate=4", "method.smcmc={particles: 300, repeat: 8, burn: 300, ancestors: joint, joint: prior, index: uniform, refine: {walk: {sd: adapted}}}"}, sets...)...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// filterLines are the lines and the scores of a run, without the numbers of terms.
func filterLines(t *testing.T, s Filtering, o FilterOptions) string {
	t.Helper()
	var all bytes.Buffer
	out := json.NewEncoder(&all)
	o.Line = func(l *filtering.Line) error {
		line := *l
		line.Evaluated, line.Skipped, line.PassTerms = 0, 0, 0
		return out.Encode(line)
	}
	r, err := Filter(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	r.Metrics.Evaluated, r.Metrics.Skipped, r.Metrics.PassTerms = 0, 0, 0
	if err := out.Encode(r.Metrics); err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// firstDifference shows the first line that differs.
func firstDifference(got, want string) string {
	lines := strings.Split(want, "\n")
	for i, line := range strings.Split(got, "\n") {
		if i >= len(lines) || line != lines[i] {
			return fmt.Sprintf("line %d\n%s\nwant\n%s", i+1, line, strings.Join(lines[min(i, len(lines)):min(i+1, len(lines))], ""))
		}
	}
	return fmt.Sprintf("%d lines are missing", len(lines))
}

// The lines and scores of a run have the same bytes with 1, 2 and 7 threads, on all kernels, and whether a decision evaluates all returns
// or those that it can change. SMCMC and, beside, a bootstrap filter. The long test takes all kernels with all numbers of threads.
func TestFilterSameBytes(t *testing.T) {
	long := testkit.Long(t, 1)
	want := filterLines(t, smallClutter(t, "against={bootstrap: {particles: 300}}"), FilterOptions{Options: Options{Threads: 1}})
	if !strings.Contains(want, `"against"`) || strings.Count(want, "\n") != 5 {
		t.Fatalf("a run without lines:\n%s", want)
	}
	for i, kernel := range lanes.Kernels() {
		restore, err := lanes.SetKernel(kernel)
		if err != nil {
			t.Fatal(err)
		}
		for _, threads := range threadsOf(i, long) {
			for _, evaluate := range []string{"near", "all"} {
				s := smallClutter(t, "against={bootstrap: {particles: 300}}", "model.clutter.evaluate="+evaluate)
				if got := filterLines(t, s, FilterOptions{Options: Options{Threads: threads}}); got != want {
					t.Errorf("%s, %d threads, evaluate: %s:\n%s", kernel, threads, evaluate, firstDifference(got, want))
				}
			}
		}
		restore()
	}
	// Decisions by some of the returns, of scans of 3,400.
	some := []string{"model.clutter.returns.rate=600", "model.clutter.clutter.rate=1600", "scans.simulate=2", "method.smcmc.particles=60", "method.smcmc.burn=60",
		"method.smcmc.decide={subsample: {give_up: 0.5}}"}
	alone := filterLines(t, smallClutter(t, some...), FilterOptions{Options: Options{Threads: 1}})
	if !strings.Contains(alone, `"residuals":`) {
		t.Fatalf("no rows are looked at:\n%s", alone)
	}
	for _, evaluate := range []string{"near", "all"} {
		if got := filterLines(t, smallClutter(t, append(some, "model.clutter.evaluate="+evaluate)...), FilterOptions{Options: Options{Threads: 7}}); got != alone {
			t.Errorf("decide: subsample, evaluate: %s:\n%s", evaluate, firstDifference(got, alone))
		}
	}
	if filterLines(t, smallClutter(t, "seed=2", "against={bootstrap: {particles: 300}}"), FilterOptions{}) == want {
		t.Error("two seeds gave the same bytes")
	}
}

// stream writes the scans that a model draws as JSON lines. change gets each scan first.
func stream(t *testing.T, m ssm.Simulator, n int, change func(r *scans.Record)) io.Reader {
	t.Helper()
	var text bytes.Buffer
	source := scans.NewSimulated(m, 1, n)
	for {
		r, err := source.Next()
		if err == io.EOF {
			return &text
		} else if err != nil {
			t.Fatal(err)
		}
		change(r)
		line := struct {
			Time         float64     `json:"time"`
			Measurements [][]float64 `json:"measurements"`
		}{Time: r.Time}
		for i := range r.Len() {
			line.Measurements = append(line.Measurements, r.Row(i))
		}
		if err := json.NewEncoder(&text).Encode(line); err != nil {
			t.Fatal(err)
		}
	}
}

// The order of a scan's returns has no meaning: a run has the same bytes whatever it is.
func TestFilterPermutedReturns(t *testing.T) {
	s := smallClutter(t, "scans.simulate=null")
	random := rand.New(rand.NewPCG(1, 2))
	run := func(change func(r *scans.Record)) string {
		return filterLines(t, s, FilterOptions{Stream: stream(t, s.Model.(ssm.Simulator), 4, change)})
	}
	want := run(func(*scans.Record) {})
	got := run(func(r *scans.Record) {
		random.Shuffle(r.Len(), func(i, j int) {
			a, b := r.Row(i), r.Row(j)
			a[0], a[1], b[0], b[1] = b[0], b[1], a[0], a[1]
		})
	})
	if got != want {
		t.Errorf("shuffled returns:\n%s", firstDifference(got, want))
	}
}

// estimates are the lines of a run.
func estimates(t *testing.T, s Filtering, text io.Reader) (lines []filtering.Line) {
	t.Helper()
	_, err := Filter(t.Context(), s, FilterOptions{Stream: text, Line: func(l *filtering.Line) error {
		lines = append(lines, *l)
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// Scans, targets and region that are 5,000 km further east give the same tracks there. The chains are the same up to rounding, so
// that the means differ by far less than the standard error, unless a decision falls otherwise: six standard errors are allowed.
func TestFilterOffset(t *testing.T) {
	const east = 5e6
	here := smallClutter(t, "scans.simulate=null")
	model := here.Model.(ssm.Clutter)
	away := model
	away.Background.Region[0] += east
	away.Background.Region[1] += east
	away.Initial = nil
	for _, i := range model.Initial {
		i.Mean = append([]float64{i.Mean[0] + east}, i.Mean[1:]...)
		away.Initial = append(away.Initial, i)
	}
	there := here
	there.Model = away
	want := estimates(t, here, stream(t, model, 4, func(*scans.Record) {}))
	got := estimates(t, there, stream(t, model, 4, func(r *scans.Record) {
		for i := range r.Len() {
			r.Row(i)[0] += east
		}
	}))
	for k := range want {
		for r, track := range want[k].Tracks {
			for c, m := range track.Mean {
				moved := float64(got[k].Tracks[r].Mean[c])
				if c == 0 {
					moved -= east
				}
				se := math.Hypot(float64(track.MCSE[c]), float64(got[k].Tracks[r].MCSE[c]))
				if d := math.Abs(moved - float64(m)); !(d <= 6*se) {
					t.Errorf("scan %d, target %d, coordinate %d: %v with the offset, %v without: standard error %v", k+1, r+1, c, moved, m, se)
				}
				if ratio := float64(got[k].Tracks[r].Cov[c][c] / track.Cov[c][c]); !(ratio > 0.5 && ratio < 2) {
					t.Errorf("scan %d, target %d, coordinate %d: the variance is %v of that without the offset", k+1, r+1, c, ratio)
				}
			}
		}
	}
}

// Targets in another order have the same tracks in law. Of twelve seeds the mean difference of each of 48 numbers, divided by
// its standard error, has Student's law with eleven degrees of freedom or more: one is above 15 with probability 5e-7.
func TestFilterPermutedTargets(t *testing.T) {
	first := smallClutter(t, "scans.simulate=null", "method.smcmc.particles=200")
	model := first.Model.(ssm.Clutter)
	order := []int{2, 0, 1}
	other := model
	other.Initial = nil
	for _, r := range order {
		other.Initial = append(other.Initial, model.Initial[r])
	}
	second := first
	second.Model = other
	differences := map[string][]float64{}
	for seed := range uint64(12) {
		first.Seed, second.Seed = seed, seed+100
		a := estimates(t, first, stream(t, model, 4, func(*scans.Record) {}))
		b := estimates(t, second, stream(t, model, 4, func(*scans.Record) {}))
		for k := range a {
			for i, r := range order {
				for c, m := range a[k].Tracks[r].Mean {
					at := fmt.Sprintf("scan %d, target %d, coordinate %d", k+1, r+1, c)
					differences[at] = append(differences[at], float64(b[k].Tracks[i].Mean[c]-m))
				}
			}
		}
	}
	for at, d := range differences {
		mean, square, n := 0.0, 0.0, float64(len(d))
		for _, v := range d {
			mean += v / n
			square += v * v / n
		}
		if z := mean / math.Sqrt((square-mean*mean)/(n-1)); !(math.Abs(z) <= 15) {
			t.Errorf("%s: the mean differs by %v, %.1f standard errors", at, mean, z)
		}
	}
	if len(differences) != 48 {
		t.Errorf("%d numbers", len(differences))
	}
}
