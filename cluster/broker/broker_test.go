package broker

import (
	"testing"
	"time"

	"github.com/starling-smc/starling/cluster/clustertest"
)

// TestContracts: NATS keeps what the interfaces promise.
func TestContracts(t *testing.T) {
	simulate(t, func(t *testing.T, dir string) {
		b := connect(t, serve(t, dir, nil), Options{QuotaTasks: clustertest.MaxTasks, QuotaBytes: clustertest.MaxBytes})
		clustertest.Contracts(t, b.Cluster(), time.Minute)
	})
}
