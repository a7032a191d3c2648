package broker

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/cluster/clustertest"
)

// TestContracts: NATS keeps what the interfaces promise.
func TestContracts(t *testing.T) {
	simulate(t, func(t *testing.T, dir string) {
		b := connect(t, clustertest.Serve(t, dir, nil), Options{QuotaTasks: clustertest.MaxTasks, QuotaBytes: clustertest.MaxBytes})
		clustertest.Contracts(t, b.Cluster(), time.Minute)
	})
}

// noise returns bytes that do not repeat.
func noise(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{byte(n)}).Read(b)
	return b
}

// TestSizes: blocks of every size come back, and are gone when they are dropped, without leaving their bytes.
func TestSizes(t *testing.T) {
	b := connect(t, clustertest.Serve(t, t.TempDir(), func(o *server.Options) { o.SyncAlways = false }), Options{})
	ctx, c := t.Context(), b.Cluster()
	for _, n := range []int{0, 1, pieceSize, pieceSize + 1, 1 << 20, 3<<20 + 1, cluster.MaxBlock} {
		block := noise(n)
		sum := cluster.SumOf(block)
		for _, space := range []string{cluster.Shared, "state.a.b"} {
			if err := c.Blocks.Put(ctx, space, sum, block); err != nil {
				t.Fatalf("%d bytes: %v", n, err)
			}
			if back, err := c.Blocks.Get(ctx, space, sum); err != nil || !bytes.Equal(back, block) {
				t.Fatalf("%d bytes: %d come back, %v", n, len(back), err)
			}
			if n == cluster.MaxBlock {
				break
			}
		}
		if err := c.Blocks.Drop(ctx, cluster.Shared, sum); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Blocks.Get(ctx, cluster.Shared, sum); !errors.Is(err, cluster.ErrNone) {
			t.Errorf("%d bytes: %v after they were dropped", n, err)
		}
	}
	var info struct {
		State struct{ Bytes, Messages int64 }
	}
	if _, err := b.api(ctx, "STREAM.INFO."+BlockStream, nil, &info); err != nil || info.State.Bytes > 6<<20 {
		t.Errorf("%d bytes are left, %v", info.State.Bytes, err)
	}
}

// TestDroppedIsRemoved: what is written over a dropped block goes by itself.
func TestDroppedIsRemoved(t *testing.T) {
	simulate(t, func(t *testing.T, dir string) {
		b := connect(t, clustertest.Serve(t, dir, nil), Options{})
		ctx, c := t.Context(), b.Cluster()
		block := noise(2 * pieceSize)
		sum := cluster.SumOf(block)
		if err := errors.Join(c.Blocks.Put(ctx, "state.a.b", sum, block), c.Blocks.Drop(ctx, "state.a.b", sum)); err != nil {
			t.Fatal(err)
		}
		left := func() int {
			all, err := b.subjects(ctx, BlockStream, "starling.block.>")
			if err != nil {
				t.Error(err)
			}
			return len(all)
		}
		before := left()
		time.Sleep(2 * droppedFor)
		if before != 2 || left() != 0 {
			t.Errorf("%d messages, and later %d", before, left())
		}
	})
}

// TestForged: a block whose bytes were changed is refused by its sum; one that is no block is none, and is counted.
func TestForged(t *testing.T) {
	simulate(t, func(t *testing.T, dir string) {
		b := connect(t, clustertest.Serve(t, dir, nil), Options{})
		ctx, c := t.Context(), b.Cluster()
		content, err := cluster.Save(ctx, c.Blocks, cluster.Shared, noise(pieceSize+10))
		if err != nil {
			t.Fatal(err)
		}
		subject := blockSubject(cluster.Shared, content.Sum.String())
		if _, err := b.publish(ctx, subject+"1", nil, noise(10)); err != nil {
			t.Fatal(err)
		}
		if _, err := cluster.Load(ctx, c.Blocks, cluster.Shared, content); !errors.As(err, new(*cluster.DamagedError)) {
			t.Errorf("a forged piece: %v", err)
		}
		for _, pieces := range []string{"", "0", "-1", "1000000000", "x"} {
			if _, err := b.publish(ctx, subject+"0", map[string][]string{headPieces: {pieces}}, noise(10)); err != nil {
				t.Fatal(err)
			}
			if _, err := cluster.Load(ctx, c.Blocks, cluster.Shared, content); !errors.Is(err, cluster.ErrNone) {
				t.Errorf("%q pieces: %v", pieces, err)
			}
		}
		if n := b.Refused(); n != 5 {
			t.Errorf("%d messages are refused", n)
		}
		if _, err := cluster.Save(ctx, c.Blocks, cluster.Shared, noise(pieceSize+10)); err != nil {
			t.Fatal(err)
		}
		if _, err := cluster.Load(ctx, c.Blocks, cluster.Shared, content); err != nil {
			t.Errorf("stored again: %v", err)
		}
	})
}

