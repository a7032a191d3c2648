package server

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"github.com/starling-smc/starling/cluster/keyring"
)

// start starts a server that ends with the test.
func start(t *testing.T, o Options) *Server {
	t.Helper()
	if o.Dir == "" {
		o.Dir = filepath.Join(t.TempDir(), "store")
	}
	if o.StoreBytes == 0 {
		o.StoreBytes = 64 << 20
	}
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// newKeys makes keys that are valid for so long.
func newKeys(t *testing.T, valid time.Duration) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "keys")
	if _, err := keyring.Write(dir, nil, valid); err != nil {
		t.Fatal(err)
	}
	return dir
}

// as returns the options of a client with the keys of a role.
func as(t *testing.T, keys string, role keyring.Role) []nats.Option {
	t.Helper()
	c, err := keyring.Read(keys, role)
	if err != nil {
		t.Fatal(err)
	}
	return []nats.Option{nats.Secure(c.TLS), nkeyOption(t, c.Seed), nats.CustomInboxPrefix("_INBOX_" + string(role)), nats.MaxReconnects(0)}
}

func nkeyOption(t *testing.T, seed []byte) nats.Option {
	t.Helper()
	pair, err := nkeys.FromSeed(seed)
	if err != nil {
		t.Fatal(err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return nats.Nkey(public, pair.Sign)
}

func connect(t *testing.T, address string, options ...nats.Option) *nats.Conn {
	t.Helper()
	c, err := nats.Connect("nats://"+address, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// streams makes the streams that tests need.
func streams(t *testing.T, c *nats.Conn) jetstream.JetStream {
	t.Helper()
	js, err := jetstream.New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx := within(t)
	for name, subject := range map[string]string{"STARLING_TASKS": "starling.task.>", "STARLING_BLOCKS": "starling.block.>", "STARLING_RESULTS": "starling.result.>"} {
		config := jetstream.StreamConfig{Name: name, Subjects: []string{subject}, AllowDirect: true, MaxMsgsPerSubject: 1}
		if name == "STARLING_TASKS" {
			config.Retention = jetstream.WorkQueuePolicy
		}
		if _, err := js.CreateStream(ctx, config); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := js.CreateConsumer(ctx, "STARLING_TASKS", jetstream.ConsumerConfig{Durable: "workers", AckPolicy: jetstream.AckExplicitPolicy}); err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "STARLING_VALUES"}); err != nil {
		t.Fatal(err)
	}
	return js
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// TestInside: a server without a port is reached from its process; what was acknowledged is there after a restart.
func TestInside(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	for again := range 2 {
		s, err := Start(Options{Dir: dir, StoreBytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		if s.Address() != "" {
			t.Errorf("it listens on %s", s.Address())
		}
		c, err := nats.Connect("", nats.InProcessServer(s))
		if err != nil {
			t.Fatal(err)
		}
		js, err := jetstream.New(c)
		if err != nil {
			t.Fatal(err)
		}
		if again == 0 {
			js = streams(t, c)
			if _, err := js.Publish(within(t), "starling.result.a.b", []byte("bytes")); err != nil {
				t.Fatal(err)
			}
		} else {
			m, err := stream(t, js, "STARLING_RESULTS").GetLastMsgForSubject(within(t), "starling.result.a.b")
			if err != nil || string(m.Data) != "bytes" {
				t.Errorf("%v, %v", m, err)
			}
			if i := s.Info(); i.Stored <= 0 || i.Limit != 1<<20 {
				t.Errorf("%+v", i)
			}
		}
		c.Close()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func stream(t *testing.T, js jetstream.JetStream, name string) jetstream.Stream {
	t.Helper()
	s, err := js.Stream(within(t), name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestKeys: with keys, both roles can do their work.
func TestKeys(t *testing.T) {
	keys := newKeys(t, time.Hour)
	s := start(t, Options{Listen: "127.0.0.1:0", Keys: keys})
	submitter := streams(t, connect(t, s.Address(), as(t, keys, keyring.Submitter)...))
	if _, err := submitter.Publish(within(t), "starling.task.a.b", []byte("task")); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, s.Address(), as(t, keys, keyring.Worker)...)
	worker, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	m, err := conn.RequestWithContext(within(t), "$JS.API.CONSUMER.MSG.NEXT.STARLING_TASKS.workers", []byte(`{"batch":1,"expires":1000000000}`))
	if err != nil || string(m.Data) != "task" {
		t.Fatalf("%v, %v", m, err)
	}
	for _, subject := range []string{"starling.block.shared.aa.0", "starling.result.a.b"} {
		if _, err := worker.Publish(within(t), subject, []byte(strings.Repeat("block", 200_000))); err != nil {
			t.Error(err)
		}
	}
	reply, err := conn.RequestWithContext(within(t), "$JS.API.DIRECT.GET.STARLING_BLOCKS.starling.block.shared.aa.0", nil)
	if err != nil || len(reply.Data) != 1_000_000 {
		t.Errorf("%v", err)
	}
	if _, err := conn.RequestWithContext(within(t), m.Reply, []byte("+ACK")); err != nil {
		t.Error(err)
	}
	if i, err := stream(t, submitter, "STARLING_TASKS").Info(within(t)); err != nil || i.State.Msgs != 0 {
		t.Errorf("the task is still there: %+v, %v", i, err)
	}
	if n := s.Info().Refused; len(n) != 0 {
		t.Errorf("refused %v", n)
	}
}
