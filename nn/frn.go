package nn

import (
	"cmp"
	"fmt"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/lanes"
)

// FRN is filter response normalisation (Singh and Krishnan 2020, "Filter Response Normalization Layer", section 3): each channel of each example is
// divided by the root of the mean of its squares. No statistics of other examples enter, and no mean is subtracted. With n pixels x(p) of a plane
//
//	y(p) = γ x(p)/√(ν² + ε) + β,  ν² = Σ_p x(p)²/n
//	and with TLU, the thresholded linear unit,  max(y(p), τ)
//
// γ, β and τ are a number a channel each, in tensors named weight, bias and tau; they change nothing at 1, 0 and −∞. ε is a number, or Learned: then
// it is 1e-6 + |e| with one number e a layer, in a tensor named eps. The derivative at e = 0 is that from the right, so that e can leave it.
type FRN struct {
	TLU  bool    `yaml:"tlu,omitempty"`                            // whether a learned threshold follows: max(y, τ)
	Eps  float64 `yaml:"eps,omitempty,nonzero" words:"learned=-1"` // ε, added to the mean of squares: a number from 1e-12 to 1, or one learned parameter a layer; default 1e-6
	Name string  `yaml:"name,beside,omitempty"`                    // how its tensors begin in files of weights: NAME.weight, NAME.bias, NAME.tau, NAME.eps; default: the layer's number, counted from 0 over all layers, as in PyTorch's nn.Sequential
}

// leastEps is the default of ε, and the least that is learned.
const leastEps = 1e-6

// Check implements config.Checker.
func (l FRN) Check(f *config.Faults) {
	f.If(l.Eps != 0 && l.Eps != Learned && !(l.Eps >= 1e-12 && l.Eps <= 1), "eps", "want a number from 1e-12 to 1, or learned; have %v", l.Eps)
	checkName(f, l.Name)
}

// Title implements Layer.
func (FRN) Title() string { return "" }

func (FRN) needsStatistics() bool { return false }

func (l FRN) derive(b *builder, n *node) error {
	if err := n.planes(); err != nil {
		return fmt.Errorf("%w: put it before the dense layers, or leave it out", err)
	}
	channels := n.in[0]
	n.stage = max(n.from.stage, stageConv)
	module, role, err := b.own(n, l.Name)
	if err != nil {
		return err
	}
	b.tensor(n, role, module+".weight", Scales, 0, channels)
	b.tensor(n, role, module+".bias", Shifts, 0, channels)
	if l.TLU {
		b.tensor(n, role, module+".tau", Shifts, 0, channels)
	}
	if l.Eps == Learned {
		b.tensor(n, role, module+".eps", Epsilons, 0, 1)
	}
	return nil
}

func (l FRN) compile(c *compiler, chain []node, v *value) (*value, int) {
	n := &chain[0]
	o := &frnOp{in: v, out: c.output(n), eps: float32(cmp.Or(l.Eps, leastEps))}
	o.root = c.value([]int{v.c}, n.origin)
	o.root.grad = -1
	for _, tensor := range n.params {
		size := c.net.tensors[tensor].Size
		o.params = append(o.params, &frnParam{param: c.param(tensor, 1, size, size), lane: c.laneSums(size), size: size})
	}
	o.gamma, o.beta = o.params[0], o.params[1]
	if l.TLU {
		o.tau = o.params[2]
	}
	if l.Eps == Learned {
		o.e, o.eps = o.params[len(o.params)-1], leastEps
	}
	used := 1
	switch {
	case c.clips(chain[1:]):
		o.out.relu, used = true, 2
	case len(chain) > 1 && !c.apart:
		if f, ok := chain[1].layer.(Activation); ok {
			o.f, used = f, 2
			c.scratch(2 * v.h * v.w * lanes.Lanes)
		}
	}
	c.emit(n.stage, o)
	return o.out, used
}

