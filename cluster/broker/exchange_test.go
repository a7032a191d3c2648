package broker

import (
	"bytes"
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/cluster/clustertest"
)

// Four nodes with connections of their own exchange messages of up to 3 MB, in pieces, in 12 rounds. One of them dies and comes back: the others
// join again. Then node 0 leaves, and all hear of it.
func TestExchange(t *testing.T) {
	s := clustertest.Serve(t, t.TempDir(), nil)
	run := cluster.SumOf([]byte("exchange"))
	messageOf := func(node int, r cluster.Round) []byte {
		g := rand.New(rand.NewPCG(uint64(node), uint64(r.Scan)))
		return bytes.Repeat([]byte{byte(g.Uint32())}, g.IntN(2)*g.IntN(3<<20))
	}
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	const nodes = 4
	var all sync.WaitGroup
	var live func(n int, dies bool)
	live = func(n int, dies bool) {
		b := connect(t, s, Options{})
		x := cluster.NewExchange(b.Cluster().Wire, 0)
		for {
			epoch, err := x.Join(ctx, run, n, nodes)
			for k := 0; k < 12 && err == nil; k++ {
				r := cluster.Round{Epoch: epoch, Scan: k}
				if dies && k == 5 {
					b.Close()
					time.Sleep(200 * time.Millisecond)
					all.Go(func() { live(n, false) })
					return
				}
				if err = x.Send(r, messageOf(n, r)); err != nil {
					break
				}
				var got [][]byte
				got, err = x.Receive(ctx, r)
				for m := range got {
					if len(got) != nodes || !bytes.Equal(got[m], messageOf(m, r)) {
						t.Errorf("round %d: node %d has another message of node %d", k, n, m)
					}
				}
			}
			switch {
			case err == cluster.ErrConflict:
				continue
			case err == nil && n > 0: // it answers until node 0 leaves
				last := cluster.Round{Epoch: epoch, Scan: 12}
				if err = x.Send(last, nil); err == nil {
					_, err = x.Receive(ctx, last)
				}
			case err == nil:
				time.Sleep(100 * time.Millisecond)
				x.Leave()
			}
			if n > 0 && err != cluster.ErrLeft || n == 0 && err != nil {
				t.Errorf("node %d: %v", n, err)
			}
			return
		}
	}
	for n := range nodes {
		all.Go(func() { live(n, n == 2) })
	}
	all.Wait()
}

// BenchmarkExchange times rounds of 1 kB between four nodes, each with a connection of its own to a server in this process.
func BenchmarkExchange(b *testing.B) {
	s := clustertest.Serve(b, b.TempDir(), nil)
	run := cluster.SumOf([]byte("exchange"))
	const nodes = 4
	message := make([]byte, 1024)
	var all sync.WaitGroup
	var times []time.Duration
	for n := range nodes {
		x := cluster.NewExchange(connect(b, s, Options{}).Cluster().Wire, 0)
		all.Go(func() {
			epoch, err := x.Join(context.Background(), run, n, nodes)
			for k := 0; k < b.N && err == nil; k++ {
				r, begun := cluster.Round{Epoch: epoch, Scan: k}, time.Now()
				if err = x.Send(r, message); err == nil {
					_, err = x.Receive(context.Background(), r)
				}
				if n == 0 {
					times = append(times, time.Since(begun))
				}
			}
			if err != nil {
				b.Error(err)
			}
		})
	}
	all.Wait()
	quantiles(b, times)
}
