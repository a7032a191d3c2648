package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/visible"
)

// output writes to stdout, with control characters made visible. It remembers the first write error: a table that a full disk
// cuts off is a failure.
type output struct {
	w    *os.File
	text *visible.Writer // to w
	err  error
}

func newOutput(w *os.File) *output { return &output{w: w, text: visible.NewWriter(w)} }

func (o *output) Write(b []byte) (int, error) {
	n, err := o.text.Write(b)
	if errors.Is(err, syscall.EPIPE) { // the reader has closed the pipe: the run continues, since its folder is still wanted
		return len(b), nil
	}
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// tell writes a line to stderr, with control characters made visible.
func tell(text string) { fmt.Fprintln(os.Stderr, visible.Text(text)) }

// writeNotes writes notes, dimmed on a terminal.
func writeNotes(w io.Writer, notes []string) {
	before, after := "", ""
	if o, ok := w.(*output); ok {
		w = o.w
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) && os.Getenv("NO_COLOR") == "" {
		before, after = "\x1b[2m", "\x1b[0m"
	}
	for _, note := range notes {
		fmt.Fprintln(w, before+strings.Join(lines(visible.Text(note), columns), after+"\n"+before)+after)
	}
}

// showMore says where more is told of what to do about findings.
func showMore(w io.Writer, found ...[]starling.Finding) {
	if more := finding.More(slices.Concat(found...)); more != "" {
		wrap(w, more)
	}
}
