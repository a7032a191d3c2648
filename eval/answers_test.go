package eval

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/nn"
)

// learnt is the decision of a predictor from a problem's validation and training examples, the latter in place of calibration examples, and from
// foreign inputs. Nothing may be refused.
func learnt(t *testing.T, run *Predictor, p *data.Problem, by decide.Settings) *Decision {
	t.Helper()
	far := &data.Set{Name: "far", Shape: p.Train.Shape}
	for i := range 60 * p.Train.Features() {
		far.F32 = append(far.F32, float32(20*math.Sin(float64(7*i))))
	}
	lessons := (&data.Problem{Train: p.Train, Validate: p.Validate, Calibrate: p.Train, Foreign: []data.Group{{Name: "far", Set: far}}, Schema: p.Schema}).Lessons()
	d, found, err := Decide(t.Context(), &Ensembles{Posterior: run.Posterior}, lessons, &by, p.Schema, 11, nil)
	if err != nil || slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Kind == "not-decided" }) {
		t.Fatalf("%v, %v", found, err)
	}
	return d
}

// grid is a table of n rows for the networks of two inputs, no two alike.
func grid(n int) string {
	text := "a,b,id\n"
	for i := range n {
		text += fmt.Sprintf("%.5f,%.6f,k%d\n", 50+1.3*math.Sin(float64(i)), math.Cos(float64(3*i))/800, i)
	}
	return text
}

// column returns the cells of a column, and fails unless there is one of this name.
func column(t *testing.T, table [][]string, name string) (cells []string) {
	t.Helper()
	at := slices.Index(table[0], name)
	if at < 0 || slices.Contains(table[0][at+1:], name) {
		t.Fatalf("column %s of %q", name, table[0])
	}
	for _, row := range table[1:] {
		cells = append(cells, row[at])
	}
	return cells
}

// byMembers are the class probabilities of each member for a row of a table, in float64 from its parameters.
func byMembers(run *Predictor, a, b float64) (weights []float64, probs [][]float64) {
	e, s := run.Posterior, run.Schema
	d, classes := e.Net.Dim(), e.Net.Classes()
	for j, l := range e.LogWeights {
		theta := e.Theta[j*d : (j+1)*d] // [4,2] [4] [classes,4] [classes]
		z := make([]float64, classes)
		for c := range z {
			z[c] = float64(theta[12+4*classes+c])
		}
		for h := range 4 {
			in := float64(theta[8+h])
			for k, v := range []float64{a, b} {
				in += float64(theta[2*h+k]) * float64(float32((v-s.Inputs.Mean[k])/s.Inputs.SD[k]))
			}
			for c := range z {
				z[c] += float64(theta[12+4*c+h]) * math.Tanh(in)
			}
		}
		sum := 0.0
		for c, v := range z {
			z[c] = math.Exp(v)
			sum += z[c]
		}
		for c := range z {
			z[c] /= sum
		}
		weights, probs = append(weights, math.Exp(l)), append(probs, z)
	}
	return weights, probs
}

// seven are the features of a row by their definitions, and its mean probabilities.
func seven(weights []float64, probs [][]float64) (f [7]float64, mean []float64) {
	mean = make([]float64, len(probs[0]))
	entropy := func(p []float64) (h float64) {
		for _, v := range p {
			h -= v * math.Log(v)
		}
		return h
	}
	var aleatoric, top, top2, gap, gap2 float64
	for j, p := range probs {
		w, sorted := weights[j], slices.Sorted(slices.Values(p))
		first, second := sorted[len(p)-1], sorted[len(p)-2]
		for c, v := range p {
			mean[c] += w * v
		}
		aleatoric += w * entropy(p)
		top, top2 = top+w*first, top2+w*first*first
		gap, gap2 = gap+w*(first-second), gap2+w*(first-second)*(first-second)
	}
	total := entropy(mean)
	return [7]float64{slices.Max(mean), total, top, gap, total - aleatoric, top2 - top*top, gap2 - gap*gap}, mean
}

// byHand is the classifier's answer to features: 7 → 50 ReLU → 1.
func (c *Classifier) byHand(f [7]float64) float64 {
	z := c.Theta[len(c.Theta)-1]
	for h := range 50 {
		in := c.Theta[350+h]
		for k, v := range f {
			in += c.Theta[7*h+k] * (v - c.Mean[k]) / c.SD[k]
		}
		z += c.Theta[400+h] * max(in, 0)
	}
	return 1 / (1 + math.Exp(-z))
}

