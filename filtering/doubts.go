package filtering

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/ssm"
)

// Doubts are scans whose estimate is doubtful.
type Doubts struct {
	FewAncestors *Doubted `json:"few_ancestors,omitempty"` // scans that come from 2 to 19 states of the scan before, and the fewest
	Idle         *Doubted `json:"idle,omitempty"`          // scans with returns in which every joint draw was accepted, if more than by chance
	Lost         []Lost   `json:"lost,omitempty"`          // targets that explain far fewer returns than their rate
	Surprise     *Spread  `json:"surprise,omitempty"`
	Surprising   *Doubted `json:"surprising,omitempty"` // scans whose surprise is at most .001, and the smallest
	Sparse       *Sparse  `json:"sparse,omitempty"`     // several targets that give few returns each
}

// Doubted are scans that have something in common.
type Doubted struct {
	Scans int    `json:"scans"`
	Time  Time   `json:"time"`  // of the worst of them, or of the first of those that are as bad
	Value Number `json:"value"` // of the worst: a count, or a share
}

// Lost is a target, with the scans in which it explains far fewer returns than its rate, and the fewest returns.
type Lost struct {
	ID string `json:"id"`
	Doubted
}

// Sparse are several targets that give at most one return each in a scan.
type Sparse struct {
	Targets  int    `json:"targets"`
	Rate     Number `json:"rate"`     // mean number of returns of each
	Compared bool   `json:"compared"` // with another method
}

// fewAncestors is the number of ancestors below which what came before a scan is known from too few draws.
const fewAncestors = 20

// surprising is the surprise that a healthy scan falls below once in a thousand.
const surprising = 0.001

// add looks at the next scan, of so many filters. Their ancestors count together: s has their mean.
func (d *Doubts) add(s *Step, filters int) {
	if all := s.Ancestors * filters; s.Ancestors > 1 && all < fewAncestors {
		d.FewAncestors = d.FewAncestors.with(s, Number(all))
	}
	if s.Accept != nil && s.Accept.Joint != nil && *s.Accept.Joint == 1 && s.Returns > 0 {
		d.Idle = d.Idle.with(s, 1)
	}
	if s.Surprise != nil {
		if *s.Surprise <= surprising {
			d.Surprising = d.Surprising.with(s, *s.Surprise)
		}
	}
	for _, t := range s.Tracks {
		if !t.Lost {
			continue
		}
		i := slices.IndexFunc(d.Lost, func(l Lost) bool { return l.ID == t.ID })
		if i < 0 {
			i, d.Lost = len(d.Lost), append(d.Lost, Lost{ID: t.ID, Doubted: Doubted{Time: s.Time, Value: *t.Returns}})
		}
		d.Lost[i].Doubted = *d.Lost[i].with(s, *t.Returns)
	}
}

// with adds a scan.
func (d *Doubted) with(s *Step, value Number) *Doubted {
	out := Doubted{Time: s.Time, Value: value}
	if d != nil {
		out = *d
	}
	if out.Scans++; value < out.Value {
		out.Time, out.Value = s.Time, value
	}
	return &out
}

// finder is the likelihood of an empty scan, if the model's measurements come each from one target or from none.
func finder(m ssm.Model) (f ssm.Finder, ok bool) {
	like, err := m.Bind(&ssm.Scan{})
	if err != nil {
		return nil, false
	}
	f, ok = like.(ssm.Finder)
	return f, ok
}

// sparse says that a model has several targets of few returns; nil: it does not.
func sparse(m ssm.Model, compared bool) *Sparse {
	f, ok := finder(m)
	targets := len(ssm.Blocks(m))
	if !ok || targets < 2 || f.Expected() > 1 {
		return nil
	}
	return &Sparse{targets, Number(f.Expected()), compared}
}

// beyondClutter are those idle scans of a run of so many; nil if chance makes as many in one of a hundred runs. All targets together give
// no return with the probability exp(−P λ_X), and then clutter alone is left, which tells the filter nothing.
func (d *Doubted) beyondClutter(m ssm.Model, scans int) *Doubted {
	if f, ok := finder(m); d != nil && ok {
		if empty := rng.Exp(-float64(len(ssm.Blocks(m))) * f.Expected()); !beyond(d.Scans, float64(scans)*empty) {
			return nil
		}
	}
	return d
}

// findings are those about the doubts of a run of so many scans.
func (d *Doubts) findings(scans int) (list []finding.Finding) {
	tell := func(k finding.Kind) { list = append(list, finding.Of(k)) }
	for _, l := range d.Lost {
		tell(finding.LostTarget{Target: l.ID, Some: l.Scans, Scans: scans, Worst: string(l.Time), Returns: float64(l.Value)})
	}
	if f := d.FewAncestors; f != nil {
		tell(finding.FewAncestors{Some: f.Scans, Scans: scans, Least: int(f.Value), Worst: string(f.Time), Enough: fewAncestors})
	}
	if s := d.Surprising; s != nil && beyondChance(s, scans) {
		tell(finding.SurprisingScans{Some: s.Scans, Scans: scans, Worst: string(s.Time), Share: float64(s.Value)})
	}
	if d.Idle != nil {
		tell(finding.IdleScans{Some: d.Idle.Scans, Scans: scans, First: string(d.Idle.Time)})
	}
	if s := d.Sparse; s != nil {
		tell(finding.SparseTargets{Targets: s.Targets, Rate: float64(s.Rate), Compared: s.Compared})
	}
	return list
}

// beyondChance reports whether a right filter surprises itself so much in fewer than one of a hundred runs: by its most surprising scan, or by
// the number of its surprising scans, which is a Poisson number in a long run.
func beyondChance(s *Doubted, scans int) bool {
	if float64(s.Value)*float64(scans) <= 0.01 {
		return true
	}
	return beyond(s.Scans, surprising*float64(scans))
}

// beyond reports whether a Poisson number of this mean is so large in at most one of a hundred runs.
func beyond(n int, mean float64) bool {
	if mean > 100 { // the number is nearly normal
		return float64(n) > mean+float64(2.33*math.Sqrt(mean))
	}
	term, tail := rng.Exp(-mean), 1.0
	for k := range n {
		tail -= term
		term *= mean / float64(k+1)
	}
	return tail <= 0.01
}
