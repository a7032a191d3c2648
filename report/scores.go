package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/uq"
)

// Scored is an ensemble's name and scores.
type Scored struct {
	Name string
	*eval.Evaluation
}

// DeepEnsemble is the name of all MAP restarts together.
const DeepEnsemble = "deep ensemble"

// Ensembles lists the evaluated ensembles of a run: the posterior first, then the posterior with its islands weighted in
// other ways, then the rest.
func Ensembles(spec *starling.Spec, m *eval.Metrics) []Scored {
	all := []Scored{{"posterior", &m.Evaluation}}
	if s := spec.Way().Sampling(); s != nil && s.Islands > 1 {
		for i := range m.Combined {
			by := &m.Combined[i]
			if way, ok := bnn.Combinations.Find(by.Name); ok && by.Name != bnn.Combinations.Name(s.Combine) {
				all = append(all, Scored{way.String(), &by.Evaluation})
			}
		}
	}
	if m.MAP != nil {
		all = append(all, Scored{"best MAP", m.MAP})
	}
	if m.DeepEnsemble != nil {
		all = append(all, Scored{DeepEnsemble, m.DeepEnsemble})
	}
	return all
}

// scores is the table of all figures.
func (v *view) scores() section {
	all := Ensembles(&v.run.Spec, v.a.Metrics)
	var columns []string
	weighted := ""
	for _, e := range all {
		columns = append(columns, e.Name)
	}
	for _, row := range bnn.Combinations {
		if slices.Contains(columns, row.Part.String()) {
			weighted += fmt.Sprintf(" “%s” is the posterior with its islands weighted in that way.", row.Part)
		}
	}
	return section{ID: "figures", Title: "Figures", Tables: slices.Concat(v.withIntervals(withTempered(compare(columns, all), all)), v.members(), v.byClass()),
		Text: []string{fmt.Sprintf("On %s %s. Arrows show whether more or less is better; the best of a row is bold.%s%s", count(v.a.Metrics.N), v.part(), dash(all), weighted)}}
}

// withIntervals says in the caption of each table how many examples it is of, and puts the intervals of the posterior's figures beside them if
// these are few.
func (v *view) withIntervals(tables []table) []table {
	for k := range tables {
		t := &tables[k]
		t.Caption += ", " + v.of()
		if k > 0 || !Small(v.a) {
			continue
		}
		t.Head = slices.Insert(slices.Clone(t.Head), 2, "95\u00a0% interval")
		for i, r := range t.Rows {
			t.Rows[i].Cells = slices.Insert(r.Cells, 1, cell{Text: intervalText(v.a, r.Name, formats[r.Name])})
		}
	}
	return tables
}

// of says on how many examples a run was evaluated.
func (v *view) of() string {
	return several(v.a.Metrics.N, strings.TrimSuffix(v.part(), "s"))
}

// on begins a section: the examples that its figures are of.
func (v *view) on() string {
	text := "On " + v.of() + "."
	if v.a.Metrics.N < uq.Few {
		text += " So few say nothing of others."
	}
	return text
}

// members shows what fewer members of the posterior score; nothing for few members.
func (v *view) members() []table {
	rows := v.a.Metrics.Members
	if rows == nil {
		return nil
	}
	t := table{Caption: "Scores by the number of members, those kept last, on " + v.of(), Head: []string{"members", "accuracy ↑", "NLL, nats ↓", "ECE ↓"}}
	for _, r := range rows {
		t.add(count(r.M), percent(float64(r.Accuracy)), fixed(float64(r.NLL), 4), fixed(float64(r.ECE), 4))
	}
	return []table{t}
}

// byClass is the table of the posterior's scores for each class, or the weakest of many.
func (v *view) byClass() []table {
	const most = 20
	m := v.a.Metrics
	if m.ByClass == nil {
		return nil
	}
	t := table{Caption: "The posterior's scores by class, on " + v.of(), Head: []string{"class", "examples", "answers", "precision ↑", "recall ↑", "F1 ↑", "AUROC ↑"}}
	if len(m.ByClass) > most {
		t.Caption = fmt.Sprintf("The posterior's scores for the %d weakest of %d classes", most, len(m.ByClass))
	}
	for _, c := range m.Weakest(most) {
		t.add(c.Class, count(c.N), count(c.Answered), ShareOf(float64(c.Precision), c.Answered, 1), ShareOf(float64(c.Recall), c.N, 1), fixed(c.F1, 3),
			AreaOf(float64(c.AUROC), m.N-c.N, c.N, 3))
	}
	return []table{t}
}

