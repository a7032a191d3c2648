package report

import (
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/uq"
)

// decides gives an assessment the decisions of a run by its total entropy, or of numbers by their standard deviation, and a temperature.
func decides(a *eval.Assessment) {
	m := a.Metrics
	x, by, threshold := new(decide.Examples), decide.Signal(decide.Entropy{}), 0.4
	m.Abstention = &eval.Abstention{By: "entropy"}
	size, width := (*uq.Number)(new(1.25)), (*uq.Number)(nil)
	if r := a.Regression; r != nil {
		by, threshold, size, width = decide.SD{}, 1.6, nil, (*uq.Number)(new(23.5))
		m.Abstention.By, m.Abstention.Tolerance = "sd", 2
		for i, v := range r.Aleatoric {
			x.Doubts = append(x.Doubts, math.Hypot(v, r.Epistemic[i]))
		}
		x.Wrong = decide.WrongNumbers(r.Mean, r.Targets, 2)
		m.Tempered = &eval.Tempered{Factor: (*uq.Number)(new(1.25)), NLL: 1.75, CRPS: (*uq.Number)(new(0.5)), Coverage: &eval.Coverage{In50: 0.5, In90: 0.91, In95: 0.96}}
	} else {
		x.Doubts = slices.Clone(a.Test.Total)
		x.Wrong, _ = decide.Wrongs(a.Test.Probs, a.Test.Classes, a.Set().Labels)
		for _, g := range a.Groups {
			x.Foreign = append(x.Foreign, g.Total...)
		}
		m.Tempered = &eval.Tempered{Temperature: (*uq.Number)(new(0.625)), NLL: 0.375, Brier: (*uq.Number)(new(0.25)), ECE: (*uq.Number)(new(0.0625))}
	}
	a.Doubts, a.Rule = x, decide.NewRule(by, threshold, true, 50)
	v, n := decide.Judge(*x, a.Rule.Threshold), len(x.Doubts)
	answered := float64(v.Answered.Right + v.Answered.Wrong)
	o := m.Abstention
	o.Threshold, o.N, o.Foreign, o.Verdict, o.AUC = uq.Number(threshold), n, len(x.Foreign), v, uq.Number(decide.AUC(*x))
	o.Share, o.Error = uq.Number(answered/float64(n)), uq.Number(float64(v.Answered.Wrong)/answered)
	promise := func(rate, covered float64) eval.Promise {
		return eval.Promise{Rate: rate, Coverage: uq.Number(covered), Size: size, Width: width, Score: width}
	}
	m.Sets = &eval.SetScores{Promise: promise(0.9, 0.915), Examples: 50, Others: []eval.Promise{promise(0.5, 0.8), promise(0.8, 0.83), promise(0.9, 0.915), promise(0.95, 0.965)}}
}

// drawn reads the places of the points of a path of a class.
func drawn(t *testing.T, f figure, class string) (x, y []float64) {
	t.Helper()
	path := regexp.MustCompile(`class="` + class + `"[^>]* d="([^"]*)"`).FindStringSubmatch(string(f.Charts[0]))
	if path == nil {
		t.Fatalf("no %s in %s", class, f.Charts[0])
	}
	for _, p := range regexp.MustCompile(`[ML]([-0-9.]+) ([-0-9.]+)`).FindAllStringSubmatch(path[1], -1) {
		x, y = append(x, testkit.Number(t, p[1])), append(y, testkit.Number(t, p[2]))
	}
	return x, y
}

// scaled maps places so that those from and to become the values low and high.
func scaled(places []float64, from, to, low, high float64) []float64 {
	out := make([]float64, len(places))
	for i, p := range places {
		out[i] = low + (p-from)/(to-from)*(high-low)
	}
	return out
}

// among reports whether a point is one of a curve's, to the tenth of a pixel in which a picture is drawn.
func among(x, y []float64, u, v float64) bool {
	for i := range x {
		if math.Abs(x[i]-u) < 5e-4 && math.Abs(y[i]-v) < 5e-4 {
			return true
		}
	}
	return false
}

