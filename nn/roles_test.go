package nn

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/pool"
)

// drawRoles gives the modules of a network random roles; at least one is random.
func drawRoles(input []int, layers []Layer, lik Likelihood, r *rand.Rand) (*Net, error) {
	roles := map[string]Role{}
	net, err := NewPartly(input, layers, lik, func(module string) Role {
		if _, ok := roles[module]; !ok {
			roles[module] = []Role{RoleRandom, RoleLearned, RoleLearned, RoleFrozen}[r.IntN(4)]
		}
		return roles[module]
	})
	if err != nil {
		return nil, err
	}
	return measured(net), nil
}

// TestRoles compares networks of which parts are random, learned and frozen, in any order, with the same networks where every
// tensor is random: log-likelihoods are the same bits, gradients of θ the same up to rounding (a convolution that needs no gradient of its
// input takes another way), and the gradient of ψ is the weighted sum over the particles. TestGradients and TestReaders compare the latter with finite differences.
func TestRoles(t *testing.T) {
	nets := 250
	if testing.Short() {
		nets = 50
	}
	kinds := map[stage]int{}
	for seed := uint64(0); nets > 0; seed++ {
		r := rand.New(rand.NewPCG(seed, 98))
		input, layers, lik := drawNet(r)
		net, err := drawRoles(input, layers, lik, r)
		if err != nil || net.Outputs() > 300 || net.Parameters() > 5000 || !net.Partly() {
			continue
		}
		nets--
		for s, ops := range net.program().ops {
			if len(ops) > 0 {
				kinds[stage(s)]++
			}
		}
		n := []int{1, 3, 16, 17, 40, 64, 65, 100}[r.IntN(8)]
		particles := []int{1, 2, 3, 7, 40}[r.IntN(5)]
		if len(input) == 1 {
			n, particles = min(n, 70), []int{1, 5, 64, 65, 70}[r.IntN(5)]
		}
		if err := tryRoles(net, n, particles, r); err != nil {
			t.Errorf("seed %d: input %v, layers %+v, %T, tensors %+v, %d examples, %d particles: %v", seed, input, layers, lik, net.tensors, n, particles, err)
		}
	}
	for s := stagePre; s < stages; s++ {
		if kinds[s] < 5 {
			t.Errorf("stage %d: in %d networks, want at least 5", s, kinds[s])
		}
	}
}

// TestRolesOfReaders is TestRoles where values have several readers, some of which belong to a particle and others to all.
func TestRolesOfReaders(t *testing.T) {
	for name, c := range readerCases() {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(12) {
				r := rand.New(rand.NewPCG(seed, 97))
				net, err := drawRoles(c.input, c.layers, c.lik, r)
				if err != nil {
					continue // nothing is random
				}
				if err := tryRoles(net, 35, []int{1, 3, 66}[r.IntN(3)], r); err != nil {
					t.Errorf("seed %d, tensors %+v: %v", seed, net.tensors, err)
				}
			}
		})
	}
}

