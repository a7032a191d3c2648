package report

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/smc"
	"github.com/starling-smc/starling/uq"
)

func comparison(t *testing.T, shapes ...shape) (*Comparison, error) {
	t.Helper()
	var runs []Evaluated
	for i, s := range shapes {
		f := s.make(t)
		runs = append(runs, Evaluated{string(rune('a' + i)), f.run, f.a})
	}
	return NewComparison(runs)
}

func TestCompare(t *testing.T) {
	for _, shapes := range [][]shape{
		{{groups: []string{"far"}}, {groups: []string{"far"}, chains: true}},
		{{outputs: 1}, {outputs: 1}, {outputs: 1, islands: 9}},
		{{groups: []string{"far"}}, {}, {single: true, groups: []string{"near"}}},
	} {
		for i := range shapes { // the same network everywhere, and so the same draws for the test examples
			shapes[i].islands, shapes[i].lines = 3, 6
		}
		c, err := comparison(t, shapes...)
		if err != nil {
			t.Fatal(err)
		}
		var page, again bytes.Buffer
		if err := c.Write(&page); err != nil {
			t.Fatal(err)
		}
		if err := c.Write(&again); err != nil || again.String() != page.String() {
			t.Error("the same runs give another page")
		}
		checkPage(t, page.String())
		for _, row := range c.Rows() {
			if len(row) != 1 && len(row) != len(shapes)+1 {
				t.Errorf("row %q for %d runs", row, len(shapes))
			}
		}
	}
}

// TestSameExamples tells runs that were evaluated on the same examples from others, however these were standardised.
func TestSameExamples(t *testing.T) {
	c, err := comparison(t, shape{}, shape{})
	if err != nil || c.Warnings != nil {
		t.Errorf("the same run twice: %v, %q", err, c.Warnings)
	}
	c, err = comparison(t, shape{n: 60}, shape{n: 62})
	if err != nil || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "a on 60 test examples of rows.csv (") ||
		!strings.Contains(c.Warnings[0], "b on 62 test examples of rows.csv (") {
		t.Errorf("other examples: %v, %q", err, c.Warnings)
	}
	a, b := shape{}.make(t), shape{}.make(t)
	standardised := *b.a.Problem.Test
	b.run.Schema.Inputs = standard(3)
	standardSchema := b.run.Schema
	standardised.F32 = nil
	for i := range a.a.Problem.Test.F32 {
		standardised.F32 = append(standardised.F32, (a.a.Problem.Test.F32[i]-5)/2)
	}
	b.a.Problem.Test = &standardised
	c, err = NewComparison([]Evaluated{{"a", a.run, a.a}, {"b", b.run, b.a}})
	if err != nil || c.Warnings != nil {
		t.Errorf("standardised: %v, %q", err, c.Warnings)
	}
	other := standardised
	other.Shape, other.F32 = []int{other.Features() - 1}, nil
	for i := range standardised.Len() {
		other.F32 = append(other.F32, standardised.F32[i*standardised.Features()+1:(i+1)*standardised.Features()]...)
	}
	for _, columns := range [][]string{{"b", "c"}, a.run.Schema.Features()} {
		for _, source := range []string{"rows.csv", "others.csv"} {
			a.a.Problem.Test.Source, other.Source, b.run.Schema = "rows.csv", source, &data.Schema{Columns: columns, Shape: other.Shape}
			b.a.Problem.Test = &other
			c, err = NewComparison([]Evaluated{{"a", a.run, a.a}, {"b", b.run, b.a}})
			if want := source == "rows.csv" && len(columns) > 0; err != nil || (c.Warnings == nil) != want {
				t.Errorf("columns %q of %s: %v, %q", columns, source, err, c.Warnings)
			}
		}
	}
	b.run.Schema, b.a.Problem.Test = standardSchema, &standardised
	standardised.F32[7] += .1
	c, err = NewComparison([]Evaluated{{"a", a.run, a.a}, {"b", b.run, b.a}})
	if err != nil || c.Warnings == nil {
		t.Errorf("one value differs: %v, %q", err, c.Warnings)
	}
}

