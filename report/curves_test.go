package report

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/smc"
	"github.com/starling-smc/starling/uq"
)

// schemed is a made-up run of data annealing. Its batches, powers and annealed examples are those given, an iteration
// each, the same on every island.
func schemed(t *testing.T, islands int, path smc.Path, examples, annealed []int, power []float64) fixture {
	t.Helper()
	f := shape{islands: islands, lines: len(examples)}.make(t)
	f.annealing(path)
	for i := range f.run.Trace {
		l := &f.run.Trace[i]
		k := l.K - 1
		l.Examples, l.Lambda, l.Seconds, l.Progress = examples[k], 1, float64(l.K), float64(l.K)/float64(len(examples))
		if annealed != nil {
			l.Annealed, l.Lambda = annealed[k], power[k]
		}
		l.LogLikelihood, l.LogZ = numeral.Number(-l.K*(l.Examples-l.Annealed)), numeral.Number(-l.K)
		if k%2 == 1 {
			nll, accuracy := uq.Number(.5), uq.Number(.8+.01*float64(k)+.001*float64(l.Island))
			l.TestNLL, l.TestAccuracy = &nll, &accuracy
		}
	}
	return f
}

// annealing puts the run on a path of batches, with moves that have no accept/reject step.
func (f fixture) annealing(path smc.Path) {
	m := f.run.Spec.Method.(method.SMC)
	m.Path, m.Move, m.Weight = path, mcmc.Unadjusted{Steps: 1, Step: .1}, smc.Momentum{}
	f.run.Spec.Method = m
}

func schedules() map[string]func(*testing.T) fixture {
	plain := func(path smc.Path, examples ...int) func(*testing.T) fixture {
		return func(t *testing.T) fixture { return schemed(t, 1, path, examples, nil, nil) }
	}
	sda := func(scale bool) smc.SDA { return smc.SDA{Iterations: 6, Batch: 10, Grow: 20, Scale: scale} }
	return map[string]func(*testing.T) fixture{
		"constant":  plain(smc.Schedule[smc.Constant]{Iterations: 6, Rule: smc.Constant{Batch: 10}}, 10, 10, 10, 10, 10, 10),
		"full":      plain(smc.Schedule[smc.Full]{Iterations: 6}, 60, 60, 60, 60, 60, 60),
		"ctr":       plain(smc.Schedule[smc.ConstantToRefine]{Iterations: 6, Rule: smc.ConstantToRefine{Batch: 10}}, 10, 10, 10, 10, 10, 60),
		"linear":    plain(smc.Schedule[smc.Linear]{Iterations: 6, Rule: smc.Linear{Batch: 10, Grow: 20}}, 10, 30, 50, 60, 60, 60),
		"automated": plain(smc.Schedule[smc.Automated]{Iterations: 6, Rule: smc.Automated{Batch: 10, Grow: 20}}, 10, 20, 30, 40, 50, 60),
		"sda": func(t *testing.T) fixture {
			return schemed(t, 1, sda(false), []int{10, 10, 30, 30, 50, 60}, []int{0, 0, 10, 10, 30, 50}, []float64{.1, 1, .1, 1, .1, .1})
		},
		"scaled": func(t *testing.T) fixture { // the same powers of 10, 30, 50 and 60 examples that stand for 60
			return schemed(t, 1, sda(true), []int{10, 10, 30, 30, 50, 60}, []int{0, 0, 10, 10, 30, 50}, []float64{.6, 6, .2, 2, .12, .1})
		},
	}
}

