package broker

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// simulate runs a test in simulated time, with a folder. What the test starts has an hour to end.
func simulate(t *testing.T, test func(t *testing.T, dir string)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { time.Sleep(time.Hour) })
		test(t, dir)
	})
}

// connect connects to a server in this process, and prepares it.
func connect(t testing.TB, s *server.Server, o Options) *Broker {
	t.Helper()
	o.Dial = s.InProcessConn
	b, err := Connect(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	if err := b.Prepare(context.Background()); err != nil {
		t.Fatal(err)
	}
	return b
}
