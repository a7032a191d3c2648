package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/chart"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/uq"
)

// Kind is a kind of rows, and how many of them are answered or refused.
type Kind struct {
	Name              string
	Answered, Refused int
}

// Kinds are the columns of the matrix of answered and refused rows. Where it is not said what an error of a number is, right and wrong are
// one kind.
func Kinds(m *eval.Metrics) []Kind {
	a := m.Abstention
	kinds := []Kind{{"right", a.Answered.Right, a.Refused.Right}, {"wrong", a.Answered.Wrong, a.Refused.Wrong}}
	if !knowsErrors(m) {
		kinds = []Kind{{"examples", a.Answered.Right + a.Answered.Wrong, a.Refused.Right + a.Refused.Wrong}}
	}
	if a.Foreign > 0 {
		kinds = append(kinds, Kind{"foreign", a.Answered.Foreign, a.Refused.Foreign})
	}
	return kinds
}

// knowsErrors reports whether it is known which answers are wrong: of numbers only with a tolerance.
func knowsErrors(m *eval.Metrics) bool { return m.RMSE == nil || m.Abstention.Tolerance != 0 }

// RuleScores are the scores of the rule to abstain, as texts. Those of finding what should abstain need something that should.
func RuleScores(m *eval.Metrics) []struct{ Name, Value string } {
	type score = struct{ Name, Value string }
	a := m.Abstention
	share := func(v uq.Number, n int) string { return ShareOf(float64(v), n, 1) }
	all := []score{{"share answered", share(a.Share, a.N)}}
	if knowsErrors(m) {
		all = append(all, score{"error of the answers", share(a.Error, a.Answered.Right+a.Answered.Wrong)})
	}
	if !knowsErrors(m) && a.Foreign == 0 {
		return all
	}
	refused, right := a.Refused.Right+a.Refused.Wrong+a.Refused.Foreign, a.Answered.Right+a.Refused.Right
	should := a.N + a.Foreign - right
	return append(all,
		score{"precision", share(a.Precision, refused)}, score{"recall", share(a.Recall, should)}, score{"F1", fixed(a.F1, 3)},
		score{"AUC", AreaOf(float64(a.AUC), right, should, 3)}, score{"two-level accuracy", share(a.TwoLevel, a.N+a.Foreign)})
}

// decisions shows what was learnt to decide by: sets or intervals, and a rule to abstain.
func (v *view) decisions() section {
	m := v.a.Metrics
	s := section{ID: "decisions", Title: "Decisions", Text: []string{v.on()}}
	if m.On == "test" && !finding.Has(m.Findings, finding.CalibrationSeen{}, finding.ForeignScored{}, finding.CalibrationUnknown{}) {
		s.Text[0] += " They taught the decisions nothing."
	}
	if m.Abstention != nil {
		s.Text = append(s.Text, v.ruleText())
		s.Tables = append(s.Tables, v.ruleTables()...)
		if v.a.Doubts != nil && !math.IsNaN(float64(m.Abstention.AUC)) {
			s.Figures = append(s.Figures, v.twoLevel(), v.decisionROC())
			s.Tables = append(s.Tables, v.thresholds())
		}
	}
	if m.Sets != nil {
		s.Figures = append(s.Figures, v.promises())
		s.Tables = append(s.Tables, v.setsTable())
	}
	return s
}

// ruleText says when a row abstains, and what should.
func (v *view) ruleText() string {
	m := v.a.Metrics
	text := fmt.Sprintf("A row abstains %v.", v.a.Rule)
	if m.Abstention.Tolerance != 0 {
		text += fmt.Sprintf(" An answer is wrong if it is off by more than %v.", m.Abstention.Tolerance)
	}
	switch foreign := m.Abstention.Foreign > 0; {
	case knowsErrors(m) && foreign:
		text += " Wrong answers and foreign inputs should abstain, right answers should not."
	case knowsErrors(m):
		text += " Wrong answers should abstain, right answers should not."
	case foreign:
		text += " Foreign inputs should abstain, the others should not. No tolerance says which answers are wrong."
	}
	return text
}

// sparse keeps about so many points of a line from one end to the other, and both ends. The place of a point is between 0 and 1.
func sparse(curve []decide.Point, points int, place func(decide.Point) float64) []decide.Point {
	var kept []decide.Point
	last := -1
	for i, p := range curve {
		if slot := int(place(p) * float64(points)); slot != last || i == len(curve)-1 {
			kept, last = append(kept, p), slot
		}
	}
	return kept
}

// own is where the run's own threshold, or rate, lies in a picture, and ownKey its entry in the legend.
func own(x, y float64) chart.Points {
	return chart.Points{X: []float64{x}, Y: []float64{y}, Class: "s1", Radius: 5}
}

