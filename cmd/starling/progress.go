package main

import (
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/internal/visible"
	"github.com/starling-smc/starling/method"
)

// progress shows the progress of the work on stderr.
type progress struct {
	screen screen
	now    func() time.Time
	stop   func() // stops the ticks

	named bool // runs at a server are told by their names there

	mu    sync.Mutex
	phase phase
	said  []starling.Finding // that the command has told while it worked
}

// screen is a way to show progress. Its methods are called one at a time.
type screen interface {
	every() time.Duration         // between two ticks; 0: none
	show(p *phase, now time.Time) // after each status
	tick(p *phase, now time.Time) // at every tick, so that a long step does not look like a hang
	leave()                       // before something else is written
}

// newProgress shows progress on stderr until its end.
func newProgress(quiet, json bool) *progress {
	p := &progress{screen: newScreen(os.Stderr, quiet, json), now: time.Now, stop: func() {}}
	if every := p.screen.every(); every > 0 {
		ticker, done := time.NewTicker(every), make(chan struct{})
		p.stop = sync.OnceFunc(func() {
			ticker.Stop()
			close(done)
		})
		go p.follow(ticker.C, done)
	}
	return p
}

// newScreen shows progress on a terminal by a line that is redrawn, and elsewhere by plain lines. With quiet nothing is shown;
// with json progress is shown on a terminal only, because a program may read the output.
func newScreen(f *os.File, quiet, json bool) screen {
	switch {
	case quiet:
		return silent{}
	case term.IsTerminal(int(f.Fd())):
		return newTerminal(f)
	case json:
		return silent{}
	}
	return plain{f}
}

// follow passes ticks on until done is closed.
func (p *progress) follow(ticks <-chan time.Time, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-ticks:
			p.tick()
		}
	}
}

func (p *progress) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.screen.tick(&p.phase, p.now())
}

// show shows a status. A status without words names work whose progress is unknown.
func (p *progress) show(s method.Status) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	s.Phase, s.Long, s.Short = visible.Text(s.Phase), visible.Text(s.Long), visible.Text(s.Short)
	p.phase.update(s, now)
	p.screen.show(&p.phase, now)
}

// say writes a line of its own to stderr, whether or not progress is shown.
func (p *progress) say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.screen.leave()
	tell(text)
}

// submitted tells how a server knows a run.
func (p *progress) submitted(run cluster.Sum) {
	if p.named {
		p.say("starling: at the server this is run " + shortSum(run))
	}
}

// first reports whether a finding is new, and keeps it: the runs of a sweep tell one each.
func (p *progress) first(f starling.Finding) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.ContainsFunc(p.said, f.Equal) {
		return false
	}
	p.said = append(p.said, f)
	return true
}

// told reports whether a finding of this kind was told while the command worked.
func (p *progress) told(f starling.Finding) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.said, func(g starling.Finding) bool { return g.Kind == f.Kind })
}

// drawn reports whether progress is drawn on a terminal.
func (p *progress) drawn() bool {
	_, ok := p.screen.(*terminal)
	return ok
}

// end is called when the work is over. It may be called again.
func (p *progress) end() {
	p.stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.screen.leave()
	p.screen = silent{} // a tick may still be under way
}

// silent shows nothing.
type silent struct{}

func (silent) every() time.Duration         { return 0 }
func (silent) show(p *phase, now time.Time) {}
func (silent) tick(p *phase, now time.Time) {}
func (silent) leave()                       {}
