package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/uq"
)

// unlearned puts scores into the lines of a made-up run: island i has its training NLL at .1·k + i at iteration k.
func unlearned(f fixture, validates bool) {
	score := func(i, k int) *method.Unlearning {
		x := uq.Number(float64(k)/10 + float64(i))
		u := &method.Unlearning{Train: x, TrainEnsemble: x / 2}
		if validates {
			up, down := 3+x, 3-x
			u.Val, u.ValEnsemble = &up, &down
		}
		return u
	}
	for i := range f.run.Trace {
		l := &f.run.Trace[i]
		l.Unlearning = score(l.Island, l.K)
		if l.K == 1 {
			l.AtStart = score(l.Island, 0)
		}
	}
}

// TestUnlearningFigure: the picture begins at the start and has a line for each score, the median of the islands; its table says where
// each began, was lowest and ended. A run without these scores has no such picture, one without validation examples two lines.
func TestUnlearningFigure(t *testing.T) {
	f := shape{islands: 3, lines: 6, batches: true}.make(t)
	if f.view(t).unlearning() != nil {
		t.Error("a run without the scores has a picture of them")
	}
	unlearned(f, true)
	fig := f.view(t).unlearning()
	for i, want := range [][]string{
		{"training, one particle", "1.0000", "1.0000", "0", "1.6000"},
		{"training, ensemble", "0.5000", "0.5000", "0", "0.8000"},
		{"validation, one particle", "4.0000", "4.0000", "0", "4.6000"},
		{"validation, ensemble", "2.0000", "1.4000", "6", "1.4000"},
	} {
		got := []string{fig.Data.Rows[i].Name}
		for _, c := range fig.Data.Rows[i].Cells {
			got = append(got, c.Text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("row %d: %q, want %q", i, got, want)
		}
	}
	if drawn := string(fig.Charts[0]); strings.Count(drawn, "<path class=\"line s") != 4 || len(fig.Legend) != 4 || !strings.HasSuffix(fig.Caption, " Medians of 3 islands.") {
		t.Errorf("legend %v, caption %q, picture\n%s", fig.Legend, fig.Caption, drawn)
	}
	figures := f.view(t).sampler().Figures
	if !slices.ContainsFunc(figures, func(one figure) bool { return one.Title == fig.Title }) {
		t.Error("the page lacks the picture")
	}

	f = shape{islands: 1, lines: 6, batches: true}.make(t)
	unlearned(f, false)
	if fig := f.view(t).unlearning(); len(fig.Data.Rows) != 2 || len(fig.Legend) != 2 || strings.Contains(fig.Caption, "Medians") {
		t.Errorf("without validation examples: %+v", fig)
	}
}

// coursed gives a made-up run a search whose chosen restart had these NLL.
func coursed(f fixture, from int, train, val []uq.Number) {
	f.run.Chosen, f.run.Courses = 1, []starling.Course{{From: 1, Train: []uq.Number{9}}, {Restart: 1, From: from, Train: train, Val: val}}
}

// TestSearchFigure: the page of a run with a search shows the chosen restart epoch by epoch.
func TestSearchFigure(t *testing.T) {
	f := shape{restarts: true}.make(t)
	if f.view(t).search().Figures != nil {
		t.Error("a run without courses has a picture of them")
	}
	coursed(f, 0, []uq.Number{3, 2, 1}, []uq.Number{4, 2.5, 3})
	fig := f.view(t).search().Figures[0]
	if diff := cmp.Diff([][]string{{"3.0000", "1.0000", "2", "1.0000"}, {"4.0000", "2.5000", "1", "3.0000"}}, cells(fig.Data)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if !strings.Contains(fig.Caption, "restart 1, the best of 3") || !strings.Contains(fig.Caption, "Epoch 0") {
		t.Error(fig.Caption)
	}
	for keep, told := range map[string]bool{method.KeepBestEpoch: false, method.KeepLastEpoch: true} {
		f.run.Spec.MAP = &method.Search{Keep: keep}
		if fig := f.view(t).search().Figures[0]; strings.Contains(fig.Caption, "The last epoch is kept") != told {
			t.Errorf("keep: %s: %s", keep, fig.Caption)
		}
	}
	var page strings.Builder
	if err := Write(&page, f.run, f.a); err != nil || !strings.Contains(page.String(), `id="search"`) {
		t.Error("the page lacks the picture")
	}
}

func cells(t *table) (all [][]string) {
	for _, r := range t.Rows {
		var row []string
		for _, c := range r.Cells {
			row = append(row, c.Text)
		}
		all = append(all, row)
	}
	return all
}

// TestLearningOfRuns: a comparison draws the islands that unlearn and the descent that learns on over the same passes: a particle with
// gradients of 60 examples an iteration has made a pass of 60 training examples.
func TestLearningOfRuns(t *testing.T) {
	islands := shape{name: "islands", islands: 1, lines: 6, batches: true}.make(t)
	descent := shape{name: "descent", single: true}.make(t)
	both := func() *figure {
		return learning([]string{"islands", "descent"}, []*view{islands.view(t), descent.view(t)})
	}
	for i := range islands.run.Trace {
		l := &islands.run.Trace[i]
		l.Examples, l.Gradients = 60, 4*60*l.K
	}
	unlearned(islands, true)
	if both() != nil {
		t.Error("a curve of one run alone is drawn")
	}
	coursed(descent, 0, []uq.Number{3, 2, 1}, []uq.Number{4, 2.5, 3})
	fig := both()
	want := [][]string{
		{"0.0000", "0.0000", "0", "0.6000"}, {"3.0000", "3.0000", "0", "3.6000"}, {"0.0000", "0.0000", "0", "0.3000"}, {"3.0000", "2.4000", "6", "2.4000"},
		{"3.0000", "1.0000", "2", "1.0000"}, {"4.0000", "2.5000", "1", "3.0000"},
	}
	if diff := cmp.Diff(want, cells(fig.Data)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	c, err := NewComparison([]Evaluated{{"islands", islands.run, islands.a}, {"descent", descent.run, descent.a}})
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	if err := c.Write(&page); err != nil || !strings.Contains(page.String(), `training-by-passes`) {
		t.Errorf("the page lacks the picture: %v", err)
	}
	if len(fig.Charts) != 2 || len(fig.Legend) != 3 {
		t.Errorf("%d charts, legend %v", len(fig.Charts), fig.Legend)
	}
}