// metric is a row of the table of figures: higher is better if sign is 1, lower if −1, neither if 0.
type metric struct {
	name   string
	sign   float64
	value  func(*eval.Evaluation) float64
	format func(float64) string
}

// defined is a number, or NaN where it is infinite: the R² of targets that are all the same.
func defined(v float64) float64 {
	if math.IsInf(v, 0) {
		return math.NaN()
	}
	return v
}

func decimals(n int) func(float64) string {
	return func(v float64) string { return fixed(v, n) }
}

// means are the rows of the table of scores.
var means = []metric{
	{Accuracy, 1, func(e *eval.Evaluation) float64 { return number(e.Accuracy) }, percent},
	{RMSE, -1, func(e *eval.Evaluation) float64 { return number(e.RMSE) }, significant[float64]},
	{"mean absolute error ↓", -1, func(e *eval.Evaluation) float64 { return number(e.MAE) }, significant[float64]},
	{"mean error", 0, func(e *eval.Evaluation) float64 { return number(e.Bias) }, significant[float64]},
	{r2Row, 1, func(e *eval.Evaluation) float64 { return defined(number(e.R2)) }, decimals(3)},
	{NLL, -1, func(e *eval.Evaluation) float64 { return float64(e.NLL) }, decimals(3)},
	{"CRPS ↓", -1, func(e *eval.Evaluation) float64 { return number(e.CRPS) }, significant[float64]},
	{In50, 0, func(e *eval.Evaluation) float64 { return float64(coverage(e).In50) }, percent},
	{In90, 0, func(e *eval.Evaluation) float64 { return float64(coverage(e).In90) }, percent},
	{In95, 0, func(e *eval.Evaluation) float64 { return float64(coverage(e).In95) }, percent},
	{"Brier score ↓", -1, func(e *eval.Evaluation) float64 { return number(e.Brier) }, decimals(3)},
	{"ECE, 15 bins ↓", -1, func(e *eval.Evaluation) float64 { return number(e.ECE) }, decimals(3)},
	{"AURC ↓", -1, func(e *eval.Evaluation) float64 { return number(e.AURC) }, decimals(4)},
}

// formats say how the figures of that table are written, by their names.
var formats = func() map[string]func(float64) string {
	all := map[string]func(float64) string{}
	for _, m := range means {
		all[m.name] = m.format
	}
	return all
}()

// compare makes tables of scores and of uncertainty, with a column for each ensemble. A row without any value is left out.
func compare(columns []string, all []Scored) []table {
	head := append([]string{""}, columns...)
	t := table{Caption: "Scores", Head: head}
	addMetrics(&t, all, means)
	var byEntropy, byProbability, entropy []metric
	for _, name := range groupNames(all) {
		if name != "correct" {
			byEntropy = append(byEntropy, metric{groupName(name), 1, func(e *eval.Evaluation) float64 {
				if agreed(e) {
					return math.NaN()
				}
				return number(groupOf(e, name).AUROC)
			}, decimals(2)})
			byProbability = append(byProbability, metric{groupName(name), 1, func(e *eval.Evaluation) float64 {
				return number(groupOf(e, name).AUROCMaxProb)
			}, decimals(2)})
		}
		entropy = append(entropy, metric{groupName(name), 0, func(e *eval.Evaluation) float64 {
			return float64(groupOf(e, name).Epistemic)
		}, decimals(2)})
	}
	tables := []table{t}
	if byEntropy == nil {
		return tables
	}
	for _, by := range []struct {
		caption string
		metrics []metric
	}{{"Detection by epistemic entropy: AUROC ↑", byEntropy}, {"Detection by highest probability: AUROC ↑", byProbability}, {"Mean epistemic entropy, nats", entropy}} {
		t := table{Caption: by.caption, Head: head}
		if addMetrics(&t, all, by.metrics); t.Rows != nil {
			tables = append(tables, t)
		}
	}
	return tables
}

