package report

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/uq"
)

// legend are the entries of a figure's legend.
func legend(f figure) (names []string) {
	for _, k := range f.Legend {
		names = append(names, k.Name)
	}
	return names
}

// areaOf is the area under a line of a picture, whose diagonal from (0, 0) to (1, 1) is drawn as a rule.
func areaOf(t *testing.T, f figure, class string) float64 {
	t.Helper()
	ruleX, ruleY := drawn(t, f, "rule")
	x, y := drawn(t, f, class)
	x, y = scaled(x, ruleX[0], ruleX[1], 0, 1), scaled(y, ruleY[0], ruleY[1], 0, 1)
	return (&uq.Curve{FPR: x, TPR: y}).Area()
}

// TestROCFigures: every group has a figure with a line for each kind of uncertainty, whose areas are the AUROCs of the metrics, in the legend
// and under the line that is drawn.
func TestROCFigures(t *testing.T) {
	f := shape{n: 300, groups: []string{"noise", "letters"}}.make(t)
	v := f.view(t)
	figures := v.rocs()
	var titles []string
	for _, f := range figures {
		titles = append(titles, f.Title)
	}
	if !slices.Equal(titles, []string{"Detection of wrong answers", "Detection of noise", "Detection of letters"}) {
		t.Fatalf("figures %q", titles)
	}
	for i, g := range f.a.Metrics.Groups[1:] { // behind the right answers
		areas := []float64{number(g.AUROC), number(g.AUROCMaxProb), number(g.AUROCEnergy)}
		want := []string{"epistemic entropy " + fixed(areas[0], 2), "highest probability " + fixed(areas[1], 2), "energy " + fixed(areas[2], 2), "chance 0.50"}
		if got := legend(figures[i]); !slices.Equal(got, want) {
			t.Errorf("%s: legend %q, want %q", g.Name, got, want)
		}
		for k, area := range areas {
			// A coordinate is drawn to a tenth of some 300 pixels, which moves a curve by less than 1/2000 in each direction.
			if got := areaOf(t, figures[i], "line "+class(k)); !(math.Abs(got-area) <= withinROC+1e-3) {
				t.Errorf("%s by %s: the area that is drawn is %v, want %v", g.Name, detectors[k].name, got, area)
			}
			if figures[i].Data.Rows[k].Cells[0].Text != fixed(area, 3) {
				t.Errorf("%s by %s: %q in numbers, want %v", g.Name, detectors[k].name, figures[i].Data.Rows[k].Cells[0].Text, area)
			}
		}
	}
	page := render(t, f)
	for _, text := range []string{rocText, " inputs against all test examples.", "Detection of letters"} {
		if !strings.Contains(page, text) {
			t.Errorf("the page does not say %q", text)
		}
	}
}

// TestROCOfWhatIsThere: a line that a run has no scores for is left out, and so is a figure without lines.
func TestROCOfWhatIsThere(t *testing.T) {
	single := shape{single: true, groups: []string{"far"}}.make(t)
	single.a.Test.Energy = nil // as of a network without one logit for each class
	for _, f := range single.view(t).rocs() {
		if got := legend(f); len(got) != 3 || !strings.HasPrefix(got[0], "entropy ") || !strings.HasPrefix(got[1], "highest probability ") {
			t.Errorf("%s: legend %q", f.Title, got)
		}
	}
	right := shape{}.make(t)
	for i := range right.a.Problem.Test.Labels {
		right.a.Problem.Test.Labels[i] = int32(uq.Argmax(probs(right.a.Test, i)))
	}
	if page := render(t, right); strings.Contains(page, "ROC curve") || right.view(t).rocs() != nil {
		t.Error("a curve of nothing")
	}
}

// seeded are three runs of one setting, one of another, and one without groups.
func seeded(t *testing.T) (runs []Evaluated) {
	far := []string{"far"}
	for i, s := range []shape{{n: 200, groups: far}, {n: 230, groups: far}, {n: 260, groups: far}, {n: 200, islands: 4, groups: far}, {n: 200}} {
		f := s.make(t)
		f.run.Spec.Seed = uint64(7 + i)
		runs = append(runs, Evaluated{fmt.Sprint("run-", i), f.run, f.a})
	}
	runs[1].Spec.Name = "another name"
	return runs
}

