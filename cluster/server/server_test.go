package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/cluster/broker"
	"github.com/starling-smc/starling/cluster/keyring"
)

// start starts a server that ends with the test.
func start(t *testing.T, o Options) *Server {
	t.Helper()
	if o.Dir == "" {
		o.Dir = filepath.Join(t.TempDir(), "store")
	}
	if o.StoreBytes == 0 {
		o.StoreBytes = 1 << 30
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

// client connects by package broker with the keys of a role; "": in this process.
func client(t *testing.T, s *Server, keys string, role keyring.Role) *broker.Broker {
	t.Helper()
	o := broker.Options{Dial: s.Dial}
	if role != "" {
		k, err := keyring.Read(keys, role)
		if err != nil {
			t.Fatal(err)
		}
		o = broker.Options{Server: "tls://" + s.Address(), TLS: k.TLS, Seed: k.Seed, Inbox: k.Inbox}
	}
	o.Note = func(err error) { t.Error(err) }
	b, err := broker.Connect(within(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// compute has a worker compute three parts of a phase, whose states are saved and dropped, and returns the name of the run.
func compute(t *testing.T, submitter, worker cluster.Cluster) cluster.Sum {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	config, err := cluster.Save(ctx, submitter.Blocks, cluster.Shared, []byte("config"))
	if err != nil {
		t.Fatal(err)
	}
	var tasks []cluster.Task
	for part := range 3 {
		tasks = append(tasks, cluster.Task{Config: config, Version: "1", Arch: "amd64", Kernels: []string{"go"}, Phase: "islands", Part: part})
	}
	work := func(_ context.Context, job *cluster.Job) ([]byte, error) {
		c, err := job.Load(job.Task.Config)
		if err != nil {
			return nil, err
		}
		for step := range 4 {
			job.Progress(float64(step) / 4)
			if err := job.Save([]byte(fmt.Sprintf("state %d of %d", step, job.Task.Part))); err != nil {
				return nil, err
			}
		}
		return fmt.Appendf(nil, "%s %d", c, job.Task.Part), nil
	}
	at, end := context.WithCancel(ctx)
	ended := make(chan error)
	go func() {
		w := &cluster.Worker{Cluster: worker, Name: "w", Work: work, Version: "1", Arch: "amd64", Kernel: "go", Note: func(_ cluster.Task, err error) { t.Error(err) }}
		ended <- w.Run(at)
	}()
	n := 0
	err = (&cluster.Coordinator{Cluster: submitter}).Do(ctx, tasks, func(i int, end cluster.End) error {
		if want := fmt.Sprintf("config %d", i); i != n || string(end.Result) != want {
			t.Errorf("result %d is %q", i, end.Result)
		}
		n++
		return nil
	})
	end()
	if errWorker := <-ended; err != nil || errWorker != nil || n != 3 {
		t.Fatalf("%d results, %v, %v", n, err, errWorker)
	}
	return tasks[0].Run()
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// TestInside: a server without a port is reached from its process; what was acknowledged is there after a restart, also with a lower limit.
func TestInside(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	var run cluster.Sum
	for _, limit := range []int64{1 << 30, 512 << 20, 0} {
		s, err := Start(Options{Dir: dir, StoreBytes: limit})
		if err != nil {
			t.Fatal(err)
		}
		if s.Address() != "" || s.nats.Addr() != nil {
			t.Errorf("it listens on %s, %v", s.Address(), s.nats.Addr())
		}
		if js, err := s.nats.Jsz(nil); err != nil || !js.Config.SyncAlways {
			t.Errorf("what it acknowledges is not on the disk: %+v, %v", js, err)
		}
		b := client(t, s, "", "")
		if run == (cluster.Sum{}) {
			worker := client(t, s, "", "")
			run = compute(t, b.Cluster(), worker.Cluster())
			worker.Close()
		}
		runs, err := b.Runs(within(t))
		if err != nil || len(runs) != 1 || runs[0].Sum != run || runs[0].Results != 3 {
			t.Errorf("%+v, %v", runs, err)
		}
		if i := s.Info(); i.Stored <= 0 || limit > 0 && i.Limit != limit || i.Limit < i.Stored || len(i.Refused) > 0 {
			t.Errorf("%+v", i)
		}
		b.Close()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKeys: with keys, both roles can do their work, and nothing is refused. News and answers arrive.
func TestKeys(t *testing.T) {
	keys := newKeys(t, time.Hour)
	s := start(t, Options{Listen: "127.0.0.1:0", Keys: keys, Log: func(text string) { t.Error(text) }})
	submitter, worker := client(t, s, keys, keyring.Submitter), client(t, s, filepath.Join(keys, "worker"), keyring.Worker)
	run := compute(t, submitter.Cluster(), worker.Cluster())
	if _, err := worker.Answer(func() []byte { return []byte("me") }); err != nil {
		t.Fatal(err)
	}
	heard := make(chan string, 1)
	if _, err := submitter.Hear(run, func(m []byte) { heard <- string(m) }); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second answer needs the permission anew
		var workers [][]byte
		for try := 0; len(workers) == 0 && try < 20; try++ { // until the server knows that the worker answers
			var err error
			if workers, err = submitter.Workers(within(t), 200*time.Millisecond); err != nil {
				t.Fatal(err)
			}
		}
		if len(workers) != 1 || string(workers[0]) != "me" {
			t.Errorf("%q", workers)
		}
	}
	servers, err := submitter.Servers(within(t), 200*time.Millisecond)
	if err != nil || len(servers) != 1 || !strings.Contains(string(servers[0]), `"refused":{}`) {
		t.Errorf("%s, %v", servers, err)
	}
	if err := worker.Tell(run, []byte("half")); err != nil {
		t.Error(err)
	}
	if got := <-heard; got != "half" {
		t.Error(got)
	}
	nodes := []*cluster.Exchange{cluster.NewExchange(submitter.Cluster().Wire, 0), cluster.NewExchange(worker.Cluster().Wire, 0)}
	var all sync.WaitGroup
	for n, x := range nodes {
		all.Go(func() {
			epoch, err := x.Join(within(t), run, n, 2)
			r := cluster.Round{Epoch: epoch}
			if err == nil {
				err = x.Send(r, []byte{byte(n)})
			}
			if err == nil {
				var got [][]byte
				if got, err = x.Receive(within(t), r); err == nil && (len(got) != 2 || got[1-n][0] != byte(1-n)) {
					err = fmt.Errorf("messages %v", got)
				}
			}
			if err != nil {
				t.Errorf("node %d: %v", n, err)
			}
		})
	}
	all.Wait()
	big := bytes.Repeat([]byte("block"), 1<<20)
	c, err := cluster.Save(within(t), worker.Cluster().Blocks, cluster.Shared, big)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := cluster.Load(within(t), submitter.Cluster().Blocks, cluster.Shared, c); err != nil || !bytes.Equal(got, big) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// TestRunBytes: a run that stores more than it may is ended with the reason, and others are not.
func TestRunBytes(t *testing.T) {
	s := start(t, Options{})
	b := client(t, s, "", "")
	run := compute(t, b.Cluster(), client(t, s, "", "").Cluster())
	check := func(most int64, status, reason string) {
		t.Helper()
		if err := s.endLarge(within(t), b, most); err != nil {
			t.Fatal(err)
		}
		runs, err := b.Runs(within(t))
		if err != nil || len(runs) != 1 || runs[0].Sum != run || runs[0].Status != status || !strings.Contains(runs[0].Reason, reason) {
			t.Errorf("%+v, %v", runs, err)
		}
	}
	check(1000, "open", "")
	check(20, "failed", "and 20 are the most for a run there")
}

// TestForgetOld: a run that ended long ago is removed, and one that is at work is not.
func TestForgetOld(t *testing.T) {
	s := start(t, Options{})
	b := client(t, s, "", "")
	run := compute(t, b.Cluster(), client(t, s, "", "").Cluster())
	check := func(after time.Duration, want int) {
		t.Helper()
		if err := s.forgetOld(within(t), b, after); err != nil {
			t.Fatal(err)
		}
		if runs, err := b.Runs(within(t)); err != nil || len(runs) != want {
			t.Errorf("%+v, %v", runs, err)
		}
	}
	check(0, 1)
	if err := b.Cluster().Finish(within(t), run); err != nil {
		t.Fatal(err)
	}
	check(time.Hour, 1)
	check(0, 0)
}

// TestFull: a store that is full says so, and still has room for records.
func TestFull(t *testing.T) {
	s := start(t, Options{StoreBytes: leastStore})
	b := client(t, s, "", "")
	var err error
	for i := 0; err == nil && i < 5; i++ {
		block := bytes.Repeat([]byte{byte(i)}, cluster.MaxBlock)
		err = b.Cluster().Blocks.Put(t.Context(), cluster.Shared, cluster.SumOf(block), block)
	}
	if !errors.Is(err, cluster.ErrFull) {
		t.Errorf("%v, want ErrFull", err)
	}
	name := cluster.SumOf(nil)
	if err := b.Cluster().Results.Write(within(t), name, name, bytes.Repeat([]byte("r"), 1<<17)); err != nil {
		t.Errorf("no room for a result: %v", err)
	}
	if i := s.Info(); i.Stored > i.Limit {
		t.Errorf("%+v", i)
	}
}

// TestOptions: addresses that are open to more than was meant, folders of others and servers in use are refused, with what to do.
func TestOptions(t *testing.T) {
	keys := newKeys(t, time.Hour)
	used, foreign := filepath.Join(t.TempDir(), "used"), t.TempDir()
	start(t, Options{Dir: used})
	if err := os.WriteFile(filepath.Join(foreign, "thesis.tex"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	free := func() string { return filepath.Join(t.TempDir(), "new") }
	for _, c := range []struct {
		want string
		o    Options
	}{
		{"10.0.0.1:4222 is open to other machines, which needs keys: make them with starling cluster keys DIR --host 10.0.0.1", Options{Dir: free(), Listen: "10.0.0.1:4222"}},
		{"starling cluster keys DIR --host HOST", Options{Dir: free(), Listen: "0.0.0.0:0"}},
		{"needs keys", Options{Dir: free(), Listen: "[::]:0"}},
		{"write 0.0.0.0:4222 if you mean", Options{Dir: free(), Listen: ":4222", Keys: keys}},
		{"want HOST:PORT", Options{Dir: free(), Listen: "127.0.0.1", Keys: keys}},
		{"want HOST:PORT", Options{Dir: free(), Listen: "127.0.0.1:65536", Keys: keys}},
		{"cannot listen on 127.0.0.1:", Options{Dir: free(), Listen: start(t, Options{Listen: "127.0.0.1:0"}).Address()}},
		{"another server (process", Options{Dir: used}},
		{"is no folder of a server: name an empty folder", Options{Dir: foreign}},
		{"needs a folder", Options{}},
		{"has no keys of a server", Options{Dir: free(), Listen: "127.0.0.1:0", Keys: t.TempDir()}},
		{"has the keys of a worker, and this needs those of a server", Options{Dir: free(), Listen: "127.0.0.1:0", Keys: filepath.Join(keys, "worker")}},
		{"want 134217728 or more", Options{Dir: free(), StoreBytes: 1}},
		{"needs an address to listen on", Options{Dir: free(), Peers: []string{"a:1"}}},
		{"give the same to every server with --keys", Options{Dir: free(), Listen: "127.0.0.1:1", Peers: []string{"127.0.0.1:2"}}},
		{"a cluster needs three servers", Options{Dir: free(), Listen: "127.0.0.1:1", Keys: keys, Peers: []string{"127.0.0.1:1", "127.0.0.1:2"}}},
	} {
		s, err := Start(c.o)
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
	}
}
