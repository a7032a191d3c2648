package cluster

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

// TestContracts: the cluster in memory keeps what the interfaces promise.
func TestContracts(t *testing.T) {
	simulate(t, func(t *testing.T, ctx context.Context) {
		c, all := InMemory(3, 10), tasks(5)
		run := all[0].Run()
		is := func(what string, err, want error) {
			t.Helper()
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", what, err, want)
			}
		}
		take := func(part int) Lease {
			t.Helper()
			soon, stop := context.WithTimeout(ctx, time.Second)
			defer stop()
			l, err := c.Queue.Take(soon)
			if part < 0 {
				is("an empty queue", err, context.DeadlineExceeded)
			} else if err != nil || l.Task().Part != part {
				t.Fatalf("part %d: %v", part, err)
			}
			return l
		}
		for i := range 3 {
			is("put", c.Queue.Put(ctx, all[i]), nil)
		}
		is("a full queue", c.Queue.Put(ctx, all[3]), ErrFull)
		a, b := take(0), take(1)
		is("a leased task", c.Queue.Put(ctx, all[0]), ErrQueued)
		if ids, err := c.Queue.Queued(ctx, run); err != nil || len(ids) != 3 || !slices.Contains(ids, all[0].Digest()) {
			t.Errorf("queued: %v, %v", ids, err)
		}
		if ids, err := c.Queue.Queued(ctx, Sum{}); err != nil || len(ids) > 0 {
			t.Errorf("queued of no run: %v, %v", ids, err)
		}
		a.GiveBack(ctx)
		third, first := take(2), take(0)
		take(-1)
		third.Acknowledge(ctx)
		for range 5 {
			time.Sleep(leaseTime * 3 / 4)
			first.Extend(ctx)
		}
		again := take(1) // b's lease has ended
		take(-1)
		b.Extend(ctx)
		b.GiveBack(ctx)
		a.GiveBack(ctx)
		take(-1) // an older lease gives nothing back, and ends no newer one
		again.GiveBack(ctx)
		take(1)
		time.Sleep(leaseTime - time.Second) // of the last lease of part 1; a lease of part 0 has ended
		take(0)

		sum := SumOf([]byte("block"))
		_, err := c.Blocks.Get(ctx, Shared, sum)
		is("no block", err, ErrNone)
		is("a block", errors.Join(c.Blocks.Put(ctx, Shared, sum, []byte("block")), c.Blocks.Put(ctx, Shared, sum, []byte("block"))), nil)
		is("a full store", c.Blocks.Put(ctx, Shared, SumOf([]byte("others")), []byte("others")), ErrFull)
		block, err := c.Blocks.Get(ctx, Shared, sum)
		if err != nil || string(block) != "block" {
			t.Errorf("%q, %v", block, err)
		}
		_, err = c.Blocks.Get(ctx, "other", sum)
		is("a block of another space", err, ErrNone)
		is("drop", errors.Join(c.Blocks.Drop(ctx, Shared, sum), c.Blocks.Drop(ctx, Shared, sum)), nil)
		_, err = c.Blocks.Get(ctx, Shared, sum)
		is("a block that was dropped", err, ErrNone)
		is("room again", c.Blocks.Put(ctx, Shared, SumOf([]byte("0123456789")), []byte("0123456789")), nil)
		value, revision, err := c.Values.Value(ctx, "key")
		if value != nil || revision != 0 || err != nil {
			t.Errorf("no value: %q, %d, %v", value, revision, err)
		}
		one, err := c.Values.Swap(ctx, "key", []byte("one"), 0)
		is("make a value", err, nil)
		_, err = c.Values.Swap(ctx, "key", []byte("one"), 0)
		is("make it again", err, ErrConflict)
		two, err := c.Values.Swap(ctx, "key", []byte("two"), one)
		is("swap", err, nil)
		_, err = c.Values.Swap(ctx, "key", []byte("three"), one)
		is("swap an old revision", err, ErrConflict)
		if value, revision, err = c.Values.Value(ctx, "key"); string(value) != "two" || revision != two || two <= one || err != nil {
			t.Errorf("value: %q, %d, %v", value, revision, err)
		}

		_, err = c.Results.Read(ctx, run, sum)
		is("no result", err, ErrNone)
		soon, stop := context.WithTimeout(ctx, time.Second)
		defer stop()
		_, err = c.Results.Next(soon, run, 0)
		is("no result yet", err, context.DeadlineExceeded)
		time.AfterFunc(time.Second, func() { is("write", c.Results.Write(ctx, run, sum, []byte("first")), nil) })
		e, err := c.Results.Next(ctx, run, 0)
		if err != nil || e.Number == 0 || e.Task != sum || string(e.Record) != "first" {
			t.Errorf("%v, %v", e, err)
		}
		is("write again", c.Results.Write(ctx, run, sum, []byte("second")), ErrExists)
		is("another run", c.Results.Write(ctx, Sum{}, sum, []byte("other")), nil)
		record, err := c.Results.Read(ctx, run, sum)
		last, errLast := c.Results.Last(ctx, run)
		if string(record) != "first" || last != e.Number || err != nil || errLast != nil {
			t.Errorf("%q, last %d, %v, %v", record, last, err, errLast)
		}
	})
}
