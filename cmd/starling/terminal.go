package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// terminal shows progress in one line that is redrawn. At the end of each phase the line stays.
type terminal struct {
	out   io.Writer
	width func() int // of the terminal, in columns

	name  string    // of the phase that was drawn last
	drawn time.Time // when
	open  bool      // its line is not ended
	words bool      // its line has figures, which stay
}

const (
	redraw    = 100 * time.Millisecond // the least time between two lines of a phase
	drawAnew  = time.Second            // the longest, while the work lasts
	wideLines = 100                    // columns
)

func newTerminal(f *os.File) *terminal {
	return &terminal{out: f, width: func() int {
		w, _, err := term.GetSize(int(f.Fd()))
		if err != nil || w <= 0 {
			return 80
		}
		return w
	}}
}

func (t *terminal) every() time.Duration { return drawAnew }

// show draws a status at once if it has figures and the last line is old enough; else the next tick draws it.
func (t *terminal) show(p *phase, now time.Time) {
	if p.Ended || p.Long != "" && (p.Phase != t.name || now.Sub(t.drawn) >= redraw) {
		t.draw(p, now)
	}
}

func (t *terminal) tick(p *phase, now time.Time) {
	if !p.Ended && p.Phase != "" {
		t.draw(p, now)
	}
}

// draw writes a bar, the figures and the time that is left, or at the end the time that the phase took. Where the terminal is
// narrow the bar shrinks first, then the shorter figures are taken: figures and time stay.
func (t *terminal) draw(p *phase, now time.Time) {
	right := ""
	switch left := p.left(now); {
	case p.Ended || p.Long == "":
		right = " " + seconds(p.spent(now))
	case left > 0:
		right = " ETA " + seconds(left)
	}
	space := max(0, min(t.width()-1, wideLines)-len([]rune(right))) // for all but the right end
	line := layout(p, space)
	if right != "" {
		line += strings.Repeat(" ", max(0, space-len([]rune(line)))) + right
	}
	fmt.Fprintf(t.out, "\r%s\x1b[K", line)
	t.name, t.drawn, t.open, t.words = p.Phase, now, true, p.Ended || p.Long != ""
	if p.Ended {
		t.leave()
	}
}

// leave ends the line. One without figures is removed.
func (t *terminal) leave() {
	switch {
	case t.open && t.words:
		fmt.Fprintln(t.out)
	case t.open:
		fmt.Fprint(t.out, "\r\x1b[K")
	}
	t.open = false
}

// layout returns the longest form of a line that fits into the space, or the shortest form, cut.
func layout(p *phase, space int) string {
	line := p.Phase
	for _, say := range []string{p.Long, p.Short} {
		for _, cells := range []int{8, 6, 4, 0} {
			if say == "" {
				continue
			}
			middle := say
			if cells > 0 && !p.Ended {
				middle = bar(p.Share, cells) + "  " + say
			}
			if line = fmt.Sprintf("%-12s %s", p.Phase, middle); len([]rune(line)) <= space {
				return line
			}
		}
	}
	return string([]rune(line)[:min(space, len([]rune(line)))])
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
