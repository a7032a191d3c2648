package nn

import (
	"cmp"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/lanes"
)

// Norm is batch normalisation as it is after training (Ioffe & Szegedy 2015; PyTorch's nn.BatchNorm2d in eval mode): mean and variance of
// each channel are constants that come with the trained network. Together with γ and β they are one scale and one shift a channel,
//
//	y = s x + t,   s = γ/√(var + ε),   t = β − s mean
//
// γ and β are parameters, weight and bias. running_mean and running_var are no parameters (RoleFixed, Net.With). The statistics of
// a batch are not offered: with them an example's output depends on the other examples, and on how these are divided among threads.
type Norm struct {
	Batch string  `yaml:"batch"`                 // frozen: with the mean and variance of the network of model.init
	Eps   float64 `yaml:"eps,nonzero"`           // ε, added to the variance; default 1e-5, as PyTorch's
	Name  string  `yaml:"name,beside,omitempty"` // how its tensors begin in files of weights: NAME.weight, NAME.running_mean …; default: the layer's number, counted from 0 over all layers, as in PyTorch's nn.Sequential
}

// Frozen is the one kind of batch normalisation.
const Frozen = "frozen"

const (
	wantFrozen = "want frozen, as in {norm: {batch: frozen}}, have %q: statistics of the batch are not offered; train a network with frn " +
		"instead, or take one that PyTorch trained, model.init"
	needsStatistics = "the network has batch norms or lora layers, and nothing of the network that was trained: its statistics and weights come with " +
		"model.init (bnn.ReadNetwork)"
)

// Defaults sets ε to PyTorch's.
func (l *Norm) Defaults() { l.Eps = l.eps() }

func (l Norm) eps() float64 { return cmp.Or(l.Eps, 1e-5) }

// Check implements config.Checker.
func (l Norm) Check(f *config.Faults) {
	f.If(l.Batch != Frozen, "batch", wantFrozen, l.Batch)
	if l.Eps != 0 {
		f.Positive("eps", l.Eps)
	}
	checkName(f, l.Name)
}

// Title implements Layer.
func (Norm) Title() string { return "" }

func (Norm) needsStatistics() bool { return true }

func (l Norm) derive(b *builder, n *node) error {
	if l.Batch != Frozen {
		return fmt.Errorf("batch: "+wantFrozen, l.Batch)
	}
	if err := n.planes(); err != nil {
		return fmt.Errorf("%w: put it behind a convolution, or fold it into the dense layer before it: multiply that layer's weights and bias by "+
			"γ/√(var + ε), and add β − γ mean/√(var + ε) to the bias", err)
	}
	n.stage = max(n.from.stage, stageConv)
	name, role, err := b.own(n, l.Name)
	if err != nil {
		return err
	}
	channels := n.in[0]
	b.tensor(n, role, name+".weight", Scales, 0, channels)
	b.tensor(n, role, name+".bias", Shifts, 0, channels)
	b.tensor(n, RoleFixed, name+".running_mean", Means, 0, channels)
	b.tensor(n, RoleFixed, name+".running_var", Variances, 0, channels)
	return nil
}

func (l Norm) compile(c *compiler, chain []node, v *value) (*value, int) {
	n := &chain[0]
	o := &normOp{in: v, out: c.output(n), eps: l.eps(), sums: [2]int{c.laneSums(v.c), c.laneSums(v.c)}}
	for i := range o.params {
		o.params[i] = c.param(n.params[i], 1, v.c, v.c)
	}
	used := 1
	if clips(chain[1:]) {
		o.out.relu, used = true, 2
	}
	c.emit(n.stage, o)
	return o.out, used
}

// normOp is y = s x + t on each channel, with a ReLU behind it if out.relu.
//
//	backward  dβ += Σ_p dy(p)                         sums by lane, then over lanes
//	          dγ += Σ_p dy(p) (x(p) − mean)/√(var+ε)
//	          dx  = s dy
type normOp struct {
	in, out *value
	params  [4]param // γ, β, mean, var
	eps     float64
	sums    [2]int // of the gradients of γ and β, by lane
}

func (o *normOp) inputs() []**value { return []**value{&o.in} }

func (o *normOp) output() *value { return o.out }

// line is y = a x + b.
type line struct{ a, b float32 }

// lines returns what particle b makes of a channel: whitened is the line to mean 0 and variance 1, and folded that of the whole layer.
func (o *normOp) lines(t *tape, b, ch int) (whitened, folded line) {
	at := func(k int) float64 { return float64(t.weights(o.params[k], b)[ch]) }
	gamma, beta, mean, inverse := at(0), at(1), at(2), 1/math.Sqrt(at(3)+o.eps)
	s := float64(gamma * inverse)
	return line{float32(inverse), float32(-float64(mean * inverse))}, line{float32(s), float32(beta - float64(s*mean))}
}

// along is a line on planes of one value, written to those of another.
func (l line) along(from, to *value, low float32) lanes.Norm {
	n := lanes.Norm{Rows: from.h, Cols: from.w, X: from.wp() * lanes.Lanes, Y: to.wp() * lanes.Lanes, Shift: l.b, Low: low}
	for i := range n.Scale {
		n.Scale[i] = l.a
	}
	return n
}

func (o *normOp) forward(t *tape, g0, g1 int) {
	t.each(o.out, g0, g1, func(g, b int) {
		x, y := t.out(o.in, g, b), t.out(o.out, g, b)
		for ch := range o.in.c {
			_, f := o.lines(t, b, ch)
			norm := f.along(o.in, o.out, floor(o.out))
			norm.Apply(x[ch*o.in.plane()+o.in.pixel(0, 0):], y[ch*o.out.plane()+o.out.pixel(0, 0):])
		}
	})
}

func (o *normOp) backward(t *tape, g0, g1 int) {
	own, before := t.learns(o.params[0]), t.needs(o.in)
	if !own && !before {
		return
	}
	rows := lanes.Planes{Rows: o.in.h, Cols: o.in.w, X: o.in.wp() * lanes.Lanes, Y: o.out.wp() * lanes.Lanes}
	t.each(o.out, g0, g1, func(g, b int) {
		x, dy := t.out(o.in, g, b), t.dy(o.out, g, b)
		for ch := range o.in.c {
			white, f := o.lines(t, b, ch)
			in, out := ch*o.in.plane()+o.in.pixel(0, 0), ch*o.out.plane()+o.out.pixel(0, 0)
			if own {
				gamma, beta := t.lane[o.sums[0]+ch*lanes.Lanes:][:lanes.Lanes], t.lane[o.sums[1]+ch*lanes.Lanes:][:lanes.Lanes]
				lanes.AffineSums(x[in:], white.a, white.b, dy[out:], gamma, beta, rows)
			}
			if before {
				back := line{a: f.a}.along(o.out, o.in, negInf)
				back.Apply(dy[out:], t.dy(o.in, g, b)[in:])
			}
		}
		if before && o.in.relu {
			dx := t.dy(o.in, g, b)
			lanes.ReLUBackward(x, dx, dx)
		}
	})
}

func (o *normOp) finish(t *tape) {
	if !t.learns(o.params[0]) {
		return
	}
	for k, sums := range o.sums {
		t.reduce(sums, o.params[k], 0, o.in.c)
	}
}
