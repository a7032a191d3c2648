package starling

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
)

// quick is a run of a table in a moment: rows of it are text of a CSV with a header and the target y.
func quick(t *testing.T, text, likelihood string, outputs int, sets ...string) *Run {
	t.Helper()
	file := filepath.Join(t.TempDir(), "train.csv")
	save(t, file, []byte(text))
	return tiny(t, fmt.Sprintf("{csv: {file: %s, target: y}}", strconv.Quote(file)), likelihood, outputs, sets...)
}

func tiny(t *testing.T, from, likelihood string, outputs int, sets ...string) *Run {
	t.Helper()
	config := filepath.Join(t.TempDir(), "tiny.yaml")
	save(t, config, fmt.Appendf(nil, `
data: %s
model: {layers: [{dense: 4}, tanh, {dense: %d}], likelihood: %s}
prior: {normal: {variance: 1}}
method: {smc: {particles: 6, islands: 2, move: {hmc: {steps: 3, mutations: 2}}, resample: {when: never}}}
`, from, outputs, likelihood))
	_, run := openedRun(t, config, sets...)
	return run
}

func save(t *testing.T, file string, text []byte) {
	t.Helper()
	if err := os.WriteFile(file, text, 0o666); err != nil {
		t.Fatal(err)
	}
}

// lines is a table of n rows: two inputs, a constant, and a target that is a word if names has any, else a number.
func lines(n int, names ...string) string {
	var b strings.Builder
	b.WriteString("a,same,b,y\n")
	for i := range n {
		a, c := math.Sin(float64(i)), math.Cos(float64(3*i))
		y := strconv.FormatFloat(100+20*a*c, 'g', 6, 64)
		if names != nil {
			y = names[i%len(names)]
		}
		fmt.Fprintf(&b, "%.4f,7,%.4f,%s\n", 50+a, c/1000, y)
	}
	return b.String()
}

// TestPredictEqualsEvaluate: the test examples of a run, written to a file, are predicted to the last bit as evaluate
// does, in whatever company: the file is longer than a block, and the same rows stand in it at other places.
func TestPredictEqualsEvaluate(t *testing.T) {
	text := lines(300, "yes", "no", "perhaps")
	run := quick(t, text, "categorical", 3)
	p, err := run.problem(On{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := run.Posterior.Predict(t.Context(), p.Test, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, held, err := data.Split(300, 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.SplitAfter(text, "\n")
	const times = 50 // 1,500 rows
	body := all[0]
	for k := range times {
		for i := range held[0] {
			body += all[1+held[0][(i+k)%len(held[0])]]
		}
	}
	in := filepath.Join(t.TempDir(), "in.csv")
	save(t, in, []byte(body))
	table := predicted(t, run, in)
	if got := strings.Join(table[0], ","); got != "row,class,p_0,p_1,p_2,entropy_total,entropy_aleatoric,entropy_epistemic,abstain" {
		t.Errorf("columns %s", got)
	}
	n := len(held[0])
	for r, row := range table[1:] {
		i := (r%n + r/n) % n
		probs := want.Probs[3*i : 3*i+3]
		values := append(slices.Clone(probs), want.Total[i], want.Aleatoric[i], want.Epistemic[i])
		for k, v := range values {
			if got := number(t, row[2+k]); got != v {
				t.Fatalf("row %d, column %d is %v, evaluate has %v", r, 2+k, got, v)
			}
			if row[2+k] != strconv.FormatFloat(v, 'g', -1, 64) {
				t.Fatalf("row %d: %s is not the shortest text of %v", r, row[2+k], v)
			}
		}
		best := slices.Index(probs, slices.Max(probs))
		if class := []string{"no", "perhaps", "yes"}[best]; row[0] != strconv.Itoa(r) || row[1] != class || row[8] != "" {
			t.Fatalf("row %d: %q, want class %s", r, row, class)
		}
	}
	if len(table) != 1+times*n {
		t.Errorf("%d rows, want %d", len(table)-1, times*n)
	}
}

// TestPredictColumns: the same inputs in every form that they may have give the same file of predictions.
func TestPredictColumns(t *testing.T) {
	run := quick(t, lines(60), "{gaussian: {sd: learned}}", 1)
	if run.Schema.Dropped == nil || len(run.Manifest.Notes) == 0 || run.Manifest.Notes[0] != "column same is constant over the training rows and was dropped" {
		t.Fatalf("dropped %v, notes %q", run.Schema.Dropped, run.Manifest.Notes)
	}
	dir, want := t.TempDir(), ""
	for name, text := range map[string]string{
		"whole":        "a,same,b,y\n50.5,7,0.001,90\n49.75,7,-0.0005,110\n",
		"no target":    "a,same,b\n50.5,7,0.001\n49.75,7,-0.0005\n",
		"inputs":       "a,b\n50.5,0.001\n49.75,-0.0005\n",
		"other order":  "y,b,a\n90,0.001,50.5\n110,-0.0005,49.75\n",
		"not constant": "a,same,b\n50.5,1,0.001\n49.75,-2,-0.0005\n",
		"semicolons":   "b;a\n0.001;50.5\n-0.0005;49.75\n",
		"odd target":   "a,same,b,y\n50.5,,0.001,unknown\n49.75,7,-0.0005,\n",
		"bare":         "50.5,7,0.001,90\n49.75,7,-0.0005,110\n",
		"bare inputs":  "50.5,7,0.001\n49.75,7,-0.0005\n",
		"bare, kept":   "50.5,0.001\n49.75,-0.0005\n",
	} {
		in, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, "out.csv")
		save(t, in, []byte(text))
		rows, err := run.Predict(t.Context(), in, out, Options{Threads: 2})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = string(got)
		}
		if string(got) != want || rows != 2 {
			t.Errorf("%s: %d rows\n%s, want\n%s", name, rows, got, want)
		}
	}
	if !strings.HasPrefix(want, "row,mean,sd_aleatoric,sd_epistemic,q05,q50,q95\n0,") {
		t.Errorf("predictions:\n%s", want)
	}
	// As an array, too: float32 holds 50.5 and 49.75, and the others up to rounding.
	var b bytes.Buffer
	if err := data.WriteNPY(&b, []int{2, 2}, []float64{50.5, 0.001, 49.75, -0.0005}); err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(dir, "in.npy")
	save(t, in, b.Bytes())
	for i, row := range predicted(t, run, in)[1:] {
		for k, cell := range strings.Split(strings.Split(want, "\n")[1+i], ",") {
			if a, b := number(t, row[k]), number(t, cell); !(math.Abs(a-b) <= 1e-4*math.Abs(b)) {
				t.Errorf("row %d, column %d of an array is %v, of a table %v", i, k, a, b)
			}
		}
	}
}

// TestPredictReadsAsFit: what the config says of a table's form is true of files to predict.
func TestPredictReadsAsFit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "train.csv")
	text := strings.ReplaceAll(strings.Replace(lines(60), "a,same,b,y", "1,2,3,y", 1), ",", ";")
	save(t, file, []byte(text))
	run := tiny(t, fmt.Sprintf("{csv: {file: %q, target: y, header: true, delimiter: ;}}", file), "{gaussian: {sd: learned}}", 1)
	in := filepath.Join(t.TempDir(), "in.csv")
	save(t, in, []byte("3;1\n0.001;50.5\n")) // a guess would take the first line for numbers
	if table := predicted(t, run, in); len(table) != 2 {
		t.Errorf("%d rows of one", len(table)-1)
	}
}