// TestEvidencesOnOtherScales: a word stands where evidences of targets on different scales are side by side.
func TestEvidencesOnOtherScales(t *testing.T) {
	const want = "Do not compare the log evidences: they are densities of the targets as the network learns them, and b learnt them on other scales than a."
	for name, c := range map[string]struct {
		a, b *data.Standard
		mcmc bool
		note bool
	}{
		"neither":    {nil, nil, false, false},
		"one":        {nil, standard(1), false, true},
		"both":       {standard(1), standard(1), false, false},
		"by another": {standard(1), &data.Standard{Mean: []float64{5}, SD: []float64{3}, To: 1}, false, true},
		"chains":     {nil, standard(1), true, false},
	} {
		a, b := shape{outputs: 1, islands: 3}.make(t), shape{outputs: 1, islands: 3, chains: c.mcmc}.make(t)
		a.run.Schema.Targets, b.run.Schema.Targets = c.a, c.b
		all, err := NewComparison([]Evaluated{{"a", a.run, a.a}, {"b", b.run, b.a}})
		if err != nil {
			t.Fatal(err)
		}
		var page bytes.Buffer
		if err := all.Write(&page); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(all.Notes, ""); (got == want) != c.note || (got == "") == c.note || strings.Contains(page.String(), want) != c.note {
			t.Errorf("%s: notes %q", name, got)
		}
	}
	f := shape{outputs: 1, islands: 3}.make(t)
	f.run.Schema.Targets = standard(1)
	var page bytes.Buffer
	if err := Write(&page, f.run, f.a); err != nil || !strings.Contains(page.String(), "It is a density of standardised targets") {
		t.Errorf("the report does not say what its evidence is one of: %v", err)
	}
}

// TestOptimisersBesideOthers: a word stands where a run on a path of batches behaved as an optimiser, whether it has an evidence
// or not, where its particles hardly moved, and where an evidence rests on one draw.
func TestOptimisersBesideOthers(t *testing.T) {
	const say = " of the posterior: the disagreement of their networks says little about uncertainty, and their log evidences are no estimates. Compare the scores alone, or sample by chains or by tempering."
	for _, c := range []struct {
		ess          float64
		ancestors    int
		displacement numeral.Number
		want         []string
	}{
		{4, 2, 1, nil},
		{4, 2, 0, []string{"The runs tempered, linear and constant had islands whose particles hardly moved: neither their posteriors nor their log evidences are to be trusted. Look at the warnings of these runs first."}},
		{4, 1, 1, []string{"The log evidence of linear rests on one draw of the start: all particles of an island descend from it. Take more islands before you compare log evidences."}},
		{1, 1, 1, []string{"The runs linear and constant behaved as optimisers, not as samplers" + say}},
	} {
		tempered, chains := shape{}.make(t), shape{chains: true}.make(t)
		linear := schemed(t, 2, smc.Schedule[smc.Linear]{Iterations: 2, Rule: smc.Linear{Batch: 10, Grow: 50}}, []int{10, 60}, nil, nil)
		constant := schemed(t, 1, smc.Schedule[smc.Constant]{Iterations: 2, Rule: smc.Constant{Batch: 10}}, []int{10, 10}, nil, nil)
		constant.a.Metrics.LogEvidence = nil
		var runs []Evaluated
		for i, f := range []fixture{tempered, chains, linear, constant} {
			for k := range f.run.Trace {
				f.run.Trace[k].ESS, f.run.Trace[k].Ancestors, f.run.Trace[k].Displacement = c.ess, c.ancestors, c.displacement
			}
			f.find()
			runs = append(runs, Evaluated{[]string{"tempered", "chains", "linear", "constant"}[i], f.run, f.a})
		}
		all, err := NewComparison(runs)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(all.Notes, c.want) {
			t.Errorf("ESS %v, %d ancestors: notes %q, want %q", c.ess, c.ancestors, all.Notes, c.want)
		}
	}
}

// TestOptimisersAreWarnedOf: the page itself says so, where a reader looks first.
func TestOptimisersAreWarnedOf(t *testing.T) {
	for variance, want := range map[float64]bool{0.1: false, 1e4: true} {
		f := schemed(t, 2, smc.Schedule[smc.Full]{Iterations: 2}, []int{60, 60}, nil, nil)
		particles := float64(f.run.Spec.Way().Sampling().Particles)
		for i := range f.run.Trace {
			l := &f.run.Trace[i]
			l.LogWeightVar, l.ESS = numeral.Number(variance), 0.1*particles
			if !want {
				l.ESS = 0.9 * particles
			}
		}
		v := f.view(t)
		warnings, card := strings.Join(v.healthy().Warnings, ""), ""
		for _, c := range v.cards() {
			if c.Name == "log evidence" {
				card = c.Note
			}
		}
		for place, got := range map[string]bool{
			"the posterior": strings.Contains(warnings, "The run behaved as an optimiser"),
			"the evidence":  strings.Contains(warnings, "The log evidence is no estimate"),
			"the card":      strings.HasSuffix(card, ", no estimate: the run behaved as an optimiser"),
		} {
			if got != want {
				t.Errorf("variance %v: warned of %s: %v, want %v", variance, place, got, want)
			}
		}
	}
}

