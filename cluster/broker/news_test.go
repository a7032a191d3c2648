package broker

import (
	"testing"
	"time"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/cluster/clustertest"
)

// TestTellWhileAway: news is lost while there is no server, and that is no error.
func TestTellWhileAway(t *testing.T) {
	simulate(t, func(t *testing.T, dir string) {
		s := clustertest.Serve(t, dir, nil)
		b := connect(t, s, Options{})
		clustertest.Stop(s)
		time.Sleep(time.Second)
		if !b.conn.IsReconnecting() {
			t.Fatal("the connection is not lost")
		}
		if err := b.Tell(cluster.Sum{}, []byte("{}")); err != nil {
			t.Error(err)
		}
	})
}