// TestPredictUnits: a network that learns standardised targets predicts in the units of the target, as does the same
// network worked out by hand from its posterior; multiplying the target by 1,000 multiplies all of it.
func TestPredictUnits(t *testing.T) {
	run := quick(t, lines(60), "{gaussian: {sd: learned}}", 1)
	in := filepath.Join(t.TempDir(), "in.csv")
	save(t, in, []byte("a,b\n50.5,0.001\n49.75,-0.0005\n"))
	table := predicted(t, run, in)
	s, x := run.Schema, []float64{50.5, 0.001}
	target, d := s.Targets, run.Net.Dim()
	mean, square, noise := 0.0, 0.0, 0.0
	for j, l := range run.Posterior.LogWeights {
		theta := run.Posterior.Theta[j*d : (j+1)*d] // [4,2] [4] [1,4] [1] log σ
		mu := float64(theta[16])
		for h := range 4 {
			z := float64(theta[8+h])
			for k, v := range x {
				z += float64(theta[2*h+k]) * float64(float32((v-s.Inputs.Mean[k])/s.Inputs.SD[k]))
			}
			mu += float64(theta[12+h]) * math.Tanh(z)
		}
		w, sd := math.Exp(l), math.Exp(float64(theta[17]))
		mean, square, noise = mean+w*mu, square+w*mu*mu, noise+w*sd*sd
	}
	want := []float64{
		target.Mean[0] + target.SD[0]*mean, target.SD[0] * math.Sqrt(noise), target.SD[0] * math.Sqrt(square-mean*mean),
	}
	for k, v := range want {
		if got := number(t, table[1][1+k]); !(math.Abs(got-v) <= 1e-4*math.Abs(v)) {
			t.Errorf("%s is %v, by hand %v", table[0][1+k], got, v)
		}
	}
	if q05, q50, q95 := number(t, table[1][4]), number(t, table[1][5]), number(t, table[1][6]); !(q05 < q50 && q50 < q95 && q05 > 0) {
		t.Errorf("quantiles %v, %v, %v", q05, q50, q95)
	}

	var scaled strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(lines(60)), "\n") {
		if cut := strings.LastIndex(line, ",") + 1; i > 0 {
			line = line[:cut] + strconv.FormatFloat(1000*number(t, line[cut:]), 'g', -1, 64)
		}
		scaled.WriteString(line + "\n")
	}
	for i, row := range predicted(t, quick(t, scaled.String(), "{gaussian: {sd: learned}}", 1), in)[1:] {
		for k := 1; k < len(row); k++ {
			if a, b := number(t, row[k]), 1000*number(t, table[1+i][k]); !(math.Abs(a-b) <= 1e-3*math.Abs(b)) {
				t.Errorf("row %d, %s: %v of a target a thousand times as large, %v", i, table[0][k], a, b)
			}
		}
	}
}