// TestForgedTask: messages of the queue that are no tasks, or have another task's name, are removed and counted. A task of another version is
// delivered, so that the worker can name both versions.
func TestForgedTask(t *testing.T) {
	simulate(t, func(t *testing.T, dir string) {
		b := connect(t, clustertest.Serve(t, dir, nil), Options{})
		ctx, c := t.Context(), b.Cluster()
		all := clustertest.Tasks(3)
		for subject, data := range map[string]string{
			taskSubject("a", "b"): "no JSON",
			taskSubject("a", "c"): `{"more": 1}`,
			taskSubject(all[0].Run().String(), all[1].Digest().String()): string(encode(all[0])),
		} {
			if _, err := b.publish(ctx, subject, nil, []byte(data)); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Queue.Put(ctx, all[2]); err != nil {
			t.Fatal(err)
		}
		l, err := c.Queue.Take(ctx)
		if err != nil || l.Task().Part != 2 || b.Refused() != 3 {
			t.Fatalf("%v, %d refused", err, b.Refused())
		}
		if ids, err := c.Queue.Queued(ctx, all[0].Run()); err != nil || len(ids) != 1 {
			t.Errorf("%d tasks are left, %v", len(ids), err)
		}
		if _, err := b.publish(ctx, taskSubject("a", "d"), nil, []byte(`{"version":"9","more":1}`)); err != nil {
			t.Fatal(err)
		}
		if l, err = c.Queue.Take(ctx); err != nil || l.Task().Version != "9" {
			t.Errorf("another version: %v", err)
		}
	})
}

// TestStoppedTaker: a task that is put when its taker has stopped goes to the next one at once, and not after a lease.
func TestStoppedTaker(t *testing.T) {
	simulate(t, func(t *testing.T, dir string) {
		b := connect(t, clustertest.Serve(t, dir, nil), Options{})
		ctx, c := t.Context(), b.Cluster()
		for i, task := range clustertest.Tasks(5) {
			soon, stop := context.WithTimeout(ctx, time.Second)
			if _, err := c.Queue.Take(soon); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("an empty queue: %v", err)
			}
			stop()
			if err := c.Queue.Put(ctx, task); err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			l, err := c.Queue.Take(ctx)
			if err != nil || l.Task().Part != i || time.Since(begun) > time.Second {
				t.Fatalf("after %v: %v", time.Since(begun), err)
			}
			if err := l.Acknowledge(ctx); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestNews: those who hear a run get its news, and the workers answer.
func TestNews(t *testing.T) {
	simulate(t, func(t *testing.T, dir string) {
		s := clustertest.Serve(t, dir, nil)
		b, other := connect(t, s, Options{}), connect(t, s, Options{})
		run, heard := cluster.SumOf([]byte("run")), make(chan string, 9)
		stop, err := b.Hear(run, func(m []byte) { heard <- string(m) })
		if err != nil {
			t.Fatal(err)
		}
		if err := b.conn.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(other.Tell(cluster.Sum{}, []byte("of another run")), other.Tell(run, []byte("news"))); err != nil {
			t.Fatal(err)
		}
		if m := <-heard; m != "news" {
			t.Errorf("heard %q", m)
		}
		stop()
		if err := other.Tell(run, make([]byte, 2<<20)); err == nil {
			t.Error("2 MiB are news")
		}
		if all, err := b.Workers(t.Context(), time.Second); err != nil || len(all) != 0 {
			t.Errorf("%q, %v", all, err)
		}
		for _, name := range []string{"one", "two"} {
			if _, err := other.Answer(func() []byte { return []byte(name) }); err != nil {
				t.Fatal(err)
			}
		}
		if err := other.conn.Flush(); err != nil {
			t.Fatal(err)
		}
		if all, err := b.Workers(t.Context(), time.Second); err != nil || len(all) != 2 || string(all[0])+string(all[1]) != "onetwo" && string(all[0])+string(all[1]) != "twoone" {
			t.Errorf("%q, %v", all, err)
		}
	})
}

// TestUnreachable: a server that cannot be used is an error that says why.
func TestUnreachable(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := listener.Addr().String()
	listener.Close()
	user, _ := nkeys.CreateUser()
	stranger, _ := nkeys.CreateUser()
	public, _ := user.PublicKey()
	seed, _ := user.Seed()
	wrong, _ := stranger.Seed()
	locked := func(o *server.Options) { o.Nkeys = []*server.NkeyUser{{Nkey: public}} }
	for name, one := range map[string]struct {
		change func(*server.Options) // nil: no server
		with   Options
		want   string
	}{
		"nobody":       {nil, Options{Server: "nats://" + nobody}, "nobody listens"},
		"no JetStream": {func(o *server.Options) { o.JetStream = false }, Options{}, "JetStream is off"},
		"small":        {func(o *server.Options) { o.MaxPayload = 1 << 18 }, Options{}, "max_payload"},
		"no key":       {locked, Options{}, "refuses the key"},
		"wrong key":    {locked, Options{Seed: wrong}, "refuses the key"},
		"no seed":      {locked, Options{Seed: []byte("SUA")}, "seed of the nkey"},
		"right key":    {locked, Options{Seed: seed}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if one.change != nil {
				one.with.Server = clustertest.Serve(t, t.TempDir(), func(o *server.Options) {
					o.DontListen, o.Host, o.Port = false, "127.0.0.1", server.RANDOM_PORT
					one.change(o)
				}).ClientURL()
			}
			b, err := Connect(t.Context(), one.with)
			if err == nil {
				b.Close()
			}
			if (one.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), one.want) {
				t.Errorf("%v, want %q", err, one.want)
			}
		})
	}
}

// TestNotPermitted: a call that the server does not permit ends at once, and says so. So does one to a server that nobody has prepared.
func TestNotPermitted(t *testing.T) {
	simulate(t, func(t *testing.T, dir string) {
		user, _ := nkeys.CreateUser()
		public, _ := user.PublicKey()
		seed, _ := user.Seed()
		s := clustertest.Serve(t, dir, func(o *server.Options) {
			o.Nkeys = []*server.NkeyUser{{Nkey: public, Permissions: &server.Permissions{
				Publish:   &server.SubjectPermission{Allow: []string{"$JS.API.INFO"}},
				Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX_w.>"}},
			}}}
		})
		b, err := Connect(t.Context(), Options{Dial: s.InProcessConn, Seed: seed, Inbox: "_INBOX_w"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		ctx, c := t.Context(), b.Cluster()
		begun := time.Now()
		_, take := c.Queue.Take(ctx)
		_, read := c.Blocks.Get(ctx, cluster.Shared, cluster.Sum{})
		for name, err := range map[string]error{"put": c.Queue.Put(ctx, clustertest.Tasks(1)[0]), "take": take, "prepare": b.Prepare(ctx), "read": read} {
			if !errors.As(err, new(*PermissionError)) || !strings.Contains(err.Error(), "starling") && !strings.Contains(err.Error(), "STARLING") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if took := time.Since(begun); took > time.Second {
			t.Errorf("after %v", took)
		}
	})
}

// TestClosed: calls end when the connection is closed, and one that is lost for good says so.
func TestClosed(t *testing.T) {
	simulate(t, func(t *testing.T, dir string) {
		s := clustertest.Serve(t, dir, nil)
		b := connect(t, s, Options{Once: true})
		time.AfterFunc(time.Second, func() { clustertest.Stop(s) })
		begun := time.Now()
		if _, err := b.Cluster().Queue.Take(t.Context()); !errors.Is(err, errClosed) {
			t.Error(err)
		}
		if _, _, err := b.Cluster().Values.Value(t.Context(), "key"); !errors.Is(err, errClosed) {
			t.Error(err)
		}
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("after %v", took)
		}
	})
}

// TestUnprepared: a server that was not prepared is named as the reason, at the end of the patience.
func TestUnprepared(t *testing.T) {
	simulate(t, func(t *testing.T, dir string) {
		s := clustertest.Serve(t, dir, nil)
		b, err := Connect(t.Context(), Options{Dial: s.InProcessConn})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		begun := time.Now()
		if err := b.Cluster().Queue.Put(t.Context(), clustertest.Tasks(1)[0]); err == nil || !strings.Contains(err.Error(), "prepared") {
			t.Error(err)
		}
		if took := time.Since(begun); took < patience || took > patience+10*time.Second {
			t.Errorf("after %v", took)
		}
		begun = time.Now()
		if _, err := b.Cluster().Queue.Take(t.Context()); err == nil || !strings.Contains(err.Error(), "prepared") {
			t.Error(err)
		}
		if took := time.Since(begun); took < patience || took > patience+10*time.Second {
			t.Errorf("a worker hears of it after %v", took)
		}
	})
}

// TestHalfBlock: a block whose writer died before the last piece is none.
func TestHalfBlock(t *testing.T) {
	simulate(t, func(t *testing.T, dir string) {
		b := connect(t, clustertest.Serve(t, dir, nil), Options{QuotaBytes: 3 * pieceSize})
		ctx, c := t.Context(), b.Cluster()
		block := noise(10 * pieceSize)
		sum := cluster.SumOf(block)
		if err := c.Blocks.Put(ctx, cluster.Shared, sum, block); !errors.Is(err, cluster.ErrFull) { // as if it had died there
			t.Fatal(err)
		}
		if b, err := c.Blocks.Get(ctx, cluster.Shared, sum); !errors.Is(err, cluster.ErrNone) {
			t.Errorf("%d bytes, %v", len(b), err)
		}
	})
}
