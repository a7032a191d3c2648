// Package broker is package cluster on NATS JetStream: the client's side. It runs against the server that starling embeds and against any
// other one from 2.11 on, alone or three of them.
//
// What is where:
//
//	tasks    stream STARLING_TASKS         starling.task.RUN.TASK            a work queue; durable pull consumer "workers"
//	results  stream STARLING_RESULTS       starling.result.RUN.TASK          the first message of a subject stays for ever
//	values   bucket STARLING_VALUES        run.RUN, state.RUN.TASK           compare-and-set by the revision of a key
//	                                       holds.RUN.SUM                     contents that tasks of a run have named
//	blocks   stream STARLING_BLOCKS        starling.block.SPACE.SUM.N        pieces of 512 KiB, from 0; the dots of a space stay
//	news     no stream                     starling.news.RUN                 lossy
//	presence no stream                     starling.hello                    workers answer
//
// RUN, TASK and SUM are SHA-256 in hexadecimal digits. A worker reads blocks, values and results by direct gets of exact subjects, and needs no
// right to list. So a digest is a capability: a worker reads what it has been told the SHA-256 of, and nothing else. A worker drops
// a block by writing an empty message over it, which the server removes a minute later.
//
// Every call is repeated until the server answers, for two minutes at most: a server that starts again and a cluster that chooses a leader
// need some seconds. What will not pass is an error at once: a full store, a refused permission, a stream that is not there.
package broker

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/starling-smc/starling/cluster"
)

// Options say how to reach a server, and what [Broker.Prepare] makes there.
type Options struct {
	Server string                   // URLs, nats:// or tls://, separated by commas
	Dial   func() (net.Conn, error) // instead of Server: a connection to a server in this process, or a pipe
	Once   bool                     // a lost connection is not dialled again

	TLS   *tls.Config // nil: none, unless Server has tls://
	Seed  []byte      // of the nkey; nil: none
	Name  string      // of this process, for the server's log
	Inbox string      // prefix of the subjects that answers come to, where the permissions ask for one; "": _INBOX

	Replicas     int           // of every stream, for Prepare; 0: 1
	Lease        time.Duration // how long a task that was taken stays with a worker that is not heard of, for Prepare; 0: cluster.LeaseTime
	QuotaTasks   int64         // the most tasks that are queued, for Prepare; 0: a million
	QuotaBytes   int64         // the most bytes of blocks, for Prepare; 0: as many as the server allows
	QuotaRecords int64         // the most bytes of tasks, of results and of values, for Prepare; 0: as many as the server allows

	Note func(error) // if not nil, it is told of faults that the broker survives: lost connections, messages that are refused
}

// Broker is a connection to a server.
type Broker struct {
	*link
	options Options
	lease   time.Duration // how long a task that was taken stays with its worker, for Prepare
	unnamed time.Duration // after which a block that no run names is left over from something that died
}

// Connect connects to a server. It does not wait for one: that nobody listens is an error, as are refused keys and certificates, a server that
// is too old, and one without JetStream. A connection that is lost later is made again, unless Once.
func Connect(ctx context.Context, options Options) (*Broker, error) {
	b := &Broker{newLink(options.Note), options, cmp.Or(options.Lease, cluster.LeaseTime), 24 * time.Hour}
	where := options.Server
	opts := []nats.Option{
		nats.Name(options.Name), nats.Timeout(5 * time.Second), nats.PingInterval(10 * time.Second), nats.MaxPingsOutstanding(3),
		nats.MaxReconnects(-1), nats.ReconnectWait(250 * time.Millisecond), nats.ReconnectJitter(250*time.Millisecond, 250*time.Millisecond),
		nats.ReconnectBufSize(-1), // calls are repeated here, where they are known
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { b.fault(err) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { b.lost(err) }),
		nats.ClosedHandler(func(c *nats.Conn) { b.end(closed(c.LastError())) }),
	}
	if options.Once {
		opts = append(opts, nats.NoReconnect())
	}
	if options.Inbox != "" {
		opts = append(opts, nats.CustomInboxPrefix(options.Inbox))
	}
	if options.Dial != nil {
		where = "nats://within"
		opts = append(opts, nats.SkipHostLookup(), nats.SetCustomDialer(dialer(options.Dial)))
	}
	if options.TLS != nil {
		opts = append(opts, nats.Secure(options.TLS))
	}
	if options.Seed != nil {
		pair, err := nkeys.FromSeed(options.Seed)
		if err != nil {
			return nil, fmt.Errorf("the seed of the nkey cannot be read: %w", err)
		}
		public, err := pair.PublicKey()
		if err != nil {
			return nil, fmt.Errorf("the seed of the nkey cannot be read: %w", err)
		}
		opts = append(opts, nats.Nkey(public, pair.Sign))
	}
	conn, err := nats.Connect(where, opts...)
	if err != nil {
		return nil, unreachable(where, err)
	}
	b.conn = conn
	if err := b.check(ctx); err != nil {
		conn.Close()
		return nil, fmt.Errorf("server %s: %w", where, err)
	}
	return b, nil
}

