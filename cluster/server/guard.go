package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"

	nats "github.com/nats-io/nats-server/v2/server"

	"github.com/starling-smc/starling/cluster/keyring"
)

// MaxPayload is the most bytes of a message.
const MaxPayload = 2 << 20

const (
	maxLine    = 4 << 10 // of the protocol, as in the NATS server
	maxConnect = 16 << 10
	maxHeaders = 4 << 10
)

// guard passes on what a client sends. From a worker it passes on only what its permissions were meant for; the permissions of NATS alone
// leave ways around them:
//
//   - a published subject may have wildcards. A direct get of starling.block.> would give the latest block, whoever's it is;
//   - a reply may go to any subject. A direct get of a forged block with the reply starling.task.x would publish a task;
//   - replies to other workers could be read by subscribing to all inboxes, and what the nodes of all runs exchange in the same way;
//   - the header Nats-Rollup removes all other values.
//
// The NATS protocol: https://docs.nats.io/reference/reference-protocols/nats-protocol
type guard struct {
	in    net.Conn
	role  keyring.Role // by the certificate; "": a server without keys
	nkeys map[keyring.Role]string
}

// copy passes on what comes in, until either side ends. The error says what was refused.
func (g *guard) copy(to net.Conn) error {
	if g.role == "" {
		io.Copy(to, g.in) // an error is that one side has gone
		return nil
	}
	in := bufio.NewReaderSize(g.in, 64<<10)
	out := bufio.NewWriterSize(to, 64<<10)
	if err := g.connect(in, out); err != nil {
		return unlessGone(err)
	}
	if g.role != keyring.Worker {
		if out.Flush() == nil {
			in.WriteTo(to)
		}
		return nil
	}
	for {
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return nil
			}
		}
		if err := one(in, out); err != nil {
			return unlessGone(err)
		}
	}
}

// unlessGone returns what was refused, and nil where a side has gone.
func unlessGone(err error) error {
	if _, refused := err.(*refusal); refused {
		return err
	}
	return nil
}

// connect passes on the first message, by which the client says its nkey. The certificate and the nkey must be of the same role.
func (g *guard) connect(in *bufio.Reader, out *bufio.Writer) error {
	line, err := readLine(in, maxConnect)
	if err != nil {
		return err
	}
	verb, rest, _ := bytes.Cut(line, []byte(" "))
	var said struct {
		Nkey string `json:"nkey"`
	}
	if !strings.EqualFold(string(verb), "CONNECT") || json.Unmarshal(rest, &said) != nil {
		return &refusal{malformed, "the first message is not CONNECT"}
	}
	for role, nkey := range g.nkeys {
		if role != g.role && nkey == said.Nkey {
			io.WriteString(g.in, "-ERR 'Authorization Violation'\r\n")
			return &refusal{unknown, fmt.Sprintf("the certificate of a %s with the nkey of a %s", g.role, role)}
		}
	}
	return write(out, line)
}

// one passes on one message of a worker. Its line is printable ASCII: other bytes may end a word for one reader and not for another.
func one(in *bufio.Reader, out *bufio.Writer) error {
	line, err := readLine(in, maxLine)
	if err != nil {
		return err
	}
	if i := bytes.IndexFunc(line, func(r rune) bool { return r != '\t' && (r < ' ' || r > '~') }); i >= 0 {
		return &refusal{malformed, fmt.Sprintf("a line with the byte %#x, which no subject of starling has", line[i])}
	}
	words := bytes.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' })
	if len(words) == 0 {
		return &refusal{malformed, "an empty line"}
	}
	verb, words := strings.ToUpper(string(words[0])), words[1:]
	switch verb {
	case "PING", "PONG":
		return write(out, []byte(verb))
	case "UNSUB":
	case "SUB":
		if len(words) == 0 {
			return &refusal{malformed, "SUB without a subject"}
		}
		if err := checkSubscription(string(words[0])); err != nil {
			return err
		}
	case "PUB", "HPUB":
		return publish(verb, words, in, out)
	default:
		return &refusal{malformed, fmt.Sprintf("a message %.20q", verb)}
	}
	return write(out, append([]byte(verb+" "), bytes.Join(words, []byte(" "))...))
}

// checkSubscription refuses all inboxes but those of one that knows its name, and the nodes of all runs but of one that knows the run.
func checkSubscription(subject string) error {
	if strings.HasPrefix(subject, "starling.exchange.") && !nats.IsValidLiteralSubject(subject) {
		return &refusal{forged, fmt.Sprintf("subscribing to the nodes of other runs, %.80q", subject)}
	}
	rest, ok := strings.CutPrefix(subject, keyring.WorkerInbox+".")
	if !ok {
		return nil
	}
	if own, _, _ := strings.Cut(rest, "."); len(own) < 20 || !nats.IsValidLiteralSubject(own) {
		return &refusal{forged, fmt.Sprintf("subscribing to the inboxes of others, %.80q", subject)}
	}
	return nil
}

