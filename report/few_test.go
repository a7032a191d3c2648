package report

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/uq"
)

// TestFewExamples: of fewer than five test examples the page says no sentence about how good the network is; below thirty its figures have
// intervals. All figures at the top have their number of examples.
func TestFewExamples(t *testing.T) {
	for _, c := range []struct {
		shape shape
		says  []string
		not   []string
	}{
		{shape{n: 1, groups: []string{"far"}}, []string{"1 test example: too few to say how good it is"}, []string{"AUROC", "correctly", "almost always", "interval"}},
		{shape{n: 2, restarts: true}, []string{"2 test examples: too few to say how good it is", "too few to say whether it is less sure"}, []string{"AUROC", "correctly", "NLL"}},
		{shape{n: 1, outputs: 1}, []string{"1 test example: too few to say how good it is", "too few to say whether its intervals are right"}, []string{"RMSE", "−∞", "explains"}},
		{shape{n: 4, outputs: 1, restarts: true}, []string{"4 test examples: too few"}, []string{"RMSE", "explains", "NLL"}},
		{shape{n: 20, outputs: 1}, []string{"On 20 test examples its typical error (RMSE) is", "(95 % interval ", "Of 20 targets, "}, []string{"too few", "surest of"}},
		{shape{n: 20}, []string{"of 20 test examples correctly (95 % interval"}, []string{"how good it is"}},
		{shape{n: 60, outputs: 1}, []string{"On 60 test examples"}, []string{"RMSE) is 1.3 (95", "too few"}},
	} {
		f := c.shape.make(t)
		v := f.view(t)
		all, _ := text(v.summary())
		_, all, _ = strings.Cut(all, "How good is it?")
		all, _, _ = strings.Cut(all, "Is the posterior healthy?")
		for _, want := range c.says {
			if !strings.Contains(all, want) {
				t.Errorf("%+v: the summary does not say %q:\n%s", c.shape, want, all)
			}
		}
		for _, no := range c.not {
			if strings.Contains(all, no) {
				t.Errorf("%+v: the summary says %q:\n%s", c.shape, no, all)
			}
		}
		on := strings.ReplaceAll(v.of(), " ", "\u00a0")
		for i, card := range v.cards() {
			if small := strings.Contains(card.Note, "95\u00a0% interval"); i < 3 && !strings.Contains(strings.ReplaceAll(card.Note, " ", "\u00a0"), on) ||
				i == 0 && small != (c.shape.n < uq.Small || c.shape.outputs == 0) {
				t.Errorf("%+v: the card %s has the note %q, want %s", c.shape, card.Name, card.Note, v.of())
			}
		}
		head := v.scores().Tables[0].Head
		if slices.Contains(head, "95\u00a0% interval") != (c.shape.n < uq.Small) {
			t.Errorf("%+v: the figures are %q", c.shape, head)
		}
		page := render(t, f)
		if c.shape.outputs > 0 && strings.Contains(page, "−∞") {
			t.Errorf("%+v: the page has an infinite figure", c.shape)
		}
	}
}