// TestPredictLearntClasses: every column of a file of three blocks, from the members' parameters in float64: tempered probabilities, the class, the
// entropies, what the classifier of wrong answers says, what abstains by it, and the sets by APS. A row so near to a threshold that the
// networks' float32 decides is left out.
func TestPredictLearntClasses(t *testing.T) {
	names := []string{"no", "perhaps", "yes"}
	p := problem(t, testkit.Table(600, "yes", "no", "perhaps"), true, false)
	text := grid(2500)
	in, lines := saved(t, "in.csv", text), strings.Split(text, "\n")[1:]
	for _, members := range []int{6, 1} {
		run := &Predictor{Posterior: ensemble(t, network(t, 3, nn.Categorical{}), 1, members, bnn.Equal{}), Schema: p.Schema}
		run.Decision = learnt(t, run, p, decide.Settings{
			Temperature: true, Sets: &decide.Sets{Score: decide.APS{}, Rate: 0.5}, Abstain: &decide.Abstain{By: decide.Classifier{}, At: decide.Coverage(0.6)},
		})
		l := run.Decision.Learnt
		temperature, threshold := l.Temperature.Posterior, float64(l.Abstain.Threshold)
		if !(math.Abs(temperature-1) > .1) {
			t.Fatalf("a temperature of %v shows nothing", temperature)
		}
		table := predicted(t, run, in)
		if got := strings.Join(table[0][8:], ","); got != "abstain,energy,foreign,missing,outside,p_wrong,set" {
			t.Fatalf("columns %s", got)
		}
		wrong, abstain, set := column(t, table, "p_wrong"), column(t, table, "abstain"), column(t, table, "set")
		told, near := map[string]int{}, 0
		for i, row := range table[1:] {
			cells := strings.Split(lines[i], ",")
			weights, probs := byMembers(run, testkit.Number(t, cells[0]), testkit.Number(t, cells[1]))
			f, mean := seven(weights, probs)
			if sorted := slices.Sorted(slices.Values(mean)); sorted[2]-sorted[1] > 1e-4 && row[1] != names[slices.Index(mean, sorted[2])] {
				t.Fatalf("row %d is of class %s, probabilities %v", i, row[1], mean)
			}
			for k, want := range []float64{f[1], f[1] - f[4], f[4]} {
				if got := testkit.Number(t, row[5+k]); !golden.Near(got, want, 1e-5, 2e-5) {
					t.Fatalf("row %d: %s is %v, want %v", i, table[0][5+k], got, want)
				}
			}
			tempered, sum := make([]float64, 3), 0.0
			for c, v := range mean {
				tempered[c] = math.Pow(v, 1/temperature)
				sum += tempered[c]
			}
			for c := range tempered {
				tempered[c] /= sum
				if got := testkit.Number(t, row[2+c]); !golden.Near(got, tempered[c], 1e-5, 2e-5) {
					t.Fatalf("row %d: %s is %v, want %v", i, table[0][2+c], got, tempered[c])
				}
			}
			p := l.Classifier.byHand(f)
			if got := testkit.Number(t, wrong[i]); !golden.Near(got, p, 1e-3, 1e-3) {
				t.Fatalf("row %d: p_wrong is %v, want %v", i, got, p)
			}
			if want := map[bool]string{true: "1", false: "0"}[p > threshold]; math.Abs(p-threshold) > 2e-3 && abstain[i] != want {
				t.Fatalf("row %d: abstain is %q, p_wrong %v, threshold %v", i, abstain[i], p, threshold)
			}
			var want []string
			u, unsure := decide.Uniform(11, 2, i), false
			for c, v := range tempered {
				before := 0.0
				for k, w := range tempered {
					if w > v || w == v && k < c {
						before += w
					}
				}
				score := before + u*v
				if unsure = unsure || math.Abs(score-float64(l.Sets.Thresholds[0])) < 1e-4; score <= float64(l.Sets.Thresholds[0]) || v == slices.Max(tempered) {
					want = append(want, names[c])
				}
			}
			if unsure {
				near++
			} else if set[i] != strings.Join(want, "|") {
				t.Fatalf("row %d: the set is %s of %v, u %v, threshold %v", i, set[i], tempered, u, l.Sets.Thresholds)
			}
			told[abstain[i]]++
			told[fmt.Sprint(len(want), " classes")]++
		}
		if near > 25 || told["0"] == 0 || told["1"] == 0 || told["1 classes"] == 0 || told["2 classes"] == 0 {
			t.Errorf("%d members: %v, %d rows near the threshold: the test says little", members, told, near)
		}
	}
}

