package broker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/starling-smc/starling/cluster"
)

// Streams of the server, and the consumer that hands out tasks. Values is a key-value bucket, whose stream has the prefix KV_.
const (
	TaskStream   = "STARLING_TASKS"
	ResultStream = "STARLING_RESULTS"
	ValueStream  = "KV_STARLING_VALUES"
	BlockStream  = "STARLING_BLOCKS"
	Consumer     = "workers"
)

// link is a connection to a server, with what its calls share.
type link struct {
	conn     *nats.Conn
	told     func(error)   // of faults that it survives; nil: nobody
	patience time.Duration // how long a call is repeated
	refused  atomic.Int64  // messages

	turn    sync.Mutex
	waiting map[*waiter]bool  // calls that wait for answers
	held    map[held]struct{} // contents that are known to be named for a run
	session context.Context   // ends when the connection is lost: what was asked is not answered any more
	lose    context.CancelCauseFunc

	broken context.Context // ends when the connection is closed for good
	end    context.CancelCauseFunc
}

type held struct{ run, content cluster.Sum }

const patience = 2 * time.Minute

func newLink(told func(error)) *link {
	b := &link{told: told, patience: patience, waiting: map[*waiter]bool{}, held: map[held]struct{}{}}
	b.broken, b.end = context.WithCancelCause(context.Background())
	b.session, b.lose = context.WithCancelCause(b.broken)
	return b
}

// lost ends the calls that wait, and begins another session. A lost connection is made again.
func (b *link) lost(err error) {
	b.turn.Lock()
	lose := b.lose
	b.session, b.lose = context.WithCancelCause(b.broken)
	b.turn.Unlock()
	lose(nats.ErrDisconnected)
	if err != nil {
		b.note(fmt.Errorf("the connection to the server is lost: %w", err))
	}
}

// wait lets a call wait for answers to a message: its context ends with the session, and when the message is not permitted.
func (b *link) wait(ctx context.Context, subject string) (waiting context.Context, done func()) {
	waiting, stop := context.WithCancelCause(ctx)
	w := &waiter{subject, stop}
	b.turn.Lock()
	b.waiting[w] = true
	session := b.session
	b.turn.Unlock()
	forget := context.AfterFunc(session, func() { stop(context.Cause(session)) })
	return waiting, func() {
		forget()
		b.turn.Lock()
		delete(b.waiting, w)
		b.turn.Unlock()
		stop(nil)
	}
}

func (b *link) note(err error) {
	if b.told != nil {
		b.told(err)
	}
}

// refuse counts a message that this program did not write.
func (b *link) refuse(subject string, why error) {
	b.refused.Add(1)
	b.note(fmt.Errorf("%s is not what this program writes: %w", subject, why))
}

func closed(err error) error {
	if err == nil {
		return errClosed
	}
	return fmt.Errorf("%w: %w", errClosed, err)
}

var errClosed = errors.New("the connection to the server is closed")

// Codes of the server's errors.
const (
	codeAccountFull = 10002
	codeNoPeers     = 10005
	codeNoResources = 10023
	codeMemoryFull  = 10028
	codeNoMessage   = 10037
	codeOffAccount  = 10039
	codeStorageFull = 10047
	codeNoStream    = 10059
	codeConflict    = 10071
	codeOff         = 10076
	codeStore       = 10077 // a limit of the stream, in words only
	codeBusy        = 10164 // a conflict, with replicas
)

// apiError is an error that JetStream answers.
type apiError struct {
	Code        int    `json:"code"`
	Err         int    `json:"err_code"`
	Description string `json:"description"`
}

func (e *apiError) Error() string { return fmt.Sprintf("%s (%d)", e.Description, e.Err) }

// perSubject says that the subject has its message already. The code is that of every limit: only the words tell.
func (e *apiError) perSubject() bool {
	return e.Err == codeStore && strings.Contains(e.Description, "per subject")
}

// known returns the error of package cluster that a server's error stands for.
func (e *apiError) known() error {
	switch e.Err {
	case codeConflict, codeBusy:
		return cluster.ErrConflict
	case codeNoMessage:
		return cluster.ErrNone
	case codeStore:
		if strings.HasPrefix(e.Description, "maximum ") {
			return fmt.Errorf("%w: the stream has reached its limit: %v", cluster.ErrFull, e)
		}
	case codeAccountFull, codeNoResources, codeMemoryFull, codeStorageFull:
		return fmt.Errorf("%w: the server's storage is used up: %v", cluster.ErrFull, e)
	case codeNoStream:
		return fmt.Errorf("the server is not prepared for starling, or another account is used: %w", e)
	}
	return e
}