// dash explains the dashes in the table of detection by epistemic entropy; empty if there are none, or no such table.
func dash(all []Scored) string {
	single := func(e Scored) bool { return agreed(e.Evaluation) }
	several := func(e Scored) bool { return !single(e) }
	if slices.ContainsFunc(all, single) && slices.ContainsFunc(all, several) {
		return " A dash: the epistemic entropy of one network is always 0 and detects nothing."
	}
	return ""
}

// agreed reports whether the networks of an ensemble agree, as a single network does: the epistemic entropy of every group is
// 0.
func agreed(e *eval.Evaluation) bool {
	for _, g := range e.Groups {
		if g.N > 0 && g.Epistemic != 0 {
			return false
		}
	}
	return true
}

// groupNames lists the names of the groups of all evaluations, in the order in which they first occur.
func groupNames(all []Scored) (names []string) {
	for _, e := range all {
		for _, g := range e.Groups {
			if !slices.Contains(names, g.Name) {
				names = append(names, g.Name)
			}
		}
	}
	return names
}

// coverage returns the coverage of an evaluation's intervals; NaN for classification.
func coverage(e *eval.Evaluation) eval.Coverage {
	if e.Coverage == nil {
		nan := uq.Number(math.NaN())
		return eval.Coverage{In50: nan, In90: nan, In95: nan}
	}
	return *e.Coverage
}

// detectors compares how well each kind of the posterior's uncertainty detects each group; nil if there is no group to
// detect.
func (v *view) detectors() []table {
	t := table{
		Caption: "Detection by each kind of uncertainty of the posterior: AUROC (FPR95, or the 95\u00a0% interval of few examples)",
		Head:    []string{"group", "examples", "epistemic entropy", "highest probability", "energy"},
	}
	for _, g := range v.a.Metrics.Groups {
		if g.AUROC == nil {
			continue
		}
		others := v.a.Metrics.N
		if g.Name == "incorrect" {
			others -= g.N
		}
		told := func(auroc, fpr95 *uq.Number) string {
			a := number(auroc)
			switch {
			case math.IsNaN(a):
				return "–"
			case min(g.N, others) < uq.Small: // few: the interval tells more
				return AreaOf(a, others, g.N, 2)
			}
			return fixed(a, 3) + " (" + fixed(number(fpr95), 2) + ")"
		}
		t.add(groupName(g.Name), count(g.N), told(g.AUROC, g.FPR95), told(g.AUROCMaxProb, g.FPR95MaxProb), told(g.AUROCEnergy, g.FPR95Energy))
	}
	if t.Rows == nil {
		return nil
	}
	return append([]table{t}, v.declared()...)
}

// declared shows which inputs the run's threshold of the energy declares out of distribution; none where it has no threshold or
// there is no such group.
func (v *view) declared() []table {
	if v.run.Decision == nil || v.run.Decision.Foreign == nil {
		return nil
	}
	share := func(x uq.Number) string { return percent(float64(x)) }
	t := table{
		Caption: fmt.Sprintf("Declared out of distribution: an energy above %s, which %s of %s do not exceed",
			fixed(float64(v.run.Decision.Threshold), 3), percentRound(v.run.Decision.Pass), several(v.run.Decision.N, "validation example")),
		Head: []string{"group", "accuracy", "precision", "recall", "F1", "specificity"},
	}
	for _, g := range v.a.Metrics.Groups {
		if d := g.ByEnergy; d != nil {
			t.add(groupName(g.Name), share(d.Accuracy), share(d.Precision), share(d.Recall), fixed(float64(d.F1), 3), share(d.Specificity))
		}
	}
	if t.Rows == nil {
		return nil
	}
	return []table{t}
}

func addMetrics(t *table, all []Scored, metrics []metric) {
	for _, m := range metrics {
		r := row{Name: m.name}
		best, some, differ := math.Inf(-1), false, false
		for _, e := range all {
			v := m.value(e.Evaluation)
			some = some || !math.IsNaN(v)
			best = max(best, worth(m.sign*v))
		}
		for _, e := range all {
			v := m.value(e.Evaluation)
			c := cell{Text: m.format(v)}
			c.Best = m.sign != 0 && c.Text == m.format(m.sign*best)
			differ = differ || !c.Best
			r.Cells = append(r.Cells, c)
		}
		if !differ { // all are equally good: none is bold
			for i := range r.Cells {
				r.Cells[i].Best = false
			}
		}
		if some {
			t.Rows = append(t.Rows, r)
		}
	}
}

