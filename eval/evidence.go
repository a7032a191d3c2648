package eval

import (
	"math"

	"github.com/starling-smc/starling/smc"
	"github.com/starling-smc/starling/uq"
)

// Precision is what each island says of its own log evidence, NaN where it cannot.
type Precision struct {
	SD     []float64 // standard deviation over runs, from the families of the particles (smc.Genealogy)
	Ladder []float64 // by how much the adaptation of the ladder has moved it (smc.State.LadderBias); 0 on other paths
}

// Of returns the standard error of the log evidence of some islands together, and the bias by the adaptation of their ladders. The
// scatter of several islands is their error, whatever each says of its own. What is not known is NaN; p may be nil.
func (p *Precision) Of(c smc.Combined) (se, ladder float64) {
	islands := len(c.Omega)
	se, ladder = c.SD/math.Sqrt(float64(islands)), math.NaN()
	if p != nil && len(p.SD) == islands {
		if ladder = uq.Mean(p.Ladder); islands == 1 {
			se = p.SD[0]
		}
	}
	return se, ladder
}

// Single is the standard deviation of the log evidence of one island, as the islands tell it of themselves: the root of the mean of their
// variances. NaN where one of them cannot tell; p may be nil.
func (p *Precision) Single() float64 {
	if p == nil {
		return math.NaN()
	}
	squares := make([]float64, len(p.SD))
	for i, sd := range p.SD {
		squares[i] = float64(sd * sd)
	}
	return math.Sqrt(uq.Mean(squares))
}

// evidence combines the log evidences of the islands.
func (m *Metrics) evidence(logZ []float64, p *Precision) error {
	c, err := smc.Combine(logZ)
	if err != nil {
		return err
	}
	m.LogEvidence, m.LogEvidenceSD, m.EffectiveIslands = (*uq.Number)(&c.LogZ), known(c.SD), (*uq.Number)(&c.Effective)
	se, ladder := p.Of(c)
	m.LogEvidenceError, m.LadderBias = known(se), known(ladder)
	m.LogEvidenceJackknife, m.LogEvidenceSingleSD = known(c.Jackknife), known(p.Single())
	return nil
}

// known is x, nil if it is no finite number.
func known(x float64) *uq.Number {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	n := uq.Number(x)
	return &n
}
