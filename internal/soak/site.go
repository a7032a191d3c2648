//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/starling-smc/starling/internal/metamorphic"
)

// site is a cluster of this machine: servers, workers, and submitters that make runs over and over.
type site struct {
	*clusters
	dir    string   // with the servers' folders, the runs, and what all processes say
	at     []string // flags by which clients reach the servers
	keys   string   // folder; "": none
	lanes  []*lane
	server []*post
	worker []*post

	restarts sync.WaitGroup // processes that end and are started again

	tasks sync.Mutex                   // for what follows
	work  map[*process]map[string]bool // tasks that workers compute
	lost  map[string]loss              // tasks whose worker was sent a signal, until another one goes on
}

// loss is when and how a task lost its worker.
type loss struct {
	at  time.Time
	how string
	by  *process
}

// newSite starts servers. With keys, they are at host; three of them have copies of everything.
func (c *clusters) newSite(name, host string, servers int, keys bool) (*site, error) {
	s := &site{clusters: c, dir: name, work: map[*process]map[string]bool{}, lost: map[string]loss{}}
	if err := os.Mkdir(s.dir, 0o777); err != nil {
		return nil, err
	}
	var all, urls []string
	scheme := "nats://"
	if keys {
		s.keys, scheme = filepath.Join(s.dir, "keys"), "tls://"
		if text, err := exec.Command(c.program, "cluster", "keys", s.keys, "--host", host).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w: %s", err, text)
		}
	}
	for range servers {
		address, err := c.freeAddress(host)
		if err != nil {
			return nil, err
		}
		all, urls = append(all, address), append(urls, scheme+address)
	}
	s.at = []string{"--server", strings.Join(urls, ",")}
	if keys {
		s.at = append(s.at, "--keys", s.keys)
	}
	for i, address := range all {
		line := []string{"cluster", "serve", "--dir", filepath.Join(s.dir, fmt.Sprint("store-", i)), "--listen", address}
		if keys {
			line = append(line, "--keys", s.keys)
		}
		if servers > 1 {
			line = append(line, "--peers", strings.Join(all, ","))
		}
		s.server = append(s.server, &post{site: s, what: fmt.Sprint("server-", i), line: line, ready: "serves at "})
	}
	if err := s.start(s.server); err != nil {
		c.fail(err)
		return nil, s.close() // which kills those that have started
	}
	return s, nil
}

// freeAddress is one that a server can have again after it was killed: below the ports that systems give out, and so is the one for other servers.
func (c *clusters) freeAddress(host string) (string, error) {
	for range 100 {
		port := 10000 + c.intN(20000)
		free := true
		for _, port := range []int{port, port + 2000} {
			l, err := net.Listen("tcp", net.JoinHostPort(host, fmt.Sprint(port)))
			if err == nil {
				l.Close()
			}
			free = free && err == nil
		}
		if free {
			return net.JoinHostPort(host, fmt.Sprint(port)), nil
		}
	}
	return "", fmt.Errorf("no free port at %s", host)
}

// addWorkers starts workers, which share a cache as those of a machine do.
func (s *site) addWorkers(n int, prefix ...string) error {
	for range n {
		s.worker = append(s.worker, &post{site: s, what: fmt.Sprint("worker-", len(s.worker)), prefix: prefix, ready: "starling worker: computes ", heard: s.hear,
			line: slices.Concat([]string{"worker", "--threads", "2", "--save-every", "100ms", "--cache", filepath.Join(s.dir, "cache")}, s.at)})
	}
	return s.start(s.worker[len(s.worker)-n:])
}

func (s *site) start(posts []*post) error {
	for _, p := range posts {
		if err := p.start(); err != nil {
			return err
		}
	}
	for _, p := range posts {
		if err := p.wait(); err != nil {
			return err
		}
	}
	return nil
}

// said are the lines by which workers tell of tasks.
var said = regexp.MustCompile(`^starling worker: (begins|ends|stops) (part \d+ of phase \w+, run \w+)`)

// hear keeps the books of what workers compute, and how long a task that lost its worker waited for the next one.
func (s *site) hear(p *process, line string) {
	words := said.FindStringSubmatch(line)
	if words == nil {
		return
	}
	s.tasks.Lock()
	defer s.tasks.Unlock()
	task := words[2]
	l, lost := s.lost[task]
	switch words[1] {
	case "begins":
		for _, tasks := range s.work {
			delete(tasks, task) // a worker that has lost it
		}
		if s.work[p] == nil {
			s.work[p] = map[string]bool{}
		}
		if s.work[p][task] = true; lost {
			s.waits("a part goes on elsewhere after "+l.how, time.Since(l.at))
			delete(s.lost, task)
		}
	case "ends":
		if lost && l.by == p { // it was faster than the signal
			delete(s.lost, task)
		}
		fallthrough
	case "stops":
		delete(s.work[p], task)
	}
}

