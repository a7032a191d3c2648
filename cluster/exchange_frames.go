package cluster

import (
	"crypto/rand"
	"encoding/binary"
	"math"
	"time"
)

// A frame is a head and what its kind needs.
const (
	join   = iota + 1 // to node 0: let me in. Body: the token of the call of Join; the head's epoch is the largest that the node knows
	formed            // of node 0: an epoch begins. Body: the token
	void              // of node 0: the head's epoch is over
	piece             // of a message. Body: head of the piece, then its bytes
	ask               // for a message. Body: a bit for each piece that has come
	hail              // asks whether the node is there, and node 0 whether the epoch is still that of all
	here              // the answer of a node that has nothing else to say
	bye               // of node 0: it leaves
)

// frameMark begins a frame: its last byte is the version of the layout.
const frameMark = "sx\x01"

// head begins each frame: 28 bytes.
type head struct {
	kind        byte
	from, nodes int
	epoch       uint64
	round       Round // without its epoch
}

const headBytes = 28

func (h head) frame(body []byte) []byte {
	b := append(make([]byte, 0, headBytes+len(body)), frameMark...)
	b = append(b, h.kind)
	b = binary.LittleEndian.AppendUint32(b, uint32(h.from))
	b = binary.LittleEndian.AppendUint32(b, uint32(h.nodes))
	b = binary.LittleEndian.AppendUint64(b, h.epoch)
	b = binary.LittleEndian.AppendUint32(b, uint32(h.round.Scan))
	b = binary.LittleEndian.AppendUint32(b, uint32(h.round.Pass))
	return append(b, body...)
}

func parseHead(b []byte) (h head, body []byte, ok bool) {
	if len(b) < headBytes || string(b[:3]) != frameMark {
		return head{}, nil, false
	}
	h = head{b[3], stated(b[4:]), stated(b[8:]), binary.LittleEndian.Uint64(b[12:]), Round{Scan: stated(b[20:]), Pass: stated(b[24:])}}
	h.round.Epoch = h.epoch
	return h, b[headBytes:], h.from >= 0 && h.nodes >= 0 && h.round.Scan >= 0 && h.round.Pass >= 0
}

// stated is the number that 4 bytes state, or −1 where it is none of this program's.
func stated(b []byte) int {
	n := binary.LittleEndian.Uint32(b)
	if n > math.MaxInt32 {
		return -1
	}
	return int(n)
}

func (t token) bytes() []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, t.process), t.call)
}

func random() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:])
}

// hear takes a frame.
func (x *Exchange) hear(frame []byte) {
	h, body, ok := parseHead(frame)
	x.turn.Lock()
	defer x.release()
	if x.stop == nil {
		return
	}
	if !ok || h.nodes != x.nodes || h.from >= x.nodes || h.kind < join || h.kind > bye {
		x.refused.Add(1)
		return
	}
	if h.from == x.node { // its own, to all; or that of a process that was this node before
		return
	}
	x.heard[h.from] = time.Now()
	switch {
	case h.kind == join && x.node == 0:
		x.admit(h, body)
	case h.kind == formed && h.from == 0:
		if x.epoch == 0 && string(body) == string(x.token.bytes()) {
			x.epoch, x.highest = h.epoch, max(x.highest, h.epoch)
			x.wake()
		}
	case h.kind == void && h.from == 0:
		if x.epoch != 0 && x.epoch == h.epoch {
			x.dissolve()
		}
	case h.kind == bye && h.from == 0:
		x.over = true
		x.wake()
	case h.kind == piece:
		if h.epoch == x.epoch && x.epoch != 0 {
			x.take(h, body)
		}
	case h.kind == ask, h.kind == hail:
		x.answer(h, body)
	case h.kind == here:
	default:
		x.refused.Add(1)
	}
}

// admit lets a node into the next epoch. One that is not in the present epoch ends it.
func (x *Exchange) admit(h head, body []byte) {
	if len(body) != 16 {
		x.refused.Add(1)
		return
	}
	t := token{binary.LittleEndian.Uint64(body), binary.LittleEndian.Uint64(body[8:])}
	x.highest = max(x.highest, h.epoch)
	was := x.joined[h.from]
	switch {
	case x.epoch != 0 && t == was: // the answer was lost
		x.post(h.from, head{kind: formed, epoch: x.epoch}, body)
		return
	case t.process == was.process && t.call <= was.call: // it comes late
	default:
		if x.epoch != 0 {
			x.dissolve()
		}
		x.joined[h.from] = t
		x.wake()
	}
	x.post(h.from, head{kind: here}, nil)
}

// answer answers ask and hail.
func (x *Exchange) answer(h head, had []byte) {
	if x.node == 0 && h.epoch != x.epoch && h.epoch != 0 {
		x.post(h.from, head{kind: void, epoch: h.epoch}, nil)
		return
	}
	if h.kind == ask && h.epoch == x.epoch {
		for _, s := range x.sent {
			if s.is(h.round) {
				x.deliver(h.from, s, had)
				return
			}
		}
	}
	x.post(h.from, head{kind: here, epoch: x.epoch}, nil)
}

// pieceHead begins the body of a piece: the bytes of the message (4), its SHA-256 (32), the number of the piece (4), the bytes of
// all pieces but the last (4).
const pieceHead = 44

