package nn

import (
	"errors"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/lanes"
)

// Dropout is a layer that sets each value to 0 with this probability, the rate p, and divides the others by 1 − p (Srivastava et
// al. 2014, with the scaling in training rather than afterwards):
//
//	y[i] = m[i] x[i] / (1 − p),  m[i] = 0 with probability p, else 1
//
// It does so in training (Model.LogLikSeen), with a mask m for each example and step, and in a pass of Monte Carlo
// dropout (Net.Pass). Everywhere else it is the identity, which is the mean of y over m, and costs nothing.
//
// It stands before a dense layer, with at most ReLU and Flatten between. Then y is a change of the dense layer's weights
// alone, since max(0, m x / (1 − p)) = m max(0, x) / (1 − p):
//
//	W (m x) / (1 − p) = W′ x,  W′[u,i] = W[u,i] m[i] / (1 − p)
type Dropout float64

// Check implements config.Checker.
func (d Dropout) Check(f *config.Faults) {
	f.If(!d.valid(), "", "want a rate of at least 0 and below 1, have %.12g", float64(d))
}

func (d Dropout) valid() bool { return d >= 0 && d < 1 }

// Title implements Layer.
func (Dropout) Title() string { return "" }

// misplaced refuses a dropout layer that is not before a dense layer.
const misplaced = "dropout stands before a dense layer, with at most relu and flatten between: move it there, or leave it out"

// feedsDense reports whether the first of the layers is a dense one, apart from those that may stand between it and dropout.
func feedsDense(layers []Layer) bool {
	for _, l := range layers {
		if _, ok := l.(Dense); ok || l == nil { // nil is a fault of its own
			return true
		}
		if l != ReLU && l != Layer(Flatten{}) {
			break
		}
	}
	return false
}

// Dropouts lists the places of the dropout layers among layers.
func Dropouts(layers []Layer) (at []int) {
	for i, l := range layers {
		if _, ok := l.(Dropout); ok {
			at = append(at, i)
		}
	}
	return at
}

func (d Dropout) derive(b *builder, n *node) error {
	if !d.valid() {
		return errors.New("the rate must be at least 0 and below 1")
	}
	if b.prefix != "" {
		return errors.New(dropoutInside)
	}
	if !feedsDense(b.rest) {
		return errors.New(misplaced)
	}
	size := volume(n.in...)
	n.drop = &drop{rate: float64(d), size: size, at: b.net.dropped}
	b.net.drops = append(b.net.drops, n.drop)
	b.net.dropped += size
	return nil
}

// compile appends the op of a training step. (Only the program of training has the layer at all.)
func (d Dropout) compile(c *compiler, chain []node, v *value) (*value, int) {
	n := &chain[0]
	v = c.withoutBorder(v)
	out := c.output(n)
	out.tight = true
	out.relu = v.relu // the gradient is 0 where the output is, whether the ReLU or the mask is the cause
	c.keptSize = tileGroups * c.net.dropped
	c.emit(n.stage, &dropOp{in: v, out: out, drop: n.drop})
	return out, 1
}

// dropOp is y = m x / (1 − p), dx = m dy / (1 − p), for the masks of the tile. All particles of a pass have the same masks.
type dropOp struct {
	in, out *value
	*drop
}

func (d *dropOp) inputs() []**value { return []**value{&d.in} }

func (d *dropOp) output() *value { return d.out }

func (d *dropOp) forward(t *tape, g0, g1 int) {
	t.each(d.in, g0, g1, func(g, b int) {
		lanes.Drop(t.out(d.in, g, b), t.keptIn(d.drop, g), float32(d.scale()), t.out(d.out, g, b))
	})
}

func (d *dropOp) backward(t *tape, g0, g1 int) {
	if !t.needs(d.in) {
		return
	}
	t.each(d.in, g0, g1, func(g, b int) {
		lanes.Drop(t.dy(d.out, g, b), t.keptIn(d.drop, g), float32(d.scale()), t.dy(d.in, g, b))
	})
}

func (d *dropOp) finish(*tape) {}
