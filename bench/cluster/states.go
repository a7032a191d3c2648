package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/starling-smc/starling/cluster"
)

// stateSizes are the states that are saved, and how often in a round.
var stateSizes = []struct{ mb, times int }{{1, 10}, {10, 4}, {100, 2}}

// states measures a worker that saves the state of its part, with the record that points to it and the removal of the state before the last,
// and one that loads as many bytes.
func states(ctx context.Context, b *bench) error {
	last := stateSizes[len(stateSizes)-1]
	need := func() bool { return len(b.samples[stateKey("load", last.mb, three)]) < rounds*last.times }
	if need() {
		all, end, err := b.ways(ctx)
		if err != nil {
			return err
		}
		defer end()
		for need() && ctx.Err() == nil {
			for _, s := range stateSizes {
				for _, w := range all {
					if err := b.statesOf(ctx, w, s.mb, s.times); err != nil {
						return fmt.Errorf("%s, %d MB: %w", w.name, s.mb, err)
					}
				}
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	fmt.Printf("In turns, %s; medians, and what 95 %% do not exceed:\n\n| | state | saved in | 95 %% | loaded in | 95 %% | times |\n|---|---|---|---|---|---|---|\n", b.loads("states"))
	for _, name := range wayNames {
		for _, s := range stateSizes {
			save, load := stateKey("save", s.mb, name), stateKey("load", s.mb, name)
			fmt.Printf("| %s | %d MB | %.0f ms | %.0f ms | %.0f ms | %.0f ms | %d |\n", name, s.mb, b.median(save, 1e-3), b.high(save, 1e-3), b.median(load, 1e-3), b.high(load, 1e-3), len(b.samples[save]))
		}
	}
	return nil
}

func stateKey(verb string, mb int, way string) string {
	return fmt.Sprintf("states:%s:%d:%s", verb, mb, way)
}

func (b *bench) statesOf(ctx context.Context, w way, mb, times int) error {
	state := make([]byte, mb*1_000_000)
	random := rand.NewChaCha8([32]byte{1})
	random.Read(state)
	renew := func() { // no two states have a block in common
		for at := 0; at+8 < len(state); at += 1 << 20 {
			binary.LittleEndian.PutUint64(state[at:], random.Uint64())
		}
	}
	renew()
	stored, err := cluster.Save(ctx, w.submitter.Blocks, cluster.Shared, state)
	if err != nil {
		return err
	}
	var saves, loads []float64
	stop := begin(ctx, w.worker, "worker", func(_ context.Context, job *cluster.Job) ([]byte, error) {
		saves, loads = nil, nil
		for range times + 2 { // the first two have none to remove
			renew()
			job.Progress(0.5)
			begun := time.Now()
			if err := job.Save(state); err != nil {
				return nil, err
			}
			saves = append(saves, time.Since(begun).Seconds())
			begun = time.Now()
			if _, err := job.Load(stored); err != nil {
				return nil, err
			}
			loads = append(loads, time.Since(begun).Seconds())
		}
		return []byte("end"), nil
	})
	err = do(ctx, w.submitter, tasks(1))
	stop()
	if err != nil {
		return err
	}
	for _, sum := range stored.Blocks {
		if err := w.submitter.Blocks.Drop(ctx, cluster.Shared, sum); err != nil {
			return err
		}
	}
	if err := b.add(stateKey("save", mb, w.name), saves[2:]...); err != nil {
		return err
	}
	return b.add(stateKey("load", mb, w.name), loads[2:]...)
}
