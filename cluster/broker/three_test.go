package broker

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/cluster/clustertest"
	"github.com/starling-smc/starling/internal/testkit"
)

// three are servers on this machine that keep the same streams.
type three struct {
	t       testing.TB
	dirs    [3]string
	ports   []int // of the routes between them, and of their clients
	servers [3]*server.Server
}

func serveThree(t testing.TB) *three {
	t.Helper()
	c := &three{t: t}
	var all []net.Listener
	for range 6 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		all, c.ports = append(all, l), append(c.ports, l.Addr().(*net.TCPAddr).Port)
	}
	for _, l := range all {
		l.Close()
	}
	for i := range c.servers {
		c.dirs[i] = t.TempDir()
		c.up(i)
	}
	t.Cleanup(func() {
		for _, s := range c.servers {
			clustertest.Stop(s)
		}
	})
	for begun := time.Now(); c.leader() < 0; time.Sleep(50 * time.Millisecond) {
		if time.Since(begun) > testkit.Patience {
			t.Fatal("the servers choose no leader")
		}
	}
	return c
}

func (c *three) up(i int) {
	c.t.Helper()
	o := &server.Options{ServerName: fmt.Sprint("server", i), Host: "127.0.0.1", Port: c.ports[3+i], JetStream: true, StoreDir: c.dirs[i], SyncAlways: true,
		NoLog: true, NoSigs: true, Cluster: server.ClusterOpts{Name: "three", Host: "127.0.0.1", Port: c.ports[i]}}
	for _, port := range c.ports[:3] {
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats", Host: fmt.Sprint("127.0.0.1:", port)})
	}
	s, err := server.NewServer(o)
	if err != nil {
		c.t.Fatal(err)
	}
	s.Start()
	c.servers[i] = s
}

// leader returns the server that leads the others: -1 is none.
func (c *three) leader() int {
	for i, s := range c.servers {
		if s.JetStreamIsLeader() {
			return i
		}
	}
	return -1
}

func (c *three) connect(o Options, lease time.Duration) *Broker {
	c.t.Helper()
	var urls []string
	for _, port := range c.ports[3:] {
		urls = append(urls, fmt.Sprint("nats://127.0.0.1:", port))
	}
	o.Server, o.Replicas = strings.Join(urls, ","), 3
	b, err := Connect(context.Background(), o)
	if err == nil {
		c.t.Cleanup(func() { b.Close() })
		b.lease = lease
		err = b.Prepare(context.Background())
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return b
}

// TestThreeServers: three servers keep what the interfaces promise.
func TestThreeServers(t *testing.T) {
	testkit.Takes(t, 1)
	b := serveThree(t).connect(Options{QuotaTasks: clustertest.MaxTasks, QuotaBytes: clustertest.MaxBytes}, 3*time.Second)
	clustertest.Contracts(t, b.Cluster(), 3*time.Second)
}

// TestThreeServersFall: one server of three stops every eleven seconds, the leader in every other case, and comes back three seconds later. The run
// has its results, and its workers meet no fault.
func TestThreeServersFall(t *testing.T) {
	testkit.Takes(t, 2)
	c := serveThree(t)
	submitter := c.connect(Options{}, 10*time.Second)
	ctx, stop := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	defer func() { stop(); ended.Wait() }()
	for i := range 3 {
		w := &cluster.Worker{Cluster: c.connect(Options{}, 10*time.Second).Cluster(), Name: fmt.Sprint(i), Version: "1.0", Arch: "amd64", Kernel: "go", Every: time.Nanosecond}
		w.Note = func(task cluster.Task, err error) {
			t.Logf("part %d: %v", task.Part, err) // survived: such as a state that the worker before has removed, since it was done
		}
		w.Work = func(ctx context.Context, job *cluster.Job) ([]byte, error) {
			state := job.State
			for len(state) < 100_000 {
				time.Sleep(100 * time.Millisecond)
				state = append(bytes.Clone(state), bytes.Repeat([]byte{byte(job.Task.Part)}, 1000)...)
				if job.Progress(float64(len(state)) / 100_000) {
					if err := job.Save(state); err != nil {
						return nil, err
					}
				}
			}
			return state, nil
		}
		ended.Go(func() { w.Run(ctx) })
	}
	fell := make(chan int)
	go func() {
		n := 0
		defer func() { fell <- n }()
		for ; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-time.After(8 * time.Second):
			}
			i := n % 3
			if leader := c.leader(); n%2 == 0 && leader >= 0 {
				i = leader
			}
			clustertest.Stop(c.servers[i])
			time.Sleep(3 * time.Second)
			c.up(i)
		}
	}()
	n := 0
	err := (&cluster.Coordinator{Cluster: submitter.Cluster()}).Do(ctx, clustertest.Tasks(9), func(i int, end cluster.End) error {
		if i != n || !bytes.Equal(end.Result, bytes.Repeat([]byte{byte(i)}, 100_000)) {
			t.Errorf("result %d has other bytes", i)
		}
		n++
		return nil
	})
	stop()
	if falls := <-fell; err != nil || n != 9 || falls < 2 {
		t.Errorf("%d results, %d falls, %v", n, falls, err)
	}
}