// loses notes what a worker computed that gets a signal.
func (s *site) loses(p *process, how string) (phases string) {
	s.tasks.Lock()
	defer s.tasks.Unlock()
	all := map[string]bool{}
	for task := range s.work[p] {
		all[strings.Fields(task)[4]] = true
		s.lost[task] = loss{time.Now(), how, p}
	}
	return phasesOf(all)
}

// alsoServer notes that the server is killed, too: then it may forget who has a task, and another worker gets it sooner.
func (s *site) alsoServer() {
	s.tasks.Lock()
	defer s.tasks.Unlock()
	for task, l := range s.lost {
		l.how = strings.TrimSuffix(l.how, withServer) + withServer
		s.lost[task] = l
	}
}

const withServer = " and one of the server"

// phases are those of all tasks that are computed.
func (s *site) phases() string {
	s.tasks.Lock()
	defer s.tasks.Unlock()
	all := map[string]bool{}
	for _, tasks := range s.work {
		for task := range tasks {
			all[strings.Fields(task)[4]] = true
		}
	}
	return phasesOf(all)
}

func phasesOf(all map[string]bool) string {
	if len(all) == 0 {
		return "nothing at work"
	}
	return strings.ReplaceAll(strings.Join(slices.Sorted(maps.Keys(all)), " and "), ",", "")
}

// busy reports whether a worker has a task.
func (s *site) busy(p *process) bool {
	s.tasks.Lock()
	defer s.tasks.Unlock()
	return len(s.work[p]) > 0
}

// forgetWorker drops what a process that has ended was at.
func (s *site) forgetWorker(p *process) {
	s.tasks.Lock()
	defer s.tasks.Unlock()
	delete(s.work, p)
}

// down finds what commands say, at once, that find no server.
var down = regexp.MustCompile(`: (nobody listens there|it has ended the connection before)`)

// ask runs a verb of cluster, again while the server is down.
func (s *site) ask(words ...string) ([]byte, error) {
	for {
		var stdout, stderr bytes.Buffer
		cmd := exec.Command(s.program, slices.Concat([]string{"cluster"}, words, s.at)...)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err == nil {
			return stdout.Bytes(), nil
		} else if s.ctx.Err() != nil || !down.Match(stderr.Bytes()) {
			return nil, fmt.Errorf("cluster %s: %w: %s", words, err, stderr.Bytes())
		}
		s.sleep(200 * time.Millisecond)
	}
}

// runs are the sums of those that the servers know.
func (s *site) runs() (sums []string, err error) {
	text, err := s.ask("status", "--json")
	if err != nil {
		return nil, err
	}
	var status struct{ Runs []struct{ Run string } }
	err = json.Unmarshal(text, &status)
	for _, r := range status.Runs {
		sums = append(sums, r.Run)
	}
	return sums, err
}

// waiting reports whether a task has lost its worker and has no other one yet.
func (s *site) waiting() bool {
	s.tasks.Lock()
	defer s.tasks.Unlock()
	return len(s.lost) > 0
}

// upset makes runs with workers, and calls kill until it has killed so many processes. Every run ends with the bytes of the single process, at
// least once. Then the servers forget them.
func (s *site) upset(runs []metamorphic.Run, workers, kills int, kill func(n int) bool) error {
	if err := s.addWorkers(workers); err != nil {
		return err
	}
	for _, r := range runs {
		s.addLane(r)
	}
	for _, l := range s.lanes {
		if err := l.learn(); err != nil {
			return err
		}
	}
	for _, l := range s.lanes {
		if err := l.forget(); err != nil {
			return err
		}
	}
	var all sync.WaitGroup
	enough, stop := context.WithCancel(s.ctx)
	defer stop()
	for _, l := range s.lanes {
		all.Go(func() {
			for first := true; first || enough.Err() == nil; first = false {
				err := l.round()
				if err == nil {
					err = l.forget()
				}
				if err != nil {
					s.fail(err)
					return
				}
			}
		})
	}
	for n := 0; n < kills && s.ctx.Err() == nil; {
		s.pause(s.gap)
		if kill(n) {
			n++
		}
	}
	stop()
	all.Wait()
	s.restarts.Wait()
	left, err := s.ask("status")
	if err == nil && !bytes.HasPrefix(left, []byte("no runs")) {
		err = fmt.Errorf("the servers have runs that they were asked to forget:\n%s", left)
	}
	return errors.Join(err, s.close())
}

// close asks all processes to end, the workers first. On its way out because of a fault it kills them.
func (s *site) close() error {
	for _, p := range slices.Concat(s.worker, s.server) {
		p.turn.Lock()
		if now := p.now; now != nil {
			p.closed = true
			if s.ctx.Err() != nil {
				now.send(syscall.SIGKILL)
			} else {
				now.send(syscall.SIGTERM)
			}
			if err := now.end(0); err != nil {
				s.fail(err)
			}
		}
		p.turn.Unlock()
	}
	return context.Cause(s.ctx)
}