func ownKey() key { return key{chart.Sample("s1", true), "this run"} }

// twoLevel draws the share of right decisions against the share of rows that abstain, for every threshold.
func (v *view) twoLevel() figure {
	m, curve := v.a.Metrics.Abstention, decide.Curve(*v.a.Doubts)
	var x, y []float64
	for _, p := range sparse(curve, 160, func(p decide.Point) float64 { return p.Abstained }) {
		x, y = append(x, p.Abstained), append(y, p.Accuracy)
	}
	all := float64(m.N + m.Foreign)
	abstained := float64(m.Refused.Right+m.Refused.Wrong+m.Refused.Foreign) / all
	c := chart.Chart{
		ID: "two-level", Title: "Right decisions by the share that abstains",
		X: chart.Axis{Label: "share that abstains", Min: 0, Max: 1, Percent: true}, Y: chart.Axis{Label: "share of right decisions", Percent: true},
		Desc: fmt.Sprintf("The share of right decisions over the share of rows that abstain, for every threshold. At the run's threshold %s abstain, and %s of the decisions are right.",
			percent(abstained), percent(float64(m.TwoLevel))),
		Marks: []chart.Mark{chart.Line{X: x, Y: y, Class: "s0"}, own(abstained, float64(m.TwoLevel))},
	}
	return figure{
		Title: "Two-level accuracy", Charts: []template.HTML{c.SVG()}, Legend: []key{ownKey(), lineKey("s0", "every threshold")},
		Caption: "A decision is right if a right answer is given, or if a row abstains that should. On the left every row answers, on the right none. " +
			"The curve rises where abstaining catches mistakes, and falls where it costs right answers. A run that stands on the falling side buys safety with answers.",
	}
}

// thresholds is the table of some thresholds, by which a user may choose another one: those at which the largest share of rows abstains that does not
// exceed 2 %, 5 %, …
func (v *view) thresholds() table {
	t := table{Caption: "Thresholds of the " + v.a.Rule.By.String() + ", on these examples", Head: []string{"abstain", "threshold", "right decisions ↑", "recall ↑", "false alarms ↓"}}
	errors := knowsErrors(v.a.Metrics)
	if errors {
		t.Head = append(t.Head, "error of the answers ↓")
	}
	curve, last := decide.Curve(*v.a.Doubts), -1
	for _, most := range []float64{.02, .05, .1, .2, .3, .5} {
		i := slices.IndexFunc(curve, func(p decide.Point) bool { return p.Abstained <= most }) // from all rows that abstain to the fewest
		if i < 0 || i == last {
			continue
		}
		p := curve[i]
		cells := []string{significant((&decide.Rule{By: v.a.Rule.By, Threshold: p.Threshold}).Score()), percent(p.Accuracy), percent(p.Recall), percent(p.Alarms)}
		if errors {
			answered := decide.Judge(*v.a.Doubts, p.Threshold).Answered
			cells = append(cells, percent(float64(answered.Wrong)/float64(answered.Right+answered.Wrong)))
		}
		t.add(percent(p.Abstained), cells...)
		last = i
	}
	return t
}

// decisionROC draws recall against false alarms, for every threshold.
func (v *view) decisionROC() figure {
	m, curve := v.a.Metrics.Abstention, decide.Curve(*v.a.Doubts)
	var x, y []float64
	for _, p := range sparse(curve, 160, func(p decide.Point) float64 { return (p.Alarms + p.Recall) / 2 }) {
		x, y = append(x, p.Alarms), append(y, p.Recall)
	}
	right := m.Answered.Right + m.Refused.Right
	area := AreaOf(float64(m.AUC), right, m.N+m.Foreign-right, 3)
	alarms := float64(m.Refused.Right) / float64(right)
	c := chart.Chart{
		ID: "decision-roc", Title: "Receiver operating characteristic of abstaining",
		X: chart.Axis{Label: "false alarms", Min: 0, Max: 1, Percent: true}, Y: chart.Axis{Label: "recall", Min: 0, Max: 1, Percent: true},
		Desc: fmt.Sprintf("Of the rows that should abstain, the share that does, over the same share of the others, for every threshold. The area is %s. The run's threshold has a recall of %s and false alarms of %s.",
			area, percent(float64(m.Recall)), percent(alarms)),
		Marks: []chart.Mark{chart.Rule{X: 1, Y: 1}, chart.Line{X: x, Y: y, Class: "s0"}, own(alarms, float64(m.Recall))},
	}
	data := &table{Caption: "Recall by false alarms", Head: []string{"false alarms, at most", "recall"}}
	for _, most := range []float64{.01, .05, .1, .2} {
		for _, p := range curve {
			if p.Alarms <= most {
				data.add(percentRound(most), percent(p.Recall))
				break
			}
		}
	}
	return figure{
		Title: "What it catches", Charts: []template.HTML{c.SVG()}, Legend: []key{ownKey(), lineKey("s0", "every threshold"), lineKey("rule", "chance")}, Data: data,
		Caption: "Recall: of the rows that should abstain, the share that does. False alarms: of the others, the share that abstains, too. " +
			"The closer the curve comes to the upper left corner, the better the score tells them apart; the area under it is " + area + ", where chance has 0.5.",
	}
}