// TestSchedulesAreDrawn: the page of each schedule has the paper's figure 1, the size of the batches by iteration, and that
// of smooth annealing its figure 2, the powers and how many batches there are. The log-likelihood is that of one example,
// whatever the batch; only likelihoods that are scaled are called so.
func TestSchedulesAreDrawn(t *testing.T) {
	for name, make := range schedules() {
		f := make(t)
		v := f.view(t)
		rows, captions := map[string]string{}, map[string]string{}
		for _, figure := range v.sampler().Figures {
			captions[figure.Title] = figure.Caption
			if strings.Contains(string(figure.Charts[0]), `class="line`) {
				for _, c := range figure.Data.Rows[0].Cells {
					rows[figure.Title] += c.Text + " "
				}
			}
		}
		want := map[string]string{"Batch size": map[string]string{
			"constant": "10 10 10 10 10 ", "full": "60 60 60 60 60 ", "ctr": "10 10 10 60 60 ",
			"linear": "10 10 55 60 60 ", "automated": "10 10 35 60 60 ", "sda": "10 10 30 60 60 ", "scaled": "10 10 30 60 60 ",
		}[name], "Log-likelihood": "−1.000 −6.000 −3.500 −1.000 −6.000 "}
		annealed := name == "sda" || name == "scaled"
		if annealed { // start, lowest, median, highest, end
			want["Power of the newest block"] = "0.10 0.10 0.10 1.00 0.10 "
			want["Number of blocks"] = "1 1 2 4 4 "
		}
		for title, text := range want {
			if rows[title] != text {
				t.Errorf("%s: %s: %q, want %q", name, title, rows[title], text)
			}
		}
		if _, ok := rows["Number of blocks"]; ok != annealed {
			t.Errorf("%s: number of blocks: %v", name, ok)
		}
		if scaled := strings.Contains(captions["Log evidence so far"], "scaled to all examples"); scaled == (name == "sda") {
			t.Errorf("%s: log evidence: %s", name, captions["Log evidence so far"])
		}
		if fresh := name == "constant" || name == "ctr"; fresh != strings.Contains(captions["Log evidence so far"], "No evidence: path "+name+" takes fresh batches") {
			t.Errorf("%s: log evidence: %s", name, captions["Log evidence so far"])
		} else if fresh {
			continue
		}
		if !strings.Contains(captions["Log evidence so far"], " is an estimate of "+map[string]string{
			"full":   "the model's evidence, as every target",
			"linear": "the model's evidence, as the last", "automated": "the model's evidence, as the last",
			"sda": "the evidence of the last target, in which", "scaled": "the evidence of the last target, in which",
		}[name]) {
			t.Errorf("%s: log evidence: %s", name, captions["Log evidence so far"])
		}
		checkPage(t, render(t, f))
	}
}

// TestLiteralIsNoEvidence: the picture of a product of weights that follow no targets does not pass for one of evidence.
func TestLiteralIsNoEvidence(t *testing.T) {
	f := schedules()["ctr"](t)
	m := f.run.Spec.Method.(method.SMC)
	m.Weight = smc.Momentum{Literal: true}
	f.run.Spec.Method = m
	if got := f.view(t).evidenceSoFar().caption; !strings.HasPrefix(got, "No evidence: weight literal") {
		t.Error(got)
	}
}

// TestSamplersCompared: a comparison draws what samplers did over one another, and against what they spent.
func TestSamplersCompared(t *testing.T) {
	all := schedules()
	var runs []Evaluated
	for _, name := range []string{"constant", "linear", "sda"} {
		f := all[name](t)
		runs = append(runs, Evaluated{name, f.run, f.a})
	}
	chains := shape{chains: true}.make(t)
	runs = append(runs, Evaluated{"chains", chains.run, chains.a})
	c, err := NewComparison(runs)
	if err != nil {
		t.Fatal(err)
	}
	s := c.samplers()
	var drawn []string
	for _, f := range s.Figures {
		drawn = append(drawn, fmt.Sprint(f.Title, ": ", len(f.Charts)))
		if len(f.Legend) != 3 || len(f.Data.Rows) != 3 {
			t.Errorf("%s: %d series, %d rows; chains have none", f.Title, len(f.Legend), len(f.Data.Rows))
		}
		for _, picture := range f.Charts {
			for i := range 3 {
				if !strings.Contains(string(picture), `class="line `+class(i)) {
					t.Errorf("%s lacks line %d:\n%s", f.Title, i, picture)
				}
			}
		}
	}
	if want := []string{"Test accuracy: 3", "Effective sample size: 3", "Surviving ancestors: 2", "Batch size: 2"}; !slices.Equal(drawn, want) {
		t.Errorf("%q, want %q", drawn, want)
	}
	var page bytes.Buffer
	if err := c.Write(&page); err != nil {
		t.Fatal(err)
	}
	checkPage(t, page.String())

	// Runs without test examples on the way, or one alone, have no such picture.
	c, err = comparison(t, shape{}, shape{chains: true})
	if err != nil {
		t.Fatal(err)
	}
	if s := c.samplers(); s.Figures != nil {
		t.Errorf("one run of particles is compared: %v", s.Figures)
	}
	c, err = comparison(t, shape{}, shape{})
	if err != nil {
		t.Fatal(err)
	}
	if s := c.samplers(); len(s.Figures) != 2 || s.Figures[0].Title != "Effective sample size" {
		t.Errorf("tempering has neither batches nor evaluations on the test examples: %d figures", len(s.Figures))
	}
}