// TestComparisonTables: the settings that differ come first, then scores, then health, then cost. Runs on other examples are marked, and
// scores on training examples say so in every line.
func TestComparisonTables(t *testing.T) {
	tempered, stuck, other := shape{n: 60, islands: 3}.make(t), shape{n: 60, chains: true}.make(t), shape{n: 62, islands: 3}.make(t)
	stuck.run.Spec.Seed = 8
	stuck.a.Metrics.On = "train"
	stuck.run.Findings = []finding.Finding{
		finding.Of(finding.ChainStuck{Chains: finding.Numbered([]int{0})}), finding.Of(finding.ChainsStill{Chains: finding.Numbered([]int{1, 2})}),
		finding.Of(finding.FewTrajectories{Chains: 4, Few: 4, Epochs: 40, Trajectories: 2, Leapfrogs: 20, Enough: 20, Need: 400, Field: "epochs"}),
	}
	tempered.run.Findings = []finding.Finding{finding.Of(finding.Optimiser{Population: finding.Population{Islands: 3, Particles: 4, Iterations: 6, Single: 6, Resampled: 6, ESS: 1}})}
	c, err := NewComparison([]Evaluated{{"a", tempered.run, tempered.a}, {"b", stuck.run, stuck.a}, {"c", other.run, other.a}})
	if err != nil {
		t.Fatal(err)
	}
	found, headings := map[string][]string{}, []string{"Scores"}
	for _, row := range c.Rows() {
		if len(row) > 1 {
			found[row[0]] = row[1:]
		} else if row[0] != "" {
			headings = append(headings, row[0])
		}
	}
	if first, last := headings[0], headings[len(headings)-2:]; first != "Scores" || !slices.Equal(last, []string{"Health", "Size, evidence and cost"}) {
		t.Errorf("the tables are %q", headings)
	}
	chains := fmt.Sprint(stuck.run.Spec.Way().Sampling().Islands)
	for name, want := range map[string][]string{
		"":                                     {"a", "b", "c †"},
		"chains that are stuck or stood still": {"–", "3 of " + chains, "–"},
		"trajectories of a chain":              {"–", "too few (2)", "–"},
		"behaved as an optimiser":              {"yes", "–", "no"},
		"particles did not move":               {"no", "–", "no"},
		"examples":                             {"60", "60", "62"},
		"warnings":                             {"2", "3", "1"}, // of the run and, on test examples, of its predictions
	} {
		if !slices.Equal(found[name], want) {
			t.Errorf("%q is %q, want %q", name, found[name], want)
		}
	}
	for _, t0 := range c.scores() {
		for _, r := range t0.Rows {
			for i, cell := range r.Cells {
				if strings.HasSuffix(cell.Text, " (train)") != (i == 1) || cell.Best {
					t.Errorf("%s of %s: %q, best: %v", r.Name, c.Runs[i].Name, cell.Text, cell.Best)
				}
			}
		}
	}
	stuck.a.Metrics.On, stuck.a.Metrics.TrainedOn, other.a.Metrics.TrainedOn = "test", 60, 31
	if c, err = NewComparison([]Evaluated{{"a", tempered.run, tempered.a}, {"b", stuck.run, stuck.a}, {"c", other.run, other.a}}); err != nil {
		t.Fatal(err)
	}
	for _, t0 := range c.scores() {
		for _, r := range t0.Rows {
			for i, share := range []string{"", " (train)", " (50.0\u00a0% train)"} {
				if cell := r.Cells[i].Text; !strings.HasSuffix(cell, share) || share == "" && strings.Contains(cell, "train") {
					t.Errorf("%s of %s: %q, want a share of training examples%s", r.Name, c.Runs[i].Name, cell, share)
				}
			}
		}
	}
	if note := "c learnt from 31 of the 62 examples that it was evaluated on: its scores on them are too good."; !slices.Contains(c.Notes, note) {
		t.Errorf("notes %q, want %q", c.Notes, note)
	}
	differ := c.Differences()
	if !slices.Equal(differ[0], []string{"", "a", "b", "c"}) || !slices.ContainsFunc(differ, func(row []string) bool { return slices.Equal(row, []string{"seed", "7", "8", "7"}) }) {
		t.Errorf("the differences are %q", differ)
	}
	var page bytes.Buffer
	if err := c.Write(&page); err != nil {
		t.Fatal(err)
	}
	at := func(text string) int { return strings.Index(page.String(), text) }
	if s, f := at(`id="settings"`), at(`id="figures"`); s < 0 || f < s || at("<caption>Health") < f {
		t.Errorf("the page has the settings at %d, the figures at %d, the health at %d", s, f, at("<caption>Health"))
	}
	if c, err = comparison(t, shape{islands: 3}, shape{islands: 3}); err != nil || c.Differences() != nil {
		t.Errorf("the same run twice: %v, %q", err, c.Differences())
	}
}

