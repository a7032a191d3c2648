package eval

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/nn"
)

// TestPredictKey: the text of the key column stands beside the prediction of its own row, in every block of a long file, and changes
// nothing else.
func TestPredictKey(t *testing.T) {
	run := predictor(t, problem(t, testkit.Table(300, "yes", "no", "perhaps"), true, false), 3, nn.Categorical{})
	plain, keyed := "a,b\n", "a,my key,b,note\n"
	var keys []string
	for i := range 2500 {
		key := fmt.Sprintf("k %d", i*7919%2500)
		switch i % 5 {
		case 1:
			key = `say "` + key + `", please`
		case 2:
			key = fmt.Sprintf("%08d", i) // the zeros are part of it
		case 3:
			key = ""
		case 4:
			key += "  "
		}
		keys = append(keys, key)
		x := fmt.Sprintf("%v", 49+float64(i%97)/40)
		plain += x + ",0.001\n"
		keyed += x + `,"` + strings.ReplaceAll(key, `"`, `""`) + `",0.001,x` + "\n"
	}
	want := predicted(t, run, saved(t, "in.csv", plain))
	var notes []string
	run.Key, run.Note = "my key", func(text string) { notes = append(notes, text) }
	in := saved(t, "in.csv", keyed)
	got := predicted(t, run, in)
	for i, row := range got {
		other := slices.Insert(slices.Clone(want[i]), 1, "my key")
		if i > 0 {
			other[1] = keys[i-1]
		}
		if !slices.Equal(row, other) {
			t.Fatalf("line %d is %q, want %q", i, row, other)
		}
	}
	if text := `column "note" of ` + in + ` is ignored: the run's table had no such column`; !slices.Equal(notes, []string{text}) {
		t.Errorf("notes %q, want %q once", notes, text)
	}
	// Our own reader finds the blanks at the end of a key, too.
	out := filepath.Join(t.TempDir(), "out.csv")
	if _, err := run.File(t.Context(), in, out); err != nil {
		t.Fatal(err)
	}
	table, err := data.ReadCSV(out, data.CSV{Target: "my key", Drop: []string{"class", "abstain"}})
	if err != nil {
		t.Fatal(err)
	}
	if j := 1; table.Names[j][int(table.Values[4*table.Cols+j])] != keys[4] {
		t.Errorf("key %q is read as %q", keys[4], table.Names[j][int(table.Values[4*table.Cols+j])])
	}
	beginning, err := os.ReadFile(out)
	if err != nil || !IsPredictions(beginning) {
		t.Errorf("not taken for predictions: %.200s, %v", beginning, err)
	}
}

// TestPredictKeyIsAnyColumn: an input, the target or a column that the run does not know, by name or by number; a regression, too.
func TestPredictKeyIsAnyColumn(t *testing.T) {
	run := predictor(t, problem(t, testkit.Table(60), false, true), 1, nn.Gaussian{SD: nn.Learned})
	for _, c := range []struct{ key, text, want string }{
		{"a", "a,b\n50.50,0.001\n", "50.50"}, {"y", "y,a,b\nunknown,50.5,0.001\n", "unknown"}, {"z", "a,b,z\n50.5,0.001,=1+1\n", "=1+1"}, {"2", "50.5,0.0010\n", "0.0010"},
		{"same", "a,same,b\n50.5,7x,0.001\n", "7x"},
	} {
		run.Key = c.key
		table := predicted(t, run, saved(t, "in.csv", c.text))
		if table[0][1] != c.key || table[1][1] != c.want || table[0][2] != "mean" {
			t.Errorf("key %s: %q", c.key, table)
		}
	}
	run.Key, run.Safe = "=z", true
	if table := predicted(t, run, saved(t, "in.csv", "a,b,=z\n50.5,0.001,@x\n")); table[0][1] != "'=z" || table[1][1] != "'@x" {
		t.Errorf("formulas: %q", table)
	}
}

func TestPredictKeyRefuses(t *testing.T) {
	run := predictor(t, problem(t, testkit.Table(300, "yes", "no", "perhaps"), true, false), 3, nn.Categorical{})
	in := saved(t, "in.csv", "a,b,name,p_yes\n50.5,0.001,x,y\n")
	array := saved(t, "x.npy", npy(t, []int{1, 2}, 50.5, 0.001))
	var usage *UsageError
	var bad *InputError
	for _, c := range []struct {
		key, in, out string
		target       any
		want         string
	}{
		{"nam", in, "out.csv", &bad, `no column "nam" among "a", "b", "name", "p_yes": did you mean "name"?`},
		{"p_yes", in, "out.csv", &usage, `the predictions have a column "p_yes" of their own: give the key column another name`},
		{"row", in, "out.csv", &usage, `the predictions have a column "row" of their own`},
		{"name", in, "out.npy", &usage, `an array holds numbers alone: to copy the column "name", write the predictions as .csv`},
		{"name", array, "out.csv", &usage, `x.npy is an array, which has no column "name": name a CSV`},
	} {
		run.Key = c.key
		_, err := run.File(t.Context(), c.in, filepath.Join(t.TempDir(), c.out))
		if err == nil || !errors.As(err, c.target) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %T %v, want %s", c.key, err, err, c.want)
		}
	}
	for _, key := range []string{"row", "class", "p_yes"} { // a pipe as well as a file
		run.Key = key
		var text strings.Builder
		_, err := run.To(t.Context(), saved(t, "in.csv", "a,b,row,class,p_yes\n50.5,0.001,x,y,z\n"), &text)
		if want := fmt.Sprintf("the predictions have a column %q of their own", key); !errors.As(err, &usage) || !strings.Contains(err.Error(), want) || text.Len() > 0 {
			t.Errorf("to a pipe, key %s: %v, want %s; written %q", key, err, want, text.String())
		}
	}
}

