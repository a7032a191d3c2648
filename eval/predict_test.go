package eval

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/nn"
)

// predictor is one of a random ensemble for a problem.
func predictor(t *testing.T, p *data.Problem, outputs int, lik nn.Likelihood) *Predictor {
	t.Helper()
	return &Predictor{Posterior: ensemble(t, network(t, outputs, lik), 2, 6, bnn.Equal{}), Schema: p.Schema}
}

// TestPredictEqualsEvaluate: the test examples, written to a file, are predicted to the last bit as in memory, in whatever
// company: the file is longer than a block, and the same rows stand in it at other places.
func TestPredictEqualsEvaluate(t *testing.T) {
	text := testkit.Table(300, "yes", "no", "perhaps")
	p := problem(t, text, true, false)
	run := predictor(t, p, 3, nn.Categorical{})
	want := evaluated(t, run.Posterior, p).Test
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
	var told [][2]int
	run.Progress = func(done, rows int) { told = append(told, [2]int{done, rows}) }
	table := predicted(t, run, saved(t, "in.csv", body))
	if !slices.Equal(told, [][2]int{{0, 1500}, {1024, 1500}, {1500, 1500}}) {
		t.Errorf("progress %v", told)
	}
	if got := strings.Join(table[0], ","); got != "row,class,p_no,p_perhaps,p_yes,entropy_total,entropy_aleatoric,entropy_epistemic,abstain,missing,outside" {
		t.Errorf("columns %s", got)
	}
	n := len(held[0])
	for r, row := range table[1:] {
		i := (r%n + r/n) % n
		probs := want.Probs[3*i : 3*i+3]
		values := append(slices.Clone(probs), want.Total[i], want.Aleatoric[i], want.Epistemic[i])
		for k, v := range values {
			if got := testkit.Number(t, row[2+k]); got != v {
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
	run := predictor(t, problem(t, testkit.Table(60), false, true), 1, nn.Gaussian{SD: nn.Learned})
	if !slices.Equal(run.Schema.Dropped, []string{"same"}) {
		t.Fatalf("dropped %v", run.Schema.Dropped)
	}
	run.Pool = pool.New(2)
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
		"bare, kept":   "50.5,0.001\n49.75,-0.0005\n",
	} {
		in, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, "out.csv")
		save(t, in, text)
		rows, err := run.File(t.Context(), in, out)
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
	if !strings.HasPrefix(want, "row,mean,sd_aleatoric,sd_epistemic,q05,q50,q95,missing,outside\n0,") {
		t.Errorf("predictions:\n%s", want)
	}
	// Without names, three values are all but the target, or the inputs and the target: which is not told.
	const either = "rows of 3 values may lack the target, column y, or column same, which was constant: write all 4 columns of the run's table, or its 2 inputs alone"
	if _, err := run.File(t.Context(), saved(t, "in.csv", "50.5,7,0.001\n"), filepath.Join(dir, "none.csv")); err == nil || !strings.Contains(err.Error(), either) {
		t.Errorf("bare, without the target: %v", err)
	}
	// As an array, too: float32 holds 50.5 and 49.75, and the others up to rounding.
	in := saved(t, "in.npy", npy(t, []int{2, 2}, 50.5, 0.001, 49.75, -0.0005))
	for i, row := range predicted(t, run, in)[1:] {
		for k, cell := range strings.Split(strings.TrimSuffix(strings.Split(want, "\n")[1+i], ",,"), ",") {
			if a, b := testkit.Number(t, row[k]), testkit.Number(t, cell); !golden.Near(a, b, 1e-4, 0) {
				t.Errorf("row %d, column %d of an array is %v, of a table %v", i, k, a, b)
			}
		}
	}
}

// TestPredictReadsAsFit: what the schema says of a table's form is true of files to predict.
func TestPredictReadsAsFit(t *testing.T) {
	p := problem(t, testkit.Table(60), false, true)
	header := true
	p.Schema.Header, p.Schema.Delimiter = &header, ";"
	p.Schema.Columns, p.Schema.Dropped = []string{"1", "2", "3", "y"}, []string{"2"}
	run := predictor(t, p, 1, nn.Gaussian{SD: nn.Learned})
	in := saved(t, "in.csv", "3;1\n0.001;50.5\n") // a guess would take the first line for numbers
	if table := predicted(t, run, in); len(table) != 2 {
		t.Errorf("%d rows of one", len(table)-1)
	}
}

// TestPredictUnits: a network that learns standardised targets predicts in the units of the target, as does the same
// network worked out by hand from its posterior; multiplying the target by 1,000 multiplies all of it.
func TestPredictUnits(t *testing.T) {
	run := predictor(t, problem(t, testkit.Table(60), false, true), 1, nn.Gaussian{SD: nn.Learned})
	in := saved(t, "in.csv", "a,b\n50.5,0.001\n49.75,-0.0005\n")
	table := predicted(t, run, in)
	s, x := run.Schema, []float64{50.5, 0.001}
	target, d := s.Targets, run.Posterior.Net.Dim()
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
		if got := testkit.Number(t, table[1][1+k]); !golden.Near(got, v, 1e-4, 0) {
			t.Errorf("%s is %v, by hand %v", table[0][1+k], got, v)
		}
	}
	if q05, q50, q95 := testkit.Number(t, table[1][4]), testkit.Number(t, table[1][5]), testkit.Number(t, table[1][6]); !(q05 < q50 && q50 < q95 && q05 > 0) {
		t.Errorf("quantiles %v, %v, %v", q05, q50, q95)
	}

	var scaled strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(testkit.Table(60)), "\n") {
		if cut := strings.LastIndex(line, ",") + 1; i > 0 {
			line = line[:cut] + strconv.FormatFloat(1000*testkit.Number(t, line[cut:]), 'g', -1, 64)
		}
		scaled.WriteString(line + "\n")
	}
	for i, row := range predicted(t, predictor(t, problem(t, scaled.String(), false, true), 1, nn.Gaussian{SD: nn.Learned}), in)[1:] {
		for k := 1; k < len(row)-2; k++ {
			if a, b := testkit.Number(t, row[k]), 1000*testkit.Number(t, table[1+i][k]); !golden.Near(a, b, 1e-3, 0) {
				t.Errorf("row %d, %s: %v of a target a thousand times as large, %v", i, table[0][k], a, b)
			}
		}
	}
}

