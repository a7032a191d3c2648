package method

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
)

const outlying = 10 // distance of a chain's end from the median of all, in median absolute deviations, above which it is an outlier

// chainFindings reports where chains end, the share of moves that they accepted after their step was frozen, or that their moves
// have no accept step, and which chains hardly moved.
func (s *Sampling) chainFindings(trace []TraceLine) (found []finding.Finding) {
	chains := s.each(trace)
	if len(chains) == 0 {
		return nil
	}
	var ends []float64
	var numbers []int
	least, last := newExtent(), newExtent()
	for _, lines := range chains {
		accepted := acceptance(secondHalf(lines))
		end := float64(lines[len(lines)-1].LogLikelihood)
		ends, numbers = append(ends, end), append(numbers, lines[0].Island)
		least.add(accepted)
		last.add(end)
	}
	end := finding.ChainsEnd{Chains: len(chains), Lowest: last.low, Highest: last.high}
	if s.Move.Traits().Biased() {
		found = append(found, finding.Of(end), finding.Of(finding.Biased{Move: s.Move.String(), Step: s.Step}))
	} else {
		end.Least, end.Most = new(numeral.Number(least.low)), new(numeral.Number(least.high))
		found = append(found, finding.Of(end))
	}
	found = append(found, s.budgetFindings(trace)...)
	m := s.motion(trace)
	if m.stuck != nil {
		most := 0.0
		for _, lines := range chains {
			if slices.Contains(m.stuck, lines[0].Island) {
				most = max(most, acceptance(secondHalf(lines)))
			}
		}
		found = append(found, finding.Of(finding.ChainStuck{
			Chains: finding.Numbered(m.stuck), Acceptance: most, Step: s.Step, Adapted: s.Move.Traits().Aim != 0, Aim: s.Move.Traits().Aim,
			Failed: m.failed && m.frozen,
		}))
	}
	if m.still != nil {
		found = append(found, finding.Of(finding.ChainsStill{Chains: finding.Numbered(m.still), Bound: chainStillBelow, Step: s.Step, Failed: m.failed}))
	}
	if odd := outliers(ends); odd != nil {
		for i, at := range odd {
			odd[i] = numbers[at]
		}
		found = append(found, finding.Of(finding.ChainsOutlying{Chains: finding.Numbered(odd)}))
	}
	return found
}

// outliers lists the chains that end far from the median of all.
func outliers(ends []float64) (odd []int) {
	if len(ends) < 4 {
		return nil
	}
	middle := numeral.Median(ends)
	away := make([]float64, len(ends))
	for i, e := range ends {
		away[i] = math.Abs(e - middle)
	}
	typical := numeral.Median(away)
	for i, d := range away {
		if !(d <= outlying*typical) { // an end that is no number is far from any
			odd = append(odd, i)
		}
	}
	return odd
}

// Record returns what a trace says of the chains after their steps were frozen, to compare the chains by; nil if the sampler is
// not one of chains.
func (s *Sampling) Record(trace []TraceLine) *eval.Record {
	if s == nil || !s.Chains() {
		return nil
	}
	r := new(eval.Record)
	for _, lines := range s.each(trace) {
		late, began := secondHalf(lines), 0
		if early := len(lines) - len(late); early > 0 {
			began = lines[early-1].Gradients
		}
		var l []float64
		for _, line := range late {
			l = append(l, float64(line.LogLikelihood))
		}
		if n := len(late); n > 0 {
			r.Gradients += float64(late[n-1].Gradients-began) / float64(late[n-1].Examples)
		}
		r.LogLikelihoods = append(r.LogLikelihoods, l)
	}
	return r
}