// passing says whether the error may go away by itself.
func passing(err error) bool {
	var coded *apiError
	if errors.As(err, &coded) {
		switch coded.Err {
		case codeConflict, codeBusy, codeNoMessage, codeAccountFull, codeNoResources, codeMemoryFull, codeStorageFull:
			return false
		case codeStore:
			return !strings.HasPrefix(coded.Description, "maximum ")
		}
		return coded.Code == 503 || coded.Code == 408 || coded.Code == 429
	}
	for _, one := range []error{nats.ErrNoResponders, nats.ErrTimeout, context.DeadlineExceeded, nats.ErrDisconnected, nats.ErrConnectionReconnecting, nats.ErrReconnectBufExceeded, nats.ErrStaleConnection} {
		if errors.Is(err, one) {
			return true
		}
	}
	return errors.As(err, new(*net.OpError)) // a connection that takes no more
}

// PermissionError says that the server does not let this user publish or subscribe.
type PermissionError struct{ What string }

func (e *PermissionError) Error() string {
	return "the server does not permit it: " + e.What + ". Use the keys of another role, or give this one the permission"
}

// waiter is a call that waits for an answer.
type waiter struct {
	subject string
	stop    context.CancelCauseFunc
}

// fault is told of errors that the server reports beside the answers. A refused permission ends the calls that need it.
func (b *link) fault(err error) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		b.note(err)
		return
	}
	b.turn.Lock()
	defer b.turn.Unlock()
	for w := range b.waiting {
		if strings.Contains(err.Error(), `"`+w.subject+`"`) {
			w.stop(&PermissionError{err.Error()})
		}
	}
}

// once sends a message and waits for its answer, for a time at most. A refused permission and a lost connection end it before.
func (b *link) once(ctx context.Context, m *nats.Msg, most time.Duration) (*nats.Msg, error) {
	ctx, done := b.wait(ctx, m.Subject)
	defer done()
	timed, end := context.WithTimeout(ctx, most)
	defer end()
	answer, err := b.conn.RequestMsgWithContext(timed, m)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if errors.Is(err, nats.ErrConnectionClosed) {
		return nil, closed(err)
	}
	return answer, err
}

// ask sends a message until it is answered, or fails for good: most calls change nothing when they are repeated, and the others say how they know
// that the first try did it. answered reads the answer, and returns what it says as an error.
func (b *link) ask(ctx context.Context, subject string, header nats.Header, data []byte, answered func(*nats.Msg) error) error {
	until, end := context.WithTimeout(ctx, b.patience)
	defer end()
	pause := 5 * time.Millisecond
	most := 2 * time.Second // servers that choose a leader answer nothing: who asks again soon is heard soon
	var last error
	for ; ; most = min(2*most, 10*time.Second) {
		answer, err := b.once(until, &nats.Msg{Subject: subject, Header: header, Data: data}, most)
		if err == nil {
			err = answered(answer)
		}
		if ctx.Err() != nil && err != nil {
			return context.Cause(ctx)
		}
		if err == nil || !passing(err) {
			return err
		}
		if until.Err() == nil {
			last = err
			timer := time.NewTimer(pause)
			select {
			case <-until.Done():
			case <-timer.C:
			}
			timer.Stop()
			pause = min(2*pause, time.Second)
		}
		if until.Err() != nil && ctx.Err() == nil {
			return fmt.Errorf("the server has not answered for %v: see whether it runs, and go on when it does (%s: %w)", b.patience, subject, explain(last))
		}
	}
}

// explain adds to an error what a user can do.
func explain(err error) error {
	if errors.Is(err, nats.ErrNoResponders) {
		return fmt.Errorf("nothing there takes the message: is JetStream on, and the server prepared by starling? (%w)", err)
	}
	return err
}

// api calls JetStream's interface with an object and reads the answer into another one.
func (b *link) api(ctx context.Context, name string, request, into any) (*nats.Msg, error) {
	var data []byte
	if request != nil {
		data = encode(request)
	}
	var got *nats.Msg
	err := b.ask(ctx, "$JS.API."+name, nil, data, func(m *nats.Msg) error {
		got = m
		if err := failure(m); err != nil {
			return err
		}
		if into == nil {
			return nil
		}
		if err := json.Unmarshal(m.Data, into); err != nil {
			return fmt.Errorf("the server's answer to %s cannot be read: %w", name, err)
		}
		return nil
	})
	return got, err
}