// TestInterval compares the intervals of figures with their definitions.
func TestInterval(t *testing.T) {
	f := shape{n: 20, outputs: 1}.make(t)
	f.a.Losses.Posterior = make([]float64, 20)
	for i := range f.a.Losses.Posterior {
		f.a.Losses.Posterior[i] = float64(i)
	}
	within := 2.093 * math.Sqrt(35./20) // the variance of 0 … 19 is 35
	if low, high, ok := Interval(f.a, NLL); !ok || !(math.Abs(low-(9.5-within)) < .01) || !(math.Abs(high-(9.5+within)) < .01) {
		t.Errorf("NLL %v to %v", low, high)
	}
	low, high, ok := Interval(f.a, RMSE)
	least, most := uq.MeanInterval(squared(f.a))
	if at := number(f.a.Metrics.RMSE); !ok || !(low < at && at < high) || !(math.Abs(low-math.Sqrt(max(least, 0))) < 1e-12) || !(math.Abs(high-math.Sqrt(most)) < 1e-12) {
		t.Errorf("RMSE %v to %v, of squares of %v to %v", low, high, least, most)
	}
	if low, high, ok := Interval(f.a, r2Row); !ok || !(low < high && high <= 1) {
		t.Errorf("R² %v to %v", low, high)
	}
	inside := uq.Coverage(f.a.Regression.PIT, .9)
	if l, h := uq.Wilson(20*inside, 20); true {
		if low, high, ok := Interval(f.a, In90); !ok || low != l || high != h {
			t.Errorf("coverage %v to %v, want %v to %v", low, high, l, h)
		}
	}
	if _, _, ok := Interval(f.a, "CRPS ↓"); ok {
		t.Error("the CRPS has an interval, and no score of each target is kept")
	}
	for name, s := range scores { // each figure is that of its mean
		c := shape{n: 60}.make(t)
		c.a.Losses.Posterior = slices.Repeat([]float64{float64(c.a.Metrics.NLL)}, 60)
		g := shape{n: 60, outputs: 1}.make(t)
		for _, a := range []fixture{c, g} {
			classes := a.a.Test != nil
			if classes != slices.Contains([]string{Accuracy, NLL, "Brier score ↓"}, name) {
				continue
			}
			value := uq.Mean(s.of(a.a))
			if s.from != nil {
				value = s.from(a.a, value)
			}
			for _, m := range means {
				if m.name != name {
					continue
				}
				if want := m.value(&a.a.Metrics.Evaluation); !math.IsNaN(want) && want != 0 && !(math.Abs(value-want) < 1e-9*math.Abs(want)) {
					t.Errorf("%s is %v, and by its examples %v", name, want, value)
				}
			}
		}
	}
}

// TestNotTold: a comparison marks the scores that the paired differences do not tell from the best, and says what the mark means.
func TestNotTold(t *testing.T) {
	losses := func(by, scatter float64) (x []float64) {
		for i := range 60 {
			x = append(x, .3+math.Sin(float64(i))+by+scatter*float64(1-2*(i%2)))
		}
		return x
	}
	var runs []Evaluated
	for i, l := range [][]float64{losses(0, 0), losses(.01, .1), losses(.1, .1), losses(.01, 0)} {
		f := shape{n: 60}.make(t)
		f.a.Losses.Posterior, f.a.Metrics.NLL = l, uq.Number(uq.Mean(l))
		runs = append(runs, Evaluated{string(rune('a' + i)), f.run, f.a})
	}
	c, err := NewComparison(runs)
	if err != nil {
		t.Fatal(err)
	}
	marks := ""
	for _, row := range c.Rows() {
		if row[0] == NLL {
			for _, cell := range row[1:] {
				marks += map[bool]string{true: "≈", false: "-"}[strings.HasSuffix(cell, notTold)]
			}
		}
	}
	if marks != "-≈--" { // .01 ± .1 is told from 0 by 60 pairs no better than by .8 standard errors, .1 ± .1 by 7.7, and .01 of each surely
		t.Errorf("marked %q", marks)
	}
	if says := c.Alike(); !strings.Contains(says, "over the 60 examples") {
		t.Errorf("%q", says)
	}
	if by, se := c.Behind(2); !(math.Abs(by-.1) < 1e-12) || !(math.Abs(se-.1/math.Sqrt(59)) < 1e-12) {
		t.Errorf("behind by %v ± %v", by, se)
	}
	other := shape{n: 62}.make(t)
	other.a.Losses.Posterior = make([]float64, 62)
	if c, err = NewComparison(append(runs[:2:2], Evaluated{"other", other.run, other.a})); err != nil || c.Alike() != "" {
		t.Errorf("runs on different examples are marked: %q, %v", c.Alike(), err)
	}
	if by, _ := c.Behind(0); !math.IsNaN(by) {
		t.Errorf("a run on other examples is behind by %v", by)
	}
}
