package cluster_test

import (
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/cluster/broker"
	"github.com/starling-smc/starling/cluster/clustertest"
)

// The tests of this package run on NATS as well.
func init() {
	cluster.Makers = append(cluster.Makers, cluster.Maker{Name: "nats", Make: func(t *testing.T, tasks int, blockBytes int64) cluster.Cluster {
		s := clustertest.Serve(t, t.TempDir(), func(o *server.Options) { o.SyncAlways = false }) // no test here stops the machine
		b, err := broker.Connect(t.Context(), broker.Options{Dial: s.InProcessConn, QuotaTasks: int64(tasks), QuotaBytes: 8 * blockBytes})
		if err == nil {
			err = b.Prepare(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		return b.Cluster()
	}})
}
