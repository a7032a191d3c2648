package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"time"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/cluster/broker"
)

const scaledParts = 64

var (
	scaledWorkers = []int{1, 2, 4, 8, 16}
	scaledMeans   = []time.Duration{100 * time.Millisecond, time.Second}
)

// lengths are those of uneven parts: half to one and a half times the mean, the same in each run.
func lengths(mean time.Duration) []time.Duration {
	r := rand.New(rand.NewPCG(1, 2))
	all := make([]time.Duration, scaledParts)
	for i := range all {
		all[i] = time.Duration((0.5 + float64(r.Float64())) * float64(mean))
	}
	return all
}

// scaling measures how much faster many workers are where computing takes no processor: it sleeps.
func scaling(ctx context.Context, b *bench) error {
	const times = 3
	key := func(mean time.Duration, workers int) string { return fmt.Sprintf("scaling:%v:%d", mean, workers) }
	last := key(scaledMeans[len(scaledMeans)-1], scaledWorkers[len(scaledWorkers)-1])
	for len(b.samples[last]) < times {
		for _, mean := range scaledMeans {
			for _, n := range scaledWorkers {
				took, err := b.scaled(ctx, mean, n)
				if err == nil {
					err = b.add(key(mean, n), took)
				}
				if err != nil {
					return err
				}
			}
		}
	}
	fmt.Printf("%d parts that sleep for half to one and a half times their mean, medians of %d; %s:\n\n", scaledParts, len(b.samples[last]), b.loads("scaling"))
	fmt.Println("| mean of a part | workers | seconds | without any overhead | efficiency | without any overhead |\n|---|---|---|---|---|---|")
	for _, mean := range scaledMeans {
		work := time.Duration(0)
		for _, l := range lengths(mean) {
			work += l
		}
		for _, n := range scaledWorkers {
			took, ideal := b.median(key(mean, n), 1), inOrder(lengths(mean), n).Seconds()
			share := work.Seconds() / float64(n)
			fmt.Printf("| %v | %d | %.2f | %.2f | %.1f %% | %.1f %% |\n", mean, n, took, ideal, 100*share/took, 100*share/ideal)
		}
	}
	return nil
}

// inOrder is how long workers take that are never idle while a part waits.
func inOrder(parts []time.Duration, workers int) time.Duration {
	free := make([]time.Duration, workers) // when each is free
	for _, p := range parts {
		i := slices.Index(free, slices.Min(free))
		free[i] += p
	}
	return slices.Max(free)
}

// scaled is how long a run of sleeping parts takes.
func (b *bench) scaled(ctx context.Context, mean time.Duration, workers int) (seconds float64, err error) {
	address, end, err := b.serve("--dir", filepath.Join(b.temp, fmt.Sprintf("scaling-%v-%d-%d", mean, workers, time.Now().UnixNano())), "--listen", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer end()
	parts := lengths(mean)
	for i := range workers {
		conn, err := broker.Connect(ctx, broker.Options{Server: "nats://" + address})
		if err != nil {
			return 0, err
		}
		defer conn.Close()
		defer begin(ctx, conn.Cluster(), fmt.Sprint("worker", i), func(ctx context.Context, job *cluster.Job) ([]byte, error) {
			if !sleep(ctx, parts[job.Task.Part]) {
				return nil, ctx.Err()
			}
			return fmt.Append(nil, "result of part ", job.Task.Part), nil
		})()
	}
	submitter, err := broker.Connect(ctx, broker.Options{Server: "nats://" + address})
	if err != nil {
		return 0, err
	}
	defer submitter.Close()
	time.Sleep(200 * time.Millisecond) // the workers ask for tasks
	begun := time.Now()
	err = do(ctx, submitter.Cluster(), tasks(scaledParts))
	return time.Since(begun).Seconds(), err
}
