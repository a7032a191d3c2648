package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/cluster/broker"
)

// ends are the ways in which a worker ends, and how often each is measured.
var ends = []struct {
	name   string
	signal syscall.Signal
	times  int
}{
	{"kill -9", syscall.SIGKILL, 10},
	{"SIGTERM", syscall.SIGTERM, 20},
}

// deaths measures how long a part is at rest when its worker ends. The run is a chain whose steps take a tenth of a second, and a second
// worker waits for work. The time counts from the signal to the first word of the other worker, which it says after a step.
func deaths(ctx context.Context, b *bench) error {
	for _, e := range ends {
		for len(b.samples["deaths:"+e.name]) < e.times {
			if err := b.die(ctx); err != nil {
				return err
			}
		}
	}
	fmt.Printf("From the signal to a step of the other worker; %s:\n\n| | median | least | most | times |\n|---|---|---|---|---|\n", b.loads("deaths"))
	for _, e := range ends {
		name := "deaths:" + e.name
		fmt.Printf("| %s | %.2f s | %.2f s | %.2f s | %d |\n", e.name, b.median(name, 1), b.least(name), b.most(name), len(b.samples[name]))
	}
	return nil
}

// word is what a worker said, and when.
type word struct {
	worker string
	at     time.Time
}

// die lets workers end until all is measured, or something fails.
func (b *bench) die(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dir, err := os.MkdirTemp(b.temp, "deaths-")
	if err != nil {
		return err
	}
	address, end, err := b.serve("--dir", filepath.Join(dir, "store"), "--listen", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer end()
	at := "nats://" + address
	conn, err := broker.Connect(ctx, broker.Options{Server: at})
	if err != nil {
		return err
	}
	defer conn.Close()
	start := func(args ...string) (*exec.Cmd, error) {
		c := exec.CommandContext(ctx, b.command, args...)
		c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
		c.Stderr = os.Stderr
		return c, c.Start()
	}
	fit, err := start("fit", "mnist7-gold", "--quiet", "--out", filepath.Join(dir, "run"), "--server", at, "--set", "method.mcmc.epochs=5000000", "--set", "method.mcmc.trace.every=50")
	if err != nil {
		return err
	}
	defer fit.Wait()
	defer cancel()
	worker := func() (*exec.Cmd, error) {
		return start("worker", "--quiet", "--server", at, "--threads", "1", "--save-every", "2s", "--cache", filepath.Join(dir, "cache"))
	}
	workers := [2]*exec.Cmd{}
	for i := range workers {
		if workers[i], err = worker(); err != nil {
			return err
		}
		defer func() { workers[i].Wait() }()
		defer cancel()
	}
	run, err := theRun(ctx, conn)
	if err != nil {
		return err
	}
	words := make(chan word, 100000)
	stop, err := conn.Cluster().Hear(run, func(w cluster.Word) { words <- word{w.Worker, time.Now()} })
	if err != nil {
		return err
	}
	defer stop()
	// heard waits for a word of a worker.
	heard := func(of func(worker string) bool) (word, error) {
		timer := time.NewTimer(3 * time.Minute)
		defer timer.Stop()
		for {
			select {
			case w := <-words:
				if of(w.worker) {
					return w, nil
				}
			case <-timer.C:
				return word{}, errors.New("no worker goes on for three minutes")
			case <-ctx.Done():
				return word{}, ctx.Err()
			}
		}
	}
	is := func(c *exec.Cmd) func(string) bool {
		pid := fmt.Sprintf("-%d-", c.Process.Pid)
		return func(worker string) bool { return strings.Contains(worker, pid) }
	}
	for _, e := range ends {
		for len(b.samples["deaths:"+e.name]) < e.times {
			first, err := heard(func(string) bool { return true })
			if err != nil {
				return err
			}
			i := 0
			if is(workers[1])(first.worker) {
				i = 1
			}
			// A state has been saved by then, and the time since the last heartbeat, of 15 s, is any.
			if !sleep(ctx, 5*time.Second+time.Duration(rand.Int64N(int64(15*time.Second)))) {
				return ctx.Err()
			}
			for len(words) > 0 {
				<-words
			}
			ended := time.Now()
			if err := workers[i].Process.Signal(e.signal); err != nil {
				return err
			}
			next, err := heard(is(workers[1-i]))
			if err != nil {
				return err
			}
			workers[i].Wait()
			if workers[i], err = worker(); err != nil {
				return err
			}
			if err := b.add("deaths:"+e.name, next.at.Sub(ended).Seconds()); err != nil {
				return err
			}
			fmt.Fprintf(os.Stderr, "%s: %.2f s\n", e.name, next.at.Sub(ended).Seconds())
		}
	}
	return nil
}

// theRun waits for the one run at a server.
func theRun(ctx context.Context, b *broker.Broker) (cluster.Sum, error) {
	for range 600 {
		runs, err := b.Runs(ctx)
		if err != nil || len(runs) == 1 {
			if err == nil {
				return runs[0].Sum, nil
			}
			return cluster.Sum{}, err
		}
		if !sleep(ctx, 100*time.Millisecond) {
			break
		}
	}
	return cluster.Sum{}, errors.New("nobody has submitted a run")
}

// sleep returns false when ctx ends before the time is over.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
