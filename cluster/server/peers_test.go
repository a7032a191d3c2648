package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/starling-smc/starling/cluster/broker"
	"github.com/starling-smc/starling/cluster/keyring"
)

// freeAddresses returns n addresses of which the port and the one of the routes are free.
func freeAddresses(t *testing.T, n int) []string {
	t.Helper()
	var all []string
	var held []net.Listener
	defer func() {
		for _, l := range held {
			l.Close()
		}
	}()
	for len(all) < n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, l)
		_, port, err := splitAddress(l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		routes, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+RoutePort))
		if err != nil {
			continue
		}
		held = append(held, routes)
		all = append(all, l.Addr().String())
	}
	return all
}

// TestThree: three servers know each other by their keys, keep three copies, go on without one of them, and take it back. A client's
// certificate is none of a server.
func TestThree(t *testing.T) {
	if testing.Short() {
		t.Skip("a cluster takes seconds to choose its leaders")
	}
	t.Parallel()
	keys := newKeys(t, time.Hour)
	addresses := freeAddresses(t, 3)
	begin := func(i int) *Server {
		return start(t, Options{Dir: filepath.Join(t.TempDir(), "store"), Listen: addresses[i], Keys: keys, Peers: addresses, Name: fmt.Sprint("s", i)})
	}
	servers := []*Server{begin(0), begin(1), begin(2)}
	k, err := keyring.Read(keys, keyring.Submitter)
	if err != nil {
		t.Fatal(err)
	}
	connect := func(servers string) *broker.Broker {
		for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
			soon, stop := context.WithTimeout(t.Context(), 2*time.Second) // a request before there is a leader is lost
			b, err := broker.Connect(soon, broker.Options{Server: servers, TLS: k.TLS, Seed: k.Seed})
			stop()
			if err == nil {
				t.Cleanup(func() { b.Close() })
				return b
			}
			if time.Since(began) > time.Minute {
				t.Fatal(err)
			}
		}
	}
	b := connect("tls://" + addresses[0] + ",tls://" + addresses[1])
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		soon, stop := context.WithTimeout(t.Context(), 2*time.Second)
		_, err := b.Runs(soon)
		all, errServers := b.Servers(soon, 100*time.Millisecond)
		stop()
		if err == nil && errServers == nil && len(all) == 3 {
			break
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("%d servers, %v, %v", len(all), err, errServers)
		}
	}
	servers[2].Close()
	run := compute(t, b.Cluster(), connect("tls://"+addresses[1]).Cluster())
	runs, err := b.Runs(within(t))
	if err != nil || len(runs) != 1 || runs[0].Sum != run || runs[0].Results != 3 {
		t.Errorf("%+v, %v", runs, err)
	}
}

// TestClientsAreNoPeers: the certificate of a client, or of the server for its clients, opens no way in among the servers.
func TestClientsAreNoPeers(t *testing.T) {
	keys := newKeys(t, time.Hour)
	s, err := keyring.ReadServer(keys)
	if err != nil {
		t.Fatal(err)
	}
	k, err := keyring.Read(keys, keyring.Submitter)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		certificates []tls.Certificate
		good         bool
	}{{s.Peers.Certificates, true}, {k.TLS.Certificates, false}, {s.TLS.Certificates, false}, {nil, false}} {
		inner, outer := net.Pipe()
		client := s.Peers.Clone()
		client.Certificates, client.ServerName = c.certificates, "localhost"
		go func() { tls.Client(outer, client).Handshake(); outer.Close() }()
		err := tls.Server(inner, s.Peers).Handshake()
		if (err == nil) != c.good {
			t.Errorf("%d: %v", i, err)
		}
		inner.Close()
	}
}
