package eval

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
)

// MostDraws is the largest number of draws of a row.
const MostDraws = 100000

// usualQuantiles are the levels of the quantiles of a number, unless others are asked for.
var usualQuantiles = []float64{0.05, 0.5, 0.95}

func (p *Predictor) quantiles() []float64 {
	if p.Quantiles == nil {
		return usualQuantiles
	}
	return p.Quantiles
}

// quantileName is the name of a quantile's column: its level in per cent, with at least two digits before the point, as in q05, q50 and q97.5.
func quantileName(level float64) string {
	text := strconv.FormatFloat(level, 'f', -1, 64) + "00"
	digits := strings.TrimPrefix(text, "0.")
	name := "q" + digits[:2]
	if rest := strings.TrimRight(digits[2:], "0"); rest != "" {
		name += "." + rest
	}
	return name
}

// checkAsked refuses quantiles and draws that a file out cannot have; empty: a CSV without a name.
func (p *Predictor) checkAsked(out string) error {
	for i, q := range p.Quantiles {
		switch {
		case p.Posterior.Net.Classes() > 0:
			return wrongUse("quantiles are of numbers, and the run predicts classes: leave them out")
		case !(q >= 1e-6 && q <= 1-1e-6):
			return wrongUse("quantile %v: want levels above 0 and below 1, as in .1, .5 and .9", q)
		case slices.Contains(p.Quantiles[:i], q):
			return wrongUse("the quantile %v is asked for twice", q)
		}
	}
	switch {
	case p.Draws < 0 || p.Draws > MostDraws:
		return wrongUse("%d draws: want a number from 1 to %d", p.Draws, MostDraws)
	case p.Draws > 0 && isNPY(out):
		return wrongUse("%s: an array has no columns of draws: write the predictions as .csv", out)
	}
	return nil
}

// asked changes the columns of a prediction, which have the usual quantiles, to those that are asked for.
func (p *Predictor) asked(names []string) (asked []string) {
	for _, name := range names {
		switch base, suffix, _ := strings.Cut(name, "_"); base {
		case quantileName(usualQuantiles[0]):
			if suffix != "" {
				suffix = "_" + suffix
			}
			for _, q := range p.quantiles() {
				asked = append(asked, quantileName(q)+suffix)
			}
		case quantileName(usualQuantiles[1]), quantileName(usualQuantiles[2]):
		default:
			asked = append(asked, name)
		}
	}
	return asked
}

// draw begins the names of the columns of draws: draw_1, or where a row has several numbers draw_1_0, draw_1_1 and so on.
const draw = "draw_"

// drawn names the columns of the draws, which stand last.
func (p *Predictor) drawn() (names []string) {
	for d := range p.Draws {
		name := draw + strconv.Itoa(d+1)
		if k := p.Posterior.Net.Targets(); k > 1 {
			for c := range k {
				names = append(names, fmt.Sprint(name, "_", c))
			}
		} else {
			names = append(names, name)
		}
	}
	return names
}

// usual is a header without draws, and with the usual quantiles in place of others.
func usual(header []string) (names []string) {
	for len(header) > 0 && strings.HasPrefix(header[len(header)-1], draw) {
		header = header[:len(header)-1]
	}
	for i := 0; i < len(header); i++ {
		names = append(names, header[i])
		suffix, numbers := strings.CutPrefix(header[i], "sd_epistemic")
		if !numbers {
			continue
		}
		first := i
		for i+1 < len(header) && isQuantile(strings.TrimSuffix(header[i+1], suffix)) {
			i++
		}
		if i > first {
			for _, q := range usualQuantiles {
				names = append(names, quantileName(q)+suffix)
			}
		}
	}
	return names
}

func isQuantile(name string) bool {
	level, found := strings.CutPrefix(name, "q")
	v, err := strconv.ParseFloat(level, 64)
	whole, _, _ := strings.Cut(level, ".")
	return found && err == nil && len(whole) == 2 && v > 0 && v < 100
}

// draws appends to each prediction of a block, whose first row is given, its draws (bnn.Ensemble.Draw): numbers in the target's units, or the
// numbers of classes.
func (p *Predictor) draws(ctx context.Context, set *data.Set, first int, values []float64) ([]float64, error) {
	n := set.Len()
	if p.Draws == 0 || n == 0 {
		return values, nil
	}
	all, err := p.Posterior.Draw(ctx, set, bnn.Draws{N: p.Draws, Seed: p.Seed, First: first}, p.Pool)
	if err != nil {
		return nil, err
	}
	if p.Posterior.Net.Classes() == 0 {
		shift(all, p.Schema.Targets)
	}
	width, each := len(values)/n, len(all)/n
	with := make([]float64, 0, len(values)+len(all))
	for i := range n {
		with = append(append(with, values[i*width:][:width]...), all[i*each:][:each]...)
	}
	return with, nil
}
