package server

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/starling-smc/starling/cluster/keyring"
)

// awaits waits until the count of a kind has risen to n.
func awaits(t *testing.T, s *Server, k kind, n int64) {
	t.Helper()
	for range 400 {
		if s.Info().Refused[k] >= n {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("refused %v, want %d of %s", s.Info().Refused, n, k)
}

// TestStrangers: who does not have a certificate and an nkey that were made with the server's is refused and counted.
func TestStrangers(t *testing.T) {
	keys := newKeys(t, time.Hour)
	s := start(t, Options{Listen: "127.0.0.1:0", Keys: keys})
	mine, err := keyring.Read(keys, keyring.Worker)
	if err != nil {
		t.Fatal(err)
	}
	submitter, err := keyring.Read(keys, keyring.Submitter)
	if err != nil {
		t.Fatal(err)
	}
	other, err := keyring.Read(newKeys(t, time.Hour), keyring.Worker)
	if err != nil {
		t.Fatal(err)
	}
	servers, err := keyring.ReadServer(keys)
	if err != nil {
		t.Fatal(err)
	}
	with := func(change func(*tls.Config)) *tls.Config {
		c := mine.TLS.Clone()
		change(c)
		return c
	}
	for i, c := range []struct {
		name string
		tls  *tls.Config
		seed []byte
		want string
	}{
		{"no certificate", with(func(c *tls.Config) { c.Certificates = nil }), mine.Seed, "certificate required"},
		{"a certificate of another authority", with(func(c *tls.Config) { c.Certificates = other.TLS.Certificates }), mine.Seed, "unknown certificate authority"},
		{"a certificate of another server", with(func(c *tls.Config) { c.Certificates = servers.Peers.Certificates }), mine.Seed, "unknown certificate authority"},
		{"the server's certificate", with(func(c *tls.Config) { c.Certificates = servers.TLS.Certificates }), mine.Seed, "bad certificate"},
		{"a server of another authority", other.TLS, mine.Seed, "unknown authority"},
		{"TLS 1.2", with(func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS12, tls.VersionTLS12 }), mine.Seed, "protocol version"},
		{"another nkey", mine.TLS, other.Seed, nats.ErrAuthorization.Error()},
		{"no nkey", mine.TLS, nil, nats.ErrAuthorization.Error()},
		{"the nkey of another role", mine.TLS, submitter.Seed, nats.ErrAuthorization.Error()},
	} {
		o := []nats.Option{nats.Secure(c.tls), nats.MaxReconnects(0)}
		if c.seed != nil {
			o = append(o, nkeyOption(t, c.seed))
		}
		conn, err := nats.Connect("nats://"+s.Address(), o...)
		if err == nil {
			conn.Close()
		}
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(c.want)) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
		awaits(t, s, unknown, int64(i+1))
	}
}

// TestExpired: a certificate that has expired is refused by both sides.
func TestExpired(t *testing.T) {
	keys := newKeys(t, time.Hour)
	s := start(t, Options{Listen: "127.0.0.1:0", Keys: keys})
	c, err := keyring.Read(keys, keyring.Worker)
	if err != nil {
		t.Fatal(err)
	}
	later := func() time.Time { return time.Now().Add(2 * time.Hour) }
	ahead := c.TLS.Clone()
	ahead.Time = later
	if _, err := nats.Connect("nats://"+s.Address(), nats.Secure(ahead), nkeyOption(t, c.Seed)); err == nil || !strings.Contains(err.Error(), "expired") {
		t.Errorf("the client accepts an expired server: %v", err)
	}
	s.keys.TLS.Time = later
	if _, err := nats.Connect("nats://"+s.Address(), nats.Secure(c.TLS), nkeyOption(t, c.Seed)); err == nil || !strings.Contains(err.Error(), "expired") {
		t.Errorf("the server accepts an expired client: %v", err)
	}
	expired := newKeys(t, -time.Minute)
	for _, dir := range []string{expired, filepath.Join(expired, "worker")} {
		_, err := keyring.Read(dir, keyring.Worker)
		if ended := (*keyring.ExpiredError)(nil); !errors.As(err, &ended) || !strings.Contains(err.Error(), "starling cluster keys") {
			t.Errorf("%v", err)
		}
	}
	_, err = Start(Options{Dir: t.TempDir(), Listen: "127.0.0.1:0", Keys: expired})
	if ended := (*keyring.ExpiredError)(nil); !errors.As(err, &ended) {
		t.Errorf("%v", err)
	}
}

