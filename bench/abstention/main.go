// Abstention measures what mnist7, mnist7-ensemble and mnist7-smc learn to decide by: docs/results/abstention.md.
//
//	go run ./bench/abstention [-out runs/abstention] [-seeds 5]
//
// It fits the presets with each seed, unless the folder has the run already, and prints the tables of the page: temperatures, classifiers of wrong
// answers beside single scores, sets and risks over 200 divisions of the 9,000 examples that no network has seen into 2,000 to calibrate and 7,000
// to test. With -npy it writes the probabilities and labels of the first seed, which bench/abstention/mapie.py compares with MAPIE.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/uq"
)

var presets = []string{"mnist7", "mnist7-ensemble", "mnist7-smc"}

const classes = 8

func main() {
	out := flag.String("out", "runs/abstention", "folder of the runs")
	seeds := flag.Int("seeds", 5, "number of seeds")
	npy := flag.String("npy", "", "folder to write the probabilities of the first seed to")
	flag.Parse()
	if err := measure(context.Background(), *out, *seeds, *npy); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// made is a run with what is measured of it.
type made struct {
	preset string
	run    *starling.Run
	a      *eval.Assessment
}

func measure(ctx context.Context, out string, seeds int, npy string) error {
	var all []made
	for _, preset := range presets {
		for seed := 1; seed <= seeds; seed++ {
			m, err := fitted(ctx, filepath.Join(out, fmt.Sprintf("%s-%d", preset, seed)), preset, seed)
			if err != nil {
				return err
			}
			all = append(all, m)
		}
	}
	temperatures(all)
	if err := classifiers(ctx, all); err != nil {
		return err
	}
	for _, preset := range presets {
		var runs []made
		for _, m := range all {
			if m.preset == preset {
				runs = append(runs, m)
			}
		}
		if err := divisions(ctx, preset, runs); err != nil {
			return err
		}
	}
	if npy == "" {
		return nil
	}
	x, err := unseen(ctx, all[0])
	if err != nil {
		return err
	}
	return x.write(npy)
}

// fitted is a run, made unless the folder has it.
func fitted(ctx context.Context, dir, preset string, seed int) (made, error) {
	spec, err := starling.Preset(preset, fmt.Sprint("seed=", seed), "decide={temperature: true, sets: {score: lac, rate: 0.95}, abstain: {by: classifier, at: f1}}")
	if err != nil {
		return made{}, err
	}
	folder, err := starling.ResumeFolder(dir, starling.FitRuns)
	if err != nil {
		return made{}, err
	}
	if _, err := starling.Fit(ctx, spec, starling.Options{Folder: folder}); err != nil {
		return made{}, err
	}
	run, err := starling.OpenRun(dir)
	if err != nil {
		return made{}, err
	}
	a, err := run.Evaluate(ctx, starling.On{}, starling.Options{})
	return made{preset, run, a}, err
}

// over are mean and standard deviation of a figure of the runs of a preset.
func over(all []made, preset string, figure func(m made) float64) (mean, sd float64) {
	var x []float64
	for _, m := range all {
		if m.preset == preset {
			x = append(x, figure(m))
		}
	}
	mean, se := uq.MeanSE(x)
	return mean, se * math.Sqrt(float64(len(x)))
}

func temperatures(all []made) {
	fmt.Print("## Temperature\n\n| ensemble | T | NLL | tempered | ECE | tempered | Brier | tempered |\n|---|---|---|---|---|---|---|---|\n")
	for _, preset := range presets {
		for _, e := range []struct {
			name string
			of   func(m *eval.Metrics) *eval.Evaluation
		}{
			{"posterior", func(m *eval.Metrics) *eval.Evaluation { return &m.Evaluation }},
			{"restarts together", func(m *eval.Metrics) *eval.Evaluation { return m.DeepEnsemble }},
			{"best MAP", func(m *eval.Metrics) *eval.Evaluation { return m.MAP }},
		} {
			if e.of(all[0].a.Metrics) == nil {
				continue
			}
			fmt.Printf("| %s: %s |", preset, e.name)
			for _, figure := range []func(v *eval.Evaluation) uq.Number{
				func(v *eval.Evaluation) uq.Number { return *v.Tempered.Temperature },
				func(v *eval.Evaluation) uq.Number { return v.NLL }, func(v *eval.Evaluation) uq.Number { return v.Tempered.NLL },
				func(v *eval.Evaluation) uq.Number { return *v.ECE }, func(v *eval.Evaluation) uq.Number { return *v.Tempered.ECE },
				func(v *eval.Evaluation) uq.Number { return *v.Brier }, func(v *eval.Evaluation) uq.Number { return *v.Tempered.Brier },
			} {
				mean, sd := over(all, preset, func(m made) float64 { return float64(figure(e.of(m.a.Metrics))) })
				fmt.Printf(" %.4f ± %.4f |", mean, sd)
			}
			fmt.Println()
		}
	}
}

// scored are the values by which rows may abstain: of calibration and test examples and of the foreign inputs known beforehand and new.
type scored struct {
	calibrate, test decide.Examples
}

// classifiers prints AUC and F1 of the classifier, of each feature and of a logistic rule of three.
func classifiers(ctx context.Context, all []made) error {
	names := []string{"max p̄", "total entropy", "E[p_max]", "E[gap]", "epistemic entropy", "Var[p_max]", "Var[gap]"}
	kinds := append(append([]string{"classifier"}, names...), "logistic rule of three")
	type cell struct{ auc, f1 []float64 }
	table := map[string]map[string]*cell{}
	var rows []string
	for _, m := range all {
		ensembles := []struct {
			name string
			e    *bnn.Ensemble
		}{{m.preset, m.run.Posterior}}
		if m.preset == "mnist7" {
			ensembles = append(ensembles, struct {
				name string
				e    *bnn.Ensemble
			}{"8 MAPs of mnist7", m.run.Restarts}, struct {
				name string
				e    *bnn.Ensemble
			}{"best MAP of mnist7", alone(m.run.Restarts, m.run.Chosen)})
		}
		for _, e := range ensembles {
			if table[e.name] == nil {
				table[e.name] = map[string]*cell{}
				rows = append(rows, e.name)
			}
			figures, err := rules(ctx, e.e, m.a.Problem, names)
			if err != nil {
				return err
			}
			for kind, x := range figures {
				if table[e.name][kind] == nil {
					table[e.name][kind] = &cell{}
				}
				c := table[e.name][kind]
				c.auc, c.f1 = append(c.auc, decide.AUC(x.test)), append(c.f1, f1(x))
			}
		}
	}
	fmt.Print("\n## Wrong answers and foreign inputs (AUC / optimal F1)\n\n| |")
	for _, name := range rows {
		fmt.Printf(" %s |", name)
	}
	fmt.Print("\n|---|")
	for range rows {
		fmt.Print("---|")
	}
	for _, kind := range kinds {
		fmt.Printf("\n| %s |", kind)
		for _, name := range rows {
			c := table[name][kind]
			fmt.Printf(" %.3f / %.3f |", uq.Mean(c.auc), uq.Mean(c.f1))
		}
	}
	fmt.Println()
	return nil
}

// alone is an ensemble with all weight on one member.
func alone(e *bnn.Ensemble, j int) *bnn.Ensemble {
	one := *e
	one.LogWeights = make([]float64, e.Size())
	for i := range one.LogWeights {
		if i != j {
			one.LogWeights[i] = math.Inf(-1)
		}
	}
	return &one
}

// f1 is the F1 of the test rows at the threshold that is best for the calibration rows.
func f1(x *scored) float64 {
	rule, err := decide.Abstain{By: decide.Entropy{}, At: decide.F1{}}.Choose(x.calibrate) // of a grid from the least to the largest
	if err != nil {
		return math.NaN()
	}
	return float64(decide.Judge(x.test, rule.Threshold).F1)
}

// rules are the scores of a posterior by name. Test rows are the first 2,000 test examples and the 2,000 foreign inputs.
func rules(ctx context.Context, e *bnn.Ensemble, p *data.Problem, names []string) (map[string]*scored, error) {
	of := func(sets ...*data.Set) (x []float64, wrong []bool, labels []int32, err error) {
		for _, set := range sets {
			v, err := e.PredictUnder(ctx, set, [][]float64{e.LogWeights}, true, nil)
			if err != nil {
				return nil, nil, nil, err
			}
			x = append(x, decide.FeaturesOf(v[0])...)
			if set.Labels == nil {
				continue
			}
			w, err := decide.Wrongs(v[0].Probs, classes, set.Labels)
			if err != nil {
				return nil, nil, nil, err
			}
			wrong, labels = append(wrong, w...), append(labels, set.Labels...)
		}
		return x, wrong, labels, nil
	}
	calibrate, wrong, labels, err := of(p.Calibrate)
	if err != nil {
		return nil, err
	}
	foreign, _, _, err := of(sets(p.Foreign)...)
	if err != nil {
		return nil, err
	}
	test, wrongTest, _, err := of(p.Test.Slice("test", 0, 2000))
	if err != nil {
		return nil, err
	}
	far, _, _, err := of(sets(p.Groups)...)
	if err != nil {
		return nil, err
	}
	made := map[string]*scored{}
	add := func(name string, score func(x []float64) []float64) {
		made[name] = &scored{decide.Examples{Doubts: score(calibrate), Wrong: wrong, Foreign: score(foreign)}, decide.Examples{Doubts: score(test), Wrong: wrongTest, Foreign: score(far)}}
	}
	network, err := (&decide.Learn{Features: calibrate, Labels: labels, Wrong: wrong, Foreign: foreign}).Train(ctx, 1, nil)
	if err != nil {
		return nil, err
	}
	add("classifier", func(x []float64) []float64 {
		p, err := network.Wrong(ctx, x, nil)
		if err != nil {
			panic(err)
		}
		return p
	})
	held := decide.HoldOut(append(append([]bool{}, wrong...), ones(len(foreign)/decide.Features)...), 1)
	c := made["classifier"]
	c.calibrate = kept(c.calibrate, held) // the rows that the network was not trained on
	for k, name := range names {
		sign := 1.
		if k == 0 || k == 2 || k == 3 {
			sign = -1
		}
		add(name, func(x []float64) (s []float64) {
			for i := k; i < len(x); i += decide.Features {
				s = append(s, sign*x[i])
			}
			return s
		})
	}
	w, err := logistic(append(append([]float64{}, calibrate...), foreign...), append(append([]bool{}, wrong...), ones(len(foreign)/decide.Features)...))
	if err != nil {
		return nil, err
	}
	add("logistic rule of three", w.score)
	return made, nil
}

func ones(n int) []bool {
	x := make([]bool, n)
	for i := range x {
		x[i] = true
	}
	return x
}

func kept(x decide.Examples, held []bool) (out decide.Examples) {
	for i, d := range x.Doubts {
		if held[i] {
			out.Doubts, out.Wrong = append(out.Doubts, d), append(out.Wrong, x.Wrong[i])
		}
	}
	for i, d := range x.Foreign {
		if held[len(x.Doubts)+i] {
			out.Foreign = append(out.Foreign, d)
		}
	}
	return out
}

func sets(groups []data.Group) (all []*data.Set) {
	for _, g := range groups {
		all = append(all, g.Set)
	}
	return all
}

// rule is a logistic regression on max p̄, total and epistemic entropy, standardised.
type rule struct{ mean, sd, weights [4]float64 }

func inputs(x []float64, i int) [4]float64 {
	row := x[i*decide.Features:]
	return [4]float64{1, row[0], row[1], row[4]}
}

// logistic fits the rule by Newton's method with a ridge of one.
func logistic(x []float64, z []bool) (*rule, error) {
	r := &rule{}
	n := float64(len(z))
	for i := range z {
		for k, v := range inputs(x, i) {
			r.mean[k] += v / n
		}
	}
	for i := range z {
		for k, v := range inputs(x, i) {
			r.sd[k] += (v - r.mean[k]) * (v - r.mean[k]) / n
		}
	}
	for k := range r.sd {
		if r.sd[k] = math.Sqrt(r.sd[k]); r.sd[k] == 0 {
			r.sd[k] = 1
		}
	}
	for range 50 {
		var g [4]float64
		var h [4][4]float64
		for i, wrong := range z {
			u := r.standard(inputs(x, i))
			p := 1 / (1 + math.Exp(-dot(r.weights, u)))
			y := 0.
			if wrong {
				y = 1
			}
			for a := range u {
				g[a] += (y - p) * u[a]
				for b := range u {
					h[a][b] += p * (1 - p) * u[a] * u[b]
				}
			}
		}
		for a := range g {
			g[a] -= r.weights[a]
			h[a][a]++
		}
		step, err := solve(h, g)
		if err != nil {
			return nil, err
		}
		for a := range step {
			r.weights[a] += step[a]
		}
	}
	return r, nil
}

func (r *rule) standard(x [4]float64) (u [4]float64) {
	u[0] = 1
	for k := 1; k < 4; k++ {
		u[k] = (x[k] - r.mean[k]) / r.sd[k]
	}
	return u
}

func (r *rule) score(x []float64) (s []float64) {
	for i := range len(x) / decide.Features {
		s = append(s, dot(r.weights, r.standard(inputs(x, i))))
	}
	return s
}

func dot(a, b [4]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] + a[3]*b[3] }

