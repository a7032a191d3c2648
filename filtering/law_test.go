package filtering

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/scans"
	"github.com/starling-smc/starling/ssm"
)

// plane is a tracker of two targets, each with a position and a velocity. A measurement is a target's position with noise of sd .5, of
// either with probability ½; its density is scaled by the mean number of measurements, 3, as a Poisson model's.
type plane struct{}

func (plane) Dim() int                  { return 4 }
func (plane) Targets() int              { return 2 }
func (plane) Coordinates() []string     { return []string{"x", "vx"} }
func (plane) Rate() float64             { return 3 }
func (plane) Thinned(float64) ssm.Model { return plane{} }

func (plane) Start(s *ssm.Stream, x []float64) { s.Normals(x) }

func (plane) Transition(float64) (ssm.Transition, error) { return nil, fmt.Errorf("not used") }

func (plane) Bind(scan *ssm.Scan) (ssm.Likelihood, error) { return near{scan.Values}, nil }

type near struct{ z []float64 }

func (l near) Len() int { return len(l.z) }

func (l near) LogLik(x []float64, rows []int32) (sum float64) {
	for _, i := range rows {
		sum += math.Log(3 * seen(l.z[i], x))
	}
	return sum
}

// seen is the density of a measurement.
func seen(z float64, x []float64) float64 {
	normal := func(d float64) float64 { return math.Exp(-0.5*d*d/0.25) / math.Sqrt(2*math.Pi*0.25) }
	return 0.5*normal(z-x[0]) + 0.5*normal(z-x[2])
}

// weighted are particles of plane whose weights are sixty-fourths and differ, and as many copies of each without weights.
func weighted() (st, copies *filter.State) {
	s := rng.Key{Seed: 7, Purpose: rng.Synthetic}.Stream()
	st, copies = &filter.State{K: 1, Dim: 4}, &filter.State{K: 1, Dim: 4}
	for _, n := range []int{1, 9, 2, 30, 4, 1, 12, 5} {
		x := []float64{s.Normal() + 0.1*float64(n), 3 * s.Normal(), s.Normal() - 2, 0.5 * s.Normal()}
		x[3] += x[0]
		st.X, st.LogW = append(st.X, x...), append(st.LogW, math.Log(float64(n)/64))
		copies.X = append(copies.X, slices.Repeat(x, n)...)
	}
	return st, copies
}