// TestCertificateEnds: a certificate ends for who is connected, too.
func TestCertificateEnds(t *testing.T) {
	t.Parallel() // it waits
	keys := newKeys(t, 2*time.Second)
	s := start(t, Options{Listen: "127.0.0.1:0", Keys: keys})
	gone := make(chan struct{})
	connect(t, s.Address(), append(as(t, keys, keyring.Worker), nats.ClosedHandler(func(*nats.Conn) { close(gone) }))...)
	select {
	case <-gone:
	case <-time.After(5 * time.Second):
		t.Error("the connection outlives its certificate")
	}
}

// raw is a worker that speaks the protocol by hand.
func raw(t *testing.T, s *Server, keys string) (*tls.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", s.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	c, err := keyring.Read(keys, keyring.Worker)
	if err != nil {
		t.Fatal(err)
	}
	c.TLS.ServerName = "127.0.0.1"
	secured := tls.Client(conn, c.TLS)
	if err := secured.Handshake(); err != nil {
		t.Fatal(err)
	}
	return secured, bufio.NewReader(secured)
}

// TestProbe: to look whether the port is open is no offence.
func TestProbe(t *testing.T) {
	s := start(t, Options{Listen: "127.0.0.1:0", Keys: newKeys(t, time.Hour)})
	conn, err := net.Dial("tcp", s.Address())
	if err != nil {
		t.Fatal(err)
	}
	bufio.NewReader(conn).ReadString('\n')
	conn.Close()
	raw, _ := net.Dial("tcp", s.Address())
	raw.Close()
	time.Sleep(50 * time.Millisecond)
	if n := s.Info().Refused; len(n) > 0 {
		t.Errorf("refused %v", n)
	}
}

