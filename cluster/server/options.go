package server

import (
	"fmt"
	"math"
	"net"
	"net/url"
	"os"
	"strconv"

	nats "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/starling-smc/starling/cluster/keyring"
)

// RoutePort is how much higher the port is by which servers reach each other than the one for clients.
const RoutePort = 2000

// OptionError says which option is wrong, and what to do.
type OptionError struct{ Err error }

func (e *OptionError) Error() string { return e.Err.Error() }

func (e *OptionError) Unwrap() error { return e.Err }

// retriesTold is of how many vain tries to reach another server one is logged: they are a second or so apart.
const retriesTold = 600

// leastStore is the least limit of a store: a block must fit, and what is kept for records.
const leastStore = 128 << 20

// check refuses addresses that would open the server to more than was meant.
func (o Options) check() error {
	if o.StoreBytes < 0 || o.StoreBytes > 0 && o.StoreBytes < leastStore {
		return fmt.Errorf("the limit of the store is %d bytes: want %d or more, or 0 for three quarters of the free disk", o.StoreBytes, leastStore)
	}
	if o.RunBytes < 0 {
		return fmt.Errorf("the limit of a run is %d bytes: want a positive number, or 0 for none", o.RunBytes)
	}
	if o.Listen == "" {
		if o.Peers != nil {
			return fmt.Errorf("a server among peers needs an address to listen on")
		}
		return nil
	}
	host, _, err := splitAddress(o.Listen)
	if err != nil {
		return err
	}
	if o.Keys == "" && !loopback(host) {
		return fmt.Errorf("the address %s is open to other machines, which needs keys: make them with starling cluster keys DIR --host %s and give them with --keys DIR, or listen on 127.0.0.1",
			o.Listen, hostOr(host))
	}
	if o.Peers == nil {
		return nil
	}
	if o.Keys == "" {
		return fmt.Errorf("servers know each other by keys: make them with starling cluster keys DIR and give the same to every server with --keys DIR")
	}
	others := 0
	for _, p := range o.Peers {
		if _, _, err := splitAddress(p); err != nil {
			return err
		}
		if p != o.Listen {
			others++
		}
	}
	if others < 2 {
		return fmt.Errorf("a cluster needs three servers, so that two are left when one is down: give the addresses of all three as peers")
	}
	return nil
}

// hostOr names a host to make keys for: an address that stands for all is none.
func hostOr(host string) string {
	if ip := net.ParseIP(host); ip == nil || !ip.IsUnspecified() {
		return host
	}
	return "HOST"
}

func splitAddress(address string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(address)
	if err == nil {
		port, err = strconv.Atoi(text)
	}
	switch {
	case err != nil || port < 0 || port > 65535:
		return "", 0, fmt.Errorf("%q is no address: want HOST:PORT, such as 127.0.0.1:4222", address)
	case host == "":
		return "", 0, fmt.Errorf("the address %q names no host: write 0.0.0.0%s if you mean every network of this machine", address, address)
	}
	return host, port, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// natsOptions translates the options. The seed is that of the nkey of this process's own connection, nil without keys: nobody else has it.
func (s *Server) natsOptions() (_ *nats.Options, seed []byte, err error) {
	o := s.options
	n := &nats.Options{
		ServerName: o.Name,
		DontListen: true, // clients come by accept
		NoSigs:     true,
		JetStream:  true,
		StoreDir:   o.Dir,
		SyncAlways: true, // otherwise the server acknowledges messages that it may lose

		JetStreamMaxStore:      math.MaxInt64 / 2, // the streams have the limits: JetStream's own one cannot be lowered
		MaxPayload:             MaxPayload,
		AuthTimeout:            handshakeTime.Seconds(),
		DisableJetStreamBanner: true,
		ConnectErrorReports:    retriesTold, // of routes
		ReconnectErrorReports:  retriesTold,
	}
	if s.keys != nil {
		inside, err := nkeys.CreateUser()
		if err != nil {
			return nil, nil, err
		}
		own, err := inside.PublicKey()
		if err != nil {
			return nil, nil, err
		}
		if seed, err = inside.Seed(); err != nil {
			return nil, nil, err
		}
		n.Nkeys = []*nats.NkeyUser{{Nkey: own}}
		for role, permissions := range allowed {
			n.Nkeys = append(n.Nkeys, &nats.NkeyUser{Nkey: s.keys.Clients[role], Permissions: permissions})
		}
	}
	if o.Name == "" {
		if n.ServerName, err = os.Hostname(); err != nil {
			return nil, nil, err
		}
		if s.listener != nil {
			n.ServerName += "-" + strconv.Itoa(s.listener.Addr().(*net.TCPAddr).Port)
		}
	}
	if o.Peers != nil {
		err = s.addPeers(n)
	}
	return n, seed, err
}

// addPeers makes the server one of several. They reach each other RoutePort above the ports for clients.
func (s *Server) addPeers(n *nats.Options) error {
	host, _, err := splitAddress(s.options.Listen)
	if err != nil {
		return err
	}
	port := s.listener.Addr().(*net.TCPAddr).Port + RoutePort
	if port > 65535 {
		return fmt.Errorf("servers reach each other %d above the port for clients, and %d is too high: listen on a port up to %d", RoutePort, port, 65535-RoutePort)
	}
	n.Cluster = nats.ClusterOpts{Name: "starling", Host: host, Port: port, TLSConfig: s.keys.Peers, TLSTimeout: handshakeTime.Seconds(), NoAdvertise: true}
	for _, p := range s.options.Peers {
		host, port, err := splitAddress(p)
		if err != nil {
			return err
		}
		if p == s.options.Listen {
			continue
		}
		n.Routes = append(n.Routes, &url.URL{Scheme: "tls", Host: net.JoinHostPort(host, strconv.Itoa(port+RoutePort))})
	}
	return nil
}

// allowed is what each role may do. A submitter may do everything in the cluster, and nothing to the server. What a worker may publish with
// which reply and headers, see guard.
var allowed = map[keyring.Role]*nats.Permissions{
	keyring.Submitter: nil,
	keyring.Worker: {
		Publish: &nats.SubjectPermission{Allow: []string{
			"$JS.API.INFO", // whether JetStream is there
			"$JS.API.CONSUMER.MSG.NEXT.STARLING_TASKS.workers",
			"$JS.ACK.STARLING_TASKS.workers.>",
			"$JS.API.DIRECT.GET.STARLING_BLOCKS.starling.block.>",
			"$JS.API.DIRECT.GET.STARLING_RESULTS.starling.result.*.*",
			"$JS.API.DIRECT.GET.KV_STARLING_VALUES.$KV.STARLING_VALUES.>",
			"$KV.STARLING_VALUES.state.*.*",
			"$KV.STARLING_VALUES.run.*",
			"starling.block.>",
			"starling.result.*.*",
			"starling.news.*",
			"starling.exchange.*.*",
		}},
		Subscribe: &nats.SubjectPermission{Allow: []string{
			keyring.WorkerInbox + ".>",
			"starling.hello",
			"starling.exchange.*.*", // of one run at a time: see guard
		}},
		Response: &nats.ResponsePermission{MaxMsgs: 1, Expires: handshakeTime},
	},
}
