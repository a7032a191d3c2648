package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/starling-smc/starling"
)

// progress shows a run on a terminal: one line that is redrawn, and left standing at the end of each phase. On
// anything else it is silent.
type progress struct {
	out   io.Writer
	width func() int // of the terminal
	now   func() time.Time
	spec  *starling.Spec

	phase string
	began time.Time // of the phase
	drawn time.Time
	line  string
}

const redraw = 100 * time.Millisecond

// newProgress is nil if f is no terminal.
func newProgress(f *os.File) *progress {
	if !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &progress{out: f, now: time.Now, width: func() int {
		w, _, err := term.GetSize(int(f.Fd()))
		if err != nil || w <= 0 {
			return 80
		}
		return w
	}}
}

func (p *progress) event(e starling.Event) {
	switch e := e.(type) {
	case *starling.Loaded:
		p.spec = e.Spec
		p.began = p.now()
		if e.Spec.MAP != nil {
			p.show("MAP", fmt.Sprintf("0 of %d starts", e.Spec.MAP.Restarts), "", false)
		}
	case *starling.Descending:
		p.descending(e)
	case *starling.Sampling:
		p.sampling(e)
	}
}

func (p *progress) descending(e *starling.Descending) {
	last := e.Done == e.Restarts
	middle := fmt.Sprintf("%s  %d of %d starts", bar(float64(e.Done)/float64(e.Restarts)), e.Done, e.Restarts)
	if last {
		middle = fmt.Sprintf("best of %d starts", e.Restarts)
	}
	if !math.IsInf(e.NLL, 1) {
		middle += fmt.Sprintf(", epoch %d", e.Epoch)
		if math.IsNaN(e.Accuracy) {
			middle += fmt.Sprintf("     validation NLL %.3f", e.NLL)
		} else {
			middle += fmt.Sprintf("     validation %.1f %%", 100*e.Accuracy)
		}
	}
	p.show("MAP", middle, seconds(p.now().Sub(p.began)), last)
}

func (p *progress) sampling(e *starling.Sampling) {
	last := e.Done == e.Islands
	var name, middle string
	if m := p.spec.Method.MCMC; m != nil {
		name = fmt.Sprintf("%d chains", e.Islands)
		middle = fmt.Sprintf("%s/%s epochs  accepted %.2f  step %.2g", thousands(int(e.Epochs)), thousands(m.Epochs), e.Acceptance, e.Step)
	} else {
		name = fmt.Sprintf("islands %d×%d", e.Islands, e.Particles)
		middle = fmt.Sprintf("λ %.2g  ESS %.1f/%d  accepted %.2f  ancestors %.0f", e.Temperature, e.ESS, e.Particles, e.Acceptance, e.Ancestors)
	}
	if p.phase != name {
		p.phase, p.began = name, p.now()
	}
	spent := p.now().Sub(p.began)
	right := seconds(spent)
	if !last {
		middle = bar(e.Share) + "  " + middle
		right = ""
		if e.Share > 0 && spent > time.Second/2 {
			right = "ETA " + seconds(time.Duration(float64(spent)*(1-e.Share)/e.Share))
		}
	}
	p.show(name, middle, right, last)
}

// show draws a line, at most every redraw unless it is the phase's last, which then stands.
func (p *progress) show(name, middle, right string, last bool) {
	now := p.now()
	if !last && now.Sub(p.drawn) < redraw {
		return
	}
	p.drawn = now
	line := []rune(fmt.Sprintf("%-12s %s", name, middle))
	space := max(0, min(p.width()-1, 100)-len([]rune(right))) // for all but the right end
	if right != "" {
		space--
	}
	if len(line) > space {
		line = line[:max(0, space)]
	}
	if right != "" {
		line = append(line, []rune(strings.Repeat(" ", 1+space-len(line))+right)...)
	}
	fmt.Fprintf(p.out, "\r%s\x1b[K", string(line))
	p.line = string(line)
	if last {
		p.end()
	}
}

// end leaves the line standing and goes to the next.
func (p *progress) end() {
	if p.line != "" {
		fmt.Fprintln(p.out)
		p.line = ""
	}
}

// bar is a bar of eight cells, an eighth of a cell fine.
func bar(share float64) string {
	const cells = 8
	eighths := int(math.Round(8 * cells * min(1, max(0, share))))
	full := strings.Repeat("█", eighths/8)
	if part := eighths % 8; part > 0 {
		full += string([]rune("▏▎▍▌▋▊▉")[part-1])
	}
	return full + strings.Repeat(" ", cells-len([]rune(full)))
}

// seconds writes a duration for people.
func seconds(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}
