package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var exchanged = SumOf([]byte("a run"))

// messageOf is what a node sends in a round: from nothing to several pieces.
func messageOf(node int, r Round) []byte {
	g := rand.New(rand.NewPCG(uint64(node), uint64(100*r.Scan+r.Pass)))
	m := make([]byte, g.IntN(3)*g.IntN(6000))
	for i := range m {
		m[i] = byte(g.Uint32())
	}
	return m
}

// bad is a wire that loses 15 % of its frames, brings 10 % twice, and each after up to a quarter of a second.
func bad(seed uint64) func([]byte) []time.Duration {
	var turn sync.Mutex
	g := rand.New(rand.NewPCG(seed, 1))
	return func([]byte) (after []time.Duration) {
		turn.Lock()
		defer turn.Unlock()
		for range 1 + g.IntN(10)/9 {
			if g.IntN(100) >= 15 {
				after = append(after, time.Duration(g.IntN(250))*time.Millisecond)
			}
		}
		return after
	}
}

// rounds takes a node through the rounds of an epoch, from scan k on, of three passes each. It returns how many scans it has finished.
func rounds(ctx context.Context, x *Exchange, epoch uint64, node, nodes, k, scans int) (int, error) {
	for ; k < scans; k++ {
		for pass := range 3 {
			r := Round{epoch, k, pass}
			if err := x.Send(r, messageOf(node, r)); err != nil {
				return k, err
			}
			all, err := x.Receive(ctx, r)
			if err != nil {
				return k, err
			}
			for n, m := range all {
				if len(all) != nodes || !bytes.Equal(m, messageOf(n, r)) {
					return k, fmt.Errorf("round %v: node %d has another message from node %d", r, node, n)
				}
			}
		}
	}
	return k, nil
}

// Over a wire that loses, repeats, delays and reorders frames every node gets every message of every round, in the order of the nodes.
func TestExchange(t *testing.T) {
	for _, nodes := range []int{1, 2, 5} {
		synctest.Test(t, func(t *testing.T) {
			wire := MemoryWire(4096, bad(uint64(nodes)))
			var all sync.WaitGroup
			for n := range nodes {
				all.Go(func() {
					x := NewExchange(wire, 0)
					epoch, err := x.Join(t.Context(), exchanged, n, nodes)
					if err != nil {
						t.Error(err)
						return
					}
					if k, err := rounds(t.Context(), x, epoch, n, nodes, 0, 40); err != nil {
						t.Errorf("%d nodes: node %d in scan %d: %v", nodes, n, k, err)
					}
					time.Sleep(time.Minute) // it answers those that have lost its last message
					x.Leave()
					if x.Refused() != 0 {
						t.Errorf("%d frames refused", x.Refused())
					}
				})
			}
			all.Wait()
		})
	}
}

// die ends a node that says nothing any more, as a killed process.
func die(x *Exchange) {
	x.turn.Lock()
	defer x.turn.Unlock()
	x.stop()
	x.stop, x.epoch = nil, 0
}

// A node that is lost at any point of a scan, node 0 among them, and comes back in another process: the others get ErrConflict, join the next epoch, and
// all go on from the same scan. Epochs rise.
func TestExchangeLosesANode(t *testing.T) {
	const nodes, scans = 3, 12
	for lost := range nodes {
		for at := range 6 { // before Send and before Receive of each pass
			synctest.Test(t, func(t *testing.T) {
				wire := MemoryWire(4096, bad(uint64(10*lost+at)))
				var turn sync.Mutex
				done, epochs := make([]int, nodes), make([]uint64, nodes) // scans that each has finished; its last epoch
				var all sync.WaitGroup
				var live func(n, dies int)
				live = func(n, dies int) {
					x := NewExchange(wire, 0)
					for {
						epoch, err := x.Join(t.Context(), exchanged, n, nodes)
						if err != nil {
							t.Errorf("node %d: %v", n, err)
							return
						}
						turn.Lock()
						if epoch <= epochs[n] {
							t.Errorf("epoch %d after %d", epoch, epochs[n])
						}
						epochs[n] = epoch
						from := slices.Min(done) // what all have
						turn.Unlock()
						for k := from; k < scans && err == nil; k++ {
							for pass := 0; pass < 3 && err == nil; pass++ {
								r := Round{epoch, k, pass}
								if dies == 2*pass && k == 5 {
									time.Sleep(time.Second)
									die(x)
									all.Go(func() { time.Sleep(70 * time.Second); live(n, -1) })
									return
								}
								if err = x.Send(r, messageOf(n, r)); err != nil {
									break
								}
								if dies == 2*pass+1 && k == 5 {
									die(x)
									all.Go(func() { time.Sleep(70 * time.Second); live(n, -1) })
									return
								}
								var got [][]byte
								got, err = x.Receive(t.Context(), r)
								for m := range got {
									if !bytes.Equal(got[m], messageOf(m, r)) {
										t.Errorf("node %d has another message of node %d", n, m)
									}
								}
							}
							if err == nil {
								turn.Lock()
								done[n] = max(done[n], k+1)
								turn.Unlock()
							}
						}
						if err == nil {
							last := Round{epoch, scans - 1, 2}
							for i := 0; i < 600 && err == nil; i++ { // it answers, and goes back with those who have to
								time.Sleep(time.Second)
								err = x.Send(last, messageOf(n, last))
							}
							if err == nil {
								x.Leave()
								return
							}
						}
						if errors.Is(err, ErrLeft) {
							return // node 0 has finished
						}
						if !errors.Is(err, ErrConflict) {
							t.Errorf("node %d: %v", n, err)
							return
						}
					}
				}
				for n := range nodes {
					dies := -1
					if n == lost {
						dies = at
					}
					all.Go(func() { live(n, dies) })
				}
				all.Wait()
				if slices.Min(done) != scans || slices.Min(epochs) != slices.Max(epochs) {
					t.Errorf("node %d lost at %d: %v scans, epochs %v", lost, at, done, epochs)
				}
			})
		}
	}
}