func TestCompareRefuses(t *testing.T) {
	for _, c := range []struct {
		shapes []shape
		want   string
	}{
		{[]shape{{}}, "at least two"},
		{[]shape{{}, {outputs: 1}}, "a is a classification, b is a regression"},
		{[]shape{{}, {names: []string{"x", "y", "z"}}}, "a has 2 classes and b has 3"},
		{[]shape{{outputs: 1}, {outputs: 2}}, "a predicts 1 number and b predicts 2"},
	} {
		if _, err := comparison(t, c.shapes...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// TestCompareRHat: chains that do not agree are told from those that do; the row is left out where no run has chains.
func TestCompareRHat(t *testing.T) {
	rows := func(fixtures ...fixture) (rows [][]string) {
		var runs []Evaluated
		for i, f := range fixtures {
			runs = append(runs, Evaluated{string(rune('a' + i)), f.run, f.a})
		}
		c, err := NewComparison(runs)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range c.Rows() {
			if strings.HasPrefix(row[0], "R-hat") {
				rows = append(rows, row)
			}
		}
		return rows
	}
	mixed, apart, short, islands := shape{chains: true}.make(t), shape{chains: true}.make(t), shape{chains: true}.make(t), shape{}.make(t)
	apart.a.Metrics.Chains.RHatPredictions.Median = uq.Number(math.Inf(1))
	short.a.Metrics.Chains.RHatPredictions = nil
	want := []string{"R-hat of the predictions, median", "1.01", "∞", "–", "–"}
	if got := rows(mixed, apart, short, islands); len(got) != 1 || !slices.Equal(got[0], want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := rows(islands, islands); got != nil {
		t.Errorf("%q, and no run has chains", got)
	}
}

// TestCompareOneNetwork: a run of one network is compared by an uncertainty that it has, and each figure says by which.
func TestCompareOneNetwork(t *testing.T) {
	single, many := shape{single: true, groups: []string{"far"}}.make(t), shape{groups: []string{"far"}}.make(t)
	for i := range single.a.Metrics.Groups {
		single.a.Metrics.Groups[i].Epistemic = 0
	}
	many.run.Trace[2].Seconds, many.run.Manifest.EvaluationSeconds = 0.12, 20 // and stopped for a while
	c, err := NewComparison([]Evaluated{{"one", single.run, single.a}, {"many", many.run, many.a}})
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := c.Write(&page); err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	heading := ""
	for _, row := range c.Rows() {
		switch {
		case len(row) == 1:
			heading = row[0]
		case row[0] == "far":
			found[heading] = row[1:]
		case row[0] == "seconds at work" && (row[1] != "≤ 65" || row[2] != "0.1"), row[0] == "seconds of evaluation" && (row[1] != "–" || row[2] != "20"):
			t.Errorf("%s %q", row[0], row[1:])
		}
	}
	far := func(f fixture) string {
		return fixed(number(f.a.Metrics.Groups[len(f.a.Metrics.Groups)-1].AUROCMaxProb), 2)
	}
	want := []string{far(single), far(many)}
	if got := found["Detection by highest probability: AUROC ↑"]; !slices.Equal(got, want) {
		t.Errorf("by highest probability %q, want %q", got, want)
	}
	got := found["Detection by epistemic entropy: AUROC ↑"]
	if len(got) != 2 || got[0] != "–" || got[1] == "–" {
		t.Errorf("by epistemic entropy %q", got)
	}
	if !strings.Contains(page.String(), "A dash: the epistemic entropy of one network is always 0") {
		t.Error("the page does not explain the dash")
	}
	if !strings.Contains(page.String(), "<caption>Detection by highest probability: AUROC ↑</caption>") {
		t.Error("the page does not say what finds")
	}
}

// TestCompareNothingToFind: where there is no wrong answer and no group, no heading stands over nothing.
func TestCompareNothingToFind(t *testing.T) {
	a, b := shape{}.make(t), shape{}.make(t)
	for _, f := range []fixture{a, b} {
		for i := range f.a.Metrics.Groups {
			f.a.Metrics.Groups[i].AUROC, f.a.Metrics.Groups[i].AUROCMaxProb = nil, nil
		}
	}
	c, err := NewComparison([]Evaluated{{"a", a.run, a.a}, {"b", b.run, b.a}})
	if err != nil {
		t.Fatal(err)
	}
	rows := c.Rows()
	for i, row := range rows {
		if len(row) == 1 && row[0] != "" && (i+1 == len(rows) || len(rows[i+1]) == 1) {
			t.Errorf("nothing stands under %q", row[0])
		}
	}
}
