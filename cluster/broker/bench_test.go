package broker

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/cluster/clustertest"
)

// ways are those to reach the server: within the process, over a TCP connection of this machine, and three servers on this machine.
func ways(b *testing.B, each func(b *testing.B, broker *Broker)) {
	b.Run("process", func(b *testing.B) { each(b, connect(b, clustertest.Serve(b, b.TempDir(), nil), Options{})) })
	b.Run("tcp", func(b *testing.B) {
		s := clustertest.Serve(b, b.TempDir(), func(o *server.Options) { o.DontListen, o.Host, o.Port = false, "127.0.0.1", server.RANDOM_PORT })
		broker, err := Connect(context.Background(), Options{Server: s.ClientURL()})
		if err == nil {
			err = broker.Prepare(context.Background())
		}
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { broker.Close() })
		each(b, broker)
	})
	b.Run("three", func(b *testing.B) { each(b, serveThree(b).connect(Options{}, cluster.LeaseTime)) })
}

// quantiles reports the median of times, and what 95 % of them do not exceed.
func quantiles(b *testing.B, times []time.Duration) {
	slices.Sort(times)
	at := func(q float64) float64 { return float64(times[int(q*float64(len(times)-1))].Microseconds()) / 1000 }
	b.ReportMetric(at(0.5), "ms/median")
	b.ReportMetric(at(0.95), "ms/95%")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkPart takes parts of no work from the submitter to a worker and back, one after another: queued, taken, claimed, result stored and
// written, acknowledged, delivered. Every step is on the disk before it is answered.
func BenchmarkPart(b *testing.B) {
	ways(b, func(b *testing.B, broker *Broker) {
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		c, result := broker.Cluster(), noise(1000)
		w := &cluster.Worker{Cluster: c, Name: "w", Version: "1.0", Arch: "amd64", Kernel: "go", Work: func(context.Context, *cluster.Job) ([]byte, error) { return result, nil }}
		ended := make(chan error)
		go func() { ended <- w.Run(ctx) }()
		var times []time.Duration
		all := clustertest.Tasks(1)
		for all[0].Part = 0; b.Loop(); all[0].Part++ {
			begun := time.Now()
			all[0].Config.Sum = cluster.SumOf(fmt.Append(nil, all[0].Part)) // another run each, as most are that wait
			if err := (&cluster.Coordinator{Cluster: c}).Do(ctx, all, func(int, cluster.End) error { return nil }); err != nil {
				b.Fatal(err)
			}
			times = append(times, time.Since(begun))
		}
		quantiles(b, times)
		stop()
		<-ended
	})
}

// BenchmarkState saves a state and loads it.
func BenchmarkState(b *testing.B) {
	for _, mb := range []int{1, 10, 100} {
		state := noise(mb * 1e6)
		b.Run(fmt.Sprint(mb, "MB"), func(b *testing.B) {
			ways(b, func(b *testing.B, broker *Broker) {
				ctx, blocks := context.Background(), broker.Cluster().Blocks
				var saves, loads []time.Duration
				for b.Loop() {
					begun := time.Now()
					c, err := cluster.Save(ctx, blocks, "state.a.b", state)
					if err != nil {
						b.Fatal(err)
					}
					saves, begun = append(saves, time.Since(begun)), time.Now()
					if _, err := cluster.Load(ctx, blocks, "state.a.b", c); err != nil {
						b.Fatal(err)
					}
					loads = append(loads, time.Since(begun))
				}
				slices.Sort(saves)
				b.ReportMetric(float64(saves[len(saves)/2].Microseconds())/1000, "ms/save")
				slices.Sort(loads)
				b.ReportMetric(float64(loads[len(loads)/2].Microseconds())/1000, "ms/load")
				b.ReportMetric(0, "ns/op")
			})
		})
	}
}