// leastPiece is the least bytes of a piece of several.
const leastPiece = 1024

// deliver sends the pieces of a message that a node does not have; had has a bit for each that it has.
func (x *Exchange) deliver(to int, s sent, had []byte) {
	size := min(x.wire.Most(), 1<<20) - headBytes - pieceHead
	sum := SumOf(s.message)
	for i := range piecesOf(len(s.message), size) {
		if i/8 < len(had) && had[i/8]>>(i%8)&1 == 1 {
			continue
		}
		body := binary.LittleEndian.AppendUint32(nil, uint32(len(s.message)))
		body = append(body, sum[:]...)
		body = binary.LittleEndian.AppendUint32(body, uint32(i))
		body = binary.LittleEndian.AppendUint32(body, uint32(size))
		body = append(body, s.message[i*size:min((i+1)*size, len(s.message))]...)
		x.post(to, head{kind: piece, epoch: s.round.Epoch, round: s.round}, body)
	}
}

// piecesOf is the number of pieces of a message.
func piecesOf(bytes, size int) int { return max(1, (bytes+size-1)/size) }

// inbox has what a node has sent of the round that is received, and of the next one: none is further ahead.
type inbox struct {
	passed Round // the last round that was received; its epoch is 0 before the first
	coming []incoming
}

// incoming is a message that comes in pieces.
type incoming struct {
	round   Round
	bytes   int
	size    int
	sum     Sum
	pieces  [][]byte // nil: not yet
	missing int
	message []byte // nil: pieces are missing
}

// whole is the message of a round, if all of it has come.
func (in *inbox) whole(r Round) (message []byte, ok bool) {
	for _, c := range in.coming {
		if c.round == r && c.message != nil {
			return c.message, true
		}
	}
	return nil, false
}

// there has a bit for each piece that has come of a round.
func (in *inbox) there(r Round) (had []byte) {
	for _, c := range in.coming {
		if c.round != r {
			continue
		}
		had = make([]byte, (len(c.pieces)+7)/8)
		for i, p := range c.pieces {
			if p != nil {
				had[i/8] |= 1 << (i % 8)
			}
		}
	}
	return had
}

// pass forgets a round, and those before it.
func (in *inbox) pass(r Round) {
	in.passed = r
	var later []incoming
	for _, c := range in.coming {
		if r.before(c.round) {
			later = append(later, c)
		}
	}
	in.coming = later
}

// take takes a piece of a message.
func (x *Exchange) take(h head, body []byte) {
	in := &x.inbox[h.from]
	if in.passed.Epoch != 0 && !in.passed.before(h.round) {
		return // it comes late, or twice
	}
	c, number, bytes, ok := parsePiece(h.round, body)
	if !ok {
		x.refused.Add(1)
		return
	}
	i := 0
	for i < len(in.coming) && in.coming[i].round != h.round {
		i++
	}
	switch {
	case i == len(in.coming) && i < 2:
		in.coming = append(in.coming, c)
	case i == len(in.coming): // there is room for two rounds: the present one and the next
		if i = 0; in.coming[0].round.before(in.coming[1].round) {
			i = 1
		}
		if x.refused.Add(1); !h.round.before(in.coming[i].round) {
			return
		}
		in.coming[i] = c
	case in.coming[i].message != nil:
		if in.coming[i].sum != c.sum {
			x.refused.Add(1)
		}
		return
	case in.coming[i].bytes != c.bytes || in.coming[i].size != c.size || in.coming[i].sum != c.sum:
		x.refused.Add(1) // one of the two was not sent by the node
		in.coming[i] = c
	}
	if in.coming[i].add(number, bytes); in.coming[i].missing > 0 {
		return
	}
	if m := in.coming[i].join(); SumOf(m) == in.coming[i].sum {
		in.coming[i].message, in.coming[i].pieces = m, nil
		x.wake()
		return
	}
	x.refused.Add(1)
	in.coming = append(in.coming[:i], in.coming[i+1:]...)
}

// parsePiece reads the body of a piece. ok is false for sizes that fit no message, whatever they say; nothing is allocated by what they say alone but a
// slot for each piece.
func parsePiece(r Round, body []byte) (c incoming, number int, bytes []byte, ok bool) {
	if len(body) < pieceHead {
		return c, 0, nil, false
	}
	total, number, size := stated(body), stated(body[36:]), stated(body[40:])
	if bytes = body[pieceHead:]; total < 0 || total > MaxBlock || size < leastPiece || size > MaxBlock {
		return c, 0, nil, false
	}
	c = incoming{round: r, bytes: total, size: size, missing: piecesOf(total, size)}
	if number < 0 || number >= c.missing || len(bytes) != min(size, c.bytes-number*size) {
		return c, 0, nil, false
	}
	copy(c.sum[:], body[4:36])
	c.pieces = make([][]byte, c.missing)
	return c, number, bytes, true
}

func (c *incoming) add(number int, bytes []byte) {
	if c.pieces[number] == nil {
		c.pieces[number] = append([]byte{}, bytes...)
		c.missing--
	}
}

func (c *incoming) join() []byte {
	m := make([]byte, 0, c.bytes)
	for _, p := range c.pieces {
		m = append(m, p...)
	}
	return m
}