// TestPredictArrays: NPY out has the figures of CSV out, for classes, one output and several.
func TestPredictArrays(t *testing.T) {
	array := func(name string, shape []int, value func(i int) float64) *data.Array {
		n := 1
		for _, d := range shape {
			n *= d
		}
		values := make([]float64, n)
		for i := range values {
			values[i] = value(i)
		}
		return &data.Array{Name: name, Shape: shape, Values: values}
	}
	x := array("x.npy", []int{80, 2}, func(i int) float64 { return math.Sin(float64(i)) })
	two := array("y.npy", []int{80, 2}, func(i int) float64 { return float64(1+i%2*99) * (2 + math.Sin(float64(i/2*3))) })
	one := array("one.npy", []int{80}, func(i int) float64 { return 7 * math.Sin(float64(3*i)) })
	rows := make([]int32, 80)
	for i := range rows {
		rows[i] = int32(i)
	}
	in := saved(t, "x.npy", npy(t, x.Shape, x.Float64s()...))
	for name, c := range map[string]struct {
		targets *data.Array
		classes int
		outputs int
		lik     nn.Likelihood
		shape   []int
		columns string
	}{
		"two outputs":  {two, 0, 2, nn.Gaussian{SD: nn.Learned}, []int{80, 2, 6}, "row,mean_0,sd_aleatoric_0,sd_epistemic_0,q05_0,q50_0,q95_0,mean_1,sd_aleatoric_1,sd_epistemic_1,q05_1,q50_1,q95_1,missing,outside"},
		"four outputs": {two, 0, 4, nn.Gaussian{SD: nn.Predicted}, []int{80, 2, 6}, "row,mean_0,sd_aleatoric_0,sd_epistemic_0,q05_0,q50_0,q95_0,mean_1,sd_aleatoric_1,sd_epistemic_1,q05_1,q50_1,q95_1,missing,outside"},
		"a pair":       {one, 0, 2, nn.Gaussian{SD: nn.Predicted}, []int{80, 6}, "row,mean,sd_aleatoric,sd_epistemic,q05,q50,q95,missing,outside"},
		"one output":   {one, 0, 1, nn.Gaussian{SD: 2}, []int{80, 6}, "row,mean,sd_aleatoric,sd_epistemic,q05,q50,q95,missing,outside"},
		"classes":      {nil, 2, 1, nn.Bernoulli{}, []int{80, 2}, "row,class,p_0,p_1,entropy_total,entropy_aleatoric,entropy_epistemic,abstain,missing,outside"},
	} {
		schema, err := data.ArraySchema(x, c.targets, rows, c.classes, true, c.targets == two)
		if err != nil {
			t.Fatal(err)
		}
		run := predictor(t, &data.Problem{Schema: schema}, c.outputs, c.lik)
		table := predicted(t, run, in)
		if got := strings.Join(table[0], ","); got != c.columns {
			t.Errorf("%s: columns %s", name, got)
		}
		out := filepath.Join(t.TempDir(), "out.npy")
		if _, err := run.File(t.Context(), in, out); err != nil {
			t.Fatal(err)
		}
		a, err := data.ReadNPY(out)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a.Shape, c.shape) {
			t.Fatalf("%s: shape %v, want %v", name, a.Shape, c.shape)
		}
		values, first := a.Float64s(), 1
		if c.classes > 0 {
			first = 2
		}
		width := len(values) / 80
		for i, v := range values {
			if got := testkit.Number(t, table[1+i/width][first+i%width]); got != v {
				t.Fatalf("%s: value %d is %v in NPY, %v in CSV", name, i, v, got)
			}
		}
		if name == "two outputs" && !(testkit.Number(t, table[1][8]) > 30*testkit.Number(t, table[1][2])) {
			t.Errorf("noise %s and %s of targets a hundred times apart", table[1][2], table[1][8])
		}
	}
}