// promises draws the coverage of sets or intervals against the promised rate.
func (v *view) promises() figure {
	s, n := v.a.Metrics.Sets, float64(v.a.Metrics.N)
	var x, y, low, high []float64
	for _, p := range s.Others {
		if p.Rate == s.Rate {
			continue
		}
		l, h := uq.Wilson(float64(p.Coverage)*n, n)
		x, y, low, high = append(x, p.Rate), append(y, float64(p.Coverage)), append(low, l), append(high, h)
	}
	l, h := uq.Wilson(float64(s.Coverage)*n, n)
	share := chart.Axis{Min: 0, Max: 1, Percent: true}
	run := own(s.Rate, float64(s.Coverage))
	run.Low, run.High = []float64{l}, []float64{h}
	c := chart.Chart{
		ID: "promise", Title: "Coverage against promise", X: share, Y: share,
		Desc: fmt.Sprintf("The share of %s that hold the truth, over the promised rate; on the diagonal the two are equal. At the run's rate of %s it is %s.",
			setsName(s), unbroken(numeral.Rate(s.Rate)), percent(float64(s.Coverage))),
		Marks: []chart.Mark{chart.Rule{X: 1, Y: 1}, chart.Points{X: x, Y: y, Low: low, High: high, Class: "s0", Radius: 3.5}, run},
	}
	c.X.Label, c.Y.Label = "promised rate", "share that holds the truth"
	f := figure{Title: "Coverage against promise", Charts: []template.HTML{c.SVG()}, Legend: []key{ownKey(), lineKey("rule", "as promised")},
		Caption: "On the diagonal the promise is kept. Bars that lie wholly below it: these examples are not like those that taught. Bars are 95\u00a0% intervals."}
	if s.Width == nil {
		f.Caption += " A set always has the most probable class, unless empty sets were asked for, so at low rates sets hold the truth at least as often as answers are right."
	}
	return f
}

func setsName(s *eval.SetScores) string {
	if s.Width != nil {
		return "intervals"
	}
	return "sets"
}

// setsTable has coverage and size of sets or intervals at the run's rate and at others.
func (v *view) setsTable() table {
	m := v.a.Metrics
	s := m.Sets
	t := table{Caption: "Sets of classes, learnt from " + several(s.Examples, "example") + ", on " + v.of(), Head: []string{"promised", "hold the truth", "classes, mean"}}
	if s.Width != nil {
		t.Caption = "Intervals, learnt from " + several(s.Examples, "example") + ", on " + v.of()
		t.Head = []string{"promised", "hold the truth", "mean width", "interval score ↓"}
	}
	add := func(p eval.Promise) {
		cells := []string{ShareOf(float64(p.Coverage), m.N, 1)}
		if p.Width != nil {
			cells = append(cells, significant(*p.Width), significant(*p.Score))
		} else {
			cells = append(cells, fixed(number(p.Size), 2))
		}
		t.add(unbroken(numeral.Rate(p.Rate)), cells...)
	}
	add(s.Promise)
	others := false
	for _, p := range s.Others {
		if p.Rate == s.Rate {
			continue
		}
		if !others {
			t.Rows, others = append(t.Rows, row{Name: "at other rates"}), true
		}
		add(p)
	}
	return t
}

// ruleTables are the matrix of answered and refused rows, and the scores of the rule.
func (v *view) ruleTables() []table {
	matrix := table{Caption: "Answered and refused, on " + v.of(), Head: []string{""}}
	var answered, refused []string
	for _, k := range Kinds(v.a.Metrics) {
		matrix.Head = append(matrix.Head, k.Name)
		answered, refused = append(answered, count(k.Answered)), append(refused, count(k.Refused))
	}
	matrix.add("answered", answered...)
	matrix.add("refused", refused...)
	scores := table{Caption: "The rule to abstain, on " + v.of(), Head: []string{"score", "value"}}
	for _, s := range RuleScores(v.a.Metrics) {
		scores.add(s.Name, s.Value)
	}
	return []table{matrix, scores}
}
