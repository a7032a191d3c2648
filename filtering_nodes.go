package starling

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/filtering"
	"github.com/starling-smc/starling/spec"
)

// Nodes of ep on other machines are tasks, one a process. Their results are empty: what they make goes from node to node. So the tasks are of a
// run of their own, which ends with this process; a filter that is resumed begins another one.

// groupOf says which processes have the nodes of a filter; nil: all are in this one, since there is no cluster or nobody works in it.
func groupOf(s spec.Filtering, c *cluster.Cluster, workers int, away time.Duration, tell func(Event)) (*filtering.Group, error) {
	if c == nil {
		return nil, nil
	}
	nodes, err := s.Nodes()
	if err != nil {
		return nil, err
	}
	if workers == 0 {
		tell(&Notice{Text: "no worker is free: all nodes are computed here"})
		return nil, nil
	}
	return &filtering.Group{Over: cluster.NewExchange(c.Wire, away), First: filtering.Divide(nodes, workers)}, nil
}

// withNodes does the work of a filter while workers of a cluster have nodes.
func withNodes(ctx context.Context, c cluster.Cluster, g *filtering.Group, config []byte, tell func(Event), work func(context.Context) error) error {
	text, err := json.Marshal(order{Does: doNode, Config: string(config), Group: g.First, Session: rand.Text()})
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
	end := c.Cancel
	select {
	case left := <-ended:
		if left == nil { // all have given back their tasks
			end = c.Finish
		}
	case <-patience.C:
	}
	later, done := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer done()
	if failed := end(later, g.Run); failed != nil {
		tell(&Notice{Text: fmt.Sprintf("the workers could not be told that the filter has ended: %v", failed)})
	}
	return err
}
