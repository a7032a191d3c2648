package paper

import (
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/weights"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/uq"
)

// What SMCSGHMC's runs say beside the table: other weights and fewer members of the same kept states (Table 5), inputs of other kinds
// (Table 2), where the rule of method.Stopping would have stopped, and what was unlearned (appendix E).

var (
	// separations are the figures of a group: how well three scores separate it from the test images, and what the energy decides
	// at the threshold of the validation images.
	separations = []string{"auroc", "auroc_max_probability", "auroc_energy", "fpr95_energy", "detected", "precision", "recall", "f1", "specificity"}

	// subsets are the numbers of members of Table 5, and a single one.
	subsets = []int{1, 5, 10, 20, 30}

	scored    = []string{"accuracy", "nll", "ece"}
	resampled = []string{"resampled"} // iterations
	stopped   = []string{"stop_at", "stop_nll", "best_at", "best_nll", "last_at", "last_nll"}
)

// besides are the measures of those figures, for a kind of images.
func besides(in imagery) []Measure {
	all := in.measures("equal_", scored)
	for _, m := range subsets {
		all = append(all, in.measures(fmt.Sprintf("members%d_", m), scored)...)
	}
	for _, g := range in.groups {
		all = append(all, in.measures(g.name+"_", separations)...)
	}
	return slices.Concat(all, in.measures("", resampled, stopped, unlearned, unlearnedTogether), in.measures(atStart, scored))
}

// measures are those of figures with these names behind a prefix.
func (in imagery) measures(prefix string, names ...[]string) (all []Measure) {
	for _, name := range slices.Concat(names...) {
		name = prefix + name
		all = append(all, Measure{Name: name, Title: name, Least: math.Inf(-1), Most: math.Inf(1), Beside: true, Slow: true, Of: one(func(d *fitDone) (float64, error) {
			f, err := d.beside(in)
			if v, ok := f[name]; ok || err != nil {
				return v, err
			}
			return math.NaN(), nil
		})})
	}
	return all
}

// beside computes the figures of a run, by name. Those that it cannot have are left out. It tells when it begins and ends, for a
// thousand members take minutes.
func (d *fitDone) beside(in imagery) (map[string]float64, error) {
	if d.figures != nil {
		return d.figures, nil
	}
	phase := "other weights, fewer members and foreign inputs of " + d.Spec.Name
	d.tell(method.Status{Phase: phase})
	defer d.tell(method.Status{Phase: phase, Share: 1, Ended: true})
	p, err := d.problem()
	f := map[string]float64{}
	if err != nil {
		return nil, err
	}
	if err := in.read(d, p, f); err != nil {
		return nil, err
	}
	if err := d.otherwise(p, f); err != nil {
		return nil, err
	}
	if in.more != nil {
		if err := in.more(d, p, f); err != nil {
			return nil, err
		}
	}
	if d.iterations() > 0 {
		f[resampled[0]] = float64(d.resamplings())
	}
	if err := d.stopping(p, f); err != nil {
		return nil, err
	}
	if err := d.unlearning(p, f); err != nil {
		return nil, err
	}
	d.figures = f
	return f, nil
}

// iterations is the number of iterations whose states are the posterior, each with all particles; 0 if it is of another kind.
func (d *fitDone) iterations() int {
	if s := d.Spec.Way().Sampling(); s != nil && s.Particles > 1 {
		return d.Posterior.Size() / s.Particles
	}
	return 0
}

// resamplings counts the iterations that resampled, of a run that has iterations.
func (d *fitDone) resamplings() int { return d.Spec.Way().Sampling().Diagnostics(d.Trace).Resampled }

// otherwise scores the same members under other weights, and how the run takes foreign inputs.
func (d *fitDone) otherwise(p *data.Problem, f map[string]float64) error {
	e := d.Posterior
	var names []string
	var alone [][]float64
	for _, m := range subsets {
		if m < e.Alive() {
			names, alone = append(names, fmt.Sprintf("members%d_", m)), append(alone, e.Last(m))
		}
	}
	if d.iterations() > 0 {
		names, alone = append(names, "equal_"), append(alone, equalWeights(e.LogWeights))
	}
	evaluated, err := e.EvaluateClasses(d.ctx, p.Test, p.Groups, [][]float64{e.LogWeights}, alone, false, pool.New(d.options.Threads))
	if err != nil {
		return err
	}
	own := evaluated[0]
	d.test = own.Test
	for i, name := range names {
		s := evaluated[1+i].Evaluation
		f[name+"accuracy"], f[name+"nll"], f[name+"ece"] = 100*float64(s.Accuracy), float64(s.NLL), float64(s.ECE)
	}
	groups := own.Evaluation.Groups[len(own.Evaluation.Groups)-len(p.Groups):] // after those of the test images
	for i := range p.Groups {
		name, g := p.Groups[i].Name, groups[i]
		values := []float64{float64(*g.AUROC), float64(*g.AUROCMaxProb), float64(*g.AUROCEnergy), float64(*g.FPR95Energy)}
		if d.Decision != nil && d.Decision.Foreign != nil {
			by := uq.Detect(own.Test.Energy, own.Groups[i].Energy, float64(d.Decision.Threshold))
			for _, v := range []uq.Number{by.Accuracy, by.Precision, by.Recall, by.F1, by.Specificity} {
				values = append(values, float64(v))
			}
		}
		for k, v := range values {
			f[name+"_"+separations[k]] = v
		}
	}
	return nil
}

