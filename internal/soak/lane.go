//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/starling-smc/starling/internal/metamorphic"
)

// lane makes one run over and over. Its submitter is killed and goes on.
type lane struct {
	*site
	run    metamorphic.Run
	folder string
	sum    string // of the run, at the servers

	turn sync.Mutex
	now  *process // nil: none
}

func (s *site) addLane(r metamorphic.Run) {
	s.lanes = append(s.lanes, &lane{site: s, run: r, folder: filepath.Join(s.dir, r.Name)})
}

// kill sends a signal to the submitter, if there is one.
func (l *lane) kill(kind string) bool {
	l.turn.Lock()
	defer l.turn.Unlock()
	if l.now == nil || l.now.signal() != 0 {
		return false
	}
	l.now.send(ends[kind])
	return true
}

// submit starts the submitter, and waits for its end. It reports whether the run is done.
func (l *lane) submit() (done bool, err error) {
	now, err := begin(l.dir, "submitter-"+l.run.Name, nil, l.program, slices.Concat(l.run.Line(l.folder), l.at, []string{"--threads", "1", "--save-every", "50ms"})...)
	if err != nil {
		return false, err
	}
	l.started()
	l.turn.Lock()
	l.now = now
	l.turn.Unlock()
	defer func() {
		l.turn.Lock()
		l.now = nil
		l.turn.Unlock()
	}()
	select {
	case <-now.over:
	case <-l.ctx.Done():
		now.send(syscall.SIGKILL)
		<-now.over
		return false, context.Cause(l.ctx)
	case <-time.After(5 * slow):
		now.send(syscall.SIGQUIT)
		<-now.over
		return false, fmt.Errorf("run %s is not done after %v: %s", l.run.Name, 5*slow, now.log)
	}
	sent := now.signal()
	if sent == 0 && now.err != nil && down.MatchString(now.last()) {
		return false, nil
	}
	if sent == 0 && now.err != nil {
		return false, fmt.Errorf("the submitter of run %s ended by itself: %v: %s", l.run.Name, now.err, now.last())
	}
	if sent != 0 {
		err = now.end(130)
	}
	if err != nil {
		return false, err
	}
	if now.err != nil {
		phase, err := metamorphic.Phase(l.folder)
		l.kills("submitter", names[sent], phase)
		return false, err
	}
	if sent != 0 { // it was at its end: its page may be missing
		return false, nil
	}
	if !metamorphic.Done(l.folder) {
		return false, fmt.Errorf("the submitter of run %s says that it is done, and its folder does not: %s", l.run.Name, now.last())
	}
	return true, nil
}

var names = map[syscall.Signal]string{syscall.SIGKILL: "KILL", syscall.SIGTERM: "TERM", syscall.SIGINT: "INT"}

// round makes the run once, compares its files with those of the single process, and has the servers forget it.
func (l *lane) round() error {
	if err := os.RemoveAll(l.folder); err != nil {
		return err
	}
	for done := false; !done; {
		var err error
		if done, err = l.submit(); err != nil {
			return err
		}
		if l.ctx.Err() != nil {
			return context.Cause(l.ctx)
		}
		if !done {
			l.pause(l.gap)
		}
	}
	if err := l.same(); err != nil {
		return err
	}
	l.done()
	return nil
}

// same compares the folder with that of the single process.
func (l *lane) same() error {
	differ, err := metamorphic.Differences(filepath.Join("done", l.run.Name), l.folder)
	if err == nil && differ != nil {
		err = fmt.Errorf("run %s differs from that of a single process:\n  %s", l.run.Name, strings.Join(differ, "\n  "))
	}
	return err
}

// learn makes the first round, which nobody disturbs, and learns how the servers name the run.
func (l *lane) learn() error {
	if err := l.round(); err != nil {
		return err
	}
	sums, err := l.runs()
	for _, sum := range sums {
		if !slices.ContainsFunc(l.lanes, func(other *lane) bool { return other.sum == sum }) {
			l.sum = sum
		}
	}
	if err == nil && l.sum == "" {
		err = fmt.Errorf("the servers do not know run %s", l.run.Name)
	}
	return err
}

// forget has the servers forget the run, whose folder is done.
func (l *lane) forget() error {
	if _, err := l.ask("forget", l.sum); err != nil {
		return err
	}
	l.tasks.Lock()
	defer l.tasks.Unlock()
	for task := range l.lost {
		if strings.HasSuffix(task, l.sum[:12]) {
			delete(l.lost, task)
		}
	}
	return nil
}