// TestPredictArrays: NPY out has the figures of CSV out, for classes, one output and several.
func TestPredictArrays(t *testing.T) {
	dir := t.TempDir()
	array := func(name string, shape []int, value func(i int) float64) string {
		n := 1
		for _, d := range shape {
			n *= d
		}
		values := make([]float64, n)
		for i := range values {
			values[i] = value(i)
		}
		var b bytes.Buffer
		if err := data.WriteNPY(&b, shape, values); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, name)
		save(t, file, b.Bytes())
		return file
	}
	x := array("x.npy", []int{80, 3}, func(i int) float64 { return math.Sin(float64(i)) })
	y := array("y.npy", []int{80, 2}, func(i int) float64 { return float64(1+i%2*99) * (2 + math.Sin(float64(i/2*3))) })
	one := array("one.npy", []int{80}, func(i int) float64 { return 7 * math.Sin(float64(3*i)) })
	save(t, filepath.Join(dir, "classes.idx"), append([]byte{0, 0, 8, 1, 0, 0, 0, 80}, bytes.Repeat([]byte{0, 1}, 40)...))
	arrays := func(targets string) string {
		return fmt.Sprintf("{train: {inputs: %q, targets: %q}, standardise: inputs}", x, targets)
	}
	for name, c := range map[string]struct {
		run     *Run
		shape   []int
		columns string
	}{
		"two outputs": {tiny(t, arrays(y), "{gaussian: {sd: learned}}", 2, "data.standardise=both"), []int{80, 2, 6}, "row,mean_0,sd_aleatoric_0,sd_epistemic_0,q05_0,q50_0,q95_0,mean_1,sd_aleatoric_1,sd_epistemic_1,q05_1,q50_1,q95_1"},
		"one output":  {tiny(t, arrays(one), "{gaussian: {sd: 2}}", 1), []int{80, 6}, "row,mean,sd_aleatoric,sd_epistemic,q05,q50,q95"},
		"classes":     {tiny(t, arrays(filepath.Join(dir, "classes.idx")), "bernoulli", 1), []int{80, 2}, "row,class,p_0,p_1,entropy_total,entropy_aleatoric,entropy_epistemic,abstain"},
	} {
		table := predicted(t, c.run, x)
		if got := strings.Join(table[0], ","); got != c.columns {
			t.Errorf("%s: columns %s", name, got)
		}
		out := filepath.Join(dir, "out.npy")
		if _, err := c.run.Predict(t.Context(), x, out, Options{}); err != nil {
			t.Fatal(err)
		}
		a, err := data.ReadNPY(out)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a.Shape, c.shape) {
			t.Fatalf("%s: shape %v, want %v", name, a.Shape, c.shape)
		}
		values, first := a.Float64s(), strings.Count(strings.Split(c.columns, "p_0")[0], ",")
		if first > 2 {
			first = 1
		}
		width := len(values) / 80
		for i, v := range values {
			if got := number(t, table[1+i/width][first+i%width]); got != v {
				t.Fatalf("%s: value %d is %v in NPY, %v in CSV", name, i, v, got)
			}
		}
		if name == "two outputs" && !(number(t, table[1][7]) > 30*number(t, table[1][1])) {
			t.Errorf("means %s and %s of targets a hundred times apart", table[1][1], table[1][7])
		}
	}
}

