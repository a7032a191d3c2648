//go:build unix

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// post keeps a process running: one that is killed is started again after a while.
type post struct {
	*site
	what         string
	prefix, line []string
	ready        string // begins the line with which it says so
	heard        func(*process, string)

	turn   sync.Mutex // held from a signal until the next process
	now    *process
	said   chan struct{} // closed when the process is ready
	closed bool
}

func (p *post) start() error {
	said := make(chan struct{})
	var once sync.Once
	hear := func(q *process, line string) {
		if strings.HasPrefix(line, p.ready) {
			once.Do(func() { close(said) })
		}
		if p.heard != nil {
			p.heard(q, line)
		}
	}
	line := slices.Concat(p.prefix, []string{p.program}, p.line)
	now, err := begin(p.dir, p.what, hear, line[0], line[1:]...)
	if err != nil {
		return err
	}
	p.now, p.said = now, said
	p.started()
	go func() {
		<-now.over
		if now.signal() == 0 {
			p.fail(fmt.Errorf("%s ended by itself: %v: %s", p.what, now.err, now.last()))
		}
		p.forgetWorker(now)
	}()
	return nil
}

// current is the process, once one is there that nobody has killed.
func (p *post) current() *process {
	p.turn.Lock()
	defer p.turn.Unlock()
	return p.now
}

// stop ends the process for good.
func (p *post) stop() error {
	p.turn.Lock()
	defer p.turn.Unlock()
	p.closed = true
	p.now.send(syscall.SIGTERM)
	return p.now.end(0)
}

// wait waits until the process says that it is ready.
func (p *post) wait() error {
	select {
	case <-p.said:
		return nil
	case <-p.ctx.Done():
		return context.Cause(p.ctx)
	case <-time.After(slow):
		return fmt.Errorf("%s is not ready after %v: %s", p.what, slow, p.now.last())
	}
}

// kill sends a signal to the process, and starts the next one later. It does nothing where one is on its way.
func (p *post) kill(kind string, at func(*process) string) bool {
	if !p.turn.TryLock() {
		return false
	}
	if p.closed {
		p.turn.Unlock()
		return false
	}
	p.kills(strings.TrimRight(p.what, "-0123456789"), kind, at(p.now))
	began := time.Now()
	p.now.send(ends[kind])
	p.restarts.Go(func() {
		defer p.turn.Unlock()
		err := p.now.end(0)
		if kind != "KILL" {
			p.waits(strings.TrimRight(p.what, "-0123456789")+" has ended after "+kind, time.Since(began))
		}
		p.pause(p.gap)
		if err == nil && p.ctx.Err() == nil {
			err = p.start()
		}
		if err != nil {
			p.fail(err)
		}
	})
	return true
}

// ends are the signals that end processes of a cluster.
var ends = map[string]syscall.Signal{"KILL": syscall.SIGKILL, "TERM": syscall.SIGTERM, "INT": syscall.SIGINT}
