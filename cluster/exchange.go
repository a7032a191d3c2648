package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Exchange is one of several nodes that compute one thing together, such as the sites of expectation propagation. It takes their messages to
// each other over a [Wire]. Messages are not kept.
//
// Nodes go through rounds. In each, every node sends one message and then waits for those of all. What does not come in 50 ms is asked for again; so
// each node keeps its messages of the last two rounds: none is further ahead. Node 0 is the one that the others join. It never leaves the computation
// to the rest: they wait for it as long as it answers, and it waits for each of them.
//
// A node that is lost joins again, in another process, and begins a new epoch: all others get ErrConflict from Send and Receive, join, and go back to
// what all of them have. Two processes that are both alive must not be the same node: they would shut out each other in turns.
//
// The methods are called by one goroutine, except Leave and Refused.
type Exchange struct {
	wire    Wire
	away    time.Duration
	refused atomic.Int64

	turn        sync.Mutex // guards all below
	run         Sum
	node, nodes int
	stop        func()        // of Wire.Listen; nil: this node takes no part
	over        bool          // node 0 has left
	changed     chan struct{} // closed when something comes
	token       token         // of this node's last Join
	epoch       uint64        // that this node is in; 0: none
	highest     uint64        // the largest epoch that it has heard of
	joined      []token       // of node 0: of the nodes in this epoch or, where there is none, in the next one; zero: not yet
	heard       []time.Time   // when each node was last heard of
	inbox       []inbox       // of each node
	sent        [2]sent       // the last messages, the newest first
	out         []letter      // to be sent when the turn ends
	fault       error         // of the wire, the last
}

// token names a call of Join.
type token struct{ process, call uint64 }

type sent struct {
	round   Round
	message []byte
}

func (s sent) is(r Round) bool { return s.message != nil && s.round == r }

type letter struct {
	to    int
	frame []byte
}

// Round is one exchange of messages. Scan and Pass number the rounds of an epoch in their order.
type Round struct {
	Epoch      uint64
	Scan, Pass int
}

// before reports whether a round of the same epoch is an earlier one.
func (r Round) before(o Round) bool { return r.Scan < o.Scan || r.Scan == o.Scan && r.Pass < o.Pass }

const (
	askAfter = 50 * time.Millisecond // for a message that has not come; then after twice the time, and so on
	askEvery = time.Second           // at the latest
)

// ErrLeft says that node 0 has left: there is nothing more to compute.
var ErrLeft = errors.New("node 0 has left")

// AwayError says that a node has not been heard of for longer than an Exchange waits. Node 0 gets it for any node, the others for node 0.
type AwayError struct {
	Node int
	For  time.Duration
	Wire error // the last fault of the wire; nil: none
}

func (e *AwayError) Error() string {
	text := fmt.Sprintf("node %d has not been heard of for %v", e.Node, e.For.Round(time.Second))
	if e.Wire != nil {
		text += fmt.Sprintf("; the last fault of the network: %v", e.Wire)
	}
	return text
}

func (e *AwayError) Unwrap() error { return e.Wire }

// NewExchange returns a node that has not joined. It waits so long for nodes that are not heard of; 0: 5 minutes.
func NewExchange(w Wire, away time.Duration) *Exchange {
	return &Exchange{wire: w, away: or(away, 5*time.Minute), changed: make(chan struct{})}
}

// Refused counts the frames that no node of this run can have sent.
func (x *Exchange) Refused() int64 { return x.refused.Load() }

// Join enters a run as one of its nodes, 0 to nodes−1, and waits for the others. It returns the epoch, which is larger than any before.
func (x *Exchange) Join(ctx context.Context, run Sum, node, nodes int) (epoch uint64, err error) {
	if node < 0 || node >= nodes {
		return 0, fmt.Errorf("node %d of %d", node, nodes)
	}
	if err := x.enter(run, node, nodes); err != nil {
		return 0, err
	}
	w := x.waiting(0)
	for {
		x.turn.Lock()
		var missing []int
		if node != 0 && x.epoch == 0 {
			missing = []int{0}
		}
		for i := 1; node == 0 && i < nodes; i++ {
			if x.joined[i] == (token{}) {
				missing = append(missing, i)
			}
		}
		if node == 0 && len(missing) == 0 {
			x.form()
		}
		if epoch = x.epoch; epoch != 0 {
			x.release()
			return epoch, nil
		}
		err := w.next(ctx, missing, func(n int) {
			if node == 0 {
				x.post(n, head{kind: hail}, nil)
			} else {
				x.post(0, head{kind: join, epoch: x.highest}, x.token.bytes())
			}
		})
		if err != nil {
			return 0, err
		}
	}
}

// enter begins a call of Join: this node is in no epoch.
func (x *Exchange) enter(run Sum, node, nodes int) error {
	x.turn.Lock()
	defer x.release()
	if x.stop != nil && (run != x.run || node != x.node || nodes != x.nodes) {
		return errors.New("this node takes part in another run: it must leave that first")
	}
	if x.stop == nil {
		x.run, x.node, x.nodes = run, node, nodes
		x.joined, x.heard, x.inbox = make([]token, nodes), make([]time.Time, nodes), make([]inbox, nodes)
		x.token.process = random()
		stop, err := x.wire.Listen(run, node, x.hear)
		if err != nil {
			return err
		}
		x.stop = stop
	}
	x.token.call++
	x.dissolve()
	return nil
}