func tryRoles(net *Net, n, particles int, r *rand.Rand) error {
	ctx, whole, d := context.Background(), net.Whole(), net.dim
	set := testSet(net, n, r.IntN(2) == 0, r)
	all := testTheta(whole, particles, r)
	_, shared := net.Split(all[:whole.dim])
	net, err := net.Holding(all[:whole.dim])
	if err != nil {
		return err
	}
	var theta []float64
	for j := range particles {
		own, _ := net.Split(all[j*whole.dim:][:whole.dim])
		theta = append(theta, own...)
		copy(all[j*whole.dim:][:whole.dim], net.Join(own, shared))
	}
	weights, sum := make([]float64, particles), 0.0
	for j := range weights {
		weights[j] = r.Float64()
		if r.IntN(4) == 0 {
			weights[j] = 0
		}
		sum += weights[j]
	}
	var rows []int32
	if r.IntN(2) == 0 {
		for range 1 + r.IntN(2*n) {
			rows = append(rows, int32(r.IntN(n)))
		}
	}
	wantLL, wantGrad := make([]float64, particles), make([]float64, len(all))
	m, err := NewModel(whole, set, pool.New(1))
	if err != nil {
		return err
	}
	if err := m.LogLik(ctx, rows, all, wantLL, wantGrad); err != nil {
		return err
	}
	wantPsi, scale := make([]float64, net.learned), 1e-3
	var wantTheta []float64
	for j, w := range weights {
		own, psi := net.Split(wantGrad[j*whole.dim:][:whole.dim])
		wantTheta = append(wantTheta, own...)
		for _, g := range own {
			scale = max(scale, math.Abs(g))
		}
		for i := range wantPsi {
			wantPsi[i] += w * psi[i]
			scale = max(scale, math.Abs(w*psi[i]))
		}
	}
	var first []float64
	for _, threads := range []int{1, 2, 7} {
		m, err := NewModel(net, set, pool.New(threads))
		if err != nil {
			return err
		}
		m = m.At(shared)
		ll, alone, grad := make([]float64, particles), make([]float64, particles), make([]float64, len(theta))
		if err := m.LogLik(ctx, rows, theta, ll, grad); err != nil {
			return err
		}
		if err := m.LogLik(ctx, rows, theta, alone, nil); err != nil {
			return err
		}
		if !slices.Equal(ll, wantLL) || !slices.Equal(alone, wantLL) {
			return fmt.Errorf("%d threads: log-likelihoods %v and without gradient %v, of the whole network %v", threads, ll, alone, wantLL)
		}
		for i, want := range wantTheta {
			if !(math.Abs(grad[i]-want) <= 3e-5*scale) {
				return fmt.Errorf("%d threads: ∂/∂θ[%d] of particle %d is %v, of the whole network %v", threads, i%d, i/d, grad[i], want)
			}
		}
		psi := make([]float64, net.learned)
		before := slices.Clone(grad)
		if err := m.LearnedGradient(ctx, rows, theta, weights, psi); err != nil {
			return err
		}
		if !slices.Equal(grad, before) {
			return fmt.Errorf("%d threads: the gradient of ψ changes that of θ, which a call before has returned", threads)
		}
		for i, want := range wantPsi {
			if !(math.Abs(psi[i]-want) <= 3e-5*scale*math.Sqrt(float64(particles))) {
				return fmt.Errorf("%d threads: ∂/∂ψ[%d] (%s) is %v, the weighted sum is %v", threads, i, net.SharedName(i), psi[i], want)
			}
		}
		if first == nil {
			first = psi
		} else if !slices.Equal(first, psi) {
			return fmt.Errorf("%d threads: another gradient of ψ than with one", threads)
		}
	}
	for _, kernel := range lanes.Kernels() {
		restore, err := lanes.SetKernel(kernel)
		if err != nil {
			return err
		}
		psi := make([]float64, net.learned)
		m, err := NewModel(net, set, pool.New(2))
		if err == nil {
			err = m.At(shared).LearnedGradient(ctx, rows, theta, weights, psi)
		}
		restore()
		if err != nil {
			return err
		}
		if !slices.Equal(first, psi) {
			return fmt.Errorf("kernel %s: another gradient of ψ", kernel)
		}
	}
	return nil
}

// TestRolesLayout checks where tensors lie: θ, ψ and the constants, each in the order of the layers.
func TestRolesLayout(t *testing.T) {
	role := map[string]Role{"a": RoleFrozen, "b": RoleRandom, "3": RoleLearned, "c": RoleFrozen, "d": RoleRandom}
	net, err := NewPartly([]int{2}, []Layer{
		Dense{Units: 3, Name: "a"}, Tanh, Dense{Units: 4, Name: "b"}, Dense{Units: 2}, Dense{Units: 2, Name: "c"}, Dense{Units: 1, NoBias: true, Name: "d"},
	}, Gaussian{SD: Learned}, func(module string) Role { return role[module] })
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, x := range net.Tensors() {
		got += fmt.Sprintf("%s %v %d; ", x.Name, x.Role, x.Offset)
	}
	want := "a.weight frozen 0; a.bias frozen 6; b.weight random 0; b.bias random 12; 3.weight learned 0; 3.bias learned 8; " +
		"c.weight frozen 9; c.bias frozen 13; d.weight random 16; log_sd learned 10; "
	if got != want {
		t.Errorf("tensors %s\nwant    %s", got, want)
	}
	if net.Dim() != 18 || net.Learned() != 11 || net.Parameters() != 44 || len(net.Frozen().Random()) != 3 {
		t.Errorf("%d random, %d learned, %d in all", net.Dim(), net.Learned(), net.Parameters())
	}
	if got := net.RandomName(0) + " " + net.RandomName(net.Dim()-1); got != "b.weight[0, 0] d.weight[0, 1]" {
		t.Errorf("names of random parameters %s", got)
	}
	if got := net.SharedName(5) + " " + net.SharedName(10); got != "3.weight[1, 1] log_sd[0]" {
		t.Errorf("names %s", got)
	}
	if net.Size() != "44 parameters, 18 of them random" || net.Whole().Size() != "44 parameters" {
		t.Errorf("sizes %q and %q", net.Size(), net.Whole().Size())
	}
	for _, x := range net.Tensors() {
		if (x.Kind == Biases) != strings.HasSuffix(x.Name, ".bias") {
			t.Errorf("%s is of kind %v", x.Name, x.Kind)
		}
	}
	whole := make([]float64, net.Parameters())
	for i := range whole {
		whole[i] = float64(i)
	}
	if net, err = net.Holding(whole); err != nil {
		t.Fatal(err)
	}
	theta, psi := net.Split(whole)
	if !slices.Equal(net.Join(theta, psi), whole) || theta[0] != 9 || psi[0] != 25 || psi[10] != 43 || net.Held()[14] != 40 {
		t.Errorf("θ %v, ψ %v, constants %v", theta, psi, net.Held())
	}
	// Nothing learns any more, and back.
	frozen := net.Frozen()
	if frozen.Learned() != 0 || frozen.Parameters() != 44 || frozen.Held() != nil {
		t.Errorf("%d learned of %d, constants %v", frozen.Learned(), frozen.Parameters(), frozen.Held())
	}
	if frozen, err = frozen.Holding(whole); err != nil || !slices.Equal(frozen.Join(theta, nil), whole) {
		t.Errorf("whole again: %v, %v", frozen.Join(theta, nil), err)
	}
	if thawed := frozen.Thawed(); thawed.Learned() != 26 || thawed.Dim() != 18 {
		t.Errorf("%d learned", thawed.Learned())
	}
}

