package nn

import (
	"fmt"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/lanes"
)

// LoRA is a low-rank update of a dense layer that was trained before (Hu et al. 2021, "LoRA: Low-Rank Adaptation of Large Language Models",
// section 4.1):
//
//	y = W x + b + (Alpha/Rank) B A x,    W [Units, inputs], b [Units], A [Rank, inputs], B [Units, Rank]
//
// W and b are those of the trained network: constants (RoleFixed, Net.With), which count in no number of parameters. A and B are the
// parameters, tensors lora_A and lora_B, named as in the authors' loralib. B A is never formed: A x is Rank values an example. Where all
// particles share the layer's input, W x + b is computed once for all of them.
//
// Descents begin at B = 0 (Tensor.Zero), as in the paper: the network is then the trained one. A draw of the prior draws both.
type LoRA struct {
	Units  int     `yaml:"units"`                 // number of outputs, as in the dense layer that was trained
	Rank   int     `yaml:"rank"`                  // r, of the update: rows of A and columns of B
	Alpha  float64 `yaml:"alpha"`                 // the update is multiplied by alpha/rank
	Full   bool    `yaml:"full,omitempty"`        // the rank may be above that of any matrix of the layer's shape
	NoBias bool    `yaml:"bias,not,omitempty"`    // whether the trained layer has a bias (in Go: whether it has none)
	Name   string  `yaml:"name,beside,omitempty"` // how its tensors begin in files of weights: NAME.weight, NAME.bias, NAME.lora_A, NAME.lora_B; default: the layer's number, counted from 0 over all layers, as in PyTorch's nn.Sequential
}

const (
	wantRank  = "want a rank of at least 1, have %d: without rows A has nothing to learn"
	wantAlpha = "want a number above 0, have %.12g: the update is multiplied by alpha/rank, so that alpha: %d is a factor of 1"
)

// Check implements config.Checker.
func (l LoRA) Check(f *config.Faults) {
	needSizes(f, "units", l.Units)
	if f.If(l.Rank < 1, "rank", wantRank, l.Rank); l.Rank > 0 {
		checkSizes(f, "rank", 1, l.Rank)
	}
	f.If(!l.scales(), "alpha", wantAlpha, l.Alpha, l.Rank)
	checkName(f, l.Name)
}

// scales reports whether Alpha is a finite number above 0.
func (l LoRA) scales() bool { return l.Alpha > 0 && l.Alpha-l.Alpha == 0 }

// Title implements Layer.
func (l LoRA) Title() string { return fmt.Sprintf("lora %d (rank %d)", l.Units, l.Rank) }

// ofTrained implements trained.
func (LoRA) ofTrained() {}

// trained is a layer with weights of a trained network, which are never parameters.
type trained interface{ ofTrained() }

// Updated lists the places of the layers that update those of a trained network, or have some inside that do.
func Updated(layers []Layer) (at []int) {
	return placesOf(layers, func(l Layer) bool {
		_, is := l.(trained)
		return is
	})
}

func (l LoRA) derive(b *builder, n *node) error {
	in := b.flat(n)
	switch most := min(in, l.Units); {
	case l.Units <= 0:
		return fmt.Errorf("units must be positive, have %d", l.Units)
	case l.Rank < 1:
		return fmt.Errorf("rank: "+wantRank, l.Rank)
	case l.Rank > most && !l.Full:
		return fmt.Errorf("rank: %d is above %d, the rank of any matrix of %d×%d, and more rows of A add nothing to what B A can be: "+
			"take at most %[2]d, or write full: true", l.Rank, most, l.Units, in)
	case !l.scales():
		return fmt.Errorf("alpha: "+wantAlpha, l.Alpha, l.Rank)
	}
	n.out, n.stage = []int{l.Units}, stageDense
	name, role, err := b.own(n, l.Name)
	if err != nil {
		return err
	}
	b.tensor(n, RoleFixed, name+".weight", Weights, in, l.Units, in)
	if !l.NoBias {
		b.tensor(n, RoleFixed, name+".bias", Biases, in, l.Units)
	}
	b.tensor(n, role, name+".lora_A", Updates, in, l.Rank, in)
	b.tensor(n, role, name+".lora_B", Updates, l.Rank, l.Units, l.Rank)
	b.net.tensors[len(b.net.tensors)-1].Zero = l.Units * l.Rank
	before, last := !n.from.stage.shared(), len(n.params)-1 // before: something before the layer is random
	b.multiplyAdds(n, 0, l.Units*in, before)
	b.multiplyAdds(n, last-1, l.Rank*in, before)
	b.multiplyAdds(n, last, l.Units*l.Rank, role == RoleRandom || before)
	return nil
}

// compile makes the layer of three dense products and a sum. The product with W runs as early as its input is known.
func (l LoRA) compile(c *compiler, chain []node, v *value) (*value, int) {
	n, last := &chain[0], len(chain[0].params)-1
	v = c.withoutBorder(v)
	whole, base := v, n.origin
	if v.spread {
		whole = v.source // W x is the same for all particles, and so is its gradient but for their weights
	}
	if whole.stage.shared() {
		base = origin{stageSharedDense, whole.learned}
	}
	fixed, low, scaled, update := c.value(n.out, base), c.value([]int{l.Rank}, n.origin), c.value([]int{l.Rank}, n.origin), c.output(n)
	c.emit(base.stage, newDense(c, n.params[:last-1], whole, fixed))
	c.emit(n.stage, newDense(c, n.params[last-1:last], v, low))
	c.emit(n.stage, &scaleOp{in: low, out: scaled, by: float32(l.Alpha / float64(l.Rank))})
	c.emit(n.stage, newDense(c, n.params[last:], scaled, update))
	sum, used := &sumOp{in: [2]*value{c.input(n, fixed), update}, out: c.output(n)}, 1
	if c.clips(chain[1:]) {
		sum.out.relu, used = true, 2
	}
	c.emit(n.stage, sum)
	return sum.out, used
}

// scaleOp is y = a x, dx = a dy.
type scaleOp struct {
	in, out *value
	by      float32
}

func (s *scaleOp) inputs() []**value { return []**value{&s.in} }

func (s *scaleOp) output() *value { return s.out }

func (s *scaleOp) forward(t *tape, g0, g1 int) {
	t.each(s.out, g0, g1, func(g, b int) { lanes.Scale(t.out(s.in, g, b), s.by, t.out(s.out, g, b)) })
}

func (s *scaleOp) backward(t *tape, g0, g1 int) {
	if t.needs(s.in) {
		t.each(s.out, g0, g1, func(g, b int) { lanes.Scale(t.dy(s.out, g, b), s.by, t.dy(s.in, g, b)) })
	}
}

func (s *scaleOp) finish(*tape) {}

// tangent is ẏ = a ẋ.
func (s *scaleOp) tangent(t *tape, g0, g1 int) {
	for g := g0; g < g1; g++ {
		lanes.Scale(t.move(s.in, g), s.by, t.move(s.out, g))
	}
}
