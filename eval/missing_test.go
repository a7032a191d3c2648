package eval

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/nn"
)

// TestPredictMissing: a row without a value is predicted as if it had the mean of the training rows, counted and said; the others are
// predicted as without it. With Complete it is an error.
func TestPredictMissing(t *testing.T) {
	p := problem(t, testkit.Table(300), false, true)
	run := predictor(t, p, 1, nn.Gaussian{SD: nn.Learned})
	var notes []string
	run.Note = func(text string) { notes = append(notes, text) }
	lines := func(text string) []string {
		out := filepath.Join(t.TempDir(), "out.csv")
		if _, err := run.File(t.Context(), saved(t, "in.csv", text), out); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(raw)), "\n")
	}
	mean := strconv.FormatFloat(p.Schema.Inputs.Mean[1], 'g', -1, 64)
	gaps, whole := lines("a,b\n50.5,0.001\n50.5,\n50,NA\n"), lines("a,b\n50.5,0.001\n50.5,"+mean+"\n50,"+mean+"\n")
	if gaps[0] != whole[0] || gaps[1] != whole[1] || gaps[2] != whole[2][:len(whole[2])-1]+"1," || gaps[3] != whole[3][:len(whole[3])-1]+"1," || !strings.HasSuffix(gaps[0], ",missing,outside") || !strings.HasSuffix(gaps[1], ",,") {
		t.Errorf("with gaps\n%s\nwith means\n%s", strings.Join(gaps, "\n"), strings.Join(whole, "\n"))
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "2 missing values in 2 rows of ") {
		t.Errorf("said %q", notes)
	}
	run.Complete = true
	if _, err := run.File(t.Context(), saved(t, "in.csv", "a,b\n50.5,\n"), filepath.Join(t.TempDir(), "out.csv")); err == nil || !strings.Contains(err.Error(), "line 2, column 2 (b): the value is missing") {
		t.Errorf("refused: %v", err)
	}
	run.Complete, run.Schema = false, &data.Schema{}
	*run.Schema = *p.Schema
	run.Schema.Inputs = nil
	if _, err := run.File(t.Context(), saved(t, "in.csv", "a,b\n50.5,\n"), filepath.Join(t.TempDir(), "out.csv")); err == nil || !strings.Contains(err.Error(), "the run keeps no mean") {
		t.Errorf("without means: %v", err)
	}
}
