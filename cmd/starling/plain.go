package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// plainEvery is the longest time between two plain lines. Tests shorten it.
var plainEvery = 10 * time.Second

// plain shows progress where there is no terminal, as in a log file: a line at every tick, and one at the end of a phase that
// took longer than a tick. A shorter phase has no line.
type plain struct{ out io.Writer }

func (plain) every() time.Duration { return plainEvery }

func (s plain) show(p *phase, now time.Time) {
	if spent := p.spent(now); p.Ended && spent >= plainEvery {
		s.write(p.Phase, "done in "+seconds(spent), p.Long)
	}
}

func (s plain) tick(p *phase, now time.Time) {
	if p.began.IsZero() { // nothing has a status yet
		return
	}
	sofar := seconds(p.spent(now)) + " so far"
	switch left := p.left(now); {
	case p.Ended: // the next phase has no status yet
		s.write("after "+p.Phase, seconds(now.Sub(p.updated))+" so far")
	case left > 0:
		s.write(p.Phase, share(p), "ETA "+seconds(left), p.Long)
	case p.Share > 0:
		s.write(p.Phase, share(p), sofar, p.Long)
	default:
		s.write(p.Phase, sofar, p.Long)
	}
}

func share(p *phase) string { return fmt.Sprintf("%.0f %%", 100*p.Share) }

func (plain) leave() {}

func (s plain) write(fields ...string) {
	fmt.Fprintln(s.out, strings.TrimRight(strings.Join(fields, "  "), " "))
}
