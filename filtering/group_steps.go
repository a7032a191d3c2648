package filtering

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/ssm"
)

// leader is the Filter of process 0 of a group.
type leader struct {
	filter.Filter
	group *Group
	left  []byte // the state that the last step has left in all processes; nil: there is none
}

// Step implements filter.Filter. It begins again where a process was lost and has come back.
func (f *leader) Step(ctx context.Context, st *filter.State, scan *ssm.Scan) (filter.Info, error) {
	for {
		info, err := f.step(ctx, st, scan)
		var away *cluster.AwayError
		switch {
		case errors.Is(err, cluster.ErrConflict):
			continue
		case errors.As(err, &away):
			g := f.group
			return info, &LostNodesError{g.First[away.Node], g.First[away.Node+1], away.Node, away}
		}
		return info, err
	}
}

func (f *leader) step(ctx context.Context, st *filter.State, scan *ssm.Scan) (info filter.Info, err error) {
	if f.group.epoch == 0 {
		f.left = nil
		if err := f.group.join(ctx); err != nil {
			return info, err
		}
	}
	was, err := st.MarshalBinary()
	if err != nil {
		return info, err
	}
	m := order{scan: *scan}
	together := bytes.Equal(was, f.left)
	if !together {
		m.state = was
	}
	heard, err := f.group.round(ctx, 0, m.bytes())
	if err != nil {
		return info, err
	}
	sum := cluster.SumOf(was)
	for p := 1; p < len(heard) && together; p++ {
		if !bytes.Equal(heard[p], sum[:]) {
			return info, fmt.Errorf("process %d has other bytes after %d scans than this one. One of the machines is at fault, or the program", p, st.K)
		}
	}
	defer func() { f.group.scan++ }()
	f.left = was // and stays, where no process can filter the scan
	if info, err = f.Filter.Step(ctx, st, scan); err == nil {
		f.left, err = st.MarshalBinary()
	}
	return info, err
}

// Follow makes the chains of the nodes of this process, which is not process 0, until that one leaves or is not heard of any more. It returns
// the errors of Group.Claim, of Group.Made and of ctx. Errors about a scan are those of process 0, too, which decides what becomes of them.
func (p *Pass) Follow(ctx context.Context) error {
	g, f := p.Group, p.filter.(*leader).Filter
	defer g.Over.Leave()
	var st *filter.State // nil: not yet
	for {
		err := p.follow(ctx, f, &st)
		switch {
		case errors.Is(err, cluster.ErrLeft), errors.As(err, new(*cluster.AwayError)):
			return nil
		case err != nil && !errors.Is(err, cluster.ErrConflict):
			return err
		}
	}
}

func (p *Pass) follow(ctx context.Context, f filter.Filter, st **filter.State) error {
	g := p.Group
	if g.epoch == 0 {
		*st = nil
		if err := g.join(ctx); err != nil {
			return err
		}
	}
	var mine []byte
	if *st != nil {
		b, err := (*st).MarshalBinary()
		if err != nil {
			return err
		}
		sum := cluster.SumOf(b)
		mine = sum[:]
	}
	heard, err := g.round(ctx, 0, mine)
	if err != nil {
		return err
	}
	var m order
	if err := m.parse(heard[0]); err != nil {
		return fmt.Errorf("process 0 of the group has sent what is no scan: %w", err)
	}
	if m.state != nil {
		*st = new(filter.State)
		if err := (*st).UnmarshalBinary(m.state); err != nil {
			return fmt.Errorf("process 0 of the group has sent what is no state: %w", err)
		}
	}
	if *st == nil {
		return errors.New("process 0 of the group has sent a scan and no state")
	}
	defer func() { g.scan++ }()
	_, err = f.Step(ctx, *st, &m.scan)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, cluster.ErrConflict), errors.Is(err, cluster.ErrLeft), errors.As(err, new(*cluster.AwayError)):
		return err
	}
	if g.Made != nil {
		return g.Made()
	}
	return nil
}

// order is what process 0 sends first of a scan: the scan and, where not all have it, the state before.
type order struct {
	state []byte // nil: all have it
	scan  ssm.Scan
}

const orderKind = "filtering.Order/1"

func (m order) bytes() []byte {
	e := ckpt.NewEncoder(orderKind)
	s := &m.scan
	e.Ints("counts", s.Width, s.Missing, len(s.Parts))
	e.Bytes("state", m.state)
	e.Float64s("time", []float64{s.Time})
	e.Float64s("values", s.Values)
	for i, p := range s.Parts {
		columns := make([]int32, len(p.Columns))
		for k, c := range p.Columns {
			columns[k] = int32(c)
		}
		e.Int32s("columns "+strconv.Itoa(i), columns)
		e.Float64s("values "+strconv.Itoa(i), p.Values)
	}
	return e.Encode()
}

func (m *order) parse(b []byte) error {
	d, err := ckpt.NewDecoder(b, orderKind)
	if err != nil {
		return err
	}
	var parts int
	s := ssm.Scan{}
	d.Ints("counts", &s.Width, &s.Missing, &parts)
	if time := d.Float64s("time"); len(time) == 1 {
		s.Time = time[0]
	}
	state := d.Bytes("state")
	s.Values = d.Float64s("values")
	if s.Width < 0 || s.Missing < 0 || len(s.Values) > 0 && (s.Width == 0 || len(s.Values)%s.Width != 0) {
		d.Fail("a scan of %d numbers, %d in a measurement", len(s.Values), s.Width)
	}
	for i := 0; i < parts && d.Err() == nil; i++ {
		var p ssm.Part
		for _, c := range d.Int32s("columns " + strconv.Itoa(i)) {
			p.Columns = append(p.Columns, int(c))
		}
		p.Values = d.Float64s("values " + strconv.Itoa(i))
		if n := len(p.Columns); n == 0 || n >= s.Width || p.Columns[0] < 0 || p.Columns[n-1] >= s.Width || !slices.IsSorted(p.Columns) || len(p.Values)%n != 0 {
			d.Fail("part %d of a scan has the columns %v, and %d numbers", i, p.Columns, len(p.Values))
		}
		s.Parts = append(s.Parts, p)
	}
	if err := d.Err(); err != nil {
		return err
	}
	*m = order{scan: s}
	if len(state) > 0 {
		m.state = state
	}
	return nil
}
