package nn

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/testkit"
)

// Every tile of every task is in one piece, the pieces of a task follow each other, shares of few tasks are equal to a tile of 64 examples, and
// a share needs no sums but those with which the share before it begins.
func TestSharesAreEqual(t *testing.T) {
	net := mustNet(t, []int{1}, []Layer{Dense{Units: 50}, Dense{Units: 1}}, Gaussian{SD: 1}) // not wide: blocks of a particle
	set := testSet(net, 9001, false, rand.New(rand.NewPCG(8, 8)))
	cut := 0
	for threads := 1; threads <= 9; threads++ {
		m, err := NewModel(net, set, pool.New(threads))
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1, 64, 65, 256, 257, 600, 1200, 1300, 2048, 9001} {
			for particles := 1; particles <= 4; particles++ {
				name := fmt.Sprintf("%d threads, %d examples, %d particles", threads, n, particles)
				r := newReduction(m, n, make([]float64, particles*net.dim), make([]float64, particles), nil)
				shares := r.shares()
				if even := len(r.next)*r.segments < fewTasks*threads; even && len(shares) > threads {
					t.Errorf("%s: %d shares", name, len(shares))
				}
				at := map[[2]int]piece{} // the last piece of each task so far
				done, off := 0, 0.0
				for i, pieces := range shares {
					for k, p := range pieces {
						done += min(n-p.segment*r.tiles*tileExamples, p.to*tileExamples) - p.from*tileExamples
						if p.to <= p.from || p.after != nil && k > 0 || p.before != nil && k != len(pieces)-1 {
							t.Errorf("%s: share %d has piece %d %+v of %d", name, i, k, p, len(pieces))
						}
					}
					off = max(off, math.Abs(float64(done)-float64((i+1)*particles*n)/float64(len(shares))))
					by := slices.Clone(pieces)
					slices.SortFunc(by, func(a, b piece) int { return (a.block-b.block)*r.segments + a.segment - b.segment })
					for _, p := range by {
						last := at[[2]int{p.block, p.segment}]
						if p.from != last.to || p.before != last.after {
							t.Errorf("%s: piece %+v follows %+v", name, p, last)
						}
						at[[2]int{p.block, p.segment}] = p
						if p.after != nil {
							cut++
						}
					}
				}
				for task, p := range at {
					if want := (min(n-task[1]*r.tiles*tileExamples, r.tiles*tileExamples) + tileExamples - 1) / tileExamples; p.to != want || p.after != nil {
						t.Errorf("%s: task %v ends at tile %d of %d", name, task, p.to, want)
					}
				}
				if len(at) != len(r.next)*r.segments || len(at) < fewTasks*threads && off > tileExamples {
					t.Errorf("%s: %d tasks, a share ends %v examples from its place", name, len(at), off)
				}
			}
		}
	}
	if cut == 0 {
		t.Error("nothing was cut")
	}
}

// However tasks are cut, and whether the threads are there or at other work, the bits are those of one thread.
func TestCutTasksHaveTheBitsOfWhole(t *testing.T) {
	net := mustNet(t, []int{1, 6, 5}, []Layer{Conv{Filters: 2, Kernel: [2]int{3, 3}}, ReLU, Flatten{}, Dense{Units: 3}}, Categorical{})
	r := rand.New(rand.NewPCG(9, 9))
	set, theta := testSet(net, 1300, true, r), testTheta(net, 3, r)
	for particles := 1; particles <= 3; particles++ {
		theta := theta[:particles*net.dim]
		logLik := func(p *Pool) (ll, grad []float64) {
			m, err := NewModel(net, set, p)
			if err != nil {
				t.Fatal(err)
			}
			ll, grad = make([]float64, particles), make([]float64, len(theta))
			if err := m.LogLik(context.Background(), nil, theta, ll, grad); err != nil {
				t.Error(err)
			}
			return ll, grad
		}
		want, wantGrad := logLik(pool.New(1))
		for threads := 2; threads <= 7; threads++ {
			p := pool.New(threads)
			p.Run(2*threads, func(int) {
				if ll, grad := logLik(p); !slices.Equal(ll, want) || !slices.Equal(grad, wantGrad) {
					t.Errorf("%d particles, %d threads at work: other bits", particles, threads)
				}
			})
			if ll, grad := logLik(p); !slices.Equal(ll, want) || !slices.Equal(grad, wantGrad) {
				t.Errorf("%d particles, %d threads: other bits", particles, threads)
			}
		}
	}
}

// A panic within a piece ends the call: the thread that needs its sums does not wait for ever.
func TestPanicInAPiece(t *testing.T) {
	net := mustNet(t, []int{1}, []Layer{Dense{Units: 1}}, Gaussian{SD: 1})
	m, err := NewModel(net, testSet(net, 1200, false, rand.New(rand.NewPCG(8, 8))), pool.New(2))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan any)
	go func() {
		defer func() { ended <- recover() }()
		r := newReduction(m, 1200, make([]float64, net.dim), make([]float64, 1), nil)
		r.each(context.Background(), func(_ *tape, first, _ int) {
			if first == 8*tileExamples { // the chunk that is cut
				panic("a tile")
			}
			time.Sleep(time.Millisecond)
		}, nil)
	}()
	select {
	case r := <-ended:
		if p, ok := r.(*pool.Panic); !ok || p.Value != "a tile" {
			t.Errorf("recovered %v", r)
		}
	case <-time.After(testkit.Patience):
		t.Error("the call does not end")
	}
}

// Where an example takes much work, the threads share a batch of 128 for one particle. Chunks of other networks are as large as ever.
func TestSmallBatchesAreShared(t *testing.T) {
	for _, c := range []struct {
		net    *Net
		shares int
	}{
		{mustNet(t, []int{3, 32, 32}, ResNet20(10), Categorical{}), 2},
		{mustNet(t, []int{1, 28, 28}, lenet5, Categorical{}), 1},
		{mustNet(t, []int{784}, []Layer{Dense{Units: 2000}, ReLU, Dense{Units: 2000}, ReLU, Dense{Units: 10}}, Categorical{}), 1},
	} {
		m, err := NewModel(c.net, testSet(c.net, 128, true, rand.New(rand.NewPCG(8, 8))), pool.New(2))
		if err != nil {
			t.Fatal(err)
		}
		r := newReduction(m, 128, make([]float64, c.net.dim), make([]float64, 1), nil)
		if got := len(r.shares()); got != c.shares || c.shares > 1 && r.segments < 2 {
			t.Errorf("%s: %d shares of %d segments, want %d", c.net.Title(), got, r.segments, c.shares)
		}
	}
}
