// Package server is the queue and the store of a cluster: a NATS server with JetStream in this process.
//
// A server without an address has no port; this process reaches it by [Server.Dial]. With keys, clients need TLS 1.3, a certificate and an
// nkey, and each role may do only what it needs. Every message that the server acknowledges is on the disk.
package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	nats "github.com/nats-io/nats-server/v2/server"

	"github.com/starling-smc/starling/cluster/keyring"
	"github.com/starling-smc/starling/internal/lock"
)

// Options are those of a server.
type Options struct {
	Dir    string   // of what it stores: made, if it does not exist. Not on a network file system
	Listen string   // the address for clients, such as 10.0.0.1:4222; "": none, only this process reaches the server
	Keys   string   // the folder of keyring.Write, or its folder of the server; "": none, for a loopback address only
	Name   string   // of the server among its peers, the same after each start; "": the host's name and the port
	Peers  []string // the addresses of all servers of a cluster of three or five, this one's may be among them; nil: there is one server

	StoreBytes int64         // the most bytes that it stores; 0: three quarters of what it has stored and what is free on the disk
	Lease      time.Duration // as of broker.Options
	RunBytes   int64         // a run that has stored more bytes is ended, half a minute later at most; 0: no limit

	ForgetAfter time.Duration // a run that was done, cancelled or failed so long ago is removed; 0: none is

	Log func(string) // if not nil, is told of errors, and of the first clients that are refused
}

const startTime = 30 * time.Second // for the start: a large store is read

// Server is a server that runs.
type Server struct {
	options Options
	nats    *nats.Server
	held    *lock.Lock
	keys    *keyring.Servers // nil: none
	refused *refusals
	broken  chan error
	ended   context.CancelFunc // of what manages the streams
	managed sync.WaitGroup

	listener net.Listener // nil: no port
	mu       sync.Mutex
	open     map[net.Conn]bool // of clients
	serving  sync.WaitGroup
	closed   bool
}

// Start starts a server, and returns when clients can connect and the streams are there; one of several servers does not wait for the
// others. Wrong options are an *OptionError.
func Start(o Options) (_ *Server, err error) {
	if o.Log == nil {
		o.Log = func(string) {}
	}
	s := &Server{options: o, refused: newRefusals(o.Log), open: map[net.Conn]bool{}, broken: make(chan error, 1)}
	if o.Keys != "" {
		keys, err := keyring.ReadServer(o.Keys)
		if err != nil {
			return nil, &OptionError{err}
		}
		keys.TLS.VerifyConnection = onlyClients
		keys.TLS.SessionTicketsDisabled = true // each connection shows a certificate that is valid then
		s.keys = &keys
	}
	if err := o.check(); err != nil {
		return nil, &OptionError{err}
	}
	if s.held, err = takeFolder(o.Dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if o.Listen != "" {
		if s.listener, err = net.Listen("tcp", o.Listen); err != nil {
			return nil, fmt.Errorf("cannot listen on %s: %w", o.Listen, err)
		}
	}
	if s.options.StoreBytes == 0 {
		if s.options.StoreBytes, err = limitOf(o.Dir); err != nil {
			return nil, err
		}
	}
	options, seed, err := s.natsOptions()
	if err != nil {
		return nil, err
	}
	if s.nats, err = nats.NewServer(options); err != nil {
		return nil, fmt.Errorf("the server does not start: %w", err)
	}
	s.nats.SetLoggerV2(&logger{refused: s.refused, log: o.Log, broken: s.breaks}, false, false, false)
	s.nats.Start()
	if o.Peers != nil {
		// Start leaves this to a goroutine that waits for a port of NATS's own, which never is: the guard has the port.
		ready := make(chan struct{})
		close(ready)
		s.nats.StartRouting(ready)
	}
	if o.Peers == nil && !s.nats.ReadyForConnections(startTime) {
		return nil, fmt.Errorf("the server in %s was not ready within %v", o.Dir, startTime)
	}
	ctx, end := context.WithCancel(context.Background())
	s.ended = end
	if o.Peers != nil {
		s.managed.Go(func() { s.manageAmongPeers(ctx, seed) })
	} else {
		b, err := s.connect(ctx, seed)
		if err == nil {
			err = b.Prepare(ctx)
		}
		if err != nil {
			return nil, fmt.Errorf("the server in %s starts, but does not work: %w", o.Dir, err)
		}
		s.managed.Go(func() { s.manage(ctx, b, true) })
	}
	if s.listener != nil {
		s.serving.Add(1)
		go s.accept()
	}
	return s, nil
}

// Dial connects this process to the server, without a port. A server with keys asks for an nkey here, too.
func (s *Server) Dial() (net.Conn, error) { return s.nats.InProcessConn() }

// Broken is told, once, of a write that failed, on a full disk as a rule. NATS writes nothing more to that stream until it starts again: close the
// server.
func (s *Server) Broken() <-chan error { return s.broken }

func (s *Server) breaks(why string) {
	select {
	case s.broken <- fmt.Errorf("the server cannot write to %s, which has no room left or is faulty: make room, and start the server again; runs then go on (%s)", s.options.Dir, why):
	default:
	}
}

// Address is where the server listens: "", if it has no port.
func (s *Server) Address() string {
	if s.listener == nil {
		return ""
	}
	return s.listener.Addr().String()
}

// Expires is when the first certificate of the server expires: zero without keys.
func (s *Server) Expires() time.Time {
	if s.keys == nil {
		return time.Time{}
	}
	return s.keys.Expires
}

// Close stops the server and waits until it is down. Closing it again does nothing.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	if s.listener != nil {
		s.listener.Close()
	}
	for c := range s.open {
		c.Close()
	}
	s.mu.Unlock()
	s.serving.Wait()
	if s.ended != nil {
		s.ended()
		s.managed.Wait()
	}
	if s.nats != nil {
		s.nats.Shutdown()
		s.nats.WaitForShutdown()
	}
	return s.held.Free()
}

const (
	markFile = "starling-cluster"
	markText = "This folder belongs to starling cluster serve. It holds the queue, the store and the results of runs.\n"
	lockFile = "starling-cluster.lock"
)

// takeFolder makes the folder of a server, or takes one that a server has made, for this process alone.
func takeFolder(dir string) (*lock.Lock, error) {
	if dir == "" {
		return nil, errors.New("the server needs a folder")
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		err = os.MkdirAll(dir, 0o700)
	case err == nil && len(entries) > 0:
		if _, err := os.Stat(filepath.Join(dir, markFile)); err != nil {
			return nil, fmt.Errorf("%s has files and is no folder of a server: name an empty folder, or one that does not exist", dir)
		}
	}
	if err != nil {
		return nil, err
	}
	held, err := lock.Take(filepath.Join(dir, lockFile))
	var other *lock.HeldError
	if errors.As(err, &other) {
		return nil, fmt.Errorf("another server (%s) works in %s: end it, or name another folder", other.By, dir)
	}
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, markFile), []byte(markText), 0o600); err != nil {
		return nil, errors.Join(err, held.Free())
	}
	return held, nil
}