// dissolve ends the epoch that this node is in.
func (x *Exchange) dissolve() {
	if x.epoch != 0 && x.node == 0 {
		clear(x.joined)
		x.post(All, head{kind: void, epoch: x.epoch}, nil)
	}
	x.epoch, x.sent = 0, [2]sent{}
	clear(x.inbox)
	x.wake()
}

// form begins an epoch of the nodes that have joined. Clocks make it larger than one of a process that was node 0 before.
func (x *Exchange) form() {
	x.highest = max(x.highest+1, uint64(time.Now().UnixNano()))
	x.epoch = x.highest
	for i := 1; i < x.nodes; i++ {
		x.post(i, head{kind: formed, epoch: x.epoch}, x.joined[i].bytes())
	}
}

// Send sends this node's message of a round, of at most MaxBlock bytes.
func (x *Exchange) Send(round Round, message []byte) error {
	x.turn.Lock()
	defer x.release()
	switch {
	case x.over:
		return ErrLeft
	case x.epoch == 0 || round.Epoch != x.epoch:
		return ErrConflict
	case len(message) > MaxBlock:
		return fmt.Errorf("a message of %d bytes: at most %d", len(message), MaxBlock)
	}
	if !x.sent[0].is(round) {
		x.sent = [2]sent{{round, append([]byte{}, message...)}, x.sent[0]}
	}
	x.deliver(All, x.sent[0], nil)
	return nil
}

// Receive waits for the messages of all nodes and returns them in the order of the nodes, so that sums over them have the same bits in every order
// of arrival. This node has sent its own.
func (x *Exchange) Receive(ctx context.Context, round Round) ([][]byte, error) {
	w := x.waiting(askAfter)
	for {
		x.turn.Lock()
		if !x.over && (x.epoch == 0 || round.Epoch != x.epoch) {
			x.release()
			return nil, ErrConflict
		}
		if !x.over && !x.sent[0].is(round) {
			x.release()
			return nil, errors.New("a round is received before this node has sent its message")
		}
		all, missing := make([][]byte, x.nodes), []int(nil)
		for n := range all {
			ok := n == x.node
			if all[n] = x.sent[0].message; !ok {
				all[n], ok = x.inbox[n].whole(round)
			}
			if !ok {
				missing = append(missing, n)
			}
		}
		if len(missing) == 0 {
			for n := range x.inbox {
				x.inbox[n].pass(round)
			}
			x.release()
			return all, nil
		}
		if x.node != 0 && missing[0] != 0 { // node 0 knows whether the epoch is still that of all
			missing = append(missing, 0)
		}
		err := w.next(ctx, missing, func(n int) {
			h := head{kind: ask, epoch: x.epoch, round: round}
			if all[n] != nil {
				h.kind = hail
			}
			x.post(n, h, x.inbox[n].there(round))
		})
		if err != nil {
			return nil, err
		}
	}
}

// Leave takes this node out of the run. It answers no more, and a call of Join or Receive that waits ends with ErrConflict. Where node 0
// leaves, the others get ErrLeft, or do not hear of it and wait for it in vain.
func (x *Exchange) Leave() {
	x.turn.Lock()
	if x.stop != nil && x.node == 0 {
		x.post(All, head{kind: bye}, nil)
	}
	stop := x.stop
	x.stop, x.epoch = nil, 0
	x.wake()
	x.release()
	if stop != nil {
		stop()
	}
}

// waiting is a wait for nodes.
type waiting struct {
	x     *Exchange
	began time.Time
	ask   time.Time     // when to ask next
	after time.Duration // and the time to the question after that
}

func (x *Exchange) waiting(first time.Duration) *waiting {
	now := time.Now()
	return &waiting{x, now, now.Add(first), askAfter}
}

// next is called in turn, which it ends. It asks the missing nodes when it is time, and waits until something comes, or it is time again.
func (w *waiting) next(ctx context.Context, missing []int, ask func(node int)) error {
	x, now := w.x, time.Now()
	if x.stop == nil || x.over {
		stopped := ErrConflict
		if x.over {
			stopped = ErrLeft
		}
		x.release()
		return stopped
	}
	until := w.ask.Add(w.after)
	for _, n := range missing {
		since := w.began
		if h := x.heard[n]; h.After(since) {
			since = h
		}
		if x.node != 0 && n != 0 {
			continue
		}
		if gone := now.Sub(since); gone >= x.away {
			err := &AwayError{n, gone, x.fault}
			x.release()
			return err
		}
		if end := since.Add(x.away); end.Before(until) {
			until = end
		}
	}
	if !now.Before(w.ask) {
		for _, n := range missing {
			ask(n)
		}
		w.ask, w.after = now.Add(w.after), min(2*w.after, askEvery)
	}
	changed := x.changed
	x.release()
	if w.ask.Before(until) {
		until = w.ask
	}
	timer := time.NewTimer(until.Sub(now))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-changed:
	case <-timer.C:
	}
	return nil
}

// wake lets those look that wait. The turn is held.
func (x *Exchange) wake() {
	close(x.changed)
	x.changed = make(chan struct{})
}

// post sends a frame when the turn ends. The turn is held.
func (x *Exchange) post(to int, h head, body []byte) {
	h.from, h.nodes = x.node, x.nodes
	x.out = append(x.out, letter{to, h.frame(body)})
}

// release ends the turn, and sends what was posted. A frame that cannot be sent is as good as lost.
func (x *Exchange) release() {
	out, run := x.out, x.run
	x.out = nil
	x.turn.Unlock()
	for _, l := range out {
		if err := x.wire.Send(run, l.to, l.frame); err != nil {
			x.turn.Lock()
			x.fault = err
			x.turn.Unlock()
		}
	}
}