// frnOp is a filter response normalisation, with its threshold, and with an activation behind it: f, or a ReLU if out.relu. With r = 1/√(ν² + ε) and
// dz the gradient where the threshold lets it pass, else 0:
//
//	forward   z(p)  = γ r x(p) + β,  y(p) = f(max(z(p), τ))
//	backward  dβ   += Σ_p dz(p)                        sums by lane, then over lanes
//	          dγ   += r Σ_p dz(p) x(p)
//	          dτ   += Σ_p dy(p) where z(p) ≤ τ
//	          dε   −= ½ γ r³ Σ_p dz(p) x(p)
//	          dx(p) = γ r dz(p) − x(p) γ r³/n Σ_q dz(q) x(q)
//
// Each plane is read for its squares, and once more to be written. On the way back it is read for the sums, and once more to be written. Only r is
// left for the way back: z is cheap to compute again, and so is the derivative of f, plane by plane, beside what it would take of the cache.
type frnOp struct {
	in, out     *value
	root        *value // r
	f           Activation
	eps         float32 // without what is learned
	gamma, beta *frnParam
	tau, e      *frnParam   // nil without
	params      []*frnParam // all of these
}

// frnParam is a tensor and the place of the sums by lane of its gradient.
type frnParam struct {
	param
	lane, size int
}

func (o *frnOp) inputs() []**value { return []**value{&o.in} }

func (o *frnOp) output() *value { return o.out }

// changes implements changer: the gradient is multiplied by the derivative of the activation where it is.
func (o *frnOp) changes() bool { return o.f != nil }

// epsilon is ε of the pass's particle, and the sign of its derivative with respect to e.
func (o *frnOp) epsilon(t *tape) (eps, sign float32) {
	if o.e == nil {
		return o.eps, 0
	}
	if e := t.weights(o.e.param, 0)[0]; e < 0 {
		return o.eps - e, -1
	} else {
		return o.eps + e, 1
	}
}

// norm is the normalisation of a channel with the roots r.
func (o *frnOp) norm(t *tape, ch int, r *[lanes.Lanes]float32) lanes.Norm {
	p := lanes.Norm{Rows: o.in.h, Cols: o.in.w, X: o.in.wp() * lanes.Lanes, Y: o.out.wp() * lanes.Lanes}
	gamma := t.weights(o.gamma.param, 0)[ch]
	for i, root := range r {
		p.Scale[i] = gamma * root
	}
	p.Shift, p.Low = t.weights(o.beta.param, 0)[ch], floor(o.out)
	if o.tau != nil {
		tau := t.weights(o.tau.param, 0)[ch]
		if p.Low = max(p.Low, tau); tau != tau {
			p.Low, p.Shift = negInf, tau // a comparison would hide the NaN
		}
	}
	return p
}

func (o *frnOp) forward(t *tape, g0, g1 int) {
	in, out := o.in, o.out
	eps, _ := o.epsilon(t)
	squares := lanes.Norm{Rows: in.h, Cols: in.w, X: in.wp() * lanes.Lanes}
	var sum [lanes.Lanes]float32
	for g := g0; g < g1; g++ {
		x, y, roots := t.out(in, g, 0), t.out(out, g, 0), t.out(o.root, g, 0)
		for ch := range in.c {
			from, r := x[ch*in.plane()+in.pixel(0, 0):], (*[lanes.Lanes]float32)(roots[ch*lanes.Lanes:])
			squares.Squares(from, &sum)
			lanes.InverseRoots(&sum, in.h*in.w, eps, r)
			norm := o.norm(t, ch, r)
			norm.Apply(from, y[ch*out.plane()+out.pixel(0, 0):])
			if o.f != nil {
				plane := y[ch*out.plane():][:out.plane()]
				o.f.apply(plane, plane)
			}
		}
	}
}

func (o *frnOp) backward(t *tape, g0, g1 int) {
	own, before := t.learns(o.gamma.param), t.needs(o.in)
	if !own && !before {
		return
	}
	in, out := o.in, o.out
	count := float32(in.h * in.w)
	_, sign := o.epsilon(t)
	var sums lanes.Sums
	var pull [lanes.Lanes]float32
	for g := g0; g < g1; g++ {
		x, dy, roots := t.out(in, g, 0), t.dy(out, g, 0), t.out(o.root, g, 0)
		for ch := range in.c {
			at, r := ch*in.plane()+in.pixel(0, 0), (*[lanes.Lanes]float32)(roots[ch*lanes.Lanes:])
			norm, d := o.norm(t, ch, r), dy[ch*out.plane()+out.pixel(0, 0):]
			if o.f != nil {
				o.derivative(t, &norm, x[at:], d)
			}
			norm.Sums(x[at:], d, &sums)
			for i := range pull {
				product := float32(r[i] * sums.Product[i])
				sums.Product[i] = product
				pull[i] = float32(norm.Scale[i]*r[i]) * product
			}
			if own {
				o.beta.add(t, ch, 1, &sums.Passed)
				o.gamma.add(t, ch, 1, &sums.Product)
				if o.tau != nil {
					o.tau.add(t, ch, 1, &sums.Stopped)
				}
				if o.e != nil {
					o.e.add(t, 0, -sign/2, &pull)
				}
			}
			if before {
				for i := range pull {
					pull[i] /= count
				}
				norm.Backward(x[at:], d, &pull, t.dy(in, g, 0)[at:])
			}
		}
		if before && in.relu {
			dx := t.dy(in, g, 0)
			lanes.ReLUBackward(x, dx, dx)
		}
	}
}

