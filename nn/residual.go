package nn

import (
	"fmt"
	"slices"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/lanes"
)

// Residual is body(x) + shortcut(x) (He et al. 2016): two chains of layers that read the same input, and give the same shape. An
// empty shortcut is the input itself. An activation behind the sum is a layer of its own.
//
// Its tensors are those of the body, then those of the shortcut. They are named as in a module with the attributes body and
// shortcut, each an nn.Sequential, such as 2.body.0.weight; a layer with a name of its own has that name alone.
type Residual struct {
	Body     []Layer `yaml:"body"`                   // the layers that are added to the shortcut
	Shortcut []Layer `yaml:"shortcut,omitempty,one"` // layers, or pad; default: the input itself
}

// Check implements config.Checker.
func (r Residual) Check(f *config.Faults) {
	f.If(len(r.Body) == 0, "body", needsBody)
	for _, chain := range []struct {
		field  string
		layers []Layer
	}{{"body", r.Body}, {"shortcut", r.Shortcut}} {
		for _, i := range Dropouts(chain.layers) {
			f.Add(fmt.Sprint(chain.field, ".", i), dropoutInside)
		}
	}
}

const (
	needsBody     = "needs layers, as in {residual: {body: [{conv: {filters: 16, kernel: 3, pad: 1}}]}}"
	dropoutInside = "dropout inside a residual is not supported: put it before the last dense layer, or leave it out"
)

// Title implements Layer.
func (Residual) Title() string { return "residual" }

func (r Residual) chains() [][]Layer { return [][]Layer{r.Body, r.Shortcut} }

func (r Residual) derive(b *builder, n *node) error {
	if len(r.Body) == 0 {
		return fmt.Errorf("body: %s", needsBody)
	}
	body, err := b.branch(n, "body", r.Body, nil)
	if err != nil {
		return err
	}
	shortcut, err := b.branch(n, "shortcut", r.Shortcut, body)
	if err != nil {
		return err
	}
	if !slices.Equal(body, shortcut) {
		return fmt.Errorf("the body gives %v and the shortcut %v, and they are added: give the shortcut %s", body, shortcut, shortcutTo(body, n.in))
	}
	n.out = body
	return nil
}

// shortcutTo says which shortcut leads from an input to the shape of the body.
func shortcutTo(body, in []int) string {
	if len(body) == 1 {
		return fmt.Sprintf("a layer to %v, as in shortcut: [{dense: %d}]", body, body[0])
	}
	stride := ""
	if !slices.Equal(body[1:], in[1:]) {
		stride = ", stride: …"
	}
	text := fmt.Sprintf("a convolution to %v, as in shortcut: [{conv: {filters: %d, kernel: 1%s}}]", body, body[0], stride)
	if (Pad{}).leads(in, body) == nil {
		text += ", or shortcut: pad"
	}
	return text
}

func (r Residual) compile(c *compiler, chain []node, v *value) (*value, int) {
	n, used := &chain[0], 1
	s := &sumOp{in: [2]*value{c.input(n, c.chain(n.inner[0], v)), c.input(n, c.chain(n.inner[1], v))}, out: c.output(n)}
	if c.clips(chain[1:]) {
		s.out.relu, used = true, 2
	}
	c.emit(n.stage, s)
	return s.out, used
}

// sumOp is y = a + b, dx = dy for both, with a ReLU behind it if out.relu. Each of the three may have other borders.
//
// The sum takes the place of one of them, and the gradients of a and b are that of y, where nothing else needs what was there: see
// places.
type sumOp struct {
	in  [2]*value
	out *value
}

func (s *sumOp) inputs() []**value { return []**value{&s.in[0], &s.in[1]} }

func (s *sumOp) output() *value { return s.out }

func (*sumOp) adds() {}

func (s *sumOp) forward(t *tape, g0, g1 int) {
	add := lanes.Add
	if s.out.relu {
		add = lanes.AddReLU
	}
	a, b := s.in[0], s.in[1]
	if b.act == s.out.act {
		a, b = b, a
	}
	t.each(s.out, g0, g1, func(g, p int) {
		y, x, z := t.out(s.out, g, p), t.out(a, g, p), t.out(b, g, p)
		switch {
		case a.alike(s.out) && b.alike(s.out):
			add(x, z, y)
		case a.alike(s.out):
			b.runs(s.out, func(i, j, n int) { add(x[j:j+n], z[i:i+n], y[j:j+n]) })
		default:
			copyPlanes(y, s.out, x, a)
			b.runs(s.out, func(i, j, n int) { add(y[j:j+n], z[i:i+n], y[j:j+n]) })
		}
	})
}

func (s *sumOp) backward(t *tape, g0, g1 int) {
	for _, v := range s.in {
		if !t.needs(v) || v.grad == s.out.grad {
			continue
		}
		t.each(s.out, g0, g1, func(g, b int) {
			dx := t.dy(v, g, b)
			copyPlanes(dx, v, t.dy(s.out, g, b), s.out)
			if v.relu {
				lanes.ReLUBackward(t.out(v, g, b), dx, dx)
			}
		})
	}
}

func (s *sumOp) finish(*tape) {}

// tangent is ẏ = ȧ + ḃ. An input that all particles share does not move.
func (s *sumOp) tangent(t *tape, g0, g1 int) {
	a, b := s.in[0], s.in[1]
	if a.shared() || b.act == s.out.act {
		a, b = b, a
	}
	for g := g0; g < g1; g++ {
		y := t.move(s.out, g)
		if a.act != s.out.act {
			copyPlanes(y, s.out, t.move(a, g), a)
		}
		if !b.shared() {
			z := t.move(b, g)
			b.runs(s.out, func(i, j, n int) { lanes.Add(y[j:j+n], z[i:i+n], y[j:j+n]) })
		}
	}
}