// compared is the page of runs side by side, by their names.
func compared(t *testing.T, all map[string]func(*testing.T) fixture) []byte {
	t.Helper()
	var runs []Evaluated
	for _, name := range slices.Sorted(maps.Keys(all)) {
		f := all[name](t)
		runs = append(runs, Evaluated{name, f.run, f.a})
	}
	c, err := NewComparison(runs)
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := c.Write(&page); err != nil {
		t.Fatal(err)
	}
	return page.Bytes()
}

// TestTrack adds up what islands spent, waits for the last of them, and keeps one that ended where it was.
func TestTrack(t *testing.T) {
	f := schemed(t, 2, smc.Schedule[smc.Linear]{Iterations: 4, Rule: smc.Linear{Batch: 10, Grow: 10}}, []int{10, 20, 30, 40}, nil, nil)
	trace := f.run.Trace[:6] // the second island has two iterations
	for i, l := range []struct {
		ess, seconds float64
		gradients    int
	}{{1, 1, 10}, {2, 2, 30}, {3, 3, 60}, {4, 4, 100}, {3, 1.5, 10}, {4, 2.5, 30}} {
		trace[i].ESS, trace[i].Seconds, trace[i].Gradients = l.ess, l.seconds, l.gradients
	}
	f.run.Trace = trace
	v := f.view(t)
	for id, want := range map[string]track{
		"ess": {
			iteration: []float64{1, 2, 3, 4}, gradients: []float64{20, 60, 90, 130}, seconds: []float64{1.5, 2.5, 3, 4},
			value: []float64{2. / 4, 3. / 4, 3.5 / 4, 4. / 4},
		},
		"testaccuracy": {
			iteration: []float64{2, 4}, gradients: []float64{60, 130}, seconds: []float64{2.5, 4},
			value: []float64{.8105, .8205}, // the second island has its second iteration alone
		},
	} {
		got := v.track(id)
		if fmt.Sprint(got.iteration, got.gradients, got.seconds) != fmt.Sprint(want.iteration, want.gradients, want.seconds) {
			t.Errorf("%s by %v, %v, %v, want %v, %v, %v", id, got.iteration, got.gradients, got.seconds, want.iteration, want.gradients, want.seconds)
		}
		if d := cmp.Diff(want.value, got.value, cmpopts.EquateApprox(0, 1e-12)); d != "" {
			t.Errorf("%s (-want +got):\n%s", id, d)
		}
	}
}

// A chain of a million moves has a page like any other, drawn from thousands of lines that hold a hundred moves each.
func TestLongChain(t *testing.T) {
	short, long := shape{chains: true, islands: 1, lines: 40}.make(t), shape{chains: true, islands: 1, lines: 10000}.make(t)
	for i := range long.run.Trace {
		long.run.Trace[i].Mutations = 100
	}
	page := func(f fixture) string {
		var b bytes.Buffer
		for _, c := range f.view(t).sampler().Figures {
			fmt.Fprintln(&b, c.Caption, c.Charts)
		}
		return b.String()
	}
	a, b := page(short), page(long)
	if len(b) > 4*len(a) {
		t.Errorf("%d bytes of charts for 10,000 lines, %d for 40", len(b), len(a))
	}
	if said := "holds the mean of 100 moves"; !strings.Contains(b, said) || strings.Contains(a, "holds the mean") {
		t.Errorf("the page of a long chain does not say %q, or a short one's does", said)
	}
}