// solve is Gauss's elimination.
func solve(a [4][4]float64, b [4]float64) (x [4]float64, err error) {
	for k := range 4 {
		if a[k][k] == 0 {
			return x, errors.New("a singular matrix")
		}
		for i := k + 1; i < 4; i++ {
			f := a[i][k] / a[k][k]
			for j := k; j < 4; j++ {
				a[i][j] -= f * a[k][j]
			}
			b[i] -= f * b[k]
		}
	}
	for k := 3; k >= 0; k-- {
		x[k] = b[k]
		for j := k + 1; j < 4; j++ {
			x[k] -= a[k][j] * x[j]
		}
		x[k] /= a[k][k]
	}
	return x, nil
}

// examples are those that no network has seen, predicted by a posterior and tempered.
type examples struct {
	probs, tempered []float64
	labels          []int32
	wrong           []bool
	entropy         []float64
}

func unseen(ctx context.Context, m made) (*examples, error) {
	x := &examples{}
	for _, set := range []*data.Set{m.a.Problem.Calibrate, m.a.Problem.Test} {
		v, err := m.run.Posterior.Predict(ctx, set, nil)
		if err != nil {
			return nil, err
		}
		x.probs, x.labels, x.entropy = append(x.probs, v.Probs...), append(x.labels, set.Labels...), append(x.entropy, v.Total...)
	}
	x.tempered = decide.Temper(x.probs, classes, m.run.Decision.Temperature.Posterior)
	var err error
	x.wrong, err = decide.Wrongs(x.probs, classes, x.labels)
	return x, err
}