// TestPredictRefuses: nothing is written, an old file stays, and the fault is named with its place.
func TestPredictRefuses(t *testing.T) {
	run := quick(t, lines(60), "{gaussian: {sd: learned}}", 1)
	var config *ConfigError
	var bad *DataError
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, "out.csv")
	npy := func(shape []int, values ...float64) string {
		var b bytes.Buffer
		if err := data.WriteNPY(&b, shape, values); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	long := "a,b\n" + strings.Repeat("50,0\n", 3000)
	far := make([]float64, 4000)
	far[3001] = math.NaN()
	for name, c := range map[string]struct {
		text, out string
		target    any
		want      string
	}{
		"extra":        {"a,b,c\n1,2,3\n", out, &bad, `has columns that the run's table had not: "c"`},
		"missing":      {"a,same,y\n1,2,3\n", out, &bad, `lacks "b" of the run's columns`},
		"misspelt":     {"A,b\n1,2\n", out, &bad, `lacks "a" of the run's columns, and has "A" instead`},
		"twice":        {"a,b,a\n1,2,3\n", out, &bad, `columns 1 and 3 are both named "a"`},
		"counts":       {"1,2,3,4,5\n", out, &bad, "rows of 5 values, the run was trained on rows of 2 inputs (3 with the constant columns), or 4 columns with the target"},
		"missing cell": {"a,b\n1,2\n3,\n", out, &bad, "in.csv: line 3, column 2 (b): the value is missing"},
		"far cell":     {long + "50,nan\n", out, &bad, "in.csv: line 3002, column 2 (b): the value is missing"},
		"infinite":     {"a,b\n1,2\ninf,3\n", out, &bad, "line 3, column 1 (a): the value is infinite"},
		"word":         {"a,b\n1,2\nthree,3\n", out, &bad, `line 3, column 1 (a): "three" is not a number`},
		"word in y":    {"1,2,x\n1,2,3\n", out, &bad, "in.csv"},
		"empty":        {"", out, &bad, "in.csv"},
		"array":        {npy([]int{1, 3, 3}, make([]float64, 9)...), out, &bad, "examples of shape [1 3 3], the run was trained on rows of 2 inputs"},
		"array's row":  {npy([]int{2, 7}, make([]float64, 14)...), out, &bad, "rows of 7 values, the run was trained on rows of 2 inputs"},
		"far NaN":      {npy([]int{2000, 2}, far...), out, &bad, "example 1500, feature 1 is NaN"},
		"form":         {"a,b\n1,2\n", filepath.Join(dir, "out.txt"), &config, "out.txt: predictions are written as .csv or .npy"},
		"folder":       {"a,b\n1,2\n", filepath.Join(dir, "none", "out.csv"), &config, "there is no folder"},
		"itself":       {"a,b\n1,2\n", in, &config, "is the file of inputs"},
	} {
		save(t, in, []byte(c.text))
		save(t, out, []byte("old"))
		_, err := run.Predict(t.Context(), in, c.out, Options{})
		if err == nil || !errors.As(err, c.target) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %T %v, want %q", name, err, err, c.want)
		}
		if kept, err := os.ReadFile(out); string(kept) != "old" {
			t.Errorf("%s: the old file is %q, %v", name, kept, err)
		}
		if files, _ := os.ReadDir(dir); len(files) != 2 {
			t.Errorf("%s: left behind: %v", name, files)
		}
	}
	images := tiny(t, "{train: {inputs: examples/images-train.npy, targets: examples/images-train-labels.npy}}", "categorical", 9)
	save(t, in, []byte(npy([]int{2, 4, 4}, make([]float64, 32)...)))
	if _, err := images.Predict(t.Context(), in, out, Options{}); !errors.As(err, &bad) || !strings.Contains(err.Error(), "examples of shape [1 4 4], the run was trained on examples of shape [1 8 8]") {
		t.Errorf("small images: %v", err)
	}
}

// TestPredictUndefined: where the network overflows nothing is known: no class is named, and figures are NaN. Infinite
// ones are written as they are read.
func TestPredictUndefined(t *testing.T) {
	run := quick(t, lines(300, "yes", "no", "perhaps"), "categorical", 3)
	for i := range run.Posterior.Theta {
		run.Posterior.Theta[i] = 3e38
	}
	in := filepath.Join(t.TempDir(), "in.csv")
	save(t, in, []byte("a,b\n50.5,0.001\n50.5,0.001\n"))
	for _, row := range predicted(t, run, in)[1:] {
		if got := strings.Join(row[1:], ","); got != ",NaN,NaN,NaN,NaN,NaN,NaN," {
			t.Errorf("row %s is %s", row[0], got)
		}
	}
	for v, want := range map[float64]string{math.Inf(1): "inf", math.Inf(-1): "-inf", 0.1: "0.1", -1e300: "-1e+300"} {
		if got := shortest(v); got != want {
			t.Errorf("%v is written %s", v, got)
		}
		table, err := data.DecodeCSV("cell", []byte("a\n"+shortest(v)+"\n"), data.CSV{})
		if err != nil || table.Values[0] != v {
			t.Errorf("%v is read as %+v, %v", v, table, err)
		}
	}
}
