//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/starling-smc/starling/cluster/broker"
	"github.com/starling-smc/starling/cluster/keyring"
	"github.com/starling-smc/starling/internal/metamorphic"
)

// clusterRuns are the runs that clusters make: they have phases of restarts, of a pilot and of islands, and states in files.
var clusterRuns = []metamorphic.Run{
	metamorphic.Longer("islands", "map.epochs=2000", "map.patience=2000", "method.smc.islands=4", "method.smc.particles=150", "method.smc.path.tempering.ess=0.985", "method.smc.move.hmc.mutations=8"),
	metamorphic.Longer("adaptive", "method.smc.pilot=true", "method.smc.islands=3", "method.smc.particles=300", "method.smc.path.tempering.ess=0.985", "method.smc.move.pcn.mutations.max=60"),
	metamorphic.Longer("shards", "method.smc.islands=3", "method.smc.path.full.iterations=150", "method.smc.keep.after=5", "method.smc.stop.patience=150"),
}

// clusters is a soak of workers, servers and submitters. Its stages go on side by side.
type clusters struct {
	*soak
	program string
	gap     time.Duration   // most time between two kills, and from the end of a process to the next one
	ctx     context.Context // ends with the first fault, or when the soak is interrupted
	fail    context.CancelCauseFunc

	books  sync.Mutex // for what follows, and what the soak counts
	waited map[string][]time.Duration
	notes  []string
}

// newClusters makes the runs, each by a single process.
func newClusters(ctx context.Context, s *soak, runs []metamorphic.Run) (*clusters, error) {
	c := &clusters{soak: s, gap: 3 * time.Second, waited: map[string][]time.Duration{}}
	c.ctx, c.fail = context.WithCancelCause(ctx)
	for _, r := range runs {
		if err := s.world.Make(r); err != nil {
			return nil, err
		}
	}
	var err error
	c.program, err = filepath.Abs("starling")
	return c, err
}

// stage is a part of the soak with a cluster of its own.
type stage func(c *clusters, runs []metamorphic.Run, kills int) error

// clusters kills processes of clusters. Of four, one is the leader of three servers.
func (s *soak) clusters(ctx context.Context, kills int) (report string, err error) {
	c, err := newClusters(ctx, s, clusterRuns)
	if err != nil {
		return "", err
	}
	leaders := (kills + 3) / 4
	var all sync.WaitGroup
	for _, one := range []struct {
		do    stage
		kills int
	}{{anything, kills - leaders}, {leader, leaders}, {partition, 0}} {
		all.Go(func() {
			if err := one.do(c, clusterRuns, one.kills); err != nil {
				c.fail(err)
			}
		})
	}
	all.Wait()
	return c.report(), context.Cause(c.ctx)
}

// The soak's random numbers and counts are for all stages.

func (c *clusters) intN(n int) int {
	c.books.Lock()
	defer c.books.Unlock()
	return c.random.IntN(n)
}

func (c *clusters) shuffle(all []string) {
	c.books.Lock()
	defer c.books.Unlock()
	rand.New(c.random).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
}

// pause waits for a random time.
func (c *clusters) pause(most time.Duration) {
	c.sleep(time.Duration(c.intN(int(most))))
}

func (c *clusters) sleep(d time.Duration) {
	select {
	case <-c.ctx.Done():
	case <-time.After(d):
	}
}

func (c *clusters) started() {
	c.books.Lock()
	defer c.books.Unlock()
	c.starts++
}

func (c *clusters) done() {
	c.books.Lock()
	defer c.books.Unlock()
	c.finished++
}

// kills counts a process that was sent a signal.
func (c *clusters) kills(what, how, phase string) {
	c.books.Lock()
	defer c.books.Unlock()
	c.soak.kills++
	c.killed[what+" "+how+", "+phase]++
	fmt.Fprintf(c.log, "%s %s %s, %s\n", time.Now().Format("15:04:05"), what, how, phase)
}