// TestPredictRefuses: nothing is written, an old file stays, and the fault is named with its place.
func TestPredictRefuses(t *testing.T) {
	run := predictor(t, problem(t, testkit.Table(60), false, true), 1, nn.Gaussian{SD: nn.Learned})
	var usage *UsageError
	var bad *InputError
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, "out.csv")
	long := "a,b\n" + strings.Repeat("50,0\n", 3000)
	far := make([]float64, 4000)
	far[3001] = math.NaN()
	run.Complete = true // a missing value is an error
	for name, c := range map[string]struct {
		text, out string
		target    any
		want      string
	}{
		"missing":      {"a,same,y\n1,2,3\n", out, &bad, `lacks "b" of the run's columns`},
		"misspelt":     {"A,b\n1,2\n", out, &bad, `lacks "a" of the run's columns, and has "A" instead`},
		"twice":        {"a,b,a\n1,2,3\n", out, &bad, `columns 1 and 3 are both named "a"`},
		"counts":       {"1,2,3,4,5\n", out, &bad, "rows of 5 values, the run was trained on rows of 2 inputs (3 with the constant columns), or 4 columns with the target"},
		"missing cell": {"a,b\n1,2\n3,\n", out, &bad, "in.csv: line 3, column 2 (b): the value is missing: fill it or remove the row"},
		"far cell":     {long + "50,nan\n", out, &bad, "in.csv: line 3002, column 2 (b): the value is missing"},
		"infinite":     {"a,b\n1,2\ninf,3\n", out, &bad, "line 3, column 1 (a): the value is infinite"},
		"word":         {"a,b\n1,2\nthree,3\n", out, &bad, `line 3, column 1 (a): "three" is not a number`},
		"word in y":    {"1,2,x\n1,2,3\n", out, &bad, "in.csv"},
		"empty":        {"", out, &bad, "in.csv"},
		"array":        {npy(t, []int{1, 3, 3}, make([]float64, 9)...), out, &bad, "examples of shape [1 3 3], the run was trained on rows of 2 inputs"},
		"array's row":  {npy(t, []int{2, 7}, make([]float64, 14)...), out, &bad, "rows of 7 values, the run was trained on rows of 2 inputs"},
		"far NaN":      {npy(t, []int{2000, 2}, far...), out, &bad, "example 1500, feature 1 is NaN"},
		"npz":          {"PK\x03\x04" + strings.Repeat("\x00", 22) + "\x05\x00\x00\x00x.npy", out, &bad, "in.csv: is an .npz archive, not one array: save each array with np.save"},
		"form":         {"a,b\n1,2\n", filepath.Join(dir, "out.txt"), &usage, "out.txt: predictions are written as .csv or .npy"},
		"folder":       {"a,b\n1,2\n", filepath.Join(dir, "none", "out.csv"), &usage, "there is no folder"},
		"itself":       {"a,b\n1,2\n", in, &usage, "is the file of inputs"},
	} {
		save(t, in, c.text)
		save(t, out, "old")
		_, err := run.File(t.Context(), in, c.out)
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
	run.Complete = false
	images, err := data.ArraySchema(&data.Array{Name: "images", Shape: []int{2, 8, 8}, Values: make([]float32, 128)}, nil, nil, 3, false, false)
	if err != nil {
		t.Fatal(err)
	}
	run.Schema = images
	save(t, in, npy(t, []int{2, 4, 4}, make([]float64, 32)...))
	if _, err := run.File(t.Context(), in, out); !errors.As(err, &bad) || !strings.Contains(err.Error(), "examples of shape [1 4 4], the run was trained on examples of shape [1 8 8]") {
		t.Errorf("small images: %v", err)
	}
}