// TestNothingRandom refuses a network that leaves nothing to particles.
func TestNothingRandom(t *testing.T) {
	_, err := NewPartly([]int{2}, []Layer{Dense{Units: 1}}, Gaussian{SD: 1}, func(string) Role { return RoleLearned })
	if err == nil || err.Error() != "no tensor of the network is random" {
		t.Errorf("error %v", err)
	}
}

// TestBackboneRunsOnce: layers before the first random one run once a tile of a call, for any number of particles, whose passes
// are short beside it.
func TestBackboneRunsOnce(t *testing.T) {
	net, err := NewPartly([]int{1, 28, 28}, lenet5, Categorical{}, func(module string) Role {
		if module == "11" {
			return RoleRandom
		}
		return RoleLearned
	})
	if err != nil {
		t.Fatal(err)
	}
	if net.Dim() != 850 {
		t.Fatalf("D = %d: the last layer is not the random one, among %+v", net.Dim(), net.tensors)
	}
	counted := &countingOp{}
	p := net.program()
	p.ops[stageSharedConv] = append(p.ops[stageSharedConv], counted)
	r := rand.New(rand.NewPCG(1, 1))
	set := &data.Set{Name: "test", Shape: []int{1, 28, 28}, U8: make([]uint8, 784*130), Labels: make([]int32, 130), Classes: 10}
	m, err := NewModel(net, set, pool.New(1))
	if err != nil {
		t.Fatal(err)
	}
	const particles = 300
	theta, ll, grad := testTheta(net, particles, r)[:particles*850], make([]float64, particles), make([]float64, particles*850)
	if err := m.LogLik(context.Background(), nil, theta, ll, grad); err != nil {
		t.Fatal(err)
	}
	if counted.forwards != 9 || counted.backwards != 0 { // groups of 130 examples
		t.Errorf("%d groups forward and %d backward, want 9 and 0", counted.forwards, counted.backwards)
	}
	weights := slices.Repeat([]float64{1. / particles}, particles)
	if err := m.LearnedGradient(context.Background(), nil, theta, weights, make([]float64, net.Learned())); err != nil {
		t.Fatal(err)
	}
	if counted.forwards != 18 || counted.backwards != 9 {
		t.Errorf("%d groups forward and %d backward, want 18 and 9", counted.forwards, counted.backwards)
	}
}

// countingOp counts the groups that go through a stage.
type countingOp struct{ forwards, backwards int }

func (*countingOp) inputs() []**value              { return nil }
func (*countingOp) output() *value                 { return nil }
func (c *countingOp) forward(_ *tape, g0, g1 int)  { c.forwards += g1 - g0 }
func (c *countingOp) backward(_ *tape, g0, g1 int) { c.backwards += g1 - g0 }
func (*countingOp) finish(*tape)                   {}

// TestFrozenUnknown: frozen layers whose values nobody has said are refused, not taken for zeros.
func TestFrozenUnknown(t *testing.T) {
	net, err := NewPartly([]int{2}, []Layer{Dense{Units: 3, Name: "a"}, Tanh, Dense{Units: 1, Name: "b"}}, Gaussian{SD: 1},
		func(module string) Role { return map[string]Role{"a": RoleFrozen}[module] })
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	m, err := NewModel(net, testSet(net, 5, false, r), nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = "the network has frozen layers, and nobody has said their values"
	if err := m.LogLik(t.Context(), nil, testTheta(net, 1, r), make([]float64, 1), nil); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v", err)
	}
	known, err := net.Holding(make([]float64, net.Parameters()))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.With(known).LogLik(t.Context(), nil, testTheta(net, 1, r), make([]float64, 1), nil); err != nil {
		t.Error(err)
	}
}
