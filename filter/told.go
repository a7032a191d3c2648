package filter

import (
	"errors"
	"fmt"

	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/ssm"
)

// told is what a chain tells of a scan, as plain data: all that the scan's Info and the next scan need of it beside its states.
type told struct {
	joint, index, refine          rate
	evaluated, skipped, residuals int64 // terms of the likelihood
	passTerms                     int64
	passes, repairs               int
	dropped                       int // of the measurements that it has
	ancestors                     int
	summary                       []summary // of each coordinate
	explained                     []float64 // of each target; nil: unknown
	expected                      float64   // the mean number that a target explains
	evidence                      evidence
	tuning                        []float64 // what the next scan takes over
}

// tell says what the chain has found. It comes after the last step.
func (c *chain) tell() told {
	t := told{
		joint: c.joint, index: c.index, refine: c.refine, residuals: c.residuals, evaluated: c.residuals, repairs: c.repairs,
		dropped: dropped(c.like), summary: c.summary, explained: c.explained, evidence: c.evidence, tuning: c.walk.save(),
	}
	if counter, ok := c.like.(ssm.Counter); ok {
		evaluated, skipped := counter.Terms()
		t.evaluated, t.skipped = t.evaluated+evaluated, skipped
	}
	if n := c.newton; n != nil {
		t.passes, t.passTerms = n.passes, n.terms
		t.evaluated += n.terms
	}
	if t.ancestors = distinct(c.kept, len(c.groups), c.n); c.onset {
		t.ancestors = len(c.kept) / len(c.groups) // each state has a start of its own
	}
	if c.explained != nil {
		t.expected = own(c.like).(ssm.Finder).Expected()
	}
	return t
}

// contribution is the Contribution of a node: its site or, in the last pass, its particles.
type contribution struct {
	site Site // the zero value: it says nothing, or it is the last pass

	told
	repaired bool
	kept     []float64 // the particles of the last pass; nil in the others
	fault    error     // why the node cannot filter the scan; nil: it can
}

const contributionKind = "filter.Contribution/1"

// Kinds of faults in a packed contribution.
const (
	noFault = iota
	someFault
	impossibleFault
	measurementFault
)

// MarshalBinary packs the contribution. It never fails.
func (c *contribution) MarshalBinary() ([]byte, error) {
	e := ckpt.NewEncoder(contributionKind)
	fault, row, text := noFault, 0, ""
	if c.fault != nil {
		var impossible *ImpossibleError
		var measurement *ssm.MeasurementError
		fault, text = someFault, c.fault.Error()
		switch {
		case errors.As(c.fault, &impossible):
			fault, row = impossibleFault, impossible.Row
		case errors.As(c.fault, &measurement):
			fault, row = measurementFault, measurement.Row
		}
	}
	repaired := 0
	if c.repaired {
		repaired = 1
	}
	e.Ints("fault", fault, row)
	e.Bytes("text", []byte(text))
	var rates []int
	for _, r := range []rate{c.joint, c.index, c.refine} {
		rates = append(rates, r.made, r.accepted, r.sampled, r.summed, int(r.of), int(r.rows))
	}
	e.Ints("rates", rates...)
	e.Ints("counts", int(c.evaluated), int(c.skipped), int(c.residuals), int(c.passTerms), c.passes, c.repairs, c.dropped, c.ancestors, repaired)
	var numbers []float64
	var flags []int32
	for _, s := range c.summary {
		numbers = append(numbers, s.mean, s.variance, s.ess)
		flag := int32(s.values) << 2
		if s.constant {
			flag |= 1
		}
		if s.still {
			flag |= 2
		}
		flags = append(flags, flag)
	}
	e.Float64s("summary", numbers)
	e.Int32s("values", flags)
	e.Float64s("scalars", []float64{c.expected, c.evidence.log, c.evidence.se})
	for _, a := range c.arrays() {
		e.Float64s(a.name, *a.data)
	}
	return e.Encode(), nil
}

func (c *contribution) arrays() []array {
	return []array{{"origin", &c.site.Origin}, {"gradient", &c.site.Gradient}, {"precision", &c.site.Precision}, {"explained", &c.explained},
		{"tuning", &c.tuning}, {"kept", &c.kept}}
}

// ReadContribution reads what MarshalBinary of a Contribution has packed. It refuses damaged bytes. Whether lengths fit a filter is seen in its step.
func ReadContribution(b []byte) (Contribution, error) {
	d, err := ckpt.NewDecoder(b, contributionKind)
	if err != nil {
		return nil, err
	}
	var n contribution
	var fault, row, repaired, evaluated, skipped, residuals, passTerms int
	d.Ints("fault", &fault, &row)
	switch err := errors.New(string(d.Bytes("text"))); fault {
	case noFault:
	case impossibleFault:
		n.fault = &ImpossibleError{row, err}
	case measurementFault:
		n.fault = &ssm.MeasurementError{Row: row, Err: err}
	default:
		n.fault = err
	}
	var of, rows [3]int
	rates := []*rate{&n.joint, &n.index, &n.refine}
	var to []*int
	for i, r := range rates {
		to = append(to, &r.made, &r.accepted, &r.sampled, &r.summed, &of[i], &rows[i])
	}
	d.Ints("rates", to...)
	for i, r := range rates {
		r.of, r.rows = int64(of[i]), int64(rows[i])
	}
	d.Ints("counts", &evaluated, &skipped, &residuals, &passTerms, &n.passes, &n.repairs, &n.dropped, &n.ancestors, &repaired)
	n.evaluated, n.skipped, n.residuals, n.passTerms, n.repaired = int64(evaluated), int64(skipped), int64(residuals), int64(passTerms), repaired != 0
	numbers, flags := d.Float64s("summary"), d.Int32s("values")
	if len(numbers) != 3*len(flags) {
		d.Fail("%d numbers and %d counts of a summary", len(numbers), len(flags))
	} else {
		for i, f := range flags {
			n.summary = append(n.summary, summary{numbers[3*i], numbers[3*i+1], numbers[3*i+2], int(f >> 2), f&1 != 0, f&2 != 0})
		}
	}
	if s := d.Float64s("scalars"); len(s) == 3 {
		n.expected, n.evidence = s[0], evidence{s[1], s[2]}
	} else {
		d.Fail("%d scalars, not 3", len(s))
	}
	for _, a := range n.arrays() {
		*a.data = d.Float64s(a.name)
	}
	return &n, d.Err()
}

// fits returns an error for a contribution that no node of this filter makes: one that has so many particles in the last pass, of states of dim
// numbers.
func (c *contribution) fits(dim, particles, blocks int, last bool) error {
	numbers := len(c.site.Precision)
	switch {
	case numbers == 0 && len(c.site.Origin)+len(c.site.Gradient) > 0, numbers > 0 && (numbers != dim*dim || len(c.site.Origin) != dim || len(c.site.Gradient) != dim),
		numbers > 0 && last:
		return fmt.Errorf("a site of %d, %d and %d numbers", len(c.site.Origin), len(c.site.Gradient), numbers)
	case last && len(c.kept) != particles*dim, !last && c.kept != nil:
		return fmt.Errorf("%d numbers of particles", len(c.kept))
	case len(c.summary) != dim, c.explained != nil && len(c.explained) != blocks:
		return fmt.Errorf("a summary of %d coordinates and %d targets", len(c.summary), len(c.explained))
	}
	return nil
}
