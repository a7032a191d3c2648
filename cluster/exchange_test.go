package cluster

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/starling-smc/starling/internal/testkit"
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
			wire := MemoryWire(4096, testkit.Shaky(uint64(nodes)))
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
				wire := MemoryWire(4096, testkit.Shaky(uint64(10*lost+at)))
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

// Messages of an earlier epoch, and frames that no node sends, whatever sizes they claim, change nothing that is received, and are refused and counted.
func TestExchangeRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wire := MemoryWire(4096, nil)
		ends := make([]*Exchange, 2)
		epochs := make([]uint64, 2)
		meet := func() {
			var all sync.WaitGroup
			for n := range ends {
				all.Go(func() {
					if ends[n] == nil {
						ends[n] = NewExchange(wire, 0)
					}
					var err error
					if epochs[n], err = ends[n].Join(t.Context(), exchanged, n, 2); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
		}
		meet()
		old := epochs[0]
		die(ends[1])
		ends[1] = nil
		meet()
		r := Round{epochs[0], 3, 1}
		body := func(total uint32, number, size uint32, sum Sum, bytes []byte) []byte {
			b := binary.LittleEndian.AppendUint32(nil, total)
			b = append(b, sum[:]...)
			b = binary.LittleEndian.AppendUint32(b, number)
			return append(binary.LittleEndian.AppendUint32(b, size), bytes...)
		}
		wrong := []byte("wrong")
		forged := func(h head, b []byte) {
			wire.Send(exchanged, 0, h.frame(b))
			time.Sleep(time.Millisecond)
		}
		message := head{kind: piece, from: 1, nodes: 2, epoch: old, round: r}
		forged(message, body(5, 0, 4000, SumOf(wrong), wrong)) // the right node and round, of the old epoch
		if ends[0].Refused() != 0 {
			t.Errorf("an old message counts as forged")
		}
		message.epoch = r.Epoch
		list := map[string][]byte{
			"no mark":        []byte("hello"),
			"another layout": append([]byte("sx\x02"), message.frame(nil)[3:]...),
			"no body":        message.frame(nil),
			"giant":          message.frame(body(1<<31-1, 0, 4000, Sum{}, make([]byte, 4000))),
			"below nothing":  message.frame(body(1<<32-1, 0, 4000, Sum{}, nil)),
			"tiny pieces":    message.frame(body(MaxBlock, 0, 1, Sum{}, []byte{1})),
			"no such piece":  message.frame(body(5000, 9, 4000, Sum{}, make([]byte, 4000))),
			"short piece":    message.frame(body(5000, 0, 4000, Sum{}, make([]byte, 3999))),
			"another sum":    message.frame(body(5, 0, 4000, Sum{}, wrong)),
			"no such kind":   head{kind: 99, from: 1, nodes: 2}.frame(nil),
			"other nodes":    head{kind: hail, from: 1, nodes: 3}.frame(nil),
			"no such node":   head{kind: hail, from: 7, nodes: 2}.frame(nil),
			"not node 0":     head{kind: void, from: 1, nodes: 2, epoch: r.Epoch}.frame(nil),
			"half a token":   head{kind: join, from: 1, nodes: 2}.frame(make([]byte, 8)),
			"before time":    head{kind: piece, from: 1, nodes: 2, epoch: r.Epoch, round: Round{Scan: -1}}.frame(body(5, 0, 4000, SumOf(wrong), wrong)),
		}
		for name, frame := range list {
			before := ends[0].Refused()
			wire.Send(exchanged, 0, frame)
			time.Sleep(time.Millisecond)
			if ends[0].Refused() != before+1 {
				t.Errorf("%s: %d refused", name, ends[0].Refused()-before)
			}
		}
		for scan := 4; scan < 40; scan++ { // far rounds do not keep out the present one, and take no room
			far := message
			far.round.Scan = scan
			forged(far, body(5, 0, 4000, SumOf(wrong), wrong))
		}
		ends[0].turn.Lock()
		if n := len(ends[0].inbox[1].coming); n > 2 {
			t.Errorf("%d rounds are kept", n)
		}
		ends[0].turn.Unlock()
		var all sync.WaitGroup
		for n, x := range ends {
			all.Go(func() {
				if err := x.Send(r, messageOf(n, r)); err != nil {
					t.Error(err)
				}
				got, err := x.Receive(t.Context(), r)
				if err != nil || len(got) != 2 || !bytes.Equal(got[0], messageOf(0, r)) || !bytes.Equal(got[1], messageOf(1, r)) {
					t.Errorf("node %d: another message, %v", n, err)
				}
			})
		}
		all.Wait()
		if err := ends[0].Send(r, make([]byte, MaxBlock+1)); err == nil {
			t.Error("a message without limit is sent")
		}
		if err := ends[0].Send(Round{old, 9, 0}, nil); !errors.Is(err, ErrConflict) {
			t.Errorf("a message of an old epoch: %v", err)
		}
		ends[0].Leave()
	})
}

// A node that stays away: node 0 waits for as long as it is told, or as another one that only computes answers. The others wait for node 0 alone.
func TestExchangeAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wire := MemoryWire(4096, nil)
		var all sync.WaitGroup
		begun := time.Now()
		for n := range 4 {
			all.Go(func() {
				x := NewExchange(wire, 0)
				epoch, err := x.Join(t.Context(), exchanged, n, 4)
				if err != nil {
					t.Error(err)
					return
				}
				r := Round{epoch, 0, 0}
				switch n {
				case 2: // it computes for an hour
					time.Sleep(time.Hour)
				case 3: // it dies after that
					time.Sleep(time.Hour)
					die(x)
					return
				}
				if err := x.Send(r, nil); err != nil {
					t.Error(err)
				}
				_, err = x.Receive(t.Context(), r)
				var away *AwayError
				took := time.Since(begun)
				switch {
				case n == 0 && (!errors.As(err, &away) || away.Node != 3 || away.For != 5*time.Minute || took > 65*time.Minute+time.Second):
					t.Errorf("node 0: %v after %v", err, took)
				case n == 0:
					die(x)
				case !errors.As(err, &away) || away.Node != 0 || took < 69*time.Minute || took > 71*time.Minute:
					t.Errorf("node %d: %v after %v", n, err, took)
				}
			})
		}
		all.Wait()
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if _, err := NewExchange(wire, 0).Join(ctx, exchanged, 1, 2); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a join that ends: %v", err)
		}
		if _, err := NewExchange(wire, 0).Join(t.Context(), exchanged, 2, 2); err == nil {
			t.Error("node 2 of 2 joins")
		}
	})
}

func FuzzExchangeFrame(f *testing.F) {
	message := head{kind: piece, from: 1, nodes: 3, epoch: 7}
	for kind := range byte(10) {
		message.kind = kind
		f.Add(message.frame(make([]byte, 60)))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		for node := range 2 {
			x := NewExchange(MemoryWire(4096, nil), 0)
			x.enter(exchanged, node, 3)
			x.epoch = 7
			x.hear(frame)
			x.hear(frame)
			for _, in := range x.inbox {
				for _, c := range in.coming {
					if c.bytes > MaxBlock || len(c.pieces) > MaxBlock/leastPiece || len(in.coming) > 2 {
						t.Fatalf("%d bytes in %d pieces", c.bytes, len(c.pieces))
					}
				}
			}
		}
	})
}
