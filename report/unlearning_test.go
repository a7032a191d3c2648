package report

import (
	"slices"
	"strings"
	"testing"

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