// TestPredictUndefined: where the network overflows nothing is known: no class is named, and figures are NaN. Infinite
// ones are written as they are read.
func TestPredictUndefined(t *testing.T) {
	run := predictor(t, problem(t, testkit.Table(300, "yes", "no", "perhaps"), true, false), 3, nn.Categorical{})
	for i := range run.Posterior.Theta {
		run.Posterior.Theta[i] = 3e38
	}
	in := saved(t, "in.csv", "a,b\n50.5,0.001\n50.5,0.001\n")
	for _, row := range predicted(t, run, in)[1:] {
		if got := strings.Join(row[1:], ","); got != ",NaN,NaN,NaN,NaN,NaN,NaN,,," {
			t.Errorf("row %s is %s", row[0], got)
		}
	}
	for v, want := range map[float64]string{math.Inf(1): "inf", math.Inf(-1): "-inf", 0.1: "0.1", -1e300: "-1e+300"} {
		if got := string(appendNumber(nil, v)); got != want {
			t.Errorf("%v is written %s", v, got)
		}
		table, err := data.DecodeCSV("cell", []byte("a\n"+want+"\n"), data.CSV{})
		if err != nil || table.Values[0] != v {
			t.Errorf("%v is read as %+v, %v", v, table, err)
		}
	}
}

// TestPredictNumbersOfClasses: classes without names are their numbers.
func TestPredictNumbersOfClasses(t *testing.T) {
	p := problem(t, testkit.Table(300, "0", "1", "2"), true, false)
	if p.Schema.Names != nil {
		t.Fatalf("names %q", p.Schema.Names)
	}
	run := predictor(t, p, 3, nn.Categorical{})
	in := saved(t, "in.csv", "a,b\n50.5,0.001\n49.25,-0.001\n")
	for _, row := range predicted(t, run, in)[1:] {
		best := 0
		for c := range 3 {
			if testkit.Number(t, row[2+c]) > testkit.Number(t, row[2+best]) {
				best = c
			}
		}
		if row[1] != strconv.Itoa(best) {
			t.Errorf("row %s is of class %s, want %d", row[0], row[1], best)
		}
	}
}

