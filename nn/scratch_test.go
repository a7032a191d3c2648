package nn

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/pool"
)

// bytes is what a tape holds.
func (t *tape) bytes() int {
	floats := 0
	for _, s := range [][]float32{t.act, t.grad, t.lane, t.tmp, t.shared, t.target, t.ll, t.sums} {
		floats += len(s)
	}
	return 4*(floats+len(t.args)+len(t.labels)) + 2*(len(t.masks)+len(t.kept))
}

// held is what the models of a network hold between calls, and how much of it is tapes.
func (n *Net) held() (bytes, tapes int) {
	programs := []*program{n.program()}
	if p := n.training(); p != programs[0] {
		programs = append(programs, p)
	}
	for _, p := range programs {
		for _, t := range p.spare.tapes {
			tapes += t.bytes()
		}
		for _, s := range p.spare.partials {
			bytes += 4*(cap(s.theta)+cap(s.grads)) + 8*(cap(s.ll)+cap(s.own))
		}
	}
	return bytes + tapes, tapes
}

// TestScratch: what all models of a network hold after calls of every kind, with and without gradients, for training and for
// validation, is not more than the estimate for a thread. Its tapes, which are most of it where there are convolutions, are as large as
// they are said to be.
func TestScratch(t *testing.T) {
	for _, c := range []struct {
		name      string
		input     []int
		layers    []Layer
		role      func(string) Role
		particles int
		examples  int
	}{
		{"LeNet-5", []int{1, 28, 28}, lenet5, allRandom, 4, 600},
		{"ResNet-20", []int{3, 32, 32}, resnet20(ReLU, true), allRandom, 1, 40},
		{"dense layers", []int{20}, []Layer{Dense{Units: 50}, ReLU, Dense{Units: 10}}, allRandom, 40, 600},
		{"dropout", []int{1, 16, 16}, []Layer{Conv{Filters: 8, Kernel: [2]int{3, 3}}, ReLU, Dropout(0.5), Dense{Units: 10}}, allRandom, 3, 600},
		{"learned", []int{1, 16, 16}, []Layer{Conv{Filters: 8, Kernel: [2]int{3, 3}}, ReLU, Dense{Units: 10}}, func(module string) Role {
			return map[bool]Role{true: RoleLearned}[module == "0"]
		}, 40, 600},
	} {
		for _, threads := range []int{1, 2} {
			net, err := NewPartly(c.input, c.layers, Categorical{}, c.role)
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(2, uint64(threads)))
			set, p := testSet(net, c.examples, true, r), pool.New(threads)
			theta := testTheta(net, c.particles, r)
			ll, grad, weights := make([]float64, c.particles), make([]float64, len(theta)), slices.Repeat([]float64{1}, c.particles)
			for range 2 { // training and validation
				m, err := NewModel(net, set, p)
				if err != nil {
					t.Fatal(err)
				}
				for _, err := range []error{
					m.LogLik(context.Background(), nil, theta, ll, nil),
					m.LogLikSeen(context.Background(), View{}, nil, theta, ll, grad),
					m.LearnedGradient(context.Background(), nil, theta, weights, make([]float64, net.Learned())),
					m.Outputs(context.Background(), nil, theta, make([]float32, c.particles*c.examples*net.Outputs())),
				} {
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			bytes, tapes := net.held()
			each := net.program().tapeBytes()
			if p := net.training(); p != net.program() {
				each += p.tapeBytes()
			}
			// How many sums wait for those of another thread is a matter of the scheduler.
			if want := threads * net.Scratch(c.particles); threads == 1 && bytes > want || tapes == 0 || tapes > threads*each || threads == 1 && tapes != each {
				t.Errorf("%s on %d threads: %d bytes, the estimate is %d; %d in tapes, of %d a thread", c.name, threads, bytes, want, tapes, each)
			}
			if c.name == "ResNet-20" && 5*each < 4*net.Scratch(c.particles) {
				t.Errorf("%s: %d bytes of %d are tapes", c.name, each, net.Scratch(c.particles))
			}
		}
	}
}
