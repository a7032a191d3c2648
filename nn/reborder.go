package nn

// reborder copies planes to planes with other borders of zeros.
type reborder struct{ in, out *value }

func (r *reborder) inputs() []**value { return []**value{&r.in} }

func (r *reborder) output() *value { return r.out }

func (r *reborder) forward(t *tape, g0, g1 int) {
	for g := g0; g < g1; g++ {
		copyPlanes(t.out(r.out, g, 0), r.out, t.out(r.in, g, 0), r.in)
	}
}

func (r *reborder) backward(t *tape, g0, g1 int) {
	if !t.needs(r.in) {
		return
	}
	for g := g0; g < g1; g++ {
		copyPlanes(t.dy(r.in, g, 0), r.in, t.dy(r.out, g, 0), r.out)
	}
}

func (r *reborder) finish(*tape) {}

func copyPlanes(dst []float32, d *value, src []float32, s *value) {
	d.runs(s, func(i, j, n int) { copy(dst[i:i+n], src[j:j+n]) })
}

func (r *reborder) tangent(t *tape, g0, g1 int) {
	for g := g0; g < g1; g++ {
		copyPlanes(t.move(r.out, g), r.out, t.move(r.in, g), r.in)
	}
}
