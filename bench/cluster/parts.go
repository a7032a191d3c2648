package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/starling-smc/starling/cluster"
)

const (
	rounds   = 5
	perRound = 80 // parts of a way in a round
)

// parts measures parts without work, with results of a kilobyte: one at a time from the submitter and back to it, and one after another, where
// what counts is how long a worker is idle between two.
func parts(ctx context.Context, b *bench) error {
	need := func() bool { return len(b.samples["parts:gap:"+three]) < rounds*(perRound-1) }
	if need() {
		all, end, err := b.ways(ctx)
		if err != nil {
			return err
		}
		defer end()
		for need() && ctx.Err() == nil {
			for _, w := range all {
				if err := b.partsOf(ctx, w); err != nil {
					return fmt.Errorf("%s: %w", w.name, err)
				}
			}
			if err := b.syncs(); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	fmt.Printf("%d parts of each, in turns; %s. A synchronised write of 4 kB takes %.1f ms on this disk (95 %%: %.1f).\n\n", len(b.samples["parts:alone:"+within]),
		b.loads("parts"), b.median("parts:sync", 1e-3), b.high("parts:sync", 1e-3))
	fmt.Println("| | one part, from the submitter and back | 95 % | a worker is idle between two parts | 95 % |\n|---|---|---|---|---|")
	for _, name := range wayNames {
		fmt.Printf("| %s | %.1f ms | %.1f ms | %.1f ms | %.1f ms |\n", name, b.median("parts:alone:"+name, 1e-3), b.high("parts:alone:"+name, 1e-3),
			b.median("parts:gap:"+name, 1e-3), b.high("parts:gap:"+name, 1e-3))
	}
	return nil
}

func (b *bench) partsOf(ctx context.Context, w way) error {
	var gaps []float64
	var left time.Time // when the last part's work ended
	stop := begin(ctx, w.worker, "worker", func(_ context.Context, job *cluster.Job) ([]byte, error) {
		if !left.IsZero() && job.Task.Part > 0 {
			gaps = append(gaps, time.Since(left).Seconds())
		}
		result := make([]byte, 1000)
		run := job.Task.Run()
		copy(result, run[:])
		result[999], result[998] = byte(job.Task.Part), byte(job.Task.Part>>8)
		left = time.Now()
		return result, nil
	})
	defer stop()
	var alone []float64
	for range perRound {
		begun := time.Now()
		if err := do(ctx, w.submitter, tasks(1)); err != nil {
			return err
		}
		alone = append(alone, time.Since(begun).Seconds())
	}
	left = time.Time{}
	if err := do(ctx, w.submitter, tasks(perRound)); err != nil {
		return err
	}
	if err := b.add("parts:alone:"+w.name, alone...); err != nil {
		return err
	}
	return b.add("parts:gap:"+w.name, gaps...)
}

// syncs measures synchronised writes, which every acknowledged message is.
func (b *bench) syncs() error {
	f, err := os.Create(filepath.Join(b.temp, "sync"))
	if err != nil {
		return err
	}
	defer f.Close()
	var all []float64
	for range perRound {
		begun := time.Now()
		if _, err := f.Write(make([]byte, 4096)); err != nil {
			return err
		}
		if err := f.Sync(); err != nil {
			return err
		}
		all = append(all, time.Since(begun).Seconds())
	}
	return b.add("parts:sync", all...)
}