// TestPredictLearntInBlocks: what is said of a row depends on its place in the file alone, not on the block and not on the threads. Equal rows at
// other places have other sets, since APS draws.
func TestPredictLearntInBlocks(t *testing.T) {
	p := problem(t, testkit.Table(600, "yes", "no", "perhaps"), true, false)
	run := predictor(t, p, 3, nn.Categorical{})
	run.Decision = learnt(t, run, p, decide.Settings{
		Temperature: true, Sets: &decide.Sets{Score: decide.APS{}, Rate: 0.5}, Abstain: &decide.Abstain{By: decide.Classifier{}, At: decide.Coverage(0.6)},
	})
	text := "a,b\n" + strings.Repeat("50.3,0.0005\n49.5,-0.001\n50.9,0.0002\n", 800)
	in := saved(t, "in.csv", text)
	table := predicted(t, run, in)
	run.Pool = pool.New(2)
	for i, row := range predicted(t, run, in) {
		if !slices.Equal(row, table[i]) {
			t.Fatalf("by two threads row %d is %q, by one %q", i-1, row, table[i])
		}
	}
	read, err := data.DecodeCSV("in.csv", []byte(text), p.Schema.CSVToPredict(""))
	if err != nil {
		t.Fatal(err)
	}
	all, _, err := p.Schema.ToPredict("in.csv", read)
	if err != nil {
		t.Fatal(err)
	}
	for _, first := range []int{0, 1000, 1100} {
		a, err := run.answers(t.Context(), all.Slice("some", first, 2400), first, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, set := range a.set {
			if row := table[1+first+i]; row[len(row)-1] != set || testkit.Number(t, row[len(row)-2]) != a.wrong[i] || row[8] != strconv.Itoa(int(indicator(a.abstain[i]))) {
				t.Fatalf("row %d is %q; in one piece from %d on: %s, %v, %v", first+i, row, first, set, a.wrong[i], a.abstain[i])
			}
		}
	}
	sets := map[string]bool{}
	for i, set := range column(t, table, "set") {
		if i%3 == 0 {
			sets[set] = true
		}
	}
	if len(sets) < 2 {
		t.Errorf("800 equal rows have the sets %v", sets)
	}
}

// TestPredictUntempered: only the probabilities differ, which are those of a run that has learnt nothing. Arrays have the probabilities of tables.
func TestPredictUntempered(t *testing.T) {
	p := problem(t, testkit.Table(600, "yes", "no", "perhaps"), true, false)
	run := predictor(t, p, 3, nn.Categorical{})
	in := saved(t, "in.csv", grid(40))
	d := learnt(t, run, p, decide.Settings{
		Temperature: true, Sets: &decide.Sets{Score: decide.LAC{}, Rate: 0.9}, Abstain: &decide.Abstain{At: decide.Coverage(0.7)},
	})
	run.Decision = &Decision{Foreign: d.Foreign}
	plain := predicted(t, run, in)
	run.Decision = d
	tempered := predicted(t, run, in)
	array := func() []float64 {
		out := filepath.Join(t.TempDir(), "out.npy")
		if _, err := run.File(t.Context(), in, out); err != nil {
			t.Fatal(err)
		}
		a, err := data.ReadNPY(out)
		if err != nil || !slices.Equal(a.Shape, []int{40, 3}) {
			t.Fatalf("%+v, %v", a, err)
		}
		return a.Float64s()
	}
	arrays := map[bool][]float64{false: array()}
	run.Untempered = true
	untempered := predicted(t, run, in)
	arrays[true] = array()
	end := len(plain[0]) // p_wrong and set follow
	differ := 0
	for i, row := range untempered {
		if !slices.Equal(row[2:8], plain[i][2:8]) || i > 0 && row[8] == "" || !slices.Equal(row[9:end], plain[i][9:]) {
			t.Fatalf("row %d is %q, of a run without decisions %q", i-1, row, plain[i])
		}
		if !slices.Equal(row[:2], tempered[i][:2]) || !slices.Equal(row[5:], tempered[i][5:]) {
			t.Fatalf("row %d is %q untempered, and %q", i-1, row, tempered[i])
		}
		if i == 0 {
			continue
		}
		if row[2] != tempered[i][2] {
			differ++
		}
		if row[end] != "" || row[end+1] == "" {
			t.Fatalf("without a classifier row %d is %q", i-1, row)
		}
		for c := range 3 {
			k := 3*(i-1) + c
			if arrays[true][k] != testkit.Number(t, row[2+c]) || arrays[false][k] != testkit.Number(t, tempered[i][2+c]) {
				t.Fatalf("row %d: the arrays have %v and %v, the tables %s and %s", i-1, arrays[true][k], arrays[false][k], row[2+c], tempered[i][2+c])
			}
		}
	}
	if differ < 40 {
		t.Errorf("the probabilities of %d rows of 40 differ", differ)
	}

	// A temperature alone: the columns are there, and empty.
	run.Untempered, run.Decision = false, learnt(t, run, p, decide.Settings{Temperature: true})
	for i, row := range predicted(t, run, in)[1:] {
		if !slices.Equal(row[2:5], tempered[i+1][2:5]) || row[8] != "" || row[end] != "" || row[end+1] != "" {
			t.Errorf("with a temperature alone row %d is %q", i, row)
		}
	}
}

// TestPredictLearntUndefined: a row whose probabilities are NaN abstains by whatever score, and its set has all classes.
func TestPredictLearntUndefined(t *testing.T) {
	p := problem(t, testkit.Table(600, "yes", "no", "perhaps"), true, false)
	in := saved(t, "in.csv", "a,b\n50.5,0.001\n49.5,0.001\n")
	for _, by := range []decide.Signal{decide.Entropy{}, decide.Epistemic{}, decide.Confidence{}, decide.Energy{}, decide.Classifier{}} {
		for _, score := range []decide.Score{decide.LAC{}, decide.APS{}} {
			run := predictor(t, p, 3, nn.Categorical{})
			run.Decision = learnt(t, run, p, decide.Settings{Temperature: true, Sets: &decide.Sets{Score: score, Rate: 0.8, Empty: true}, Abstain: &decide.Abstain{By: by, At: decide.Coverage(0.99)}})
			for i := range run.Posterior.Theta {
				run.Posterior.Theta[i] = 3e38
			}
			for _, row := range predicted(t, run, in)[1:] {
				if got := strings.Join(row[1:], ","); got != ",NaN,NaN,NaN,NaN,NaN,NaN,1,NaN,1,,,,no|perhaps|yes" {
					t.Errorf("by %s: row %s is %s", by, row[0], got)
				}
			}
		}
	}
}

// TestPredictLearntThreshold: of two classes the threshold decides by the probability in the file, and evaluate --threshold counts the same answers.
func TestPredictLearntThreshold(t *testing.T) {
	p := problem(t, testkit.Table(600, "no", "yes"), true, false)
	run := predictor(t, p, 2, nn.Categorical{})
	run.Decision = learnt(t, run, p, decide.Settings{Temperature: true})
	run.Threshold = &Threshold{Class: 1, At: 0.35}
	text := "a,b\n"
	for i := range p.Test.Len() { // as they are in a file, to all digits
		for k := range 2 {
			v := p.Schema.Inputs.Mean[k] + p.Schema.Inputs.SD[k]*float64(p.Test.F32[2*i+k])
			text += strconv.FormatFloat(v, 'g', -1, 64) + map[int]string{0: ",", 1: "\n"}[k]
		}
	}
	in := saved(t, "in.csv", text)
	yes := map[bool]int{}
	for _, run.Untempered = range []bool{false, true} {
		table := predicted(t, run, in)
		for i, row := range table[1:] {
			want := "no"
			if testkit.Number(t, row[3]) >= 0.35 {
				want = "yes"
				yes[run.Untempered]++
			}
			if row[1] != want {
				t.Fatalf("row %d: %q", i, row)
			}
		}
	}
	a, err := Evaluate(t.Context(), &Ensembles{Posterior: run.Posterior, Decision: run.Decision}, p, nil, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.Decide(run.Threshold, []string{"no", "yes"}); a.Metrics.Decided.Declared != yes[false] || yes[false] == yes[true] {
		t.Errorf("%d declared by an evaluation, %v by predictions", a.Metrics.Decided.Declared, yes)
	}
}

// TestPredictLearntSafe: in a set, names stand as in the column of the class, and no cell is a formula.
func TestPredictLearntSafe(t *testing.T) {
	p := problem(t, testkit.Table(600, "=1+1", "@b", "-1", `"a,b"`), true, false)
	run := predictor(t, p, 4, nn.Categorical{})
	run.Decision = learnt(t, run, p, decide.Settings{Sets: &decide.Sets{Score: decide.LAC{}, Rate: 0.6}})
	in := saved(t, "in.csv", grid(60))
	plain := column(t, predicted(t, run, in), "set")
	run.Safe = true
	seen := map[byte]bool{}
	for i, cell := range column(t, predicted(t, run, in), "set") {
		seen[plain[i][0]] = true
		want := strings.NewReplacer("=1+1", "'=1+1", "@b", "'@b").Replace(plain[i])
		if strings.HasPrefix(want, "-1|") { // which a spreadsheet would compute
			want = "'" + want
		}
		if cell != want {
			t.Fatalf("row %d: %q is written %q, want %q", i, plain[i], cell, want)
		}
	}
	if !seen['='] || !seen['-'] {
		t.Errorf("sets begin with %v: the test says little", seen)
	}
	run.Schema.Names[1] = "a|b"
	if _, err := run.To(t.Context(), in, &strings.Builder{}); err == nil || !strings.Contains(err.Error(), `"a|b"`) {
		t.Errorf("a name with |: %v", err)
	}
	faults := config.NewFaults()
	decide.Settings{Temperature: true}.CheckWith(decide.Given{Names: []string{"right", "wrong"}, Validate: 9}, faults)
	if all := faults.All(); len(all) != 1 || !strings.Contains(all[0].Message, "p_wrong") {
		t.Errorf("the class wrong: %v", all)
	}
}

// TestPredictLearntBesides: a key, quantiles and draws stand where they do without decisions, and change no other column; the file is known by its
// header, in all its forms.
func TestPredictLearntBesides(t *testing.T) {
	classes := problem(t, testkit.Table(600, "yes", "no", "perhaps"), true, false)
	numbers := problem(t, testkit.Table(300), false, true)
	for _, c := range []struct {
		run       *Predictor
		p         *data.Problem
		by        decide.Settings
		quantiles []float64
		last      string
	}{
		{predictor(t, classes, 3, nn.Categorical{}), classes, decide.Settings{Sets: &decide.Sets{Score: decide.APS{}, Rate: 0.8}}, nil, "p_wrong,set"},
		{predictor(t, numbers, 1, nn.Gaussian{SD: nn.Learned}), numbers, decide.Settings{Temperature: true, Sets: &decide.Sets{Rate: 0.9}, Abstain: &decide.Abstain{At: decide.Coverage(0.8)}}, []float64{0.5, 0.9}, "abstain,low,high"},
	} {
		in := saved(t, "in.csv", grid(50))
		undecided := predicted(t, c.run, in)
		c.run.Decision = learnt(t, c.run, c.p, c.by)
		plain := predicted(t, c.run, in)
		if got := strings.Join(plain[0], ","); !strings.HasSuffix(got, ",missing,outside,"+c.last) || c.quantiles != nil && got != strings.Join(undecided[0], ",")+","+c.last {
			t.Errorf("columns %s", got)
		}
		for _, key := range []string{"", "id"} {
			for _, quantiles := range [][]float64{nil, c.quantiles} {
				for _, draws := range []int{0, 2} {
					c.run.Key, c.run.Quantiles, c.run.Draws = key, quantiles, draws
					table := predicted(t, c.run, in)
					head := strings.Join(table[0], ",")
					if !strings.HasSuffix(head, map[int]string{0: c.last, 2: c.last + ",draw_1,draw_2"}[draws]) || !IsPredictions([]byte(head+"\n")) || IsPredictions([]byte(head+",note\n")) {
						t.Errorf("columns %s", head)
					}
					for _, name := range table[0] {
						if at := slices.Index(plain[0], name); at >= 0 {
							if got, want := column(t, table, name), column(t, plain, name); !slices.Equal(got, want) {
								t.Errorf("%s: column %s is %q, want %q", head, name, got, want)
							}
						}
					}
					if key != "" && column(t, table, "id")[7] != "k7" {
						t.Errorf("%s: keys %q", head, column(t, table, "id"))
					}
				}
			}
		}
		c.run.Draws = 3
		drawn := predicted(t, c.run, in)
		decision := c.run.Decision
		c.run.Decision = nil
		if other := predicted(t, c.run, in); !slices.Equal(column(t, drawn, "draw_3"), column(t, other, "draw_3")) {
			t.Error("the draws depend on the decision")
		}
		c.run.Draws, c.run.Key, c.run.Decision = 0, strings.Split(c.last, ",")[1], decision
		text := strings.Replace(grid(2), "id", c.run.Key, 1)
		if _, err := c.run.To(t.Context(), saved(t, "in.csv", text), &strings.Builder{}); err == nil || !strings.Contains(err.Error(), "have a column") {
			t.Errorf("a key column of the name %s: %v", c.run.Key, err)
		}
	}
	for header, want := range map[string]bool{
		"row,class,p_0,p_1,entropy_total,entropy_aleatoric,entropy_epistemic,abstain,missing,outside,p_wrong,set\n":                   true,
		"row,id,class,p_0,p_1,entropy_total,entropy_aleatoric,entropy_epistemic,abstain,energy,foreign,missing,outside,p_wrong,set\n": true,
		"row,class,p_wrong,p_right,entropy_total,entropy_aleatoric,entropy_epistemic,abstain,missing,outside\n":                       true,
		"row,id,mean,sd_aleatoric,sd_epistemic,q10,q50,missing,outside,abstain,low,high,draw_1\n":                                     true,
		"row,class,p_0,p_1,entropy_total,entropy_aleatoric,entropy_epistemic,abstain,missing,outside,p_wrong\n":                       false,
		"row,class,p_0,p_1,entropy_total,entropy_aleatoric,entropy_epistemic,abstain,missing,outside,set,p_wrong\n":                   false,
		"row,class,p_0,p_1,entropy_total,entropy_aleatoric,entropy_epistemic,abstain,p_wrong,set\n":                                   false,
		"row,class,p_0,p_1,entropy_total,entropy_aleatoric,entropy_epistemic,abstain,missing,outside,abstain,low,high\n":              false,
		"row,mean,sd_aleatoric,sd_epistemic,q05,q50,q95,missing,outside,p_wrong,set\n":                                                false,
		"row,mean,sd_aleatoric,sd_epistemic,q05,q50,q95,missing,outside,abstain,low,high,note\n":                                      false,
		"row,mean,sd_aleatoric,sd_epistemic,q05,q50,q95,missing,outside,draw_1,abstain,low,high\n":                                    false,
	} {
		if got := IsPredictions([]byte(header)); got != want {
			t.Errorf("%s: %v", header, got)
		}
	}
}

// TestPredictLearntNothing: without anything learnt, a file has the bytes that it had, whether a threshold of the energy is kept or not.
func TestPredictLearntNothing(t *testing.T) {
	p := problem(t, testkit.Table(600, "yes", "no", "perhaps"), true, false)
	run := predictor(t, p, 3, nn.Categorical{})
	in, out := saved(t, "in.csv", grid(3)), filepath.Join(t.TempDir(), "out.csv")
	run.Decision = decided(t, run.Posterior, p.Validate)
	for _, run.Untempered = range []bool{false, true} {
		if _, err := run.File(t.Context(), in, out); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(out)
		if head, _, _ := strings.Cut(string(raw), "\n"); err != nil || head != "row,class,p_no,p_perhaps,p_yes,entropy_total,entropy_aleatoric,entropy_epistemic,abstain,energy,foreign,missing,outside" {
			t.Errorf("columns %s, %v", head, err)
		}
	}
}
