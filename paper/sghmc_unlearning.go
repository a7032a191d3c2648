package paper

import (
	"fmt"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/uq"
)

// What was unlearned (smc-sghmc-ensembles, section 2.9): the mean NLL of single networks and of the ensemble, before the first iteration and
// after the last. A descent has that of its one network, epoch by epoch in place of iterations.

var (
	// unlearned are mean NLLs of single networks, and the iteration or epoch of the least.
	unlearned = []string{"train_start", "train_end", "validate_start", "validate_least", "validate_least_at", "validate_end"}

	// unlearnedTogether are NLLs of the weighted ensemble of an iteration's particles. They are lower than the means of single ones.
	unlearnedTogether = []string{"train_ensemble_start", "train_ensemble_end", "validate_ensemble_start", "validate_ensemble_end"}
)

// atStart is before the names of the scores on the test images of the network that all particles begin at.
const atStart = "start_"

// unlearning finds those figures.
func (d *fitDone) unlearning(p *data.Problem, f map[string]float64) error {
	if d.Posterior.Size() == 1 {
		return d.descended(p, f)
	}
	if len(d.Trace) == 0 || d.Trace[0].AtStart == nil {
		return nil
	}
	if search := d.Spec.MAP; search == nil {
		if err := d.given(p, f); err != nil {
			return err
		}
	} else if search.Restarts == 1 {
		began(*d.Metrics.MAP.Accuracy, d.Metrics.MAP.NLL, *d.Metrics.MAP.ECE, f)
	}
	start, last := d.Trace[0].AtStart, d.Trace[len(d.Trace)-1].Unlearning
	least, at := float64(*start.Val), 0
	for _, l := range d.Trace {
		if v := float64(*l.Unlearning.Val); v < least {
			least, at = v, l.K
		}
	}
	for k, v := range []float64{float64(start.Train), float64(last.Train), float64(*start.Val), least, float64(at), float64(*last.Val)} {
		f[unlearned[k]] = v
	}
	for k, v := range []uq.Number{start.TrainEnsemble, last.TrainEnsemble, *start.ValEnsemble, *last.ValEnsemble} {
		f[unlearnedTogether[k]] = float64(v)
	}
	return nil
}

// descended has the figures of a descent, which ends with one network. What it begins at is known only if the network was given: a draw is
// no epoch of the course.
func (d *fitDone) descended(p *data.Problem, f map[string]float64) error {
	for name, set := range map[string]*data.Set{"train_end": p.Train, "validate_end": p.Validate} {
		losses, _, err := eval.Losses(d.ctx, d.Posterior, set, pool.New(d.options.Threads))
		if err != nil {
			return err
		}
		f[name] = uq.Mean(losses)
	}
	if len(d.Courses) != 1 || d.Courses[0].Val == nil {
		return nil
	}
	c := d.Courses[0]
	if c.From == 0 {
		if err := d.given(p, f); err != nil {
			return err
		}
		f["train_start"], f["validate_start"] = float64(c.Train[0]), float64(c.Val[0])
	}
	for k, v := range c.Val {
		if least, any := f["validate_least"]; !any || float64(v) < least {
			f["validate_least"], f["validate_least_at"] = float64(v), float64(c.From+k)
		}
	}
	return nil
}

// given scores the network of model.init on the test images, whose file must not have changed.
func (d *fitDone) given(p *data.Problem, f map[string]float64) error {
	if d.Spec.Model.Init == "" {
		return nil
	}
	init, sum, err := d.Spec.Model.ReadInit(d.Posterior.Net.Whole())
	if err == nil && sum != d.Run.Manifest.Init {
		err = fmt.Errorf("%s is not the network that the run in %s began at: it was trained anew. Move that run away, and make it again", d.Spec.Model.Init, d.Dir)
	}
	if err != nil {
		return &starling.DataError{Err: err}
	}
	e, err := bnn.Combine(init.Net, []bnn.Island{{Theta: init.Whole}}, bnn.Equal{})
	if err != nil {
		return err
	}
	evaluated, err := e.EvaluateClasses(d.ctx, p.Test, nil, [][]float64{e.LogWeights}, nil, false, pool.New(d.options.Threads))
	if err == nil {
		began(evaluated[0].Accuracy, evaluated[0].NLL, evaluated[0].ECE, f)
	}
	return err
}

// began notes the scores of the network that a run begins at.
func began(accuracy, nll, ece uq.Number, f map[string]float64) {
	f[atStart+"accuracy"], f[atStart+"nll"], f[atStart+"ece"] = 100*float64(accuracy), float64(nll), float64(ece)
}

// unlearningSheets are the tables of those figures.
func unlearningSheets() []sheet {
	both := func(head, name string) sheetColumn {
		return sheetColumn{head, []string{name + "_start", name + "_end"}, []int{4, 4}}
	}
	return []sheet{
		{title: "Unlearning: mean NLL of single networks", first: "cell", columns: single("", []int{4, 4, 4, 4, 0, 4}, unlearned,
			"training, start", "training, end", "validation, start", "validation, least", "at iteration or epoch", "validation, end")},
		{title: "Unlearning: the ensemble of an iteration, start / end, and the scores on the test images: accuracy in % / NLL / ECE", first: "cell", columns: []sheetColumn{
			both("training NLL", "train_ensemble"), both("validation NLL", "validate_ensemble"),
			{"test, start", threeOf(atStart), threeDigits}, {"test, the kept ensemble or the last network", threeOf(""), threeDigits},
		}},
	}
}