// TestDecisionCurves: the two-level curve and the ROC are drawn through what decide.Judge says at the doubts of all rows, from end to end, and the
// run's threshold lies where Judge has it.
func TestDecisionCurves(t *testing.T) {
	for _, s := range []shape{{n: 900, groups: []string{"far"}, decides: true}, {outputs: 1, n: 700, decides: true}} {
		v := s.make(t).view(t)
		x, m := *v.a.Doubts, v.a.Metrics.Abstention
		all := slices.Concat([]float64{math.Inf(-1)}, x.Doubts, x.Foreign)
		judged := func(threshold float64) (abstained, right, alarms, recall float64) {
			j := decide.Judge(x, threshold)
			refused := float64(j.Refused.Right + j.Refused.Wrong + j.Refused.Foreign)
			return refused / float64(len(all)-1), float64(j.TwoLevel), float64(j.Refused.Right) / float64(j.Refused.Right+j.Answered.Right), float64(j.Recall)
		}
		var abstained, right, alarms, recall []float64
		for _, threshold := range slices.Sorted(slices.Values(all)) {
			a, b, c, d := judged(threshold)
			abstained, right, alarms, recall = append(abstained, a), append(right, b), append(alarms, c), append(recall, d)
		}
		a, b, c, d := judged(v.a.Rule.Threshold)
		last := len(all) - 1

		two := v.twoLevel()
		lineX, lineY := drawn(t, two, "line s0")
		ownX, ownY := drawn(t, two, "dots s1")
		end := len(lineX) - 1
		toX := func(p []float64) []float64 { return scaled(p, lineX[0], lineX[end], 1, 0) }
		toY := func(p []float64) []float64 { return scaled(p, lineY[0], lineY[end], right[0], right[last]) }
		if end < 100 || end > 170 || !among(toX(ownX), toY(ownY), a, b) {
			t.Errorf("%d points; the run at %v, %v, want %v, %v", end+1, toX(ownX), toY(ownY), a, b)
		}
		for i := range lineX {
			if !among(abstained, right, toX(lineX)[i], toY(lineY)[i]) {
				t.Fatalf("two-level: %v, %v is that of no threshold", toX(lineX)[i], toY(lineY)[i])
			}
			if i > 0 && !(toX(lineX)[i-1]-toX(lineX)[i] < 0.02) {
				t.Errorf("two-level: nothing between %v and %v", toX(lineX)[i-1], toX(lineX)[i])
			}
		}

		roc := v.decisionROC()
		lineX, lineY = drawn(t, roc, "line s0")
		ownX, ownY = drawn(t, roc, "dots s1")
		ruleX, ruleY := drawn(t, roc, "rule")
		toX = func(p []float64) []float64 { return scaled(p, ruleX[0], ruleX[1], 0, 1) }
		toY = func(p []float64) []float64 { return scaled(p, ruleY[0], ruleY[1], 0, 1) }
		if end = len(lineX) - 1; end < 60 || !among(toX(ownX), toY(ownY), c, d) || !among(toX(lineX[:1]), toY(lineY[:1]), 1, 1) || !among(toX(lineX[end:]), toY(lineY[end:]), 0, 0) {
			t.Errorf("%d points; the run at %v, %v, want %v, %v", end+1, toX(ownX), toY(ownY), c, d)
		}
		for i := range lineX {
			if !among(alarms, recall, toX(lineX)[i], toY(lineY)[i]) {
				t.Fatalf("ROC: %v, %v is that of no threshold", toX(lineX)[i], toY(lineY)[i])
			}
		}
		if want := "the area under it is " + fixed(m.AUC, 3); !strings.Contains(roc.Caption, want) {
			t.Errorf("%q does not say that %s", roc.Caption, want)
		}

		rows := v.thresholds().Rows
		for i, most := range []float64{.02, .05, .1, .2, .3, .5} { // the largest share of rows that does not exceed it
			best, at := -1.0, 0
			for k, share := range abstained {
				if share <= most && share > best {
					best, at = share, k
				}
			}
			if len(rows) != 6 {
				t.Fatalf("%d thresholds", len(rows))
			}
			got := []string{rows[i].Name}
			for _, c := range rows[i].Cells {
				got = append(got, c.Text)
			}
			threshold := slices.Sorted(slices.Values(all))[at]
			j := decide.Judge(x, threshold).Answered
			if want := []string{percent(best), significant(threshold), percent(right[at]), percent(recall[at]), percent(alarms[at]),
				percent(float64(j.Wrong) / float64(j.Wrong+j.Right))}; !slices.Equal(got, want) {
				t.Errorf("at most %v: %q, want %q", most, got, want)
			}
		}
	}
}

// TestPromises: the picture has the coverage of every rate, and the run's own.
func TestPromises(t *testing.T) {
	v := shape{n: 200, decides: true}.make(t).view(t)
	f := v.promises()
	ruleX, ruleY := drawn(t, f, "rule")
	place := func(class string) (x, y []float64) {
		x, y = drawn(t, f, class)
		return scaled(x, ruleX[0], ruleX[1], 0, 1), scaled(y, ruleY[0], ruleY[1], 0, 1)
	}
	x, y := place("dots s0")
	for _, want := range [][2]float64{{0.5, 0.8}, {0.8, 0.83}, {0.95, 0.965}} {
		if len(x) != 3 || !among(x, y, want[0], want[1]) {
			t.Errorf("no point %v among %v, %v", want, x, y)
		}
	}
	if x, y := place("dots s1"); len(x) != 1 || !among(x, y, 0.9, 0.915) {
		t.Errorf("the run is at %v, %v", x, y)
	}
	if !strings.Contains(f.Caption, "most probable class") {
		t.Errorf("%q", f.Caption)
	}
	table := v.setsTable()
	var rows []string
	for _, r := range table.Rows {
		rows = append(rows, r.Name)
		for _, c := range r.Cells {
			rows = append(rows, c.Text)
		}
	}
	if got, want := strings.Join(rows, " "), "90\u00a0% 91.5\u00a0% 1.25 at other rates 50\u00a0% 80.0\u00a0% 1.25 80\u00a0% 83.0\u00a0% 1.25 95\u00a0% 96.5\u00a0% 1.25"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if numbers := (shape{outputs: 1, n: 90, decides: true}).make(t).view(t); strings.Contains(numbers.promises().Caption, "class") || !slices.Contains(numbers.setsTable().Head, "mean width") {
		t.Errorf("intervals: %q, %q", numbers.promises().Caption, numbers.setsTable().Head)
	}
}

