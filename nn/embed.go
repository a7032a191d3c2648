package nn

import (
	"fmt"
	"math"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/regular"
)

// Embed gives each of Tokens whole numbers a vector of its own, a row of its weight E [Tokens, Width], and puts the vectors of an example side
// by side:
//
//	y[p·Width + k] = E[x[p], k]
//
// An example is a sequence of positions, [positions], and comes out as [positions·Width]: PyTorch's nn.Embedding with nn.Flatten behind it,
// which counts as a module of its own in an nn.Sequential. The inputs are whole numbers from 0 to Tokens−1, as floats. So it is the first layer.
// The gradient of a row is the sum over its positions, in the order of the examples and, in an example, of the positions.
type Embed struct {
	Tokens int    `yaml:"tokens"`                // how many whole numbers there are: the inputs are from 0 to tokens−1
	Width  int    `yaml:"width"`                 // numbers in the vector of each
	Name   string `yaml:"name,beside,omitempty"` // how its tensor begins in files of weights: NAME.weight; default: the layer's number, as in PyTorch's nn.Sequential
}

// Check implements config.Checker.
func (l Embed) Check(f *config.Faults) {
	needSizes(f, "tokens", l.Tokens)
	needSizes(f, "width", l.Width)
	checkName(f, l.Name)
}

// Title implements Layer.
func (l Embed) Title() string { return fmt.Sprintf("embed %d", l.Width) }

func (l Embed) derive(b *builder, n *node) error {
	switch {
	case l.Tokens <= 0 || l.Width <= 0:
		return fmt.Errorf("tokens and width must be positive, have %d and %d", l.Tokens, l.Width)
	case b.prefix != "" || b.layer > 0:
		return fmt.Errorf("reads whole numbers, which the inputs of the network are and the outputs of a layer are not: put it first")
	case len(n.in) != 1:
		return fmt.Errorf("needs inputs of shape [positions], has %v", n.in)
	}
	n.out, n.stage = []int{volume(n.in[0], l.Width)}, stageDense
	name, role, err := b.own(n, l.Name)
	if err != nil {
		return err
	}
	// The mean square of a value is that of the weights, as of a layer with one input.
	b.tensor(n, role, name+".weight", Weights, 1, l.Tokens, l.Width)
	b.number++ // nn.Flatten
	return nil
}

// Embeds reports whether the tensor holds the vectors of an Embed, a row for each.
func (t Tensor) Embeds() bool { return t.Of == Layers.Name(Embed{}) }

// choosy is a layer that takes some inputs alone.
type choosy interface {
	takes(set *data.Set) error // of a network's first layer
}

// Takes refuses examples with inputs that the network's first layer does not take.
func (n *Net) Takes(set *data.Set) (err error) {
	defer regular.Caught(&err)
	if l, ok := n.layers[0].(choosy); ok {
		return l.takes(set)
	}
	return nil
}

// takes implements choosy.
func (l Embed) takes(set *data.Set) error {
	if set.U8 != nil {
		return fmt.Errorf("data set %q holds bytes, which a network sees divided by 255, and embed takes whole numbers: "+
			"save them as floats, x.astype(numpy.float32)", set.Name)
	}
	x := make([]float64, set.Features())
	for i := range set.Len() {
		set.Row(i, x)
		for p, v := range x {
			if v >= 0 && v < float64(l.Tokens) && v == math.Floor(v) {
				continue
			}
			row, file := i, set.Source
			if set.Rows != nil {
				row = int(set.Rows[i])
			}
			if file == "" {
				file = fmt.Sprintf("data set %q", set.Name)
			}
			remedy := "correct it, or write standardise: none under data, if it is scaled"
			if v >= 0 && v < mostSize && v == math.Floor(v) {
				remedy = fmt.Sprintf("correct it, or write tokens: %.0f or more", v+1)
			}
			return fmt.Errorf("%s: row %d, place %d is %.6g, and embed takes whole numbers from 0 to %d: %s", file, row, p, v, l.Tokens-1, remedy)
		}
	}
	return nil
}

func (l Embed) compile(c *compiler, chain []node, v *value) (*value, int) {
	n := &chain[0]
	o := &embedOp{in: c.withoutBorder(v), out: c.output(n), width: l.Width, w: c.param(n.params[0], l.Tokens, l.Width, l.Width)}
	c.emit(n.stage, o)
	return o.out, 1
}

type embedOp struct {
	in, out *value
	width   int
	w       param
}

func (o *embedOp) inputs() []**value { return []**value{&o.in} }

func (o *embedOp) output() *value { return o.out }

func (o *embedOp) forward(t *tape, g0, g1 int) {
	t.each(o.out, g0, g1, func(g, b int) {
		o.gather(t, g, t.weights(o.w, b), t.out(o.out, g, b))
	})
}

// gather puts the rows of w that the tokens of a group name into the lanes of y.
func (o *embedOp) gather(t *tape, g int, w, y []float32) {
	o.tokens(t, g, func(row, at int) {
		for k, v := range w[row : row+o.width] {
			y[at+k*lanes.Lanes] = v
		}
	})
}

func (o *embedOp) backward(t *tape, g0, g1 int) {
	if !t.learns(o.w) {
		return
	}
	if t.single() {
		o.singles(t, g0)
		return
	}
	t.each(o.out, g0, g1, func(g, b int) {
		dy, sums := t.dy(o.out, g, b), t.gradients(o.w, b)
		o.tokens(t, g, func(row, at int) {
			for k := range sums[row : row+o.width] {
				sums[row+k] += dy[at+k*lanes.Lanes]
			}
		})
	})
}

// tokens calls visit for the tokens of a group, example after example, with the start of the token's row and of its vector's lane.
func (o *embedOp) tokens(t *tape, g int, visit func(row, at int)) {
	x := t.out(o.in, g, 0)
	for lane := range lanes.Lanes {
		for p := 0; p*lanes.Lanes < len(x); p++ {
			visit(int(x[p*lanes.Lanes+lane])*o.width, p*o.width*lanes.Lanes+lane)
		}
	}
}

// singles is backward of a group whose examples' gradients are wanted one by one: as rows, or squared.
func (o *embedOp) singles(t *tape, g int) {
	dy := t.dy(o.out, g, 0)
	if t.rows != nil {
		o.tokens(t, g, func(row, at int) {
			for k := range o.width {
				t.rows[at%lanes.Lanes*t.pitch+o.w.at+row+k] += dy[at+k*lanes.Lanes]
			}
		})
		return
	}
	// A token that stands at several places has one gradient, which is squared once.
	one, sums := map[int][]float32{}, t.gradients(o.w, 0)
	before := 0
	add := func() {
		for row, of := range one {
			for k, v := range of {
				sums[row+k] += float32(v * v)
			}
		}
		clear(one)
	}
	o.tokens(t, g, func(row, at int) {
		if lane := at % lanes.Lanes; lane != before {
			add()
			before = lane
		}
		if one[row] == nil {
			one[row] = make([]float32, o.width)
		}
		for k := range o.width {
			one[row][k] += dy[at+k*lanes.Lanes]
		}
	})
	add()
}

// tangent is the change of the tokens' vectors.
func (o *embedOp) tangent(t *tape, g0, g1 int) {
	w := t.change(o.w)
	for g := g0; g < g1; g++ {
		if y := t.move(o.out, g); w == nil {
			clear(y)
		} else {
			o.gather(t, g, w, y)
		}
	}
}

func (o *embedOp) finish(*tape) {}