// equalWeights are equal log-weights of all particles that are not dead.
func equalWeights(logWeights []float64) []float64 {
	alive := 0.0
	for _, w := range logWeights {
		if !math.IsInf(w, -1) {
			alive++
		}
	}
	equal := slices.Clone(logWeights)
	for j, w := range equal {
		if !math.IsInf(w, -1) {
			equal[j] = -math.Log(alive)
		}
	}
	return equal
}

// stopping follows the rule along a run that it did not stop: the ensemble of the states kept so far, its NLL on the validation images,
// which the rule sees, and on the test images, which it does not.
func (d *fitDone) stopping(p *data.Problem, f map[string]float64) error {
	n := d.iterations()
	if n < 2 || p.Validate == nil {
		return nil
	}
	every := d.Posterior.Size() / n
	var rule, test method.Stopping
	var validated, tested []float64 // mean NLL of the ensembles, iteration after iteration
	stop := 0
	for t := range n {
		one := *d.Posterior
		one.LogWeights = only(one.LogWeights, t*every, (t+1)*every)
		for _, part := range []struct {
			set  *data.Set
			rule *method.Stopping
			nll  *[]float64
		}{{p.Validate, &rule, &validated}, {p.Test, &test, &tested}} {
			losses, _, err := eval.Losses(d.ctx, &one, part.set, pool.New(d.options.Threads))
			if err != nil {
				return err
			}
			part.rule.Observe(losses, patience)
			*part.nll = append(*part.nll, uq.Mean(part.rule.Losses()))
		}
		if rule.Stopped && stop == 0 {
			stop = t + 1
		}
	}
	if stop == 0 {
		stop = n
	}
	best, warmup := 1, d.Trace[len(d.Trace)-1].K-n
	for t := range validated {
		if validated[t] < validated[best-1] {
			best = t + 1
		}
	}
	for k, at := range []int{stop, best, n} {
		f[stopped[2*k]], f[stopped[2*k+1]] = float64(warmup+at), tested[at-1]
	}
	return nil
}

// patience is that of the rule by default.
const patience = int(method.DefaultPatience)

// only are the log-weights of the particles from first to end, normalised.
func only(logWeights []float64, first, end int) []float64 {
	some := slices.Repeat([]float64{math.Inf(-1)}, len(logWeights))
	copy(some[first:end], logWeights[first:end])
	if _, _, err := weights.Normalise(some, "particle"); err != nil {
		panic("paper: " + err.Error()) // an iteration in which all particles are dead ends a run
	}
	return some
}

// threeOf are the names of the scores behind a prefix, threeDigits are their digits.
func threeOf(prefix string) (all []string) {
	for _, name := range scored {
		all = append(all, prefix+name)
	}
	return all
}

var threeDigits = []int{2, 4, 4}

// sghmcSheets are the tables of those figures. published says that the paper's stand behind those of fewer members.
func sghmcSheets(foreign []group, published bool) (all []sheet) {
	members := sheet{title: "The members kept last, all, and all with equal weights: accuracy in % / NLL / ECE", first: "cell", paper: published}
	for _, m := range subsets {
		members.columns = append(members.columns, sheetColumn{fmt.Sprint("m = ", m), threeOf(fmt.Sprintf("members%d_", m)), threeDigits})
	}
	members.columns = append(members.columns, sheetColumn{"all", threeOf(""), threeDigits}, sheetColumn{"all, equal", threeOf("equal_"), threeDigits})
	all = append(all, members)
	for _, g := range foreign {
		all = append(all, sheet{title: "Foreign inputs: " + g.title, first: "cell", columns: single(g.name+"_", []int{4}, separations,
			"AUROC, epistemic", "AUROC, max. probability", "AUROC, energy", "FPR95, energy", "accuracy", "precision", "recall", "F1", "specificity")})
	}
	all = append(all,
		sheet{title: "Resampling", first: "run", each: true, columns: single("", []int{0}, resampled, "iterations that resampled")},
		sheet{title: "Where the stopping rule stops: NLL of the ensemble so far on the test images", first: "run", each: true, columns: single("", []int{0, 4, 0, 4, 0, 4}, stopped,
			"stops at", "NLL there", "best by validation at", "NLL there", "end", "NLL at the end")})
	return append(all, unlearningSheets()...)
}