// waits counts how long something took after what was done to it.
func (c *clusters) waits(what string, took time.Duration) {
	c.books.Lock()
	defer c.books.Unlock()
	c.waited[what] = append(c.waited[what], took)
	fmt.Fprintf(c.log, "%s %s: %.1f s\n", time.Now().Format("15:04:05"), what, took.Seconds())
}

func (c *clusters) note(text string) {
	c.books.Lock()
	defer c.books.Unlock()
	c.notes = append(c.notes, text)
}

// report lists the kills, and the times.
func (c *clusters) report() string {
	text := c.soak.report()
	for _, what := range slices.Sorted(maps.Keys(c.waited)) {
		all := slices.Sorted(slices.Values(c.waited[what]))
		text += fmt.Sprintf("%s: %d times, median %.1f s, at most %.1f s\n", what, len(all), all[len(all)/2].Seconds(), all[len(all)-1].Seconds())
	}
	for _, n := range c.notes {
		text += n + "\n"
	}
	return text
}

// victims are what may be killed beside a single server, and how. Most workers that are killed compute.
var victims = []string{"worker KILL", "worker KILL", "worker KILL", "worker KILL", "worker KILL", "worker TERM", "worker TERM", "worker INT",
	"submitter KILL", "submitter KILL", "submitter INT", "server KILL", "server KILL", "server TERM"}

// anything kills workers, submitters and the server.
func anything(c *clusters, runs []metamorphic.Run, kills int) error {
	return c.any(runs, kills, victims)
}

func (c *clusters) any(runs []metamorphic.Run, kills int, victims []string) error {
	s, err := c.newSite("any", "127.0.0.1", 1, false)
	if err != nil {
		return err
	}
	defer s.close()
	order := slices.Clone(victims)
	return s.upset(runs, 3, kills, func(n int) bool {
		if n%len(order) == 0 { // each of them before one comes again
			c.shuffle(order)
		}
		what, kind, _ := strings.Cut(order[n%len(order)], " ")
		switch what {
		case "worker":
			p := s.worker[c.intN(len(s.worker))]
			for try := 0; try < 100 && !s.busy(p.current()); try++ {
				c.sleep(20 * time.Millisecond)
				p = s.worker[c.intN(len(s.worker))]
			}
			return p.kill(kind, func(now *process) string { return s.loses(now, kind) })
		case "submitter":
			return s.lanes[c.intN(len(s.lanes))].kill(kind)
		}
		return s.server[0].kill(kind, func(*process) string { s.alsoServer(); return s.phases() })
	})
}

// leader kills the server that leads a stream, again and again.
func leader(c *clusters, runs []metamorphic.Run, kills int) error {
	s, err := c.newSite("three", "127.0.0.1", 3, true)
	if err != nil {
		return err
	}
	defer s.close()
	w, err := s.watch()
	if err != nil {
		return err
	}
	defer w.Close()
	streams := []string{broker.TaskStream, broker.ResultStream, broker.ValueStream, broker.BlockStream}
	return s.upset(runs[:2], 2, kills, func(n int) bool {
		for _, p := range s.server {
			p.current()
			if err := p.wait(); err != nil {
				return false
			}
		}
		name := w.leader(c.ctx, streams[c.intN(len(streams))])
		for _, p := range s.server {
			_, port, _ := strings.Cut(p.line[5], ":")
			if strings.HasSuffix(name, "-"+port) {
				return p.kill("KILL", func(*process) string { return "leader of a stream, " + s.phases() })
			}
		}
		return false
	})
}

// watcher asks servers who leads their streams.
type watcher struct{ *nats.Conn }

func (s *site) watch() (watcher, error) {
	k, err := keyring.Read(s.keys, keyring.Submitter)
	if err != nil {
		return watcher{}, err
	}
	option, err := nats.NkeyOptionFromSeed(filepath.Join(s.keys, string(keyring.Submitter), "nkey"))
	if err != nil {
		return watcher{}, err
	}
	conn, err := nats.Connect(s.at[1], nats.Secure(k.TLS), option, nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond))
	return watcher{conn}, err
}

