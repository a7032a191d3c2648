// Package clustertest holds the tests that every implementation of the interfaces of package cluster must pass.
package clustertest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/starling-smc/starling/cluster"
)

// Limits of the cluster that Contracts tests.
const (
	MaxTasks = 3
	MaxBytes = 3000 // of blocks, with what the implementation adds to each
)

// Contracts tests what the interfaces promise, on a cluster with the limits above. Its leases take that long.
func Contracts(t *testing.T, c cluster.Cluster, lease time.Duration) {
	ctx := t.Context()
	for _, one := range []struct {
		name string
		test func(*testing.T, context.Context, cluster.Cluster, time.Duration)
	}{{"queue", queue}, {"blocks", blocks}, {"values", values}, {"results", results}} {
		one.test(t, ctx, c, lease)
		if t.Failed() {
			t.Fatalf("in the contract of %s", one.name)
		}
	}
}

// Tasks returns the tasks of a phase.
func Tasks(n int) []cluster.Task {
	var all []cluster.Task
	for i := range n {
		all = append(all, cluster.Task{Version: "1.0", Arch: "amd64", Kernels: []string{"avx2", "go"}, Phase: "islands", Part: i})
	}
	return all
}

func is(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

func queue(t *testing.T, ctx context.Context, c cluster.Cluster, lease time.Duration) {
	all := Tasks(5)
	run := all[0].Run()
	take := func(part int) cluster.Lease {
		t.Helper()
		soon, stop := context.WithTimeout(ctx, lease/4)
		defer stop()
		l, err := c.Queue.Take(soon)
		if part < 0 {
			is(t, "an empty queue", err, context.DeadlineExceeded)
		} else if err != nil || l.Task().Part != part || l.Task().Digest() != all[part].Digest() {
			t.Fatalf("want part %d: %v", part, err)
		}
		return l
	}
	for i := range MaxTasks {
		is(t, "put", c.Queue.Put(ctx, all[i]), nil)
	}
	is(t, "a full queue", c.Queue.Put(ctx, all[3]), cluster.ErrFull)
	a, b := take(0), take(1)
	is(t, "a leased task", c.Queue.Put(ctx, all[0]), cluster.ErrQueued)
	is(t, "a waiting task", c.Queue.Put(ctx, all[2]), cluster.ErrQueued)
	if ids, err := c.Queue.Queued(ctx, run); err != nil || len(ids) != 3 || !slices.Contains(ids, all[0].Digest()) {
		t.Errorf("queued: %v, %v", ids, err)
	}
	if ids, err := c.Queue.Queued(ctx, cluster.Sum{}); err != nil || len(ids) > 0 {
		t.Errorf("queued of no run: %v, %v", ids, err)
	}
	is(t, "give back", a.GiveBack(ctx), nil)
	one, other := take2(t, ctx, c)
	first, third := one, other
	if first.Task().Part == 2 {
		first, third = other, one
	}
	if first.Task().Part != 0 || third.Task().Part != 2 {
		t.Fatalf("parts %d and %d are delivered", first.Task().Part, third.Task().Part)
	}
	is(t, "acknowledge", third.Acknowledge(ctx), nil)
	is(t, "acknowledge again", third.Acknowledge(ctx), nil)
	take(-1)
	time.Sleep(lease * 2 / 5)
	is(t, "extend", first.Extend(ctx), nil)
	time.Sleep(lease * 2 / 5)
	is(t, "extend", first.Extend(ctx), nil)
	again := take(1) // b's lease has ended, and the first one has not
	take(-1)
	is(t, "acknowledge late", b.Acknowledge(ctx), nil) // it may remove the task, or not
	is(t, "acknowledge", again.Acknowledge(ctx), nil)
	time.Sleep(lease)
	is(t, "acknowledge", take(0).Acknowledge(ctx), nil)  // the lease has ended
	for begun := time.Now(); ; time.Sleep(lease / 100) { // with replicas, it may last until all have heard
		ids, err := c.Queue.Queued(ctx, run)
		if err == nil && len(ids) == 0 {
			break
		}
		if err != nil || time.Since(begun) > lease {
			t.Errorf("queued in the end: %v, %v", ids, err)
			break
		}
	}
	time.AfterFunc(lease/4, func() { is(t, "put while one waits", c.Queue.Put(ctx, all[4]), nil) })
	late, stop := context.WithTimeout(ctx, 10*lease)
	defer stop()
	l, err := c.Queue.Take(late)
	if err != nil || l.Task().Part != 4 {
		t.Fatalf("wait for a task: %v", err)
	}
	is(t, "acknowledge", l.Acknowledge(ctx), nil)
}

func take2(t *testing.T, ctx context.Context, c cluster.Cluster) (one, other cluster.Lease) {
	t.Helper()
	one, err := c.Queue.Take(ctx)
	if err != nil {
		t.Fatal(err)
	}
	other, err = c.Queue.Take(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return one, other
}

func blocks(t *testing.T, ctx context.Context, c cluster.Cluster, _ time.Duration) {
	small, large := bytes.Repeat([]byte("s"), 1200), bytes.Repeat([]byte("l"), 2000)
	sum := cluster.SumOf(small)
	_, err := c.Blocks.Get(ctx, cluster.Shared, sum)
	is(t, "no block", err, cluster.ErrNone)
	block := bytes.Clone(small)
	is(t, "a block", c.Blocks.Put(ctx, cluster.Shared, sum, block), nil)
	clear(block) // Put keeps no slice
	is(t, "the block again", c.Blocks.Put(ctx, cluster.Shared, sum, small), nil)
	is(t, "a full store", c.Blocks.Put(ctx, cluster.Shared, cluster.SumOf(large), large), cluster.ErrFull)
	if block, err = c.Blocks.Get(ctx, cluster.Shared, sum); err != nil || !bytes.Equal(block, small) {
		t.Errorf("%q, %v", block, err)
	}
	_, err = c.Blocks.Get(ctx, "state.other", sum)
	is(t, "a block of another space", err, cluster.ErrNone)
	is(t, "drop", errors.Join(c.Blocks.Drop(ctx, cluster.Shared, sum), c.Blocks.Drop(ctx, cluster.Shared, sum), c.Blocks.Drop(ctx, "state.other", sum)), nil)
	_, err = c.Blocks.Get(ctx, cluster.Shared, sum)
	is(t, "a block that was dropped", err, cluster.ErrNone)
	is(t, "room again", c.Blocks.Put(ctx, "state.other", cluster.SumOf(large), large), nil)
	is(t, "an empty block", c.Blocks.Put(ctx, "state.other", cluster.SumOf(nil), nil), nil)
	if block, err = c.Blocks.Get(ctx, "state.other", cluster.SumOf(nil)); err != nil || len(block) != 0 {
		t.Errorf("an empty block is %q, %v", block, err)
	}
	is(t, "drop", errors.Join(c.Blocks.Drop(ctx, "state.other", cluster.SumOf(large)), c.Blocks.Drop(ctx, "state.other", cluster.SumOf(nil))), nil)
	is(t, "a block that is too large", c.Blocks.Put(ctx, cluster.Shared, cluster.Sum{}, make([]byte, cluster.MaxBlock+1)), cluster.ErrFull)
}

func values(t *testing.T, ctx context.Context, c cluster.Cluster, _ time.Duration) {
	value, revision, err := c.Values.Value(ctx, "key.of")
	if value != nil || revision != 0 || err != nil {
		t.Errorf("no value: %q, %d, %v", value, revision, err)
	}
	one, err := c.Values.Swap(ctx, "key.of", []byte("one"), 0)
	is(t, "make a value", err, nil)
	_, err = c.Values.Swap(ctx, "key.of", []byte("one"), 0)
	is(t, "make it again", err, cluster.ErrConflict)
	two, err := c.Values.Swap(ctx, "key.of", []byte("two"), one)
	is(t, "swap", err, nil)
	_, err = c.Values.Swap(ctx, "key.of", []byte("three"), one)
	is(t, "swap an old revision", err, cluster.ErrConflict)
	_, err = c.Values.Swap(ctx, "key.other", []byte("x"), two)
	is(t, "swap a value that is not there", err, cluster.ErrConflict)
	if value, revision, err = c.Values.Value(ctx, "key.of"); string(value) != "two" || revision != two || two <= one || err != nil {
		t.Errorf("value: %q, %d, %v", value, revision, err)
	}
}

func results(t *testing.T, ctx context.Context, c cluster.Cluster, lease time.Duration) {
	run, task, second := cluster.SumOf([]byte("run")), cluster.SumOf([]byte("task")), cluster.SumOf([]byte("second"))
	_, err := c.Results.Read(ctx, run, task)
	is(t, "no result", err, cluster.ErrNone)
	if last, err := c.Results.Last(ctx, run); last != 0 || err != nil {
		t.Errorf("the last of none: %d, %v", last, err)
	}
	soon, stop := context.WithTimeout(ctx, lease/4)
	defer stop()
	_, err = c.Results.Next(soon, run, 0)
	is(t, "no result yet", err, context.DeadlineExceeded)
	is(t, "another run", c.Results.Write(ctx, cluster.Sum{}, task, []byte("other")), nil)
	time.AfterFunc(lease/4, func() { is(t, "write", c.Results.Write(ctx, run, task, []byte("first")), nil) })
	e, err := c.Results.Next(ctx, run, 0)
	if err != nil || e.Number == 0 || e.Task != task || string(e.Record) != "first" {
		t.Errorf("%v, %v", e, err)
	}
	is(t, "write again", c.Results.Write(ctx, run, task, []byte("second")), cluster.ErrExists)
	is(t, "another run", c.Results.Write(ctx, cluster.Sum{}, second, []byte("other")), nil)
	record, err := c.Results.Read(ctx, run, task)
	last, errLast := c.Results.Last(ctx, run)
	if string(record) != "first" || last != e.Number || err != nil || errLast != nil {
		t.Errorf("%q, last %d, %v, %v", record, last, err, errLast)
	}
	is(t, "write a second task", c.Results.Write(ctx, run, second, []byte("next")), nil)
	if n, err := c.Results.Next(ctx, run, e.Number); err != nil || n.Number <= e.Number || n.Task != second || string(n.Record) != "next" {
		t.Errorf("the result after %d: %v, %v", e.Number, n, err)
	}
}
