package eval

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/uq"
)

// Chains compares the chains of a run with each other, in their second halves, where step sizes are fixed. R-hat
// (mcmc.RHat) is near 1 where the chains agree. Where they stay in different modes it is large, and each chain is a sample of its
// own mode alone. The ESS (mcmc.BulkESS) is the number of independent draws that the states are worth.
//
// It is of two kinds of numbers: of the log-likelihood after each move, and of what each kept state predicts for up to 500 inputs,
// evenly chosen from the validation examples or, where nothing was held out, from the training examples. A prediction is
// the probability of the class that the posterior answers, or the mean of an output.
//
// A chain of a few moves does not know its own autocorrelation. Where it has fewer states than 50, or than 50
// autocorrelation times (mcmc.IACT), R-hat comes with an interval of two standard errors over the chains (mcmc.Jackknife), if
// there are several, and the ESS is left out.
type Chains struct {
	Chains int `json:"chains"`
	Moves  int `json:"moves"`  // log-likelihoods of the second half of a chain: one for each line of the trace
	States int `json:"states"` // that a chain keeps

	RHatLogLikelihood         *uq.Number    `json:"rhat_log_likelihood,omitempty"` // nil: no answer, for less than 8 moves
	RHatLogLikelihoodInterval *[2]uq.Number `json:"rhat_log_likelihood_interval,omitempty"`
	ESSLogLikelihood          *uq.Number    `json:"ess_log_likelihood,omitempty"` // nil where R-hat has an interval, or does not exist

	On              string          `json:"on"`                         // validation or train: the inputs of the predictions
	N               int             `json:"n"`                          // their number
	RHatPredictions *PredictionRHat `json:"rhat_predictions,omitempty"` // nil: no answer, see Reason
	ESSPredictions  *uq.Number      `json:"ess_predictions,omitempty"`  // median over the predictions; nil: see Reason

	// ESSRough is ESSPredictions of chains that have 50 states, but not 50 autocorrelation times. It is rather too large.
	ESSRough *uq.Number `json:"ess_predictions_rough,omitempty"`

	Change *Change `json:"change,omitempty"` // what the differences between the chains do to the predictions; nil: not known

	Reason string `json:"reason,omitempty"` // why R-hat or the ESS of predictions is left out

	// ESSPerGradient is ESSPredictions divided by the gradients over all training examples that all chains took in their second
	// halves; nil also for moves without gradients.
	ESSPerGradient *uq.Number `json:"ess_per_gradient,omitempty"`
}

// PredictionRHat is the median and the 95 % quantile of R-hat over the predictions.
type PredictionRHat struct {
	Median         uq.Number     `json:"median"`
	Q95            uq.Number     `json:"q95"`
	MedianInterval *[2]uq.Number `json:"median_interval,omitempty"`
	Q95Interval    *[2]uq.Number `json:"q95_interval,omitempty"`
}

// Record is what a trace says of the second halves of chains, where step sizes are fixed.
type Record struct {
	LogLikelihoods [][]float64 // of each chain, move by move, in nats
	Gradients      float64     // evaluations of the gradient over all training examples, of all chains together
}

// ComparedInputs is the largest number of inputs whose predictions are compared.
const ComparedInputs = 500

const (
	leastStates = 50 // of a chain, for an autocorrelation time
	fewStates   = 50 // independent states of all chains, below which a reader is warned
)

// compareChains makes the Chains of a posterior, whose islands have one chain each, or as many as shared a step.
func compareChains(ctx context.Context, e *bnn.Ensemble, r *Record, problem *data.Problem, p *pool.Pool) (*Chains, error) {
	of := chainOf(e, max(1, len(r.LogLikelihoods)/len(e.LogEvidence)))
	states := byChain(of)
	c := &Chains{Chains: len(states), States: states.each(), On: "validation"}
	c.logLikelihoods(r.LogLikelihoods)
	set := problem.Validate
	if set == nil {
		c.On, set = "train", problem.Train
	}
	set = evenly(set, ComparedInputs)
	c.N = set.Len()
	var err error
	if c.Change, err = changes(ctx, e, of, set, p); err != nil {
		return nil, err
	}
	if c.States < mcmc.LeastStates {
		c.Reason = c.keeps() + fmt.Sprintf("R-hat needs %d", mcmc.LeastStates)
		return c, nil
	}
	few := c.States < leastStates
	compared, err := comparePredictions(ctx, e, states, set, few, p)
	if err == nil && !few && !compared.long(c.States) {
		few = true
		tau := compared.iact
		if rough := nearestRank(compared.ess, 0.5); !math.IsNaN(rough) {
			c.ESSRough = number(rough)
		}
		if compared, err = comparePredictions(ctx, e, states, set, few, p); err == nil {
			compared.iact = tau
		}
	}
	if err != nil {
		return nil, err
	}
	c.predictions(compared)
	switch {
	case c.RHatPredictions == nil:
		c.Reason = "no prediction is finite in all states and differs between them"
	case c.States < leastStates:
		c.Reason = c.keeps() + fmt.Sprintf("an ESS needs %d", leastStates)
	case few:
		tau := nearestRank(compared.iact, 0.5)
		if math.IsInf(tau, 1) {
			c.Reason = c.keeps() + "most predictions are the same in all of them"
			break
		}
		c.Reason = c.keeps() + fmt.Sprintf("an ESS needs about %s, 50 autocorrelation times of %s states", numeral.Fixed(math.Ceil(50*tau), 0), numeral.Fixed(tau, 1))
	default:
		c.ESSPredictions = number(nearestRank(compared.ess, 0.5))
		if r.Gradients > 0 {
			c.ESSPerGradient = number(float64(*c.ESSPredictions) / r.Gradients)
		}
	}
	return c, nil
}