// leader is the name of the server that leads a stream, once both others have all that it has: "" where it does not come to that in a while.
func (w watcher) leader(ctx context.Context, stream string) string {
	for try := 0; try < 300 && ctx.Err() == nil; try++ {
		var info struct {
			Cluster struct {
				Leader   string
				Replicas []struct{ Current, Offline bool }
			}
		}
		m, err := w.Request("$JS.API.STREAM.INFO."+stream, nil, time.Second)
		if err == nil && json.Unmarshal(m.Data, &info) == nil && info.Cluster.Leader != "" {
			current := 0
			for _, r := range info.Cluster.Replicas {
				if r.Current && !r.Offline {
					current++
				}
			}
			if current == 2 {
				return info.Cluster.Leader
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	return ""
}

// partition cuts a worker off for longer than it may keep its task without a word. Another one does the task, and the first comes back.
func partition(c *clusters, runs []metamorphic.Run, _ int) (err error) {
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		c.note("no partition between network namespaces: that needs Linux and root")
		return nil
	}
	net, err := newNamespace(c.intN(250))
	if err != nil {
		c.note("no partition between network namespaces: " + err.Error())
		return nil
	}
	defer func() { err = errors.Join(err, net.remove()) }()
	s, err := c.newSite("partition", net.host, 1, true)
	if err != nil {
		return err
	}
	defer s.close()
	return s.partition(net, runs[0])
}

func (s *site) partition(net *namespace, run metamorphic.Run) error {
	s.addLane(run)
	l := s.lanes[0]
	if err := s.addWorkers(1, "ip", "netns", "exec", net.name); err != nil {
		return err
	}
	away := s.worker[0].current()
	made := make(chan error, 1)
	go func() { made <- l.round() }()
	for !s.busy(away) && s.ctx.Err() == nil {
		s.sleep(5 * time.Millisecond)
	}
	s.pause(time.Second)
	if err := net.cut(); err != nil {
		return err
	}
	phase := s.loses(away, "a partition")
	s.kills("worker", "cut off", phase)
	if err := s.addWorkers(1); err != nil {
		return err
	}
	for s.waiting() && s.ctx.Err() == nil { // until the other worker goes on with the same task
		s.sleep(5 * time.Millisecond)
	}
	if err := net.mend(); err != nil {
		return err
	}
	if err := <-made; err != nil {
		return err
	}
	// The worker that was away is as good as before.
	if err := s.worker[1].stop(); err != nil {
		return err
	}
	l.sum = ""
	sums, err := s.runs()
	if err != nil || len(sums) != 1 {
		return fmt.Errorf("the servers know the runs %v, %w", sums, err)
	}
	l.sum = sums[0]
	if err := l.forget(); err != nil {
		return err
	}
	if err := l.round(); err != nil {
		return err
	}
	return s.close()
}

// namespace is a network of its own, with a wire to this one.
type namespace struct{ name, wire, host string }

func newNamespace(number int) (*namespace, error) {
	n := &namespace{fmt.Sprintf("starling-soak-%d", os.Getpid()), fmt.Sprintf("sk%d", os.Getpid()), fmt.Sprintf("10.213.%d.1", number)}
	for _, line := range []string{
		"netns add NAME", "link add WIRE type veth peer name inner netns NAME", "address add HOST.1/24 dev WIRE", "link set WIRE up",
		"-n NAME address add HOST.2/24 dev inner", "-n NAME link set inner up", "-n NAME link set lo up",
	} {
		if err := ip(strings.NewReplacer("NAME", n.name, "WIRE", n.wire, "HOST", strings.TrimSuffix(n.host, ".1")).Replace(line)); err != nil {
			return nil, errors.Join(err, n.remove())
		}
	}
	return n, nil
}

func (n *namespace) cut() error    { return ip("-n " + n.name + " link set inner down") }
func (n *namespace) mend() error   { return ip("-n " + n.name + " link set inner up") }
func (n *namespace) remove() error { return ip("netns delete " + n.name) }

func ip(line string) error {
	text, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip %s: %w %s", line, err, strings.TrimSpace(string(text)))
	}
	return nil
}