// Where the number of leapfrogs follows from a length, it is drawn; where it is written, it would be a constant.
func TestLeapfrogsAreDrawn(t *testing.T) {
	for _, move := range []mcmc.HMC{{Length: mcmc.AutoLength}, {Steps: 7}} {
		f := shape{islands: 2, lines: 6}.make(t)
		m := f.run.Spec.Method.(method.SMC)
		m.Move = move
		f.run.Spec.Method = m
		for i := range f.run.Trace {
			f.run.Trace[i].Leapfrogs = 3 + i
		}
		drawn := false
		for _, c := range f.view(t).curves() {
			if c.id == "leapfrogs" {
				drawn = c.of(&f.run.Trace[2]) == 5
			}
		}
		if drawn != move.Traits().Varies {
			t.Errorf("%v: leapfrogs are drawn: %v", move, drawn)
		}
	}
	f := shape{chains: true, islands: 2, lines: 6}.make(t)
	m := f.run.Spec.Method.(method.MCMC)
	m.Move = mcmc.HMC{Length: mcmc.AutoLength}
	f.run.Spec.Method = m
	f.run.Trace[0].Leapfrogs = 3
	curves := f.view(t).curves()
	at := slices.IndexFunc(curves, func(c curve) bool { return c.id == "leapfrogs" })
	if at < 0 || !strings.HasSuffix(curves[at].caption, " The budget shortens a chain's last move.") {
		t.Error("the leapfrogs of chains do not say why the last move has fewer")
	}
}

// TestWhatCorrectsErrors: for moves without accept or reject the page says that the weights correct their energy errors where the
// weights do, and that nothing does where they do not.
func TestWhatCorrectsErrors(t *testing.T) {
	for w, weighted := range map[smc.Weighting]bool{smc.Momentum{}: true, smc.Momentum{Literal: true}: true, smc.Bootstrap{}: false, smc.Equal{}: false} {
		f := schemed(t, 1, smc.Schedule[smc.Full]{Iterations: 6}, []int{60, 60, 60, 60, 60, 60}, nil, nil)
		m := f.run.Spec.Method.(method.SMC)
		m.Weight = w
		f.run.Spec.Method = m
		v := f.view(t)
		said := v.acceptance().caption
		for _, c := range v.batchCurves() {
			if c.id == "energy" {
				said += c.caption
			}
		}
		for _, found := range f.run.Findings {
			if found.Kind == "islands-end" {
				said += found.Sentence()
			}
		}
		for text, times := range map[string]int{"goes into the weight": 1, "added to the log-weights": 1, "their errors are in the weights": 1, "nothing corrects": 3} {
			if text == "nothing corrects" == weighted {
				times = 0
			}
			if got := strings.Count(said, text); got != times {
				t.Errorf("%s: %q stands %d times, want %d: %s", smc.Weightings.Name(w), text, got, times, said)
			}
		}
	}
}

// TestWhatTheRuleJudges: the picture of the validation NLL has lines of what a stopping rule judges, from where there is something kept.
func TestWhatTheRuleJudges(t *testing.T) {
	for _, islands := range []int{1, 3} {
		f := schemed(t, islands, smc.Schedule[smc.Full]{Iterations: 6}, []int{60, 60, 60, 60, 60, 60}, nil, nil)
		for i := range f.run.Trace {
			l := &f.run.Trace[i]
			nll := uq.Number(.5 + .1*float64(l.K))
			if l.ValNLL = &nll; l.K > 2 {
				kept, best := nll-.05, uq.Number(.4)
				l.KeptNLL, l.BestKeptNLL = &kept, &best
			}
		}
		v := f.view(t)
		fig := *v.draw(v.curves()[slices.IndexFunc(v.curves(), func(c curve) bool { return c.id == "validation" })])
		drawn := string(fig.Charts[0])
		if strings.Count(drawn, `class="line s1"`) != 1 || strings.Count(drawn, `class="line s2"`) != 1 || !strings.Contains(drawn, "all that is kept so far: 1.050 at the end") {
			t.Errorf("%d islands: %s", islands, drawn)
		}
		if names := fig.Legend[len(fig.Legend)-2:]; names[0].Name != "all that is kept so far" || names[1].Name != "the best of that so far" {
			t.Errorf("legend %v", fig.Legend)
		}
	}
}

// TestLikelihoodOf: the picture of the log-likelihood says on which examples it is.
func TestLikelihoodOf(t *testing.T) {
	for name, want := range map[string]string{"full": "of all training examples", "constant": "of the iteration's own batch", "linear": "of the iteration's own batch"} {
		if got := schedules()[name](t).view(t).likelihood().caption; !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
