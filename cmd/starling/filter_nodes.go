package main

import (
	"context"
	"os"
	"time"

	"github.com/starling-smc/starling"
)

// longestAway is how long a worker may be away that has nodes of a filter, unless it is said.
const longestAway = 5 * time.Minute

// open lets workers take nodes, if they are asked to. end ends that; done says that the run is.
func (f *filterRun) open(ctx context.Context, s starling.Filtering, o *starling.FilterOptions) (end func(done bool), err error) {
	if !f.elsewhere.asked() {
		return func(bool) {}, nil
	}
	if _, err := s.Nodes(); err != nil {
		return nil, err
	}
	store, kept := "", o.Folder != nil
	if kept {
		store = storeOf(o.Folder.Dir)
	} else if f.elsewhere.workers > 0 {
		if store, err = os.MkdirTemp("", "starling-"); err != nil {
			return nil, err
		}
	}
	others, close, err := f.elsewhere.open(ctx, store, f.threads)
	if err != nil {
		return nil, err
	}
	o.Cluster, o.Away = others, f.away
	if o.Workers, err = f.elsewhere.free(ctx); err != nil {
		close(false)
		return nil, err
	}
	return func(done bool) { close(done || !kept) }, nil
}