// keeps begins a reason.
func (c *Chains) keeps() string {
	return fmt.Sprintf("a chain keeps %s, and ", numeral.Several(c.States, "state"))
}

// Findings say whether the chains sample one posterior together and, if they may, whether their states are worth too few independent
// ones. Chains that are too short for their ESS are judged by the rough one: it is rather too large, so that what it warns of is so. Where
// the Change is known, it alone warns: chains that differ may predict alike.
func (c *Chains) Findings() []finding.Finding {
	found := []finding.Finding{c.agreement()}
	ess := cmp.Or(c.ESSPredictions, c.ESSRough)
	if ess != nil && !(float64(*ess) >= fewStates) && !finding.Is(found[0], finding.ChainsApart{}) {
		found = append(found, finding.Of(finding.FewStates{ESS: float64(*ess), Enough: fewStates, Change: c.Change.found()}))
	}
	if change := c.Change.found(); change.Matters() {
		found = append(found, finding.Of(change.Rough(c.Chains)))
	}
	return found
}

// uncompared is what is found where there is no R-hat of the predictions. Where a chain keeps few states of many moves, their
// log-likelihoods may still agree, and nobody need be warned.
func (c *Chains) uncompared() finding.Finding {
	likelihood := math.NaN()
	if c.RHatLogLikelihood != nil {
		likelihood = float64(*c.RHatLogLikelihood)
	}
	few := c.States < mcmc.LeastStates
	if few && likelihood <= finding.MostRHat {
		return finding.Of(finding.ChainsUntold{Chains: c.Chains, Why: c.Reason, Few: few})
	}
	return finding.Of(finding.ChainsUncompared{Chains: c.Chains, Why: c.Reason, Few: few, LogLikelihood: finding.Known(likelihood), Change: c.Change.found()})
}

// agreement says in a sentence whether the chains sample one posterior together. They do not if the median R-hat of the
// predictions is above 1.1, they do if it and the R-hat of the log-likelihood are not, if there are moves enough for one; an interval that holds 1.1 decides
// neither. Short chains may have no interval, as where all but one stand still: a median above 1.1 then says that several are apart,
// and nothing says that they agree. Of a single short chain nothing is said, unless it stands still.
func (c *Chains) agreement() finding.Finding {
	if c.RHatPredictions == nil {
		return c.uncompared()
	}
	f := finding.RHat{
		Chains: c.Chains, Median: float64(c.RHatPredictions.Median), Q95: float64(c.RHatPredictions.Q95),
		LogLikelihood: c.RHatLogLikelihood, ESS: c.ESSPredictions, Change: c.Change.found(),
	}
	low, high := c.RHatPredictions.Median, c.RHatPredictions.Median
	if between := c.RHatPredictions.MedianInterval; between != nil && between[0] != between[1] {
		low, high = between[0], between[1]
		f.Low, f.High = &low, &high
	}
	untold := low == high && c.ESSPredictions == nil                   // short chains without an interval
	blind := c.RHatLogLikelihood == nil && c.Moves >= mcmc.LeastStates // log-likelihoods that are not finite, or never differ
	switch {
	case untold && c.Chains == 1 && !math.IsInf(f.Median, 1):
		return finding.Of(finding.ChainsUnsure{RHat: f})
	case low > finding.MostRHat:
		return finding.Of(finding.ChainsApart{RHat: f})
	case high <= finding.MostRHat && !(c.RHatLogLikelihood != nil && *c.RHatLogLikelihood > finding.MostRHat) && !untold && !blind:
		return finding.Of(finding.ChainsAgree{RHat: f})
	}
	return finding.Of(finding.ChainsUnsure{RHat: f})
}

// logLikelihoods compares the chains' log-likelihoods, as many of the last ones as all have.
func (c *Chains) logLikelihoods(chains [][]float64) {
	if len(chains) == 0 {
		return
	}
	c.Moves = len(chains[0])
	for _, l := range chains {
		c.Moves = min(c.Moves, len(l))
	}
	last := make([][]float64, len(chains))
	for i, l := range chains {
		last[i] = l[len(l)-c.Moves:]
	}
	rHat := mcmc.RHat(last)
	if math.IsNaN(rHat) {
		return
	}
	c.RHatLogLikelihood = number(rHat)
	if c.Moves < leastStates || !(float64(c.Moves) >= 50*meanIACT(last)) {
		c.RHatLogLikelihoodInterval = interval(rHat, withoutEach(last))
	} else {
		c.ESSLogLikelihood = number(mcmc.BulkESS(last))
	}
}

// predictions summarises the comparison of the predictions.
func (c *Chains) predictions(d *comparison) {
	median, q95 := nearestRank(d.rHat[0], 0.5), nearestRank(d.rHat[0], 0.95)
	if math.IsNaN(median) {
		return
	}
	c.RHatPredictions = &PredictionRHat{Median: uq.Number(median), Q95: uq.Number(q95)}
	var medians, q95s []float64
	for _, without := range d.rHat[1:] {
		medians, q95s = append(medians, nearestRank(without, 0.5)), append(q95s, nearestRank(without, 0.95))
	}
	c.RHatPredictions.MedianInterval, c.RHatPredictions.Q95Interval = interval(median, medians), interval(q95, q95s)
}

// evenly returns at most n examples of a set, at equal distances from each other.
func evenly(set *data.Set, n int) *data.Set {
	all := set.Len()
	if all <= n {
		return set
	}
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(i * all / n)
	}
	return set.Select(set.Name, rows)
}

func number(x float64) *uq.Number { return (*uq.Number)(&x) }