func (x *examples) write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	n := len(x.labels)
	labels := make([]float64, n)
	for i, y := range x.labels {
		labels[i] = float64(y)
	}
	for name, a := range map[string]struct {
		shape  []int
		values []float64
	}{"probs.npy": {[]int{n, classes}, x.probs}, "tempered.npy": {[]int{n, classes}, x.tempered}, "labels.npy": {[]int{n}, labels}} {
		head := arrays.NPYHeader(a.shape)
		for _, v := range a.values {
			bits := math.Float64bits(v)
			for k := range 8 {
				head = append(head, byte(bits>>(8*k)))
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name), head, 0o644); err != nil {
			return err
		}
	}
	return nil
}

const (
	divided   = 200
	calibrate = 2000
)

// divisions prints coverage and size of sets, and what keeps a risk, over divisions of the examples.
func divisions(ctx context.Context, preset string, runs []made) error {
	fmt.Printf("\n## %s: %d divisions of each run into %d examples to calibrate and the rest to test\n\n| sets | rate | coverage | least | size |\n|---|---|---|---|---|\n", preset, divided, calibrate)
	var all []*examples
	for _, m := range runs {
		x, err := unseen(ctx, m)
		if err != nil {
			return err
		}
		all = append(all, x)
	}
	for _, s := range []struct {
		name     string
		sets     decide.Sets
		tempered bool
	}{
		{"LAC", decide.Sets{Score: decide.LAC{}}, true}, {"LAC, may be empty", decide.Sets{Score: decide.LAC{}, Empty: true}, true},
		{"APS", decide.Sets{Score: decide.APS{}, Empty: true}, true}, {"APS, untempered", decide.Sets{Score: decide.APS{}, Empty: true}, false},
		{"RAPS", decide.Sets{Score: decide.RAPS{Penalty: 0.1, After: 2}}, true}, {"LAC by class", decide.Sets{Score: decide.LAC{}, ByClass: true}, true},
	} {
		for _, rate := range []float64{0.9, 0.95, 0.99} {
			s.sets.Rate = rate
			var covered, sizes []float64
			failed := 0
			each(all, func(x *examples, d int, order []int32) {
				p := x.probs
				if s.tempered {
					p = x.tempered
				}
				cp, cl, cu := x.take(p, order[:calibrate], d)
				c, err := s.sets.Conformal(cp, classes, cl, cu)
				if err != nil {
					failed++
					return
				}
				tp, tl, tu := x.take(p, order[calibrate:], d)
				cover, size := c.Coverage(tp, classes, tl, tu)
				covered, sizes = append(covered, cover), append(sizes, size)
			})
			if len(covered) == 0 {
				fmt.Printf("| %s | %v | refused: too few of a class | | |\n", s.name, rate)
				continue
			}
			least := covered[0]
			for _, c := range covered {
				least = min(least, c)
			}
			fmt.Printf("| %s | %v | %.4f | %.4f | %.3f |\n", s.name, rate, uq.Mean(covered), least, uq.Mean(sizes))
		}
	}
	fmt.Print("\n| risk | by | answered | error among them | divisions that keep it |\n|---|---|---|---|---|\n")
	for _, risk := range []float64{0.01, 0.02} {
		for _, by := range []struct {
			name string
			of   func(x *examples, i int32) float64
		}{
			{"confidence", func(x *examples, i int32) float64 { return -uq.Confidence(x.probs[i*classes:(i+1)*classes], classes)[0] }},
			{"entropy", func(x *examples, i int32) float64 { return x.entropy[i] }},
		} {
			var share, errs []float64
			keeps, tried := 0, 0
			each(all, func(x *examples, d int, order []int32) {
				some := func(rows []int32) (e decide.Examples) {
					for _, i := range rows {
						e.Doubts, e.Wrong = append(e.Doubts, by.of(x, i)), append(e.Wrong, x.wrong[i])
					}
					return e
				}
				rule, err := decide.Abstain{By: decide.Entropy{}, At: decide.Risk(risk)}.Choose(some(order[:calibrate]))
				if err != nil {
					return
				}
				v := decide.Judge(some(order[calibrate:]), rule.Threshold).Answered
				n := float64(v.Right + v.Wrong)
				tried++
				share = append(share, n/float64(len(order)-calibrate))
				if n == 0 {
					keeps++
					return
				}
				errs = append(errs, float64(v.Wrong)/n)
				if float64(v.Wrong)/n <= risk {
					keeps++
				}
			})
			fmt.Printf("| %v | %s | %.3f | %.4f | %.1f %% |\n", risk, by.name, uq.Mean(share), uq.Mean(errs), 100*float64(keeps)/float64(tried))
		}
	}
	return nil
}

// each calls visit with every division of every run's examples.
func each(all []*examples, visit func(x *examples, d int, order []int32)) {
	for r, x := range all {
		order := make([]int32, len(x.labels))
		for d := range divided {
			rng.Key{Seed: uint64(r), Purpose: rng.Synthetic, Iteration: d}.Stream().Perm(order)
			visit(x, d, order)
		}
	}
}

// take is a part of the examples: probabilities, labels and uniform numbers of a division.
func (x *examples) take(p []float64, rows []int32, d int) (probs []float64, labels []int32, u []float64) {
	for _, i := range rows {
		probs, labels = append(probs, p[i*classes:(i+1)*classes]...), append(labels, x.labels[i])
		u = append(u, decide.Uniform(uint64(d), 0, int(i)))
	}
	return probs, labels, u
}
