package filter

import (
	"errors"
	"fmt"

	"github.com/starling-smc/starling/ssm"
)

// guide is what guided draws need about one x⁺.
type guide struct {
	*tilt               // the prediction times the series and the cavity, by blocks of coupled groups
	coupled []ssm.Block // the groups of each of these blocks
	tables  []alias     // of c⁺(a), for each group
	logC    [][]float64 // log c⁺(a)
	mean    []float64   // log of the mean of c⁺ over the particles
}

// newGuide prepares draws by the series and the cavity q, from n particles, where groups of coordinates have an index of their own.
func newGuide(tr ssm.Transition, q *quadratic, groups []ssm.Block, from []float64, n int) (*guide, error) {
	law, ok := tr.(ssm.Gaussian)
	if !ok {
		return nil, fmt.Errorf("joint: guided needs Gaussian transitions, not %T: take joint: prior or none", tr)
	}
	d := len(q.origin)
	alone, ok := newTilt(law, q, groups)
	if !ok {
		return nil, errors.New("the covariance Q of the transition is not positive semidefinite")
	}
	t := &guide{coupled: coupled(q.precision, d, groups)}
	before := make([]float64, d) // targets move independently of each other
	for g, b := range groups {
		logC := make([]float64, n)
		for a := range logC {
			copy(before[b.From:b.To], from[a*d+b.From:])
			logC[a] = alone.at(g, before, q.origin)
		}
		table, mean := newAlias(logC)
		t.logC, t.mean, t.tables = append(t.logC, logC), append(t.mean, mean), append(t.tables, table)
	}
	var blocks []ssm.Block
	for _, together := range t.coupled {
		blocks = append(blocks, ssm.Block{From: groups[together.From].From, To: groups[together.To-1].To})
	}
	t.tilt, _ = newTilt(law, q, blocks) // as the groups'
	return t, nil
}

// weak is a share of two precisions below which a coupling is little: if one group is drawn after another, their draws have the correlation
// weak², .25 %.
const weak = 0.05

// coupled returns ranges of groups that a precision couples, with those between them.
func coupled(precision []float64, d int, groups []ssm.Block) (ranges []ssm.Block) {
	for g := range groups {
		last := g
		for h := g + 1; h < len(groups); h++ {
			for i := groups[g].From; i < groups[g].To; i++ {
				for j := groups[h].From; j < groups[h].To; j++ {
					if v := precision[i*d+j]; v*v > weak*weak*precision[i*d+i]*precision[j*d+j] {
						last = h
					}
				}
			}
		}
		if n := len(ranges); n > 0 && g < ranges[n-1].To {
			ranges[n-1].To = max(ranges[n-1].To, last+1)
		} else {
			ranges = append(ranges, ssm.Block{From: g, To: last + 1})
		}
	}
	return ranges
}
