package nn

import "slices"

// Values find their places in the memory of a tape here. Gradients that are not in use at the same time share memory, and so do those
// of a sum and of its inputs, which are the same numbers.

// span is when the gradient of a value is in use, in steps of a backward pass. Step 0 is the loss, and each op is one step more.
type span struct {
	first, last int
	changes     []int // steps in between that add to it, or scale it
	joined      bool  // nothing sets it: it is the gradient of the sum that reads the value
}

// changer is an op whose backward pass may change the gradient of its output.
type changer interface{ changes() bool }

// memory is what the gradients of some values share, and when one of them is in use.
type memory struct {
	values      []*value
	first, last int
}

// adder is an op that adds its two inputs.
type adder interface {
	op
	adds()
}

// places finds the places of the values of a program.
type places struct {
	*program
	values  []*value
	readers map[*value]int // the ops that read a value
	sums    []adder

	spans map[*value]*span
	of    map[*value]*memory
	adds  map[*value][]*accumulate // by each of their two values
}

// newPlaces finds the sums among the ops. readers may be nil for level alone.
func newPlaces(p *program, values []*value, readers map[*value]int) *places {
	places := &places{program: p, values: values, readers: readers}
	for _, ops := range p.ops {
		for _, o := range ops {
			if sum, ok := o.(adder); ok {
				places.sums = append(places.sums, sum)
			}
		}
	}
	return places
}

func (p *places) span(v *value, step int) *span {
	s := p.spans[v]
	if s == nil {
		s = &span{first: step}
		p.spans[v], p.of[v] = s, &memory{values: []*value{v}}
	}
	s.last = step
	return s
}

// follow goes through the backward pass.
func (p *places) follow() {
	p.spans, p.of, p.adds = map[*value]*span{}, map[*value]*memory{}, map[*value][]*accumulate{}
	p.span(p.out, 0)
	step := 0
	for _, s := range []stage{stageDense, stageConv, stageSharedDense, stageSharedConv} {
		for _, o := range slices.Backward(p.ops[s]) {
			step++
			switch o := o.(type) {
			case *accumulate:
				p.span(o.from, step)
				to := p.span(o.to, step)
				to.changes = append(to.changes, step)
				p.adds[o.from], p.adds[o.to] = append(p.adds[o.from], o), append(p.adds[o.to], o)
			case *collect:
				from := p.span(o.from, step)
				from.changes = append(from.changes, step)
			}
			for _, in := range o.inputs() {
				p.span(*in, step)
			}
			if v := o.output(); v != nil {
				out := p.span(v, step)
				if ch, ok := o.(changer); ok && ch.changes() {
					out.changes = append(out.changes, step)
				}
			}
		}
	}
}

// clash reports whether a step that writes one of two gradients finds the other in use.
func (p *places) clash(v, w *value) bool {
	a, b := p.spans[v], p.spans[w]
	used := func(s *span, step int) bool { return s.first <= step && step < s.last }
	return !a.joined && used(b, a.first) || !b.joined && used(a, b.first) ||
		slices.ContainsFunc(a.changes, func(step int) bool { return used(b, step) }) ||
		slices.ContainsFunc(b.changes, func(step int) bool { return used(a, step) })
}

// join lets an input of a sum have the gradient of the sum for its own, if nothing changes one of them while the other is in use. If the
// input is the output of a ReLU, it needs a later step that gates its gradient, which is one that adds to it.
func (p *places) join(v, sum *value) {
	if v.grad < 0 || sum.grad < 0 || !v.alike(sum) || v.inner != sum.inner || p.gradients(v) != p.gradients(sum) || v.relu && p.adds[v] == nil {
		return
	}
	p.spans[v].joined = true
	a, b := p.of[sum], p.of[v]
	for _, x := range a.values {
		for _, y := range b.values {
			if p.clash(x, y) {
				p.spans[v].joined = false
				return
			}
		}
	}
	a.values = append(a.values, b.values...)
	for _, x := range b.values {
		p.of[x] = a
	}
	for _, add := range p.adds[v] {
		add.gate = add.gate || v.relu
	}
}

// planes says which gradients may follow each other in one place: there are zeros around the planes of both.
type planes struct{ c, h, w, top, bottom, left, right, particles int }

// ofGradients places the gradients of all values.
func (p *places) ofGradients() {
	p.follow()
	for _, s := range p.sums {
		for _, v := range s.inputs() {
			p.join(*v, s.output())
		}
	}
	var inner []*memory
	for _, v := range p.values {
		switch m := p.of[v]; {
		case v.grad < 0:
		case m == nil: // of all pixels before a pool: some of them may be in no window
			p.reserve(&memory{values: []*value{v}}, 1)
		case m.values[0] != v:
		case v.inner:
			inner = append(inner, m)
		default:
			p.reserve(m, tileGroups)
		}
	}
	for _, m := range inner {
		m.first, m.last = p.spans[m.values[0]].first, 0
		for _, v := range m.values {
			m.first, m.last = min(m.first, p.spans[v].first), max(m.last, p.spans[v].last)
		}
	}
	slices.SortStableFunc(inner, func(a, b *memory) int { return a.first - b.first })
	before := map[planes][]*memory{} // the last in each place
	for _, m := range inner {
		v := m.values[0]
		key := planes{v.c, v.h, v.w, v.top, v.bottom, v.left, v.right, p.gradients(v)}
		if i := slices.IndexFunc(before[key], func(b *memory) bool { return b.last < m.first }); i >= 0 {
			m.place(before[key][i].values[0].grad)
			before[key][i] = m
			continue
		}
		p.reserve(m, 1)
		before[key] = append(before[key], m)
	}
}

// reserve places gradients for so many groups where nothing else is.
func (p *places) reserve(m *memory, groups int) {
	v := m.values[0]
	m.place(p.dySize)
	p.dySize += groups * p.gradients(v) * v.size()
}

func (m *memory) place(at int) {
	for _, v := range m.values {
		v.grad = at
	}
}

// level gives a sum and its inputs the same borders where they may be widened, so that one may take the place of another.
func (p *places) level() {
	for changed := true; changed; {
		changed = false
		for _, s := range p.sums {
			var wide value
			all := []*value{s.output()}
			for _, v := range s.inputs() {
				all = append(all, *v)
			}
			all = slices.DeleteFunc(all, func(v *value) bool { return v.tight || v.grad < 0 })
			for _, v := range all {
				wide.border(v.top, v.bottom, v.left, v.right)
			}
			for _, v := range all {
				if !v.alike(&wide) {
					changed = v.border(wide.top, wide.bottom, wide.left, wide.right) || changed
				}
			}
		}
	}
}

// ofActivations places the activations of all values. A sum takes the place of an input, if it is the only one that reads it: no way back
// needs the input, unless its gradient is gated by it.
func (p *places) ofActivations() {
	host := map[*value]*value{}
	for _, s := range p.sums {
		sum := s.output()
		for _, in := range s.inputs() {
			v := *in
			if p.readers[v] == 1 && v != p.in && !v.kept && !v.relu && v.source == nil && v.alike(sum) && v.shared() == sum.shared() {
				host[sum] = v
				break
			}
		}
	}
	for _, v := range p.values {
		switch {
		case v.source != nil:
			v.act = v.source.act
		case host[v] != nil:
			v.act = host[v].act
		case !v.scratch:
			v.act = p.actSize
			p.actSize += v.groups() * p.copies(v) * v.size()
		}
	}
}
