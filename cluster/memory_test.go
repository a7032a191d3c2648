package cluster_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/cluster/clustertest"
)

// TestContracts: the cluster in memory keeps what the interfaces promise.
func TestContracts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clustertest.Contracts(t, cluster.InMemory(clustertest.MaxTasks, clustertest.MaxBytes), time.Minute)
		time.Sleep(time.Hour)
	})
}

// TestOlderLease: in memory, an older lease neither gives the task back nor extends or ends the newer one.
func TestOlderLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, c := t.Context(), cluster.InMemory(0, 0)
		take := func(want bool) cluster.Lease {
			t.Helper()
			soon, stop := context.WithTimeout(ctx, time.Second)
			defer stop()
			l, err := c.Queue.Take(soon)
			if (err == nil) != want {
				t.Fatalf("want a task: %v; %v", want, err)
			}
			return l
		}
		if err := c.Queue.Put(ctx, clustertest.Tasks(1)[0]); err != nil {
			t.Fatal(err)
		}
		older := take(true)
		time.Sleep(time.Minute)
		take(true)
		older.GiveBack(ctx)
		take(false)
		time.Sleep(50 * time.Second)
		older.Extend(ctx)
		time.Sleep(10 * time.Second)
		newest := take(true)
		time.Sleep(time.Minute - 2*time.Second)
		take(false)
		time.Sleep(2 * time.Second)
		take(true)
		newest.GiveBack(ctx)
		take(false)
		time.Sleep(time.Hour)
	})
}