// told is what the line, the score and the comparison of a state say, as JSON.
func told(t *testing.T, st *filter.State) map[string]any {
	t.Helper()
	p := &Pass{Model: plane{}}
	rec := &scans.Record{Scan: ssm.Scan{Time: 1, Width: 1, Values: []float64{0.3, -2}}, Held: []float64{0.5, -1.5, 1.1}}
	p.all.add(&scans.Record{Scan: ssm.Scan{Width: 1, Values: []float64{1, 2, 4}}})
	held, err := p.score(st, rec)
	if err != nil {
		t.Fatal(err)
	}
	_, other := weighted()
	for i := range other.X {
		other.X[i] += 0.1 * float64(i%4)
	}
	text, err := json.Marshal(map[string]any{
		"line": newLine(plane{}, st, rec, filter.Info{MCSE: []float64{1, 2, 3, 4}, ESS: []float64{9, 8, 7, 6}}, false), "held": held,
		"beside": compare(other, st, filter.Info{LogEvidence: math.NaN()}),
	})
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// differ lists the numbers of two JSON values that differ.
func differ(at string, a, b any) (list []string) {
	switch a := a.(type) {
	case map[string]any:
		for key := range a {
			list = append(list, differ(at+"."+key, a[key], b.(map[string]any)[key])...)
		}
	case []any:
		for i := range a {
			list = append(list, differ(fmt.Sprint(at, ".", i), a[i], b.([]any)[i])...)
		}
	case float64:
		if !(math.Abs(a-b.(float64)) <= 1e-9) {
			list = append(list, fmt.Sprintf("%s: %v and %v", at, a, b))
		}
	}
	return list
}

// Lines, scores and comparisons tell of the weighted law: the same of weighted particles as of copies without weights, which are as
// many as the weights say; other things of the same particles without weights.
func TestLinesAndScoresAreOfTheWeightedLaw(t *testing.T) {
	st, copies := weighted()
	got := told(t, st)
	if list := differ("", got, told(t, copies)); list != nil {
		t.Errorf("weighted particles and their copies differ: %q", list)
	}
	unweighted := told(t, &filter.State{K: 1, Dim: 4, X: st.X})
	for _, what := range []string{"line", "held", "beside"} {
		if differ("", got[what], unweighted[what]) == nil {
			t.Errorf("the %s is the same without the weights: the test has no power", what)
		}
	}
}

// A track of a line has the moments and the errors of its own target's coordinates, and a comparison those of all, by their definitions.
func TestTracksHaveTheirOwnMoments(t *testing.T) {
	st, _ := weighted()
	mean, cov := make([]float64, 4), make([][]float64, 4)
	for j, l := range st.LogW {
		for i, x := range st.Particle(j) {
			mean[i] += math.Exp(l) * x
		}
	}
	for i := range cov {
		cov[i] = make([]float64, 4)
		for j, l := range st.LogW {
			for k := range cov[i] {
				cov[i][k] += math.Exp(l) * (st.Particle(j)[i] - mean[i]) * (st.Particle(j)[k] - mean[k])
			}
		}
	}
	info := filter.Info{MCSE: []float64{1, 2, 3, 4}, ESS: []float64{9, 8, 6, 7}, LogEvidence: -3}
	line := newLine(plane{}, st, &scans.Record{}, info, true)
	if len(line.Tracks) != 2 || float64(*line.ESS) != 6 || float64(*line.LogEvidence) != -3 {
		t.Fatalf("%+v", line)
	}
	off := func(a Number, b float64) bool { return !(math.Abs(float64(a)-b) <= 1e-12) }
	for r, track := range line.Tracks {
		if track.ID != fmt.Sprint(r+1) || len(track.Mean) != 2 || len(track.MCSE) != 2 {
			t.Fatalf("track %d: %+v", r, track)
		}
		for i := range 2 {
			if off(track.Mean[i], mean[2*r+i]) || off(track.MCSE[i], info.MCSE[2*r+i]) {
				t.Errorf("track %d, coordinate %d: %v ± %v, want %v ± %v", r, i, track.Mean[i], track.MCSE[i], mean[2*r+i], info.MCSE[2*r+i])
			}
			for k := range 2 {
				if off(track.Cov[i][k], cov[2*r+i][2*r+k]) {
					t.Errorf("track %d: covariance %v of %d and %d, want %v", r, track.Cov[i][k], i, k, cov[2*r+i][2*r+k])
				}
			}
		}
	}
	beside := compare(&filter.State{Dim: 4, Mean: make([]float64, 4), Cov: slices.Repeat([]float64{1}, 16)}, st, info)
	for i := range mean {
		if off(beside.Mean[i], mean[i]) || off(beside.SD[i], math.Sqrt(cov[i][i])) {
			t.Errorf("coordinate %d beside: %v, sd %v, want %v, sd %v", i, beside.Mean[i], beside.SD[i], mean[i], math.Sqrt(cov[i][i]))
		}
	}
}

// The score of measurements that the filter did not see is Σ log Σ_j W_j p(z | x_j), and that beside it the log-density of a normal
// distribution whose moments are those of all measurements before, seen or not: n − 1 divides the squares.
func TestScoresByTheirDefinition(t *testing.T) {
	p := &Pass{Model: plane{}}
	before := []float64{2, -1, 0.5, 3, 1.5}
	held := []float64{0.4, -2.5, 1}
	st, _ := weighted()
	rec := &scans.Record{Scan: ssm.Scan{Time: 2, Width: 1, Values: []float64{8}}, Held: held}
	p.all.add(&scans.Record{Scan: ssm.Scan{Width: 1, Values: before[:3]}, Held: before[3:4]})
	p.all.add(&scans.Record{Scan: ssm.Scan{Width: 1, Values: before[4:]}})
	got, err := p.score(st, rec)
	if err != nil {
		t.Fatal(err)
	}
	mean, square := 0.0, 0.0
	for _, z := range before {
		mean += z / 5
	}
	for _, z := range before {
		square += (z - mean) * (z - mean) / 4
	}
	score, baseline := 0.0, 0.0
	for _, z := range held {
		density := 0.0
		for j, l := range st.LogW {
			density += math.Exp(l) * seen(z, st.Particle(j))
		}
		score += math.Log(density)
		baseline -= 0.5 * (math.Log(2*math.Pi*square) + (z-mean)*(z-mean)/square)
	}
	if got.N != 3 || !(math.Abs(float64(got.Filter)-score) <= 1e-12) || !(math.Abs(float64(got.Baseline)-baseline) <= 1e-12) {
		t.Errorf("%d measurements score %v, beside %v; want 3, %v, %v", got.N, got.Filter, got.Baseline, score, baseline)
	}
}

// Errors, coverage and comparisons sum up the scans by their definitions: of two targets' positions, whose truth is named in another order
// than the tracks, and of another method beside.
func TestMetricsByTheirDefinition(t *testing.T) {
	s := rng.Key{Seed: 9, Purpose: rng.Synthetic}.Stream()
	var list []Step
	var squares, variances, rival, distance, ks, nees float64
	within, n := 0, 0.0
	for k := range 7 {
		step := Step{Truth: map[string][]Number{}, Against: &Beside{LogEvidence: known(-float64(k))}}
		step.LogEvidence = known(0.5 * float64(k))
		step.Ancestors, step.ESS = k, known(40+5*float64(k)) // 0 ancestors: the state is no sample
		step.Held = &HeldScan{N: k, Filter: Number(-2 * k), Baseline: Number(-3 * k)}
		for r, id := range []string{"b", "a"} {
			truth := []float64{10*float64(r) + s.Normal(), s.Normal()}
			e := Estimate{Mean: []Number{Number(truth[0] + s.Normal()), Number(truth[1] + s.Normal())}, Cov: [][]Number{{2, 0.5}, {0.5, Number(1 + float64(r))}}}
			if k == 3 && r == 0 {
				e.Mean[0] += 4 // outside
			}
			other := []Number{Number(truth[0] + 2*s.Normal()), Number(s.Normal())}
			step.Tracks = append(step.Tracks, Track{ID: fmt.Sprint(r + 1), Estimate: e})
			step.Truth[id] = numbers(truth)
			step.Against.Mean = append(step.Against.Mean, other...)
			step.Against.KS = append(step.Against.KS, Number(0.1*float64(r+1)), Number(0.01*float64(k)))
			d, v := float64(e.Mean[0])-truth[0], float64(e.Mean[1])-truth[1]
			squares, variances, n = squares+d*d, variances+2, n+1
			if math.Abs(d) <= 1.96*math.Sqrt2 {
				within++
			}
			a, b, c := 2.0, 0.5, 1+float64(r)
			nees += (c*d*d - 2*b*d*v + a*v*v) / (a*c - b*b)
			rival += (float64(other[0]) - truth[0]) * (float64(other[0]) - truth[0])
			for i := range 2 {
				distance += float64((e.Mean[i] - other[i]) * (e.Mean[i] - other[i]))
			}
			ks += 0.1*float64(r+1) + 0.01*float64(k)
		}
		list = append(list, step)
	}
	var trace []runs.TraceLine
	for k, step := range list {
		text, err := json.Marshal(step)
		if err != nil {
			t.Fatal(err)
		}
		trace = append(trace, runs.TraceLine{K: k + 1, Fields: text})
	}
	got, err := Summarise(plane{}, filter.Kalman{}, Steps(all(trace)), 2, "another")
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		got  Number
		want float64
	}{
		"RMSE": {got.RMSE, math.Sqrt(squares / n)}, "sd": {got.SD, math.Sqrt(variances / n)}, "coverage": {got.Coverage, float64(within) / n},
		"NEES": {*got.NEES, nees / n}, "evidence": {*got.LogEvidence, 10.5}, "held": {got.Held.LogScore, -2}, "baseline": {got.Held.Running, -3},
		"the rival's RMSE": {*got.Against.RMSE, math.Sqrt(rival / n)}, "distance": {got.Against.Distance, math.Sqrt(distance / (2 * n))},
		"KS": {got.Against.KS, ks / (2 * n)}, "the rival's evidence": {*got.Against.LogEvidence, -21},
	} {
		if !(math.Abs(float64(c.got)-c.want) <= 1e-12*max(1, math.Abs(c.want))) {
			t.Errorf("%s is %v, want %v", what, c.got, c.want)
		}
	}
	if got.Lone != 1 || got.Few != 2 || got.Ancestors.Min != 1 || got.Ancestors.Max != 6 || got.Ancestors.Mean != 3.5 || got.ESS.Median != 55 {
		t.Errorf("one scan has one ancestor, two are worth fewer than 50 draws: %+v, %+v, %+v", got, got.Ancestors, got.ESS)
	}
	if got.Judged != 14 || got.NEESDim != 2 || got.Held.N != 21 || got.LeftOut != 2 || got.Scans != 7 || within == 14 {
		t.Errorf("%+v", got)
	}
}
