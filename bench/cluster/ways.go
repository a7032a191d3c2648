package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/cluster/broker"
	"github.com/starling-smc/starling/cluster/keyring"
	"github.com/starling-smc/starling/cluster/server"
)

// way is one to reach a server.
type way struct {
	name              string
	submitter, worker cluster.Cluster
}

const (
	within  = "server in the process"
	plain   = "server by TCP"
	secured = "server by TLS"
	three   = "three servers by TLS"
)

var wayNames = []string{within, plain, secured, three}

// ways starts all servers, so that each is measured beside the others.
func (b *bench) ways(ctx context.Context) (all []way, closeAll func(), err error) {
	var ends []func()
	end := func() {
		for _, end := range ends {
			end()
		}
	}
	defer func() {
		if err != nil {
			end()
		}
	}()
	dir, err := os.MkdirTemp(b.temp, "ways-")
	if err != nil {
		return nil, nil, err
	}
	join := func(name string, o broker.Options, keys string) error {
		w := way{name: name}
		for role, to := range map[keyring.Role]*cluster.Cluster{keyring.Submitter: &w.submitter, keyring.Worker: &w.worker} {
			if keys != "" {
				k, err := keyring.Read(keys, role)
				if err != nil {
					return err
				}
				o.TLS, o.Seed, o.Inbox = k.TLS, k.Seed, k.Inbox
			}
			conn, err := broker.Connect(ctx, o)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			ends = append(ends, func() { conn.Close() })
			*to = conn.Cluster()
		}
		all = append(all, w)
		return nil
	}
	s, err := server.Start(server.Options{Dir: filepath.Join(dir, "within")})
	if err != nil {
		return nil, nil, err
	}
	ends = append(ends, func() { s.Close() })
	if err := join(within, broker.Options{Dial: s.Dial}, ""); err != nil {
		return nil, nil, err
	}
	keys := filepath.Join(dir, "keys")
	if _, err := keyring.Write(keys, nil, 60*24*time.Hour); err != nil {
		return nil, nil, err
	}
	serve := func(name string, args ...string) (address string, err error) {
		address, end, err := b.serve(append([]string{"--dir", filepath.Join(dir, name)}, args...)...)
		if err == nil {
			ends = append(ends, end)
		}
		return address, err
	}
	address, err := serve("plain", "--listen", "127.0.0.1:0")
	if err == nil {
		err = join(plain, broker.Options{Server: "nats://" + address}, "")
	}
	if err == nil {
		address, err = serve("secured", "--listen", "127.0.0.1:0", "--keys", keys)
	}
	if err == nil {
		err = join(secured, broker.Options{Server: "tls://" + address}, keys)
	}
	if err != nil {
		return nil, nil, err
	}
	peers, err := freePorts(3)
	if err != nil {
		return nil, nil, err
	}
	var urls []string
	for i, p := range peers {
		if _, err := serve(fmt.Sprint("peer", i), "--listen", p, "--keys", keys, "--peers", strings.Join(peers, ",")); err != nil {
			return nil, nil, err
		}
		urls = append(urls, "tls://"+p)
	}
	if err := join(three, broker.Options{Server: strings.Join(urls, ",")}, keys); err != nil {
		return nil, nil, err
	}
	return all, end, b.settled(ctx, all[3].submitter)
}

// settled waits until three servers have chosen who leads.
func (b *bench) settled(ctx context.Context, c cluster.Cluster) (err error) {
	for range 60 {
		if _, err = cluster.Save(ctx, c.Blocks, cluster.Shared, []byte("settled")); err == nil {
			return nil
		}
		time.Sleep(500 * time.Millisecond)
	}
	return err
}

// serve starts starling cluster serve, and returns its address.
func (b *bench) serve(args ...string) (address string, end func(), err error) {
	c := exec.Command(b.command, append([]string{"cluster", "serve"}, args...)...)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return "", nil, err
	}
	end = func() {
		c.Process.Signal(os.Interrupt)
		c.Wait()
	}
	lines := bufio.NewReader(out)
	first, err := lines.ReadString('\n')
	found := regexp.MustCompile(`^serves at (\S+),`).FindStringSubmatch(first)
	if err != nil || found == nil {
		end()
		return "", nil, errors.New("starling cluster serve does not say where it listens: " + first)
	}
	go lines.WriteTo(discard{})
	return found[1], end, nil
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// freePorts finds addresses of this machine whose ports are free, and those by which servers reach each other.
func freePorts(n int) (all []string, err error) {
	for range 1000 {
		port := 20000 + rand.IntN(20000)
		free := true
		for _, p := range []int{port, port + server.RoutePort} {
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", p))
			if free = free && err == nil; err == nil {
				l.Close()
			}
		}
		if free {
			all = append(all, fmt.Sprintf("127.0.0.1:%d", port))
		}
		if len(all) == n {
			return all, nil
		}
	}
	return nil, errors.New("there are no free ports")
}

// tasks are those of a run that no other has the name of.
func tasks(n int) []cluster.Task {
	var id cluster.Sum
	for i := range id {
		id[i] = byte(rand.Uint32())
	}
	all := make([]cluster.Task, n)
	for i := range all {
		all[i] = cluster.Task{Config: cluster.Content{Sum: id}, Version: "bench", Arch: "any", Kernels: []string{"any"}, Phase: "phase", Part: i}
	}
	return all
}

// begin starts a worker of one part at a time; stop ends it.
func begin(ctx context.Context, c cluster.Cluster, name string, work cluster.Work) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan bool)
	w := &cluster.Worker{Cluster: c, Name: name, Version: "bench", Arch: "any", Kernel: "any", Work: work, Note: func(_ cluster.Task, err error) { fmt.Fprintln(os.Stderr, name+":", err) }}
	go func() {
		w.Run(ctx)
		close(ended)
	}()
	return func() {
		cancel()
		<-ended
	}
}

// do has tasks computed.
func do(ctx context.Context, c cluster.Cluster, all []cluster.Task) error {
	return (&cluster.Coordinator{Cluster: c}).Do(ctx, all, func(int, cluster.End) error { return nil })
}