// TestPredictByPlace: a file without a header is taken by the order of the columns, which is noted where those of the run have names.
func TestPredictByPlace(t *testing.T) {
	run := predictor(t, problem(t, testkit.Table(60), false, true), 1, nn.Gaussian{SD: nn.Learned})
	var notes []string
	run.Note = func(text string) { notes = append(notes, text) }
	named, in := predicted(t, run, saved(t, "in.csv", "b,a\n0.001,50.5\n")), saved(t, "in.csv", "50.5,0.001\n")
	if got := predicted(t, run, in); notes == nil || !slices.Equal(got[1], named[1]) {
		t.Errorf("%q, with names %q", got, named)
	}
	if want := "the columns of " + in + " are taken in the order of the run's table, since it has no header"; !slices.Equal(notes, []string{want}) {
		t.Errorf("notes %q, want %q", notes, want)
	}
}

// TestPredictClassNames: the column of a class's probability has its name, whatever is in it; names that differ only in blanks or in
// quotes stay different columns.
func TestPredictClassNames(t *testing.T) {
	names := []string{"a", "A", "a ", " a", `"a"`, "a,b", "a\nb", "0", "=1+1"}
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	}
	p := problem(t, testkit.Table(300, quoted...), true, false)
	sorted := slices.Sorted(slices.Values(names))
	if !slices.Equal(p.Schema.Names, sorted) {
		t.Fatalf("classes %q", p.Schema.Names)
	}
	run := predictor(t, p, len(names), nn.Categorical{})
	out := filepath.Join(t.TempDir(), "out.csv")
	if _, err := run.File(t.Context(), saved(t, "in.csv", "a,b\n50.5,0.001\n"), out); err != nil {
		t.Fatal(err)
	}
	table, err := data.ReadCSV(out, data.CSV{Target: "class", Drop: []string{"abstain"}, Header: new(true)})
	if err != nil {
		t.Fatal(err)
	}
	for c, name := range sorted {
		if table.Header[2+c] != "p_"+name {
			t.Errorf("class %q has the column %q", name, table.Header[2+c])
		}
	}
	raw, err := os.ReadFile(out)
	if err != nil || !IsPredictions(raw) {
		t.Errorf("not taken for predictions:\n%s", raw)
	}
}

// TestPredictWords: a run on words and missing values predicts the rows of a file as the same network predicts their inputs in
// memory.
func TestPredictWords(t *testing.T) {
	text := "id,colour,a,y\n"
	for i := range 200 {
		a := fmt.Sprint(float64(i*i%31) / 4)
		if i%6 == 5 {
			a = ""
		}
		text += fmt.Sprintf("p-%d,%s,%s,%s\n", i, []string{"red", "blue", ""}[i*i%7%3], a, []string{"yes", "no"}[i*i%5%2])
	}
	file := saved(t, "train.csv", text)
	p, err := data.Settings{CSV: &data.CSV{File: file, Target: "y", Missing: "indicator"}}.Load("", data.Need{})
	if err != nil {
		t.Fatal(err)
	}
	net, err := nn.New(p.Schema.Shape, []nn.Layer{nn.Dense{Units: 4}, nn.Tanh, nn.Dense{Units: 2}}, nn.Categorical{})
	if err != nil {
		t.Fatal(err)
	}
	run := &Predictor{Posterior: ensemble(t, net, 2, 3, nil), Schema: p.Schema, Key: "id"}
	all, err := p.Schema.Read(file, "", "")
	if err != nil {
		t.Fatal(err)
	}
	want, err := run.Posterior.Predict(t.Context(), all.Test, nil)
	if err != nil {
		t.Fatal(err)
	}
	table := predicted(t, run, file)
	if head := strings.Join(table[0][:5], " "); head != "row id class p_no p_yes" || len(table) != 201 || all.Test.Features() != 5 {
		t.Fatalf("columns %s, %d lines, %d inputs", head, len(table), all.Test.Features())
	}
	for i, row := range table[1:] {
		if row[1] != fmt.Sprint("p-", i) || testkit.Number(t, row[3]) != want.Probs[2*i] {
			t.Fatalf("row %d is %q, want probability %v", i, row, want.Probs[2*i])
		}
	}
}

// full is a writer to a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestPredictWriteFault: what keeps predictions from being written is said once.
func TestPredictWriteFault(t *testing.T) {
	run := predictor(t, problem(t, testkit.Table(60), false, true), 1, nn.Gaussian{SD: nn.Learned})
	for _, rows := range []int{1, 5000} { // in the last block, or before
		_, err := run.To(t.Context(), saved(t, "in.csv", "a,b\n"+strings.Repeat("50.5,0.001\n", rows)), full{})
		if err == nil || err.Error() != syscall.ENOSPC.Error() {
			t.Errorf("%d rows: %v", rows, err)
		}
	}
}
