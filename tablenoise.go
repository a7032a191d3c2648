package starling

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/uq"
)

// noiseKind is where the config of a table has the noise of numbers from.
type noiseKind int

const (
	noiseByRule  noiseKind = iota // predicted, unless the values of the target say otherwise
	noiseLearned                  // one number for all rows
)

// floor is the floor of a predicted standard deviation, as a share of that of the target. A narrower noise is none that the rows of a table can
// tell: networks without a floor lose more on a few new rows than they gain on the others. By a higher one chains mix worse.
const floor = .003

// repeats says why the noise is one number; empty: it is predicted. A network that predicts its noise puts narrow spikes on values that are
// often the same, and is far off where it is wrong about them. So the noise of such targets is one number: of few values, or where many rows
// have the same. A trial does not foresee that: of a table with 68 % zeros, restarts that predict the noise have an NLL of 1.6, and their chains
// one of 10.
func repeats(look *data.Look) string {
	switch s := look.Spread; {
	case look.Few:
		return fmt.Sprintf("one noise for all rows, as the target has %d different values only", s.Distinct)
	case s.Share >= finding.Many:
		return fmt.Sprintf("one noise for all rows, as %.2g %% of them have the value %v", 100*s.Share, s.Common)
	}
	return ""
}

// likelihood returns the outputs and the likelihood of a network for numbers, with the reason for it.
func (k noiseKind) likelihood(look *data.Look) (outputs int, likelihood, reason string) {
	if reason = repeats(look); reason == "" && k == noiseByRule {
		return 2, fmt.Sprintf("{gaussian: {sd: predicted, floor: %v}}", floor),
			"the noise depends on the inputs. One noise for all rows: {gaussian: {sd: learned}}, dense: 1"
	}
	if reason == "" {
		reason = "one noise for all rows"
	}
	return 1, "{gaussian: {sd: learned}}", reason
}

// heavy is the distance of the outer quantiles, in distances of the quartiles, from which on values have heavy tails. Normal values have 3.4,
// and those of a Student-t with 3 degrees of freedom 5.9.
const heavy = 6

// Amounts are proposed to be learnt as logarithms where their outer quantiles are so many times apart, and where the skewness by quantiles is
// at least so large and that of the logarithms at most half of it. A log-normal law has ratio 5 at σ = .49, where its skewness is .38.
const (
	wideAmounts = 5
	skewed      = .3
)

// proposals names what else suits the values of a target; empty: nothing.
func proposals(s *data.Spread) string {
	if s.Least == 0 && s.Common == 0 && s.Share >= finding.Many {
		return fmt.Sprintf("%.2g %% of the rows are 0. Two configs can say so: one for whether it is 0, as a class, and one for the rows above 0", 100*s.Share)
	}
	if s.Ratio >= wideAmounts && s.Skew >= skewed && math.Abs(s.LogSkew) <= s.Skew/2 {
		return fmt.Sprintf("the target is a positive amount, whose logarithm is more even (its 95 %% quantile is %.3g times its 5 %% quantile; skewness %.2g, of logarithms %.2g). Compare with target: log, under data",
			s.Ratio, s.Skew, s.LogSkew)
	}
	if s.Tails >= heavy && !math.IsInf(s.Tails, 1) {
		return fmt.Sprintf("the target has heavy tails (98 %% of the values span %.2g times what half of them do; 3.4 if they were normal). Compare with {student: {df: learned, sd: learned}}, dense: 1", s.Tails)
	}
	return ""
}

// mostTried is the number of rows up to which the noise is tried: so far the restarts of the trial take a small share of the time of the
// chains.
const mostTried = 2000

// NewSpecs returns what the config that NewConfig writes for a table may be, as ParseSpec reads it with sets; name is the config's in messages.
// The first Spec has the noise that the rule of NewConfig gives. If it is predicted, and the rows are few enough for a trial, there is a second
// with one learned noise for all rows (Choose). Errors are those of NewConfig and ParseSpec.
func NewSpecs(name string, table data.CSV, sets ...string) ([]Spec, error) {
	look, err := lookAt(table)
	if err != nil {
		return nil, err
	}
	kinds := []noiseKind{noiseByRule}
	if look.Classes == 0 && repeats(look) == "" && look.Rows <= mostTried {
		kinds = append(kinds, noiseLearned)
	}
	var all []Spec
	for _, kind := range kinds {
		s, err := ParseSpec(name, tableConfig(table, look, kind).Config(), sets...)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	if len(all) == 2 && (all[0].Model.Likelihood == all[1].Model.Likelihood || !all[0].Data.Validates()) {
		return all[:1], nil // sets say what the noise is, or nothing can be judged
	}
	return all, nil
}

// Choose returns one of two Specs whose noise differs, the first with one that is predicted and the second with one that is learned, by a
// trial: the deep ensembles of their MAP restarts predict the validation rows. The first is chosen if it has the smaller mean loss both over
// all rows and without the tenth of them that differs most. A few rows on which a network was too sure speak against it in the mean, and
// all others in the trimmed mean. A Spec whose restarts fail is not chosen. One Spec alone is returned as it is.
//
// The trial keeps nothing and has the same result each time, so that a run which is resumed makes it again. The error is that of ctx or
// of the cluster; faults of the data are left to Fit.
func Choose(ctx context.Context, specs []Spec, o Options) (Spec, error) {
	if len(specs) == 1 {
		return specs[0], nil
	}
	var losses [2][]float64
	var nll [2]uq.Number
	for k, s := range specs {
		f, err := try(ctx, s, o)
		if ctx.Err() != nil {
			return s, ctx.Err()
		}
		if err != nil && o.Cluster != nil && !errors.As(err, new(*cluster.FailedError)) {
			return s, err // of the server: it must not decide
		}
		if err != nil {
			return specs[1-k], nil
		}
		if losses[k], _, err = eval.Losses(ctx, f.Restarts, f.Data.Validate, f.job.Pool); err != nil {
			return s, err
		}
		nll[k] = eval.MeanNLL(losses[k], f.Data.Validate, f.Data)
	}
	mean, trimmed := eval.Differ(losses[0], losses[1])
	chosen := 1
	says := "one noise for all rows"
	if mean < 0 && trimmed < 0 {
		chosen, says = 0, "the noise depends on the inputs"
	}
	if o.Progress != nil {
		o.Progress(&Notice{Text: fmt.Sprintf("%s: the restarts' validation NLL is %s with it and %s without (%s)",
			says, numeral.Significant(float64(nll[chosen])), numeral.Significant(float64(nll[1-chosen])), numeral.Several(len(losses[0]), "row"))})
	}
	return specs[chosen], nil
}

// try searches the point estimates of a Spec, and keeps nothing.
func try(ctx context.Context, s Spec, o Options) (*fit, error) {
	s.Method = method.MAP{}
	tell := o.Progress
	o.Folder, o.Progress = nil, func(e Event) {
		if p, ok := e.(*Progress); ok && tell != nil {
			p.Phase = "trial of the noise"
			tell(p)
		}
	}
	f, err := plan(s, o)
	if err == nil {
		_, err = f.run(ctx)
		if err == nil && f.others != nil {
			err = f.others.Finish(ctx)
		}
		err = f.job.Run.Close(err)
	}
	return f, err
}
