package filter

import (
	"errors"
	"fmt"
	"slices"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/ssm"
)

// portion is the part of a scan that one node has.
type portion struct {
	ssm.Scan
	rows []int // of the whole scan, those of the share in its order
}

// divide gives each of so many nodes the same number of a scan's measurements, or one fewer. Which node has which is drawn by chance, of the
// measurements in the order of their values: the order in which a sensor lists them has no meaning.
func divide(scan *ssm.Scan, nodes int, key rng.Key) []portion {
	const whole = -1
	type place struct{ part, row int }
	var list []place
	sorted := func(part, n int, row func(i int) []float64) {
		first := len(list)
		for i := range n {
			list = append(list, place{part, i})
		}
		slices.SortStableFunc(list[first:], func(a, b place) int { return slices.Compare(row(a.row), row(b.row)) })
	}
	sorted(whole, scan.Len(), scan.Row)
	for k := range scan.Parts {
		sorted(k, scan.Parts[k].Len(), scan.Parts[k].Row)
	}
	order, owner := make([]int32, len(list)), make([]int, len(list))
	key.Stream().Perm(order)
	for i, p := range order {
		owner[p] = i * nodes / len(list)
	}
	out := make([]portion, nodes)
	for d := range out {
		out[d].Scan = ssm.Scan{Time: scan.Time, Width: scan.Width}
	}
	for i, p := range list {
		s := &out[owner[i]]
		if p.part == whole {
			s.Values, s.rows = append(s.Values, scan.Row(p.row)...), append(s.rows, p.row)
			continue
		}
		from := &scan.Parts[p.part]
		last := len(s.Parts) - 1
		if last < 0 || !slices.Equal(s.Parts[last].Columns, from.Columns) {
			s.Parts = append(s.Parts, ssm.Part{Columns: from.Columns})
			last++
		}
		s.Parts[last].Values = append(s.Parts[last].Values, from.Row(p.row)...)
	}
	return out
}

// placed is an error about a measurement of the share as one about a measurement of the whole scan.
func (s *portion) placed(m ssm.Model, scan *ssm.Scan, err error) error {
	var impossible *ImpossibleError
	switch {
	case errors.As(err, new(*ssm.MeasurementError)):
		if _, whole := bound(m, scan); whole != nil {
			return whole
		}
	case errors.As(err, &impossible) && impossible.Row >= 0 && impossible.Row < len(s.rows):
		row := s.rows[impossible.Row]
		return &ImpossibleError{row, fmt.Errorf("measurement %d of the scan at %v s, %v, is impossible at each of the states that its node has drawn: "+
			"leave it out, or widen the model", row+1, scan.Time, scan.Row(row))}
	}
	return err
}