// TestCompareROC: runs whose configs differ in the seed alone are one line, the mean over the runs, with a band of one standard deviation; other runs
// have lines of their own.
func TestCompareROC(t *testing.T) {
	runs := seeded(t)
	c, err := NewComparison(runs)
	if err != nil {
		t.Fatal(err)
	}
	names, _ := c.evaluations()
	s := detected(names, c.views)
	if len(s.Figures) != len(detectors) || !strings.Contains(strings.Join(s.Text, " "), "the mean of their true positive rates") || !strings.Contains(s.Figures[0].Caption, "one standard deviation") {
		t.Fatalf("%d figures, and the text %q", len(s.Figures), s.Text)
	}
	for k, m := range detectors {
		f := s.Figures[k]
		if want := "far, by " + m.name; f.Title != want {
			t.Errorf("%q, want %q", f.Title, want)
		}
		var curves []*uq.Curve
		var areas []float64
		for i := range 4 {
			g := runs[i].Metrics.Groups[2]
			area := []float64{number(g.AUROC), number(g.AUROCMaxProb), number(g.AUROCEnergy)}[k]
			areas = append(areas, area)
			v := c.views[i]
			curves = append(curves, uq.ROC(m.of(v, v.a.Test), m.of(v, v.a.Groups[0])))
		}
		mean, sd := moments(areas[:3])
		want := []string{fmt.Sprintf("run-0, 3 runs: %s ± %s", fixed(mean, 2), fixed(sd, 2)), "run-3: " + fixed(areas[3], 2), "chance 0.50"}
		if got := legend(f); !slices.Equal(got, want) {
			t.Errorf("%s: legend %q, want %q", f.Title, got, want)
		}
		if got := areaOf(t, f, "line s0"); !(math.Abs(got-mean) <= 2*withinROC+2e-3) { // the grid of rates costs as much as thinning
			t.Errorf("%s: the area of the mean is %v, want %v", f.Title, got, mean)
		}
		if got := areaOf(t, f, "line s1"); !(math.Abs(got-areas[3]) <= withinROC+1e-3) {
			t.Errorf("%s: the area of the other run is %v, want %v", f.Title, got, areas[3])
		}
		ruleX, ruleY := drawn(t, f, "rule")
		x, y := drawn(t, f, "band s0")
		x, y = scaled(x, ruleX[0], ruleX[1], 0, 1), scaled(y, ruleY[0], ruleY[1], 0, 1)
		for i := range x { // along the lower edge, and back along the upper one
			at := math.Round(200*x[i]) / 200
			mean, sd := moments([]float64{curves[0].At(at), curves[1].At(at), curves[2].At(at)})
			edge := max(mean-sd, 0)
			if i >= len(x)/2 {
				edge = min(mean+sd, 1)
			}
			if !(math.Abs(y[i]-edge) <= 2e-3) {
				t.Fatalf("%s: the band is at %v where the false positive rate is %v, want %v", f.Title, y[i], at, edge)
			}
		}
	}
	var page bytes.Buffer
	if err := c.Write(&page); err != nil {
		t.Fatal(err)
	}
	checkPage(t, page.String())
	if !strings.Contains(page.String(), "Out-of-distribution inputs") {
		t.Error("the page has no curves")
	}
	for name, shapes := range map[string][]shape{"one run with a group": {{groups: []string{"far"}}, {}}, "regressions": {{outputs: 1}, {outputs: 1}}} {
		c, err := comparison(t, shapes...)
		if err != nil {
			t.Fatal(err)
		}
		if names, _ := c.evaluations(); detected(names, c.views).Figures != nil {
			t.Errorf("%s: curves of nothing", name)
		}
	}
}

// moments are the mean and the standard deviation of a few numbers, by their definitions.
func moments(x []float64) (mean, sd float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sd += (v - mean) * (v - mean) / float64(len(x)-1)
	}
	return mean, math.Sqrt(sd)
}
