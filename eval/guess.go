package eval

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/uq"
)

// Skill compares the posterior with a guess that does not look at the inputs: the class frequencies of the training examples, each class
// counted once more, or the normal law of their targets, log-normal where the network learns their logarithms. On other data than the run's, whose training examples are not there, the guess is
// that of the examples evaluated on.
type Skill struct {
	NLL    float64 // of the guess
	By, SE float64 // by how much the posterior's NLL is lower, and the standard error of the paired differences
}

// Skill returns how much better the posterior is than a guess. There is no answer for fewer than uq.Few examples, where a loss is not
// finite, and where all targets are the same, so that no prediction can be better.
func (a *Assessment) Skill() (s Skill, ok bool) {
	if a.Metrics.N < uq.Few || len(a.Losses.Posterior) != a.Metrics.N || a.unscored() > 0 {
		return s, false
	}
	guess := a.guess()
	if guess == nil {
		return s, false
	}
	s.NLL = uq.Mean(guess)
	s.By, s.SE = Paired(guess, a.Losses.Posterior)
	return s, true
}

// guess is the loss of the guess for each example; nil if there is none.
func (a *Assessment) guess() []float64 {
	set, learnt := a.Set(), a.Problem.Train
	if learnt == nil {
		learnt = set
	}
	switch {
	case a.Regression != nil:
		if s := amounts(standard(a.Problem)); s != nil {
			return logNormalLosses(a.Regression.Targets, Targets(learnt, a.Problem), a.Regression.Outputs)
		}
		return normalLosses(a.Regression.Targets, Targets(learnt, a.Problem), a.Regression.Outputs)
	case a.Test != nil:
		return frequencyLosses(set, learnt, a.Test.Classes)
	}
	return nil
}

// frequencyLosses are −ln of the frequency that the class of each example has among those learnt; nil if all are of one class.
func frequencyLosses(set, learnt *data.Set, classes int) (losses []float64) {
	if one := slices.Max(set.Labels); slices.Min(set.Labels) == one {
		return nil
	}
	counts := slices.Repeat([]float64{1}, classes)
	for _, y := range learnt.Labels {
		counts[y]++
	}
	all := float64(len(learnt.Labels) + classes)
	for _, y := range set.Labels {
		losses = append(losses, -rng.Log(counts[y]/all))
	}
	return losses
}

// normalLosses are the negative log-densities of targets [n, outputs] in the normal law of those learnt, each output by itself; nil if an
// output of either does not vary.
func normalLosses(targets, learnt []float64, outputs int) []float64 {
	losses := make([]float64, len(targets)/outputs)
	for o := range outputs {
		y, law := every(targets, o, outputs), every(learnt, o, outputs)
		mean, sd := uq.Mean(law), spread(law)
		if !(sd > 0 && spread(y) > 0) {
			return nil
		}
		for i, x := range y {
			z := (x - mean) / sd
			losses[i] += float64(z*z/2) + rng.Log(sd*math.Sqrt(2*math.Pi))
		}
	}
	return losses
}

// logNormalLosses are normalLosses of amounts in the log-normal law of those learnt.
func logNormalLosses(targets, learnt []float64, outputs int) []float64 {
	logs := func(y []float64) []float64 {
		x := make([]float64, len(y))
		for i, v := range y {
			x[i] = rng.Log(v)
		}
		return x
	}
	y := logs(targets)
	losses := normalLosses(y, logs(learnt), outputs)
	for i := range losses {
		for _, v := range y[i*outputs:][:outputs] {
			losses[i] += v
		}
	}
	return losses
}

// Guess names the guess of Skill.
func (a *Assessment) Guess() string {
	switch {
	case a.Test != nil:
		return "the class frequencies of the training examples"
	case amounts(standard(a.Problem)) != nil:
		return "the log-normal law of the training targets"
	}
	return "the normal law of the training targets"
}

// skill is the finding that the posterior is not better than a guess by two standard errors; nil if it is. Few examples show that only by a
// posterior that is worse by as much. single: the posterior is one network.
func (a *Assessment) skill(single bool) *finding.Finding {
	s, ok := a.Skill()
	if !ok || s.By > 2*s.SE || a.Metrics.N < uq.Small && !(s.By < -2*s.SE) {
		return nil
	}
	slip := 0.
	if s.By < -2*s.SE {
		slip = a.slip()
	}
	write := a.writeNLL()
	return found(finding.NoSkill{
		Class: a.Test != nil, Guess: write(uq.Number(s.NLL)), Posterior: write(a.Metrics.NLL), By: new(numeral.Number(s.By)), SE: new(numeral.Number(s.SE)),
		Examples: a.Metrics.N, Logs: amounts(standard(a.Problem)) != nil, Single: single, Slip: max(slip, 0), Below: max(-slip, 0),
	})
}

// slip is the factor by which the targets evaluated on seem to be in a larger unit than those that were learnt, as minus its inverse if in a
// smaller one; 0: it is the same, or one cannot tell. Targets of several outputs are not looked at.
func (a *Assessment) slip() float64 {
	learnt := standard(a.Problem)
	if a.Regression == nil || a.Regression.Outputs != 1 || learnt == nil {
		return 0
	}
	factor := learnt.Slip(0, uq.Mean(a.Regression.Targets), spread(a.Regression.Targets))
	if factor > 0 && factor < 1 {
		return -1 / factor
	}
	return factor
}

// writeNLL writes an NLL as it is shown elsewhere.
func (a *Assessment) writeNLL() func(uq.Number) string {
	if a.Regression != nil {
		return func(nll uq.Number) string { return numeral.Significant(float64(nll)) }
	}
	return func(nll uq.Number) string { return numeral.Fixed(float64(nll), 3) }
}

// MostFrequent is the share of the most frequent class among the examples evaluated on.
func (a *Assessment) MostFrequent() float64 {
	labels := a.Set().Labels
	counts := make([]float64, a.Test.Classes)
	for _, y := range labels {
		counts[y]++
	}
	return slices.Max(counts) / float64(len(labels))
}

// TargetSD is the standard deviation of the targets evaluated on, which is the RMSE of predicting their mean; of several outputs, each by
// its own mean.
func (a *Assessment) TargetSD() float64 {
	t, k := a.Regression.Targets, a.Regression.Outputs
	sum := 0.0
	for o := range k {
		sd := spread(every(t, o, k))
		sum += float64(sd*sd) / float64(k)
	}
	return math.Sqrt(sum)
}