// dialer makes connections for nats.go, which asks for an address.
type dialer func() (net.Conn, error)

func (d dialer) Dial(string, string) (net.Conn, error) { return d() }

// check compares what the server offers with what is needed.
func (b *Broker) check(ctx context.Context) error {
	if most := b.conn.MaxPayload(); most < pieceSize+headers {
		return fmt.Errorf("it takes messages of at most %d bytes, and %d are needed: set max_payload in its configuration, 1MB or more", most, pieceSize+headers)
	}
	var major, minor int
	if _, err := fmt.Sscanf(b.conn.ConnectedServerVersion(), "%d.%d", &major, &minor); err != nil || major < 2 || major == 2 && minor < 11 {
		return fmt.Errorf("it is NATS %s, and 2.11 or later is needed", b.conn.ConnectedServerVersion())
	}
	for try := 0; ; try++ {
		m, err := b.once(ctx, &nats.Msg{Subject: "$JS.API.INFO"}, 5*time.Second)
		if err == nil {
			err = failure(m)
		}
		if coded := (*apiError)(nil); errors.As(err, &coded) && (coded.Err == codeOff || coded.Err == codeOffAccount) || errors.Is(err, nats.ErrNoResponders) {
			err = fmt.Errorf("JetStream is off there: start the server with JetStream, or use starling cluster serve (%w)", err)
		}
		if err == nil || try == 3 || !passing(err) { // it may have just started
			return err
		}
		time.Sleep(250 * time.Millisecond)
	}
}

// ErrAway is the error of Connect where nobody listens or answers: a server may come.
var ErrAway = errors.New("no server")

type awayError struct{ error }

func (e awayError) Unwrap() []error { return []error{e.error, ErrAway} }

// Gone is a context that ends when the connection is closed for good.
func (b *Broker) Gone() context.Context { return b.broken }

// unreachable says in words why a connection was not made.
func unreachable(where string, err error) error {
	why, away := "", false
	switch text := strings.ToLower(err.Error()); {
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, nats.ErrNoServers):
		why, away = "nobody listens there: is the server running, and is the port right?", true
	case strings.Contains(text, "certificate has expired"), strings.Contains(text, "expired certificate"):
		why = "a certificate has expired or is not valid yet: make new ones, and look at the clocks"
	case strings.Contains(text, "unknown authority"), strings.Contains(text, "bad certificate"), strings.Contains(text, "unknown certificate"):
		why = "a certificate is not of the same authority: give keys that were made together with the server's"
	case strings.Contains(text, "certificate required"):
		why = "it asks for a certificate: give the keys"
	case errors.Is(err, nats.ErrSecureConnRequired):
		why = "it asks for TLS: give the keys, and an address that begins with tls://"
	case errors.Is(err, nats.ErrSecureConnWanted):
		why = "it does not speak TLS: an address without keys begins with nats://"
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrNkeysNotSupported), strings.Contains(text, "authorization"):
		why = "it refuses the key: use keys that were made with the server's"
	case errors.Is(err, nats.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		why, away = "it does not answer", true
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF):
		why, away = "it has ended the connection before it said a word: is it about to stop, or no server of starling?", true
	}
	if away {
		err = awayError{err}
	}
	if why == "" {
		return fmt.Errorf("server %s: %w", where, err)
	}
	return fmt.Errorf("server %s: %s (%w)", where, why, err)
}

// Cluster returns the interfaces of package cluster.
func (b *Broker) Cluster() cluster.Cluster {
	return cluster.Cluster{Queue: queue{b.link}, Blocks: blocks{b.link}, Values: values{b.link}, Results: results{b.link}, News: b, Wire: wire{b.link}}
}

// Refused returns how many messages were refused because this program did not write them.
func (b *Broker) Refused() int64 { return b.refused.Load() }

// Close ends the connection. Calls that wait return an error.
func (b *Broker) Close() error {
	b.conn.Close()
	b.end(errClosed)
	return nil
}