// failure returns the error that an answer in JSON has.
func failure(m *nats.Msg) error {
	var body struct {
		Error *apiError `json:"error"`
	}
	if err := json.Unmarshal(m.Data, &body); err != nil {
		return fmt.Errorf("the server's answer cannot be read: %w", err)
	}
	if body.Error != nil {
		return body.Error
	}
	return nil
}

// publish stores a message in the stream of its subject, and returns its number there.
func (b *link) publish(ctx context.Context, subject string, header nats.Header, data []byte) (uint64, error) {
	var ack struct {
		Stream string `json:"stream"`
		Seq    uint64 `json:"seq"`
	}
	err := b.ask(ctx, subject, header, data, func(m *nats.Msg) error {
		if err := failure(m); err != nil {
			return err
		}
		if err := json.Unmarshal(m.Data, &ack); err != nil || ack.Stream == "" || ack.Seq == 0 {
			return fmt.Errorf("what answers to %s is no stream: %.100q", subject, m.Data)
		}
		return nil
	})
	return ack.Seq, err
}

// know turns a server's error into the one of package cluster that it stands for.
func know(err error) error {
	var coded *apiError
	if errors.As(err, &coded) {
		return coded.known()
	}
	return err
}

// stored is a message of a stream.
type stored struct {
	subject string
	seq     uint64
	header  nats.Header
	data    []byte
	at      time.Time
}

// direct reads the last message of an exact subject: cluster.ErrNone where there is none. With replicas, one that lags behind may answer.
func (b *link) direct(ctx context.Context, stream, subject string) (*stored, error) {
	var s *stored
	err := b.ask(ctx, "$JS.API.DIRECT.GET."+stream+"."+subject, nil, nil, func(m *nats.Msg) error {
		switch status := m.Header.Get("Status"); status {
		case "":
		case "404":
			return &apiError{404, codeNoMessage, "no message"}
		default:
			return &apiError{503, 0, "status " + status + " " + m.Header.Get("Description")}
		}
		if len(m.Header) == 0 { // an error of the interface, in JSON
			if err := failure(m); err != nil {
				return err
			}
		}
		var seq uint64
		if _, err := fmt.Sscan(m.Header.Get("Nats-Sequence"), &seq); err != nil || m.Header.Get("Nats-Subject") != subject {
			return fmt.Errorf("the server's answer is not the message of %s", subject)
		}
		at, _ := time.Parse(time.RFC3339Nano, m.Header.Get("Nats-Time-Stamp"))
		s = &stored{subject, seq, m.Header, m.Data, at}
		return nil
	})
	return s, know(err)
}

// lag is how long a replica may be behind that answers to direct.
const lag = 3 * time.Second

// newer is direct for what has been stored, though perhaps not yet everywhere: a message with a larger number. It asks again while a replica that
// answers may be behind.
func (b *link) newer(ctx context.Context, stream, subject string, than uint64) (*stored, error) {
	for begun := time.Now(); ; {
		m, err := b.direct(ctx, stream, subject)
		if err != nil && !errors.Is(err, cluster.ErrNone) || err == nil && m.seq > than || b.conn.ConnectedClusterName() == "" || time.Since(begun) > lag {
			return m, err
		}
		timer := time.NewTimer(50 * time.Millisecond)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		case <-timer.C:
		}
	}
}

// get reads a message as the stream's leader has it: the last of a subject, or with next the first from a number on. Subjects may have wildcards.
func (b *link) get(ctx context.Context, stream string, request any) (*stored, error) {
	var answer struct {
		Message struct {
			Subject string    `json:"subject"`
			Seq     uint64    `json:"seq"`
			Header  []byte    `json:"hdrs"`
			Data    []byte    `json:"data"`
			Time    time.Time `json:"time"`
		} `json:"message"`
	}
	if _, err := b.api(ctx, "STREAM.MSG.GET."+stream, request, &answer); err != nil {
		return nil, know(err)
	}
	m := answer.Message
	s := &stored{m.Subject, m.Seq, nil, m.Data, m.Time}
	if len(m.Header) > 0 {
		header, err := nats.DecodeHeadersMsg(m.Header)
		if err != nil {
			return nil, fmt.Errorf("message %d of stream %s: %w", m.Seq, stream, err)
		}
		s.header = header
	}
	return s, nil
}

// Requests of get.
type (
	lastOf struct {
		Subject string `json:"last_by_subj"`
	}
	nextOf struct {
		Seq     uint64 `json:"seq"`
		Subject string `json:"next_by_subj"`
	}
)

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain data
	}
	return b
}