// worth sorts NaN after all numbers.
func worth(v float64) float64 {
	if math.IsNaN(v) {
		return math.Inf(-1)
	}
	return v
}

func groupOf(e *eval.Evaluation, name string) uq.Group {
	for _, g := range e.Groups {
		if g.Name == name {
			return g
		}
	}
	nan := uq.Number(math.NaN())
	return uq.Group{Name: name, Total: nan, Aleatoric: nan, Epistemic: nan}
}

func groupName(name string) string {
	switch name {
	case "correct":
		return "right answers"
	case "incorrect":
		return "wrong answers"
	}
	return name
}

// cards are the figures at the top of the page.
func (v *view) cards() []card {
	m := v.a.Metrics
	var cards []card
	within := func(name, otherwise string, write func(float64) string) string { // few examples: the interval
		if !Small(v.a) {
			return otherwise
		}
		return "95\u00a0% interval " + intervalText(v.a, name, write)
	}
	if v.classes() {
		low, high := uq.Wilson(number(m.Accuracy)*float64(m.N), float64(m.N))
		cards = append(cards, card{"accuracy", percent(number(m.Accuracy)), "95\u00a0% interval " + fixed(100*low, 1) + " to " + fixed(100*high, 1)})
	} else {
		cards = append(cards, card{"RMSE", significant(number(m.RMSE)), within(RMSE, "in the target's units", significant[float64])})
	}
	cards = append(cards, card{"NLL", fixed(float64(m.NLL), 3), within(NLL, "nats per example", decimals(3))})
	if v.classes() {
		cards = append(cards, card{"ECE", fixed(number(m.ECE), 3), "calibration error"})
		if found := v.oodAUROC(); len(found) > 0 {
			cards = append(cards, card{"AUROC, OOD", fixed(uq.Mean(found), 2), "mean of " + several(len(found), "group")})
		}
	} else {
		cards = append(cards, card{"90\u00a0% intervals", percent(uq.Coverage(v.a.Regression.PIT, .9)), within(In90, "of the targets inside", percent)})
	}
	for i := range cards {
		cards[i].Note += "; on " + v.of()
	}
	if m.LogEvidence != nil {
		note := "nats"
		switch {
		case len(v.islands) > 1 && !math.IsNaN(number(m.LogEvidenceSD)):
			note = "islands scatter by " + fixed(number(m.LogEvidenceSD), 1)
			if m.LogEvidenceError != nil {
				note = "± " + fixed(number(m.LogEvidenceError), 1) + "; " + note
			}
		case len(v.islands) == 1 && m.LogEvidenceError != nil && finding.Beside(v.run.Findings) == "":
			note = "± " + fixed(number(m.LogEvidenceError), 1) + ", estimated within the one island"
		}
		if words := finding.Beside(v.run.Findings); words != "" {
			note += ", " + words
		}
		cards = append(cards, card{"log evidence", fixed(number(m.LogEvidence), 1), note})
	}
	if c := m.Chains; c != nil && c.RHatPredictions != nil {
		note := func(of *uq.Number, decimals int) string {
			if of == nil {
				return "of the predictions"
			}
			return "of the predictions; " + fixed(*of, decimals) + " of the log-likelihood"
		}
		cards = append(cards, card{"R-hat", fixed(c.RHatPredictions.Median, 2), note(c.RHatLogLikelihood, 2)})
		if c.ESSPredictions != nil {
			cards = append(cards, card{"ESS", fixed(*c.ESSPredictions, 0), note(c.ESSLogLikelihood, 0)})
		}
	}
	return append(cards, card{"networks", count(v.run.Posterior.Size()), "of " + v.run.Net.Size()})
}

// oodAUROC lists the AUROCs of the out-of-distribution groups.
func (v *view) oodAUROC() (areas []float64) {
	if v.single() {
		return nil
	}
	for _, g := range v.a.Metrics.Groups {
		if g.Name != "correct" && g.Name != "incorrect" && g.AUROC != nil && !math.IsNaN(float64(*g.AUROC)) {
			areas = append(areas, float64(*g.AUROC))
		}
	}
	return areas
}
