package broker

import (
	"context"
	"testing"

	"github.com/starling-smc/starling/cluster/clustertest"
)

// TestPrepareAgain: a submitter, which has no options, leaves the limits of the server's owner as they are. The owner may change them.
func TestPrepareAgain(t *testing.T) {
	s := clustertest.Serve(t, t.TempDir(), nil)
	owner := connect(t, s, Options{Replicas: 1, QuotaTasks: 700, QuotaBytes: 80e6, QuotaRecords: 9e6})
	limits := func() (all [4][2]int64) {
		for i, name := range []string{TaskStream, ResultStream, ValueStream, BlockStream} {
			var there struct{ Config streamConfig }
			if _, err := owner.api(context.Background(), "STREAM.INFO."+name, nil, &there); err != nil {
				t.Fatal(err)
			}
			all[i] = [2]int64{there.Config.MaxMsgs, there.Config.MaxBytes}
		}
		return all
	}
	want := [4][2]int64{{700, 9e6}, {-1, 9e6}, {-1, 9e6}, {-1, 80e6}}
	connect(t, s, Options{})
	if got := limits(); got != want {
		t.Errorf("after a submitter: %v, want %v", got, want)
	}
	connect(t, s, Options{QuotaTasks: 800, QuotaBytes: 90e6})
	want[0][0], want[3][1] = 800, 90e6
	if got := limits(); got != want {
		t.Errorf("after the owner: %v, want %v", got, want)
	}
}
