package broker

import (
	"bytes"
	"context"
	"errors"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/cluster/clustertest"
)

// site is where a server is, which may be away.
type site struct {
	t    *testing.T
	dir  string
	turn sync.Mutex
	now  *server.Server
}

func (s *site) up() {
	now := clustertest.Serve(s.t, s.dir, nil)
	s.turn.Lock()
	defer s.turn.Unlock()
	s.now = now
}

func (s *site) down() {
	s.turn.Lock()
	defer s.turn.Unlock()
	clustertest.Stop(s.now)
	s.now = nil
}

func (s *site) dial() (net.Conn, error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	if s.now == nil {
		return nil, errors.New("the server is away")
	}
	return s.now.InProcessConn()
}

// restarts runs a test on a server that goes and comes. nats.go keeps timers for all connections of the process: those of a simulated time
// are let go of, since they are fatal in another one.
func restarts(t *testing.T, test func(t *testing.T, s *site)) {
	let := func() { runtime.GC(); runtime.GC() }
	let()
	defer let()
	simulate(t, func(t *testing.T, dir string) {
		s := &site{t: t, dir: dir}
		s.up()
		test(t, s)
	})
}

func (s *site) connect() *Broker {
	s.t.Helper()
	b, err := Connect(context.Background(), Options{Dial: s.dial})
	if err == nil {
		err = b.Prepare(context.Background())
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { b.Close() })
	return b
}

// TestRestart: the server stops five times during a run and starts on the same folder, twice for longer than a lease: the run has its results, and
// no worker ends.
func TestRestart(t *testing.T) {
	restarts(t, func(t *testing.T, s *site) {
		ctx, stop := context.WithCancel(t.Context())
		all, submitter := clustertest.Tasks(6), s.connect()
		var turn sync.Mutex
		steps := 0
		for _, name := range []string{"one", "two"} {
			w := &cluster.Worker{Cluster: s.connect().Cluster(), Name: name, Version: "1.0", Arch: "amd64", Kernel: "go", Every: time.Nanosecond}
			w.Work = func(ctx context.Context, job *cluster.Job) ([]byte, error) {
				state := job.State
				for len(state) < 20 {
					time.Sleep(2 * time.Second)
					turn.Lock()
					steps++
					turn.Unlock()
					state = append(bytes.Clone(state), byte(job.Task.Part))
					if job.Progress(float64(len(state)) / 20) {
						if err := job.Save(state); err != nil {
							return nil, err
						}
					}
					if ctx.Err() != nil {
						return nil, ctx.Err()
					}
				}
				return append(state, "done"...), nil
			}
			go func() {
				if err := w.Run(ctx); err != nil {
					t.Error(err)
				}
			}()
		}
		go func() {
			for _, away := range []time.Duration{time.Second, 10 * time.Second, 70 * time.Second, 5 * time.Second, 100 * time.Second} {
				time.Sleep(11 * time.Second)
				s.down()
				time.Sleep(away)
				s.up()
			}
		}()
		begun, n := time.Now(), 0
		err := (&cluster.Coordinator{Cluster: submitter.Cluster()}).Do(ctx, all, func(i int, end cluster.End) error {
			if want := append(bytes.Repeat([]byte{byte(all[i].Part)}, 20), "done"...); i != n || !bytes.Equal(end.Result, want) {
				t.Errorf("result %d is %q, want %q", i, end.Result, want)
			}
			n++
			return nil
		})
		t.Logf("%v, %d steps", time.Since(begun), steps)
		if err != nil || n != len(all) {
			t.Errorf("%d results, %v", n, err)
		}
		if time.Since(begun) < 200*time.Second {
			t.Error("the run ends before the server has been away: this tests nothing")
		}
		if steps > 6*20+5*2*2 {
			t.Errorf("%d steps: the saved states were not used", steps)
		}
		time.Sleep(5 * time.Minute)
		stop()
	})
}

// TestAway: a call to a server that stays away ends after the patience, or with the caller's deadline.
func TestAway(t *testing.T) {
	restarts(t, func(t *testing.T, s *site) {
		c := s.connect().Cluster()
		s.down()
		begun := time.Now()
		if _, _, err := c.Values.Value(t.Context(), "key"); err == nil || time.Since(begun) < patience || time.Since(begun) > patience+11*time.Second {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		soon, stop := context.WithTimeout(t.Context(), 3*time.Second)
		defer stop()
		begun = time.Now()
		if err := c.Queue.Put(soon, clustertest.Tasks(1)[0]); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != 3*time.Second {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		s.up()
		if err := c.Queue.Put(t.Context(), clustertest.Tasks(1)[0]); err != nil {
			t.Error(err)
		}
	})
}

// TestAskedAgain: what waits for an answer when the server stops is asked again as soon as it is back.
func TestAskedAgain(t *testing.T) {
	restarts(t, func(t *testing.T, s *site) {
		b, other := s.connect(), s.connect()
		taken := make(chan error, 1)
		go func() {
			l, err := b.Cluster().Queue.Take(t.Context())
			if err == nil {
				err = l.Acknowledge(t.Context())
			}
			taken <- err
		}()
		time.Sleep(time.Second)
		s.down()
		time.Sleep(10 * time.Second)
		s.up()
		if err := other.Cluster().Queue.Put(t.Context(), clustertest.Tasks(1)[0]); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if err := <-taken; err != nil || time.Since(begun) > 2*time.Second {
			t.Errorf("%v, after %v", err, time.Since(begun))
		}
	})
}