// TestPlain: a client without TLS is refused at a port with TLS.
func TestPlain(t *testing.T) {
	s := start(t, Options{Listen: "127.0.0.1:0", Keys: newKeys(t, time.Hour)})
	conn, err := net.Dial("tcp", s.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	in := bufio.NewReader(conn)
	if greeting, err := in.ReadString('\n'); err != nil || !strings.Contains(greeting, `"tls_required":true`) {
		t.Fatalf("%s, %v", greeting, err)
	}
	fmt.Fprint(conn, "CONNECT {}\r\nPING\r\n")
	if answer, err := in.ReadString('\n'); err == nil || strings.Contains(answer, "PONG") {
		t.Errorf("answers %q", answer)
	}
	awaits(t, s, unknown, 1)
}

// TestWorkersRights: a worker that asks for more than its tasks need is refused and counted.
func TestWorkersRights(t *testing.T) {
	keys := newKeys(t, time.Hour)
	s := start(t, Options{Listen: "127.0.0.1:0", Keys: keys})
	submitter := connect(t, s.Address(), as(t, keys, keyring.Submitter)...)
	if _, err := submitter.RequestWithContext(within(t), "starling.block.shared.secret.0", []byte("another run's")); err != nil {
		t.Fatal(err)
	}
	mine := keyring.WorkerInbox + ".abcdefghijklmnopqrstuv"
	header := func(name, value string) nats.Header { return nats.Header{name: {value}} }
	type message = nats.Msg
	publish := func(m message) func(*nats.Conn) { return func(c *nats.Conn) { c.PublishMsg(&m) } }
	subscribe := func(subject string) func(*nats.Conn) {
		return func(c *nats.Conn) { c.SubscribeSync(subject) }
	}
	api := func(name string) func(*nats.Conn) {
		return func(c *nats.Conn) { c.PublishRequest("$JS.API."+name, mine+".x", []byte("{}")) }
	}
	want := map[kind]int64{}
	for _, c := range []struct {
		name string
		kind kind
		do   func(*nats.Conn)
	}{
		{"publishing a task", forbidden, publish(message{Subject: "starling.task.a.b"})},
		{"a consumer", forbidden, api("CONSUMER.CREATE.STARLING_BLOCKS.mine")},
		{"a durable consumer", forbidden, api("CONSUMER.DURABLE.CREATE.STARLING_RESULTS.mine")},
		{"a stream", forbidden, api("STREAM.CREATE.MINE")},
		{"a list of streams", forbidden, api("STREAM.NAMES")},
		{"a list of subjects", forbidden, api("STREAM.INFO.STARLING_BLOCKS")},
		{"a message by its number", forbidden, api("STREAM.MSG.GET.STARLING_BLOCKS")},
		{"a direct get by number", forbidden, api("DIRECT.GET.STARLING_BLOCKS")},
		{"emptying a stream", forbidden, api("STREAM.PURGE.STARLING_BLOCKS")},
		{"deleting a stream", forbidden, api("STREAM.DELETE.STARLING_BLOCKS")},
		{"hearing blocks pass", forbidden, subscribe("starling.block.>")},
		{"hearing results pass", forbidden, subscribe("starling.result.>")},
		{"hearing all", forbidden, subscribe(">")},
		{"answering for the server", forbidden, subscribe("starling.server")},
		{"the inboxes of workers", forged, subscribe(keyring.WorkerInbox + ".>")},
		{"any inbox of a worker", forged, subscribe(keyring.WorkerInbox + ".*.*")},
		{"the nodes of all runs", forged, subscribe("starling.exchange.*.all")},
		{"the latest block", forged, publish(message{Subject: "$JS.API.DIRECT.GET.STARLING_BLOCKS.starling.block.>", Reply: mine})},
		{"any block", forged, publish(message{Subject: "$JS.API.DIRECT.GET.STARLING_BLOCKS.starling.block.shared.*.0", Reply: mine})},
		{"any result of a run", forged, publish(message{Subject: "$JS.API.DIRECT.GET.STARLING_RESULTS.starling.result.a.*", Reply: mine})},
		{"a block as a task", forged, publish(message{Subject: "$JS.API.DIRECT.GET.STARLING_BLOCKS.starling.block.shared.secret.0", Reply: "starling.task.a.b"})},
		{"removing all values", forged, publish(message{Subject: "$KV.STARLING_VALUES.state.a.b", Header: nats.Header{"Nats-Rollup": {"all"}, "Nats-Expected-Last-Subject-Sequence": {"0"}}})},
		{"a value without a comparison", forged, publish(message{Subject: "$KV.STARLING_VALUES.state.a.b"})},
		{"a result for a while", forged, publish(message{Subject: "starling.result.a.b", Header: header("Nats-TTL", "1s")})},
		{"dropping an input", forged, publish(message{Subject: "starling.block.shared.secret.0", Header: header("Starling-Dropped", "1")})},
		{"a long header", large, publish(message{Subject: "starling.block.shared.a.0", Header: header("Starling-Pieces", strings.Repeat("1", 1<<13))})},
	} {
		conn := connect(t, s.Address(), as(t, keys, keyring.Worker)...)
		c.do(conn)
		conn.Flush()
		want[c.kind]++
		awaits(t, s, c.kind, want[c.kind])
		if t.Failed() {
			t.Fatalf("%s is not refused", c.name)
		}
		conn.Close()
	}
	for stream, want := range map[string]string{"STARLING_TASKS": `"last_seq":0`, "STARLING_BLOCKS": `"last_seq":1`, "STARLING_RESULTS": `"last_seq":0`} {
		m, err := submitter.RequestWithContext(within(t), "$JS.API.STREAM.INFO."+stream, nil)
		if err != nil || !strings.Contains(string(m.Data), want) {
			t.Errorf("a worker has written into %s: %s, %v", stream, m.Data, err)
		}
	}
}

// TestMalformed: what is no message of the protocol, and what is larger than a message may be, ends the connection and is counted.
func TestMalformed(t *testing.T) {
	keys := newKeys(t, time.Hour)
	s := start(t, Options{Listen: "127.0.0.1:0", Keys: keys})
	want := map[kind]int64{}
	for _, c := range []struct {
		kind kind
		send string
	}{
		{malformed, "HELLO\r\n"},
		{malformed, "\r\n"},
		{malformed, "CONNECT {}\r\n"},
		{malformed, "PUB starling.news.a\r\n"},
		{malformed, "PUB starling.news.a -1\r\n\r\n"},
		{malformed, "PUB starling.news.a 1x\r\n\r\n"},
		{malformed, "PUB starling.news.a 3\r\nlonger\r\n"},
		{malformed, "PUB starling.news.a 1\n1\r\n"},
		{malformed, "PUB starling.news.a\r 1\r\n1\r\n"},
		{malformed, "PUB starling.news.a\vb 1\r\n1\r\n"},
		{malformed, "HPUB starling.news.a 9 3\r\n123\r\n"},
		{malformed, "HPUB starling.news.a 12 12\r\nNATS/2.0\r\n\r\n\r\n"},
		{large, fmt.Sprintf("PUB starling.news.a %d\r\n", MaxPayload+1)},
		{malformed, "PUB starling.news.a 99999999999999999999\r\n"},
		{large, "PUB " + strings.Repeat("a", 1<<13) + " 1\r\n"},
	} {
		conn, in := raw(t, s, keys)
		fmt.Fprint(conn, "CONNECT {}\r\n"+c.send)
		for {
			if _, err := in.ReadString('\n'); err != nil {
				if timed := net.Error(nil); errors.As(err, &timed) && timed.Timeout() {
					t.Errorf("%.50q leaves the connection open", c.send)
				}
				break
			}
		}
		want[c.kind]++
		awaits(t, s, c.kind, want[c.kind])
	}
	conn, _ := raw(t, s, keys)
	fmt.Fprint(conn, "PING\r\n")
	awaits(t, s, malformed, want[malformed]+1)
}
