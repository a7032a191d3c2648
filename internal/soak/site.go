//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
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
	line   []string // before the command's line of each worker, such as ip netns exec NAME
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
	return s, s.start(s.server)
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

// down is what commands say, at once, that find no server.
const down = "nobody listens there"

// ask runs a verb of cluster, again while the server is down.
func (s *site) ask(words ...string) ([]byte, error) {
	for {
		var stdout, stderr bytes.Buffer
		cmd := exec.Command(s.program, slices.Concat([]string{"cluster"}, words, s.at)...)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err == nil {
			return stdout.Bytes(), nil
		} else if s.ctx.Err() != nil || !strings.Contains(stderr.String(), down) {
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
		s.pause(3 * time.Second)
		if kill(n) {
			n++
		}
	}
	stop()
	all.Wait()
	s.restarts.Wait()
	if left, err := s.runs(); err != nil || len(left) > 0 {
		return fmt.Errorf("the servers have runs that they were asked to forget: %v, %w", left, err)
	}
	return s.close()
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

// kill sends a signal to the process, and starts the next one later, at most after a time. It does nothing where one is on its way.
func (p *post) kill(kind string, most time.Duration, at func(*process) string) bool {
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
		p.pause(most)
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
	if sent == 0 && now.err != nil && strings.Contains(now.last(), down) {
		return false, nil
	}
	if sent == 0 && now.err != nil {
		return false, fmt.Errorf("the submitter of run %s ended by itself: %v: %s", l.run.Name, now.err, now.last())
	}
	if sent != 0 {
		err = now.end(130)
	}
	done = metamorphic.Done(l.folder)
	if err == nil && now.err == nil && !done {
		err = fmt.Errorf("the submitter of run %s says that it is done, and its folder does not: %s", l.run.Name, now.last())
	}
	if err == nil && now.err != nil {
		phase, fault := metamorphic.Phase(l.folder)
		l.kills("submitter", names[sent], phase)
		err = fault
	}
	return done, err
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
			l.pause(2 * time.Second)
		}
	}
	differ, err := metamorphic.Differences(filepath.Join("done", l.run.Name), l.folder)
	if err != nil {
		return err
	}
	if differ != nil {
		return fmt.Errorf("run %s differs from that of a single process:\n  %s", l.run.Name, strings.Join(differ, "\n  "))
	}
	l.done()
	return nil
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
