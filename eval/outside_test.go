package eval

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/nn"
)

// TestPredictOutside: the last column counts the inputs outside the training rows, a row with one is foreign whatever its energy is, and
// notes tell the columns and the slip of units once. Threads and blocks change nothing. The table has a of 49 to 51 and b of ±0.001.
func TestPredictOutside(t *testing.T) {
	text := testkit.Table(300, "yes", "no", "perhaps")
	p := problem(t, text, true, false)
	run := predictor(t, p, 3, nn.Categorical{})
	run.Decision = decided(t, run.Posterior, p.Validate)
	run.Decision.Threshold, run.Decision.MeanLogits = 1e9, 1e9 // no energy is above it
	var notes []string
	run.Note = func(text string) { notes = append(notes, text) }
	var in strings.Builder
	in.WriteString("a,b\n")
	var want []string
	for i := range 1500 {
		switch i % 3 {
		case 0:
			in.WriteString("50,0.0005\n")
			want = append(want, "0  ")
		case 1:
			in.WriteString("5000,0.0005\n")
			want = append(want, "1  1")
		case 2:
			in.WriteString("-1,2000\n")
			want = append(want, "1  2")
		}
	}
	file := saved(t, "new.csv", in.String())
	table := predicted(t, run, file)
	for i, row := range table[1:] {
		if got := strings.Join(row[len(row)-3:], " "); got != want[i] {
			t.Fatalf("row %d: foreign, missing and outside are %q, want %q", i, got, want[i])
		}
	}
	if len(notes) != 1 || !strings.Contains(notes[0], `1,000 of 1,500 rows of `+file+` lie outside the training rows: "a" in 1,000 (−1 to 5,000; in training 49 to 51) and "b" in 500 (2,000; in training −0.0`) {
		t.Errorf("notes %q", notes)
	}
	for _, threads := range []int{1, 3} {
		run.Pool = pool.New(threads)
		for i, row := range predicted(t, run, file) {
			if !slices.Equal(row, table[i]) {
				t.Fatalf("with %d threads row %d is %q, was %q", threads, i, row, table[i])
			}
		}
	}
	// In another unit.
	notes = nil
	predicted(t, run, saved(t, "new.csv", "a,b\n500,0.005\n495,-0.0085\n"))
	if len(notes) != 2 || !strings.Contains(notes[1], `some 10 times larger than in training, as if in another unit: "a" and "b". If so, divide them by 10`) {
		t.Errorf("notes %q", notes)
	}
	notes = nil
	if predicted(t, run, saved(t, "new.csv", "a,b\n50,0.0005\n")); notes != nil {
		t.Errorf("notes of a clean row: %q", notes)
	}
	// A run of an older version.
	p.Schema.Ranges, notes = nil, nil
	for i, row := range predicted(t, run, file)[1:] {
		if row[len(row)-1] != "" || row[len(row)-3] != "0" || !slices.Equal(row[:len(row)-3], table[1+i][:len(row)-3]) {
			t.Fatalf("without ranges row %d is %q, was %q", i, row, table[1+i])
		}
	}
	if len(notes) != 1 || notes[0] != finding.Of(finding.NoRanges{}).Words() {
		t.Errorf("notes without ranges %q", notes)
	}
}

// TestPredictOutsideOfNumbers: a regression has the column and the notes, and an array of predictions has not.
func TestPredictOutsideOfNumbers(t *testing.T) {
	run := predictor(t, problem(t, testkit.Table(60), false, true), 1, nn.Gaussian{SD: nn.Learned})
	var notes []string
	run.Note = func(text string) { notes = append(notes, text) }
	in := saved(t, "new.csv", "a,b\n50,0.0005\n58e12,0.0005\n50,0.0005\n")
	var got []string
	for _, row := range predicted(t, run, in)[1:] {
		got = append(got, row[len(row)-1])
	}
	if !slices.Equal(got, []string{"", "1", ""}) || len(notes) != 1 || !strings.Contains(notes[0], `"a" in 1 (5.8e+13; in training 49`) {
		t.Errorf("outside %q, notes %q", got, notes)
	}
	out := filepath.Join(t.TempDir(), "out.npy")
	if _, err := run.File(t.Context(), in, out); err != nil {
		t.Fatal(err)
	}
	if a, err := data.ReadNPY(out); err != nil || !slices.Equal(a.Shape, []int{3, 6}) || len(notes) != 2 {
		t.Errorf("%v, %v, notes %q", a, err, notes)
	}
}

// TestFewForThreshold: a threshold of few validation examples is told, with the share that it may refuse; one of many is not.
func TestFewForThreshold(t *testing.T) {
	for n, few := range map[int]bool{120: true, 3000: false} {
		p := problem(t, testkit.Table(n, "yes", "no", "perhaps"), true, false)
		_, found, err := Decide(t.Context(), &Ensembles{Posterior: predictor(t, p, 3, nn.Categorical{}).Posterior}, p.Lessons(), nil, nil, 0, nil)
		if err != nil || finding.Has(found, finding.FewForThreshold{}) != few {
			t.Errorf("%d rows: %v, %v", n, found, err)
		}
		if few {
			if f := finding.All[finding.FewForThreshold](found)[0]; f.Examples != 12 || !(math.Abs(f.AtMost-(1-math.Pow(.05, 1./12))) < 1e-12) {
				t.Errorf("%+v", f)
			}
		}
	}
}

// TestRounded: a probability that a rounding took below 0 or above 1 is 0 or 1, and a negative one that is no rounding is an error.
func TestRounded(t *testing.T) {
	values := []float64{-1e-17, 1 + 1e-7, .5, .5, 1, -1e-7}
	if err := checkProbabilities("p", values, []int{3, 2}); err != nil || !slices.Equal(values, []float64{0, 1, .5, .5, 1, 0}) {
		t.Errorf("%v, %v", values, err)
	}
	if err := checkProbabilities("p", []float64{-1e-3, 1.001}, []int{1, 2}); err == nil || !strings.Contains(err.Error(), "are these logits?") {
		t.Errorf("%v", err)
	}
	labels := saved(t, "y.idx", integers(1, 0))
	probs := filepath.Join(t.TempDir(), "p.npy")
	save(t, probs, npy(t, []int{2, 2}, -1e-17, 1, .5, .5))
	scores, err := ScoreFiles(probs, labels, "", nil)
	if err != nil || !(math.Abs(float64(scores.NLL)-math.Log(2)/2) < 1e-12) {
		t.Errorf("%+v, %v", scores, err)
	}
}
