package starling

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/filtering"
)

// Nodes of ep on other machines are tasks, one a process. Their results are empty: what they make goes from node to node. So the tasks are of a
// run of their own, which ends with this process; a filter that is resumed begins another one.

// group says which processes have the nodes; all are in this one if there is no cluster, or nobody works in it.
func (f *filtered) group() error {
	c := f.options.Cluster
	if c == nil {
		return nil
	}
	m := f.Spec.Method
	if !m.Sampler().Nodes {
		return f.Spec.Fault("method", "workers take nodes of a filter, and this method has none: want ep with nodes: 2 or more, or filter without workers")
	}
	if f.options.Workers == 0 {
		f.tell(&Notice{Text: "no worker is free: all nodes are computed here"})
		return nil
	}
	f.pass.Group = &filtering.Group{Over: cluster.NewExchange(c.Wire, f.options.Away), First: filtering.Divide(m.Filters(), f.options.Workers)}
	return nil
}

// withNodes does the work while workers have nodes.
func (f *filtered) withNodes(ctx context.Context, work func(context.Context) error) error {
	g := f.pass.Group
	if g == nil {
		return work(ctx)
	}
	c := *f.options.Cluster
	text, err := json.Marshal(order{Does: "node", Config: string(f.Spec.YAML()), Group: g.First, Session: rand.Text()})
	if err != nil {
		return err
	}
	base := taskOfThis()
	if base.Config, err = cluster.Save(ctx, c.Blocks, cluster.Shared, text); err != nil {
		return err
	}
	base.Phase = "nodes"
	var tasks []cluster.Task
	for p := 1; p < len(g.First)-1; p++ {
		base.Part = p
		tasks = append(tasks, base)
	}
	g.Run = base.Run()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ended := make(chan error, 1)
	go func() {
		err := (&cluster.Coordinator{Cluster: c}).Do(ctx, tasks, func(int, cluster.End) error { return nil })
		if err != nil {
			stop(err)
		}
		ended <- err
	}()
	err = work(ctx)
	g.Over.Leave()
	if failed := new(*cluster.FailedError); err != nil && errors.As(context.Cause(ctx), failed) {
		err = *failed
	}
	patience := time.NewTimer(2 * time.Second)
	defer patience.Stop()
	select {
	case left := <-ended:
		if left == nil {
			return err
		}
	case <-patience.C:
	}
	later, done := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer done()
	if failed := c.Cancel(later, g.Run); failed != nil {
		f.tell(&Notice{Text: fmt.Sprintf("the workers could not be told that the filter has ended: %v", failed)})
	}
	return err
}

// node makes the chains of some nodes of a filter until process 0 ends.
func (w *workshop) node(ctx context.Context, o order, job *cluster.Job) ([]byte, error) {
	s, err := ParseFiltering("", []byte(o.Config))
	if err != nil {
		return nil, &cluster.FinalError{Err: err}
	}
	p := job.Task.Part
	if p < 1 || p >= len(o.Group)-1 {
		return nil, &cluster.FinalError{Err: fmt.Errorf("a group of %d processes has no process %d", len(o.Group)-1, p)}
	}
	if w.wire == nil {
		return nil, &cluster.FinalError{Err: errors.New("this worker has no way to the other nodes")}
	}
	scans := 0
	fmt.Sscan(string(job.State), &scans)
	save := func() error { return job.Save(strconv.AppendInt(nil, int64(scans), 10)) }
	pass := &filtering.Pass{
		Model: s.Model, Method: s.Method, Job: filter.Job{Model: s.Model, Seed: s.Seed, Pool: w.threads}, Hold: s.Scans.Hold,
		Group: &filtering.Group{
			Over: cluster.NewExchange(w.wire, 0), Run: job.Task.Run(), Process: p, First: o.Group,
			Alive: func() { job.Progress(0) },
			Claim: save, // a worker that has lost the task must not come back
			Made: func() error {
				if scans++; job.Progress(0) {
					return save()
				}
				return nil
			},
		},
	}
	if err := pass.Begin(ctx); err != nil {
		return nil, &cluster.FinalError{Err: err}
	}
	if err := pass.Follow(ctx); err != nil {
		return nil, err
	}
	return []byte{}, nil
}
