package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/cluster/broker"
	"github.com/starling-smc/starling/cluster/server"
)

// elsewhere are the flags of commands whose runs other processes may carry out.
type elsewhere struct {
	atServer
	workers int
	broker  *broker.Broker // of a cluster that is open
}

// flags adds --server, --keys and --workers. what is what the others compute.
func (e *elsewhere) flags(cmd *cobra.Command, what string) {
	e.atServer.flags(cmd, "")
	cmd.Flag("server").Usage = "let workers at the server `URL` compute " + what + ": tls://HOST:PORT, or nats://HOST:PORT where it has no keys (starling cluster, starling worker)"
	cmd.Flags().IntVar(&e.workers, "workers", 0, "let `N` processes of this machine compute "+what)
}

// given are the flags as a command line has them.
func (e *elsewhere) given() []flagged {
	return []flagged{{"--server", e.server, e.server != ""}, {"--keys", e.keys, e.keys != ""}, {"--workers", strconv.Itoa(e.workers), e.workers != 0}}
}

// asked reports whether others are to compute.
func (e *elsewhere) asked() bool { return e.server != "" || e.workers > 0 }

// mostWorkers is more processes than a machine has use for.
const mostWorkers = 512

func (e *elsewhere) check() error {
	switch {
	case e.workers < 0 || e.workers > mostWorkers:
		return wrongUse("--workers %d: want a number from 1 to %d", e.workers, mostWorkers)
	case e.workers > 0 && e.server != "":
		return wrongUse("--workers are processes of this machine and --server has workers elsewhere: give one of the two")
	case e.keys != "" && e.server == "":
		return wrongUse("--keys are for a --server")
	}
	return nil
}

// open connects to the server, or starts one in this process with workers as its children. store is the folder of its own, for the time
// of the run; threads are those of all workers together. Without the flags the cluster is nil. close ends all of it; done says that the
// store is not needed to go on.
func (e *elsewhere) open(ctx context.Context, store string, threads int) (c *cluster.Cluster, close func(done bool), err error) {
	none := func(bool) {}
	switch {
	case e.server != "":
		b, err := e.connect(ctx)
		if err != nil {
			return nil, none, err
		}
		ready, err := b.Prepared(ctx)
		if err == nil && !ready { // a NATS server that somebody else serves
			err = b.Prepare(ctx)
		}
		if err != nil {
			b.Close()
			return nil, none, err
		}
		e.broker = b
		c := b.Cluster()
		return &c, func(bool) { b.Close() }, nil
	case e.workers > 0:
		crew, err := startCrew(ctx, store, e.workers, threads)
		if err != nil {
			return nil, none, err
		}
		e.broker = crew.broker
		c := crew.broker.Cluster()
		return &c, crew.close, nil
	}
	return nil, none, nil
}

// free is the number of tasks that workers of this program can begin now.
func (e *elsewhere) free(ctx context.Context) (n int, err error) {
	if e.workers > 0 {
		return e.workers, nil
	}
	texts, err := e.broker.Workers(ctx, answerTime)
	foreign := 0
	for _, p := range answers[presence](texts, &foreign) {
		if p.Version == starling.Build() && p.Arch == runtime.GOARCH {
			n += max(0, p.Slots-len(p.Tasks))
		}
	}
	return n, err
}

// crewLease is short: between the processes of a machine nothing is late.
const crewLease = 8 * time.Second

// crew is a server within this process, and workers that are its children. They reach it by their stdin and stdout, so that there is no port.
type crew struct {
	store  string
	server *server.Server
	broker *broker.Broker
	all    sync.WaitGroup // of the children's pipes

	turn     sync.Mutex
	children map[*exec.Cmd]bool
	closing  bool
}

func startCrew(ctx context.Context, store string, workers, threads int) (_ *crew, err error) {
	c := &crew{store: store, children: map[*exec.Cmd]bool{}}
	defer func() {
		if err != nil {
			c.close(false)
		}
	}()
	if c.server, err = server.Start(server.Options{Dir: filepath.Join(store, "server"), Lease: crewLease, Log: func(text string) { tell("starling: " + text) }}); err != nil {
		return nil, err
	}
	if c.broker, err = broker.Connect(ctx, broker.Options{Dial: c.server.Dial, Name: "submitter"}); err != nil {
		return nil, err
	}
	go func() {
		select {
		case err := <-c.server.Broken():
			tell("starling: " + err.Error())
			c.broker.Close() // which ends the run
		case <-c.broker.Gone().Done():
		}
	}()
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	for range workers {
		if err := c.start(max(1, threads/workers)); err != nil {
			return nil, fmt.Errorf("starting a worker: %w", err)
		}
	}
	return c, nil
}

// start starts a worker and joins its pipes to the server. One that ends before its time is started again.
func (c *crew) start(threads int) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	child := exec.Command(program, "worker", "--pipe", "--threads", strconv.Itoa(threads), "--cache", filepath.Join(c.store, "cache"))
	child.Stderr = os.Stderr
	child.SysProcAttr = apart() // an interrupt at the terminal is for this process, which tells its workers
	to, err := child.StdinPipe()
	if err != nil {
		return err
	}
	from, err := child.StdoutPipe()
	if err != nil {
		return err
	}
	conn, err := c.server.Dial()
	if err != nil {
		return err
	}
	c.turn.Lock()
	defer c.turn.Unlock()
	if c.closing {
		return conn.Close()
	}
	if err := child.Start(); err != nil {
		conn.Close()
		return err
	}
	c.children[child] = true
	c.all.Go(func() {
		io.Copy(to, conn)
		to.Close()
	})
	c.all.Go(func() {
		io.Copy(conn, from)
		conn.Close()
		c.ended(child, child.Wait(), threads)
	})
	return nil
}

// restartPause keeps workers that end at once from being started again without a rest.
const restartPause = time.Second

func (c *crew) ended(child *exec.Cmd, why error, threads int) {
	c.turn.Lock()
	delete(c.children, child)
	closing := c.closing
	c.turn.Unlock()
	if closing {
		return
	}
	tell(fmt.Sprintf("starling: a worker ended before its time (%v); another one takes its place", why))
	time.Sleep(restartPause)
	if err := c.start(threads); err != nil {
		tell(fmt.Sprintf("starling: starting a worker: %v", err))
	}
}

// close ends the workers, after their steps, and then the server. done: the store is removed.
func (c *crew) close(done bool) {
	c.turn.Lock()
	c.closing = true
	for child := range c.children {
		if child.Process.Signal(os.Interrupt) != nil { // a system without signals
			child.Process.Kill()
		}
	}
	c.turn.Unlock()
	c.all.Wait()
	if c.broker != nil {
		c.broker.Close()
	}
	if c.server != nil {
		c.server.Close()
	}
	if done {
		os.RemoveAll(c.store)
	}
}

// storeOf is the folder of the server within this process, beside that of the run: hidden, and gone when the run is done.
func storeOf(dir string) string {
	return filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+".cluster")
}