// TestIsPredictions: a file is taken for predictions by its whole header, for any number of classes or outputs, and for nothing
// that NumPy, a spreadsheet or a person wrote.
func TestIsPredictions(t *testing.T) {
	for text, want := range map[string]bool{
		"row,class,p_0,p_1,entropy_total,entropy_aleatoric,entropy_epistemic,abstain\n0,a,1":                                   true,
		"row,class,p_0,p_1,p_2,p_3,p_4,entropy_total,entropy_aleatoric,entropy_epistemic,abstain\n":                            true,
		"row,mean,sd_aleatoric,sd_epistemic,q05,q50,q95\n":                                                                     true,
		"row,mean_0,sd_aleatoric_0,sd_epistemic_0,q05_0,q50_0,q95_0,mean_1,sd_aleatoric_1,sd_epistemic_1,q05_1,q50_1,q95_1\n1": true,
		"row,class,p_0,p_2,entropy_total,entropy_aleatoric,entropy_epistemic,abstain\n":                                        true, // of classes 0 and 2
		"row,id,class,p_no,\"p_a, b\",entropy_total,entropy_aleatoric,entropy_epistemic,abstain,energy,foreign\n0,7,no":        true,
		"row,\"my\nid\",mean,sd_aleatoric,sd_epistemic,q05,q50,q95\n":                                                          true,
		"row,class,p_0,p_1,entropy_total,entropy_aleatoric,entropy_epistemic,abstain,missing,outside\n":                        true,
		"row,class,p_0,p_1,entropy_total,entropy_aleatoric,entropy_epistemic,abstain,energy,foreign,missing,outside\n":         true,
		"row,id,mean,sd_aleatoric,sd_epistemic,q05,q50,q95,missing,outside\n":                                                  true,
		"row,mean,sd_aleatoric,sd_epistemic,q05,q50,q95,missing,outside,outside\n":                                             false,
		"row,id,other,mean,sd_aleatoric,sd_epistemic,q05,q50,q95\n":                                                            false,
		"row,class,\"p_no\",entropy_total,entropy_aleatoric,entropy_epistemic,abstain\n":                                       false, // other quotes
		"row,class,no,yes,entropy_total,entropy_aleatoric,entropy_epistemic,abstain\n":                                         false,
		"row,class,p_0,p_1,entropy_total,entropy_aleatoric,entropy_epistemic,abstain,note\n":                                   false,
		"row,class,p_0,p_1,entropy_total,entropy_aleatoric,entropy_epistemic,abstain\r\n":                                      false, // saved by a spreadsheet
		"row,class,entropy_total,entropy_aleatoric,entropy_epistemic,abstain\n":                                                false,
		"row,mean,sd_aleatoric,sd_epistemic\n":                                                                                 false,
		"row\n":                                                                                                                false, "": false, "\n": false, "a,b": false, "\x93NUMPY\x01\x00": false,
		string(arrays.NPYHeader([]int{3, 4})) + strings.Repeat("\x00", 600):               false,
		string(arrayBegin([]int{3, 4})) + strings.Repeat("\x00", 96):                      true,
		string(arrayBegin([]int{1 << 40, 7, 6})):                                          true,
		strings.Replace(string(arrayBegin([]int{3, 4})), "<f8", "<f4", 1):                 false,
		strings.Replace(string(arrayBegin([]int{3, 4})), "           ", "         # ", 1): false,
	} {
		if got := IsPredictions([]byte(text)); got != want {
			t.Errorf("%.200q: %v", text, got)
		}
	}
	a, err := data.DecodeNPY("p.npy", append(arrayBegin([]int{2, 3}), make([]byte, 48)...))
	if err != nil || !slices.Equal(a.Shape, []int{2, 3}) {
		t.Errorf("%+v, %v", a, err)
	}
}