// derivative multiplies the gradient of a plane by the derivative of the activation behind.
func (o *frnOp) derivative(t *tape, norm *lanes.Norm, x, dy []float32) {
	row := o.out.w * lanes.Lanes
	whole := *norm
	whole.Y = row // in scratch without borders
	y, d := t.tmp[:row*o.out.h], t.tmp[row*o.out.h:][:row*o.out.h]
	whole.Apply(x, y)
	o.f.applyWithDerivative(y, y, d)
	for r := range o.out.h {
		at := dy[r*norm.Y:][:row]
		lanes.MultiplyDerivative(d[r*row:][:row], at, at)
	}
}

// add adds factor·v to the sum by lane of number i of the tensor.
func (p *frnParam) add(t *tape, i int, factor float32, v *[lanes.Lanes]float32) {
	to := t.lane[p.lane+i*lanes.Lanes:][:lanes.Lanes]
	for l := range to {
		to[l] += float32(factor * v[l])
	}
}

func (o *frnOp) finish(t *tape) {
	for _, p := range o.params {
		if t.learns(p.param) {
			t.reduce(p.lane, p.param, 0, p.size)
		}
	}
}

// tangent is, with ẋ and the changes of the parameters,
//
//	ṙ = −r³ (Σ_q x(q) ẋ(q)/n + ½ ε̇),  ẏ(p) = (γ̇ r + γ ṙ) x(p) + γ r ẋ(p) + β̇, or τ̇ where z(p) ≤ τ
func (o *frnOp) tangent(t *tape, g0, g1 int) {
	in, out := o.in, o.out
	change := func(p *frnParam, i int) float32 {
		if p == nil || t.change(p.param) == nil {
			return 0
		}
		return t.change(p.param)[i]
	}
	_, sign := o.epsilon(t)
	half := float32(0.5 * sign * change(o.e, 0)) // ½ ε̇
	count, row := float32(in.h*in.w), in.w*lanes.Lanes
	for g := g0; g < g1; g++ {
		x, y, roots := t.out(in, g, 0), t.move(out, g), t.out(o.root, g, 0)
		var moves []float32
		if !in.shared() {
			moves = t.move(in, g)
		}
		for ch := range in.c {
			r := (*[lanes.Lanes]float32)(roots[ch*lanes.Lanes:])
			from, to := ch*in.plane()+in.pixel(0, 0), ch*out.plane()+out.pixel(0, 0)
			norm, low := o.norm(t, ch, r), float32(0)
			norm.Y, low, norm.Low = row, norm.Low, negInf
			norm.Apply(x[from:], t.aside) // z
			var product [lanes.Lanes]float32
			for i := 0; moves != nil && i < in.h; i++ {
				at := from + i*in.wp()*lanes.Lanes
				for k, v := range moves[at : at+row] {
					product[k%lanes.Lanes] += float32(v * x[at+k])
				}
			}
			gamma := t.weights(o.gamma.param, 0)[ch]
			var scale [lanes.Lanes]float32
			for l, root := range r {
				pull := float32(float32(root*root)*root) * (product[l]/count + half)
				scale[l] = float32(change(o.gamma, ch)*root) - float32(gamma*pull)
			}
			beta, tau := change(o.beta, ch), change(o.tau, ch)
			for i := range in.h {
				at, own := from+i*in.wp()*lanes.Lanes, y[to+i*out.wp()*lanes.Lanes:][:row]
				for k := range own {
					l := k % lanes.Lanes
					v := float32(scale[l]*x[at+k]) + beta
					if moves != nil {
						v += float32(norm.Scale[l] * moves[at+k])
					}
					if t.aside[i*row+k] <= low {
						v = tau
					}
					own[k] = v
				}
			}
		}
	}
}
