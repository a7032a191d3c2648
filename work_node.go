package starling

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/filtering"
)

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