// publish passes on PUB subject [reply] bytes or HPUB subject [reply] header-bytes bytes, and what follows.
func publish(verb string, words [][]byte, in *bufio.Reader, out *bufio.Writer) error {
	sizes := 1
	if verb == "HPUB" {
		sizes = 2
	}
	if n := len(words) - sizes; n != 1 && n != 2 {
		return &refusal{malformed, fmt.Sprintf("%s with %d words", verb, len(words))}
	}
	var header, size int
	for _, w := range words[len(words)-sizes:] {
		n, err := strconv.ParseUint(string(w), 10, 31)
		if err != nil {
			return &refusal{malformed, fmt.Sprintf("%s of %.20q bytes", verb, w)}
		}
		header, size = size, int(n)
	}
	if header > size {
		return &refusal{malformed, "headers longer than their message"}
	}
	if size > MaxPayload {
		return &refusal{large, fmt.Sprintf("a message of %d bytes, and %d are the most", size, MaxPayload)}
	}
	subject := string(words[0])
	if !nats.IsValidLiteralSubject(subject) {
		return &refusal{forged, fmt.Sprintf("a message to many subjects, %.80q", subject)}
	}
	if len(words)-sizes == 2 {
		reply := string(words[1])
		if !strings.HasPrefix(reply, keyring.WorkerInbox+".") || !nats.IsValidLiteralSubject(reply) {
			return &refusal{forged, fmt.Sprintf("a reply to %.80q, which is not the worker's", reply)}
		}
	}
	if header > maxHeaders {
		return &refusal{large, fmt.Sprintf("headers of %d bytes, and %d are the most", header, maxHeaders)}
	}
	headers := make([]byte, header)
	if _, err := io.ReadFull(in, headers); err != nil {
		return err
	}
	if err := checkHeaders(subject, headers, size-header); err != nil {
		return err
	}
	if err := write(out, append([]byte(verb+" "), bytes.Join(words, []byte(" "))...)); err != nil {
		return err
	}
	if _, err := out.Write(headers); err != nil {
		return err
	}
	if _, err := io.CopyN(out, in, int64(size-header)); err != nil {
		return err
	}
	var end [2]byte
	if _, err := io.ReadFull(in, end[:]); err != nil {
		return err
	}
	if string(end[:]) != "\r\n" {
		return &refusal{malformed, "a message longer than it says"}
	}
	_, err := out.Write(end[:])
	return err
}

// headersAllowed are those that a worker may send. Others change more than the message's subject.
var headersAllowed = []string{"nats-expected-last-subject-sequence", "starling-pieces", "starling-dropped", "nats-ttl"}

// checkHeaders refuses other headers, values that are set without a comparison, and messages that go away, unless they stand for a dropped block of
// a state.
func checkHeaders(subject string, headers []byte, body int) error {
	var has [4]bool
	if len(headers) > 0 {
		lines := strings.Split(string(headers), "\r\n")
		if n := len(lines); n < 3 || lines[0] != "NATS/1.0" || lines[n-1] != "" || lines[n-2] != "" {
			return &refusal{malformed, "headers of another form"}
		}
		for _, line := range lines[1 : len(lines)-2] {
			name, _, found := strings.Cut(line, ":")
			i := slices.Index(headersAllowed, strings.ToLower(name))
			if !found || i < 0 || strings.ContainsAny(line, "\r\n") {
				return &refusal{forged, fmt.Sprintf("a message with the header %.40q", name)}
			}
			has[i] = true
		}
	}
	switch compares, drops, ends := has[0], has[2], has[3]; {
	case strings.HasPrefix(subject, "$KV.") && !compares:
		return &refusal{forged, "a value set without a comparison"}
	case (drops || ends) && (body > 0 || !strings.HasPrefix(subject, "starling.block.state.")):
		return &refusal{forged, "dropping what is no state"}
	}
	return nil
}

// readLine reads a line without its end. Carriage returns and line feeds are nowhere else: the NATS server must read the same line.
func readLine(in *bufio.Reader, most int) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if err == bufio.ErrBufferFull || len(line) > most {
		return nil, &refusal{large, fmt.Sprintf("a line of more than %d bytes", most)}
	}
	if err != nil {
		return nil, err
	}
	line, ended := bytes.CutSuffix(line, []byte("\r\n"))
	if !ended || bytes.IndexByte(line, '\r') >= 0 {
		return nil, &refusal{malformed, "a line with another end"}
	}
	return bytes.Clone(line), nil
}

func write(out *bufio.Writer, line []byte) error {
	out.Write(line)
	_, err := out.WriteString("\r\n") // also tells an error of the line
	return err
}
