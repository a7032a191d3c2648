package scans

import (
	"errors"

	"github.com/starling-smc/starling/internal/cells"
)

// A time far ahead, as a clock that was set wrongly gives for one scan, would make all scans after it late. So a scan whose step is many
// times as long as any before it waits for the next one: if that is back near the scans before, the one far ahead is bad.
//
// A text that is all there, such as a file, is asked early, and for its first scan, too. A sender on a pipe may wait for the answer to each
// scan before it sends the next, so that a scan waits there only if it is very far ahead.
const (
	farAhead     = 10   // steps, of a text that is all there
	veryFarAhead = 1000 // steps, of others
)

// pending is what was read of a source beyond the scan that is next.
type pending struct {
	d   *draft
	err error
}

// ahead reads scans, and further ones where it is in doubt about a time.
type ahead struct {
	scans   format
	whole   bool    // all of the text is there
	step    float64 // seconds between scans that are expected; 0: unknown
	pending []pending
}

// next returns the next scan.
func (r *ahead) next() (*draft, error) {
	if len(r.pending) == 0 {
		return r.scans.next()
	}
	p := r.pending[0]
	r.pending = r.pending[1:]
	return p.d, p.err
}

// peek reads on to the n-th good scan from here, which stays pending with all before it; nil: the text ends before it, or there are many
// bad ones.
func (r *ahead) peek(n int) *draft {
	for i := 0; i < 20; i++ {
		if i == len(r.pending) {
			d, err := r.scans.next()
			r.pending = append(r.pending, pending{d, err})
		}
		p := r.pending[i]
		if p.err != nil && !errors.As(p.err, new(*BadError)) {
			return nil
		}
		if p.err == nil {
			if n--; n == 0 {
				return p.d
			}
		}
	}
	return nil
}

// check returns an error for a scan whose time is far ahead of the scans before it, of which c is the clock, and after it.
func (r *ahead) check(d *draft, c *clock) error {
	if c.sameKind(d.at) != nil || !r.whole && !c.any { // the clock refuses it
		return nil
	}
	far := float64(veryFarAhead)
	if r.whole {
		far = farAhead
	}
	far *= max(c.step, r.step)
	if c.any && (far == 0 || !(d.at.after(c.last) > far)) {
		return nil
	}
	next := r.peek(1)
	if next == nil {
		return nil
	}
	if next.at.kind != d.at.kind { // one of the two is bad: of the first scans a third tells which
		if c.any {
			return nil
		}
		if third := r.peek(2); third != nil && third.at.kind == next.at.kind {
			return bad(d.rec.Line, d.column, "the time %s of the first scan is %s, but those of the two scans after it are %s: write all times in one way",
				cells.Clip(d.rec.Text), nameKind(d.at.kind), nameKind(next.at.kind))
		}
		return nil
	}
	back := d.at.after(next.at)
	if c.any {
		if ahead := next.at.after(c.last); ahead > 0 && back > ahead { // nearer to the scans before
			return bad(d.rec.Line, d.column, "the time %s is far ahead of %s, the time of the scan before, and the scan after it is back at %s (line %d): mend it, or leave the scan out",
				cells.Clip(d.rec.Text), cells.Clip(c.text), cells.Clip(next.rec.Text), next.rec.Line)
		}
		return nil
	}
	if third := r.peek(2); far > 0 && back > far && (third == nil || between(next, third, d)) {
		return bad(d.rec.Line, d.column, "the time %s of the first scan is far ahead of %s, the time of the scan after it (line %d): mend it, or leave the scan out",
			cells.Clip(d.rec.Text), cells.Clip(next.rec.Text), next.rec.Line)
	}
	return nil
}

// between reports whether b is later than a and earlier than c, of one kind: where times fall from scan to scan, none is far ahead.
func between(a, b, c *draft) bool {
	return b.at.kind == c.at.kind && a.at.compare(b.at) < 0 && b.at.compare(c.at) < 0
}

// after is the number of seconds by which a is later than b, of one kind.
func (a instant) after(b instant) float64 {
	if a.kind == inSeconds {
		return a.seconds - b.seconds
	}
	return a.since(b)
}
