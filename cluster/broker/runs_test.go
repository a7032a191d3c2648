package broker

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/cluster/clustertest"
)

// submission is a run whose tasks name a config of their own and the data of several runs.
type submission struct {
	config, data cluster.Content
	tasks        []cluster.Task
}

func (s *submission) run() cluster.Sum { return s.tasks[0].Run() }

func submit(t *testing.T, c cluster.Cluster, config string, data []byte, parts int) *submission {
	t.Helper()
	s := &submission{tasks: clustertest.Tasks(parts)}
	var err, errData error
	s.config, err = cluster.Save(t.Context(), c.Blocks, cluster.Shared, []byte(config))
	s.data, errData = cluster.Save(t.Context(), c.Blocks, cluster.Shared, data)
	if err := errors.Join(err, errData); err != nil {
		t.Fatal(err)
	}
	for i := range s.tasks {
		s.tasks[i].Config, s.tasks[i].Data = s.config, []cluster.Input{{Name: "x.csv", Content: s.data}}
	}
	return s
}

// work is a worker whose results are 100 bytes of the part's number, and which saves a state before.
func work(c cluster.Cluster, hold <-chan struct{}) *cluster.Worker {
	return &cluster.Worker{Cluster: c, Name: "w", Version: "1.0", Arch: "amd64", Kernel: "go", Every: time.Nanosecond, Work: func(ctx context.Context, job *cluster.Job) ([]byte, error) {
		time.Sleep(time.Second)
		if job.Progress(0.5) {
			if err := job.Save(bytes.Repeat([]byte{1, byte(job.Task.Part)}, 30)); err != nil {
				return nil, err
			}
		}
		select {
		case <-hold:
			return bytes.Repeat([]byte{byte(job.Task.Part)}, 100), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
}

func (s *submission) do(ctx context.Context, c cluster.Cluster) error {
	return (&cluster.Coordinator{Cluster: c}).Do(ctx, s.tasks, func(int, cluster.End) error { return nil })
}

// TestForget: a run that is forgotten leaves nothing but what another run names. One at work is not forgotten before it is cancelled.
func TestForget(t *testing.T) {
	simulate(t, func(t *testing.T, dir string) {
		s := clustertest.Serve(t, dir, nil)
		b, c := connect(t, s, Options{}), connect(t, s, Options{}).Cluster()
		b.unnamed = 2 * time.Hour
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go1 := make(chan struct{})
		close(go1)
		one, two := submit(t, c, "one", noise(pieceSize+9), 3), submit(t, c, "two", noise(pieceSize+9), 2)
		first, halt := context.WithCancel(ctx)
		go work(c, go1).Run(first)
		if err := errors.Join(one.do(ctx, c), two.do(ctx, c)); err != nil {
			t.Fatal(err)
		}
		halt()
		third := submit(t, c, "three", noise(77), 3)
		never := make(chan struct{})
		go work(c, never).Run(ctx)
		submitter, leave := context.WithCancel(ctx)
		go third.do(submitter, c)
		time.Sleep(5 * time.Second)

		runs, err := b.Runs(ctx)
		if err != nil {
			t.Fatal(err)
		}
		is := func(s *submission, status string, queued, results int, size int64) {
			t.Helper()
			i := slices.IndexFunc(runs, func(r Run) bool { return r.Sum == s.run() })
			if size == 0 {
				if i >= 0 {
					t.Errorf("it is there: %+v", runs[i])
				}
			} else if i < 0 || runs[i].Status != status || runs[i].Queued != queued || runs[i].Results != results || runs[i].Bytes != size {
				t.Errorf("%+v, want %s %d %d %d", runs, status, queued, results, size)
			}
		}
		is(one, "open", 0, 3, pieceSize+9+3+300)
		is(two, "open", 0, 2, pieceSize+9+3+200)
		is(third, "open", 3, 0, 77+5+60)

		if err := b.Forget(ctx, cluster.Sum{}); !errors.Is(err, cluster.ErrNone) {
			t.Errorf("a run that is not there: %v", err)
		}
		if err := b.Forget(ctx, third.run()); !errors.As(err, new(*AtWorkError)) {
			t.Errorf("a run at work: %v", err)
		}
		unhear, err := b.Hear(two.run(), func([]byte) {})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Forget(ctx, two.run()); !errors.As(err, new(*AtWorkError)) {
			t.Errorf("a run whose submitter lives: %v", err)
		}
		unhear()
		if err := b.Forget(ctx, one.run()); err != nil {
			t.Fatal(err)
		}
		if runs, err = b.Runs(ctx); err != nil {
			t.Fatal(err)
		}
		is(one, "", 0, 0, 0)
		is(two, "open", 0, 2, pieceSize+9+3+200)
		is(third, "open", 3, 0, 77+5+60)
		if _, err := c.Blocks.Get(ctx, cluster.Shared, one.config.Sum); !errors.Is(err, cluster.ErrNone) {
			t.Errorf("the config that nobody else names: %v", err)
		}
		if _, err := cluster.Load(ctx, c.Blocks, cluster.Shared, two.data); err != nil {
			t.Errorf("the data that another run names, too: %v", err)
		}
		if err := two.do(ctx, c); err != nil {
			t.Errorf("the other run with the same data and results: %v", err)
		}

		submit(t, c, "two", noise(10), 1) // stores the config again, and names nothing yet
		if err := errors.Join(c.Cancel(ctx, third.run()), b.Forget(ctx, third.run()), b.Forget(ctx, two.run())); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // the worker that held a task of the third run has stopped
		leave()
		if runs, err = b.Runs(ctx); err != nil || len(runs) != 0 {
			t.Errorf("%+v, %v", runs, err)
		}
		left, err := b.subjects(ctx, BlockStream, "starling.block.>")
		if err != nil || len(left) != 2 || left[blockSubject(cluster.Shared, two.config.Sum.String())+"0"] != 1 {
			t.Errorf("left: %v, %v", left, err)
		}
		time.Sleep(11 * time.Minute)
		for stream, filter := range map[string]string{TaskStream: "starling.task.>", ResultStream: "starling.result.>", ValueStream: valuePrefix + ">"} {
			if left, err := b.subjects(ctx, stream, filter); err != nil || len(left) > 0 {
				t.Errorf("left: %v, %v", left, err)
			}
		}

		time.Sleep(2 * time.Hour)
		fourth := submit(t, c, "four", noise(5), 1)
		go work(c, go1).Run(ctx)
		if err := errors.Join(fourth.do(ctx, c), b.Forget(ctx, fourth.run())); err != nil {
			t.Fatal(err)
		}
		if left, err := b.subjects(ctx, BlockStream, "starling.block.>"); err != nil || len(left) != 0 {
			t.Errorf("later: %v, %v", left, err)
		}
		stop()
	})
}