// TestDecisionsSection: a page has the section only where something was learnt, and its text says when a row abstains and what should.
func TestDecisionsSection(t *testing.T) {
	const id = `id="decisions"`
	f := shape{n: 200, groups: []string{"far"}, decides: true}.make(t)
	page := render(t, f)
	for _, want := range []string{id, "A row abstains where the total entropy is above 0.4000.", "Wrong answers and foreign inputs should abstain", "They taught the decisions nothing."} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %q", want)
		}
	}
	m := f.a.Metrics
	m.Findings = append(m.Findings, finding.Of(finding.CalibrationSeen{Examples: 200, Tests: 200}))
	if strings.Contains(render(t, f), "They taught the decisions nothing.") {
		t.Error("the page denies what the run says of its calibration examples")
	}
	m.Findings = nil
	var cells []string
	for _, table := range f.view(t).ruleTables() {
		for _, r := range table.Rows {
			for _, c := range r.Cells {
				cells = append(cells, c.Text)
			}
		}
	}
	want := []string{count(m.Abstention.Answered.Right), count(m.Abstention.Answered.Wrong), count(m.Abstention.Answered.Foreign),
		count(m.Abstention.Refused.Right), count(m.Abstention.Refused.Wrong), count(m.Abstention.Refused.Foreign),
		percent(float64(m.Abstention.Share)), percent(float64(m.Abstention.Error)), percent(float64(m.Abstention.Precision)), percent(float64(m.Abstention.Recall)),
		fixed(m.Abstention.F1, 3), fixed(m.Abstention.AUC, 3), percent(float64(m.Abstention.TwoLevel))}
	if !slices.Equal(cells, want) {
		t.Errorf("tables %q, want %q", cells, want)
	}
	if page := render(t, shape{n: 200, groups: []string{"far"}}.make(t)); strings.Contains(page, id) {
		t.Error("a run that decides nothing has the section")
	}
	numbers := shape{outputs: 1, n: 200, decides: true}.make(t)
	if page := render(t, numbers); !strings.Contains(page, "An answer is wrong if it is off by more than 2.") {
		t.Error("the page does not say what a wrong number is")
	}
	numbers.a.Metrics.Abstention.Tolerance = 0 // no example is known to be wrong
	numbers.a.Doubts.Wrong = make([]bool, 200)
	numbers.a.Metrics.Abstention.AUC = uq.Number(math.NaN())
	s := numbers.view(t).decisions()
	if len(s.Figures) != 1 || len(s.Tables) != 3 || len(s.Tables[1].Rows) != 1 || s.Tables[0].Head[1] != "examples" {
		t.Errorf("without a tolerance: %d figures, tables %+v", len(s.Figures), s.Tables)
	}
}

// TestTemperedBeside: tempered scores have a table of their own behind that of the ensembles as they are, which stays.
func TestTemperedBeside(t *testing.T) {
	plain := shape{n: 200, restarts: true}.make(t).view(t).scores().Tables
	f := shape{n: 200, restarts: true, decides: true}.make(t)
	v := f.view(t)
	tables := v.scores().Tables
	if !reflect.DeepEqual(tables[0], plain[0]) {
		t.Errorf("the scores are %+v, without a temperature %+v", tables[0], plain[0])
	}
	var rows []string
	for _, r := range tables[1].Rows {
		rows = append(rows, r.Name+" "+r.Cells[0].Text)
	}
	if got, want := strings.Join(rows, "; "), "temperature T 0.62; NLL, nats ↓ 0.375; Brier score ↓ 0.250; ECE, 15 bins ↓ 0.062"; got != want || len(tables[1].Head) != 2 {
		t.Errorf("%q, want %q; columns %q", got, want, tables[1].Head)
	}
	bins := uq.Reliability(decide.Temper(f.a.Test.Probs, f.a.Test.Classes, 0.625), f.a.Test.Classes, v.set.Labels, uq.Bins)
	var x, y []float64
	for _, b := range bins {
		if b.Count > 0 {
			x, y = append(x, b.Confidence), append(y, b.Accuracy)
		}
	}
	figure := v.reliability()
	ruleX, ruleY := drawn(t, figure, "rule")
	gotX, gotY := drawn(t, figure, "dots s1")
	gotX, gotY = scaled(gotX, ruleX[0], ruleX[1], 0, 1), scaled(gotY, ruleY[0], ruleY[1], 0, 1)
	for i := range x {
		if len(gotX) != len(x) || !among(gotX, gotY, x[i], y[i]) {
			t.Errorf("no point %v, %v among %v, %v", x[i], y[i], gotX, gotY)
		}
	}
}
