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
			p.show("MAP", 0, false, fmt.Sprintf("0 of %d starts", e.Spec.MAP.Restarts))
		}
	case *starling.Predicting:
		p.predicting(e)
	case *starling.Descending:
		p.descending(e)
	case *starling.Sampling:
		p.sampling(e)
	}
}

func (p *progress) descending(e *starling.Descending) {
	last := e.Done == e.Restarts
	starts := fmt.Sprintf("%d of %d starts", e.Done, e.Restarts)
	if last {
		starts = fmt.Sprintf("best of %d starts", e.Restarts)
	}
	score := ""
	if !math.IsInf(e.NLL, 1) {
		starts += fmt.Sprintf(", epoch %d", e.Epoch)
		if math.IsNaN(e.Accuracy) {
			score = fmt.Sprintf("  validation NLL %.3f", e.NLL)
		} else {
			score = fmt.Sprintf("  validation %.1f %%", 100*e.Accuracy)
		}
	}
	p.show("MAP", e.Share, last, starts+score)
}

func (p *progress) predicting(e *starling.Predicting) {
	if e.Done == 0 {
		p.began = p.now()
	}
	p.show("predict", float64(e.Done)/float64(max(1, e.Rows)), e.Done == e.Rows, fmt.Sprintf("%s of %s rows", thousands(e.Done), thousands(e.Rows)))
}

func (p *progress) sampling(e *starling.Sampling) {
	var name, long, short string
	if m := p.spec.Method.MCMC; m != nil {
		name = fmt.Sprintf("%d chains", e.Islands)
		epochs := thousands(int(e.Epochs)) + "/" + thousands(m.Epochs)
		long = fmt.Sprintf("%s epochs  accepted %.2f  step %.2g", epochs, e.Acceptance, e.Step)
		short = fmt.Sprintf("%s ep  acc %.2f  step %.2g", epochs, e.Acceptance, e.Step)
	} else if name = fmt.Sprintf("islands %d×%d", e.Islands, e.Particles); p.spec.Method.SMC.Path.Tempering == nil {
		long = fmt.Sprintf("iteration %.0f  %s examples  ESS %.1f/%d  ancestors %.0f", e.Iteration, thousands(int(e.Examples)), e.ESS, e.Particles, e.Ancestors)
		short = fmt.Sprintf("k %.0f  n %.0f  ESS %.1f  anc %.0f", e.Iteration, e.Examples, e.ESS, e.Ancestors)
	} else {
		long = fmt.Sprintf("λ %.2g  ESS %.1f/%d  accepted %.2f  ancestors %.0f", e.Temperature, e.ESS, e.Particles, e.Acceptance, e.Ancestors)
		short = fmt.Sprintf("λ %.2g  ESS %.0f  acc %.2f  anc %.0f", e.Temperature, e.ESS, e.Acceptance, e.Ancestors)
	}
	if p.phase != name {
		p.phase, p.began = name, p.now()
	}
	p.show(name, e.Share, e.Done == e.Islands, long, short)
}

// show draws a line, at most every redraw unless it is the phase's last, which then stands: a bar, what there is to say,
// and the time that is left, or at the end the time that it took. Where the terminal is narrow the bar shrinks first,
// then the shorter way to say it is taken: figures and time stay.
func (p *progress) show(name string, share float64, last bool, says ...string) {
	now := p.now()
	if !last && now.Sub(p.drawn) < redraw {
		return
	}
	p.drawn = now
	spent := now.Sub(p.began)
	right := ""
	switch {
	case last:
		right = " " + seconds(spent)
	case share > 0 && spent > time.Second/2:
		right = " ETA " + seconds(time.Duration(float64(spent)*(1-share)/share))
	}
	space := max(0, min(p.width()-1, 100)-len([]rune(right))) // for all but the right end
	line := layout(name, share, last, says, space)
	if right != "" {
		line += strings.Repeat(" ", max(0, space-len([]rune(line)))) + right
	}
	fmt.Fprintf(p.out, "\r%s\x1b[K", line)
	p.line = line
	if last {
		p.end()
	}
}

// layout is the first way to write a line that fits into the space, or the shortest, cut.
func layout(name string, share float64, last bool, says []string, space int) string {
	line := ""
	for _, say := range says {
		for _, cells := range []int{8, 6, 4, 0} {
			middle := say
			if cells > 0 && !last {
				middle = bar(share, cells) + "  " + say
			}
			if line = fmt.Sprintf("%-12s %s", name, middle); len([]rune(line)) <= space {
				return line
			}
		}
	}
	return string([]rune(line)[:space])
}

// end leaves the line standing and goes to the next.
func (p *progress) end() {
	if p.line != "" {
		fmt.Fprintln(p.out)
		p.line = ""
	}
}

// bar is a bar of some cells, an eighth of a cell fine.
func bar(share float64, cells int) string {
	eighths := int(math.Round(float64(8*cells) * min(1, max(0, share))))
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
