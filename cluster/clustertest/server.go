package clustertest

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats-server/v2/server/ats"
)

// The server's clock of file accesses is one goroutine of the process. Begun here, it is outside of the simulated time of every test.
func init() { ats.Register() }

// Serve starts a NATS server in this process that nobody can connect to from outside, on a folder. It stops when the test ends. It
// works in the simulated time of testing/synctest, too.
func Serve(t testing.TB, dir string, change func(*server.Options)) *server.Server {
	t.Helper()
	o := &server.Options{ServerName: "test", DontListen: true, JetStream: true, StoreDir: dir, SyncAlways: true, NoLog: true, NoSigs: true, NoSystemAccount: true}
	if change != nil {
		change(o)
	}
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { Stop(s) })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not start")
	}
	return s
}

// Stop ends a server, and waits until its files are closed.
func Stop(s *server.Server) {
	s.Shutdown()
	s.WaitForShutdown()
}
