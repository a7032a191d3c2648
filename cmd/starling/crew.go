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

	"github.com/starling-smc/starling/cluster/broker"
	"github.com/starling-smc/starling/cluster/server"
)

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
