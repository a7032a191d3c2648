package broker

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats-server/v2/server/ats"
)

// The server's clock of file accesses is one goroutine of the process. It must not belong to the simulated time of a test.
func TestMain(m *testing.M) {
	ats.Register()
	m.Run()
}

// simulate runs a test in simulated time, with a folder. What the test starts has an hour to end.
func simulate(t *testing.T, test func(t *testing.T, dir string)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		test(t, dir)
		t.Cleanup(func() { time.Sleep(time.Hour) })
	})
}

// serve starts a server in this process that nobody can connect to from outside, in a folder.
func serve(t testing.TB, dir string, change func(*natsserver.Options)) *natsserver.Server {
	t.Helper()
	o := &natsserver.Options{ServerName: "test", DontListen: true, JetStream: true, StoreDir: dir, SyncAlways: true, NoLog: true, NoSigs: true, MaxPayload: 1 << 20}
	if change != nil {
		change(o)
	}
	s, err := natsserver.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not start")
	}
	t.Cleanup(func() { stop(s) })
	return s
}

func stop(s *natsserver.Server) {
	s.Shutdown()
	s.WaitForShutdown()
}

// connect connects to a server in this process, and prepares it.
func connect(t testing.TB, s *natsserver.Server, o Options) *Broker {
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
