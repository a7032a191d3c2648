//go:build unix

package metamorphic

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// hung is how long a process gives no answer that is taken for one that waits for ever. It counts all time, so that a busy machine needs much.
const hung = 30 * patience

// Player plays cases in a process of its own, since a fault may end it. The next case gets a new process.
type Player struct {
	Args  []string  // with which this program calls Serve
	cmd   *exec.Cmd // nil: there is no process
	in    io.WriteCloser
	out   *json.Decoder
	crash strings.Builder
}

// answer is what a case gives.
type answer struct {
	Said    string // by its operations
	Refused bool
	Error   string
	Fault   bool // the error is one
}

// Serve plays the cases that come in, and answers each.
func (w *World) Serve(in io.Reader, out io.Writer) error {
	for cases, answers := json.NewDecoder(in), json.NewEncoder(out); ; {
		var c Case
		if err := cases.Decode(&c); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		var a answer
		var err error
		a.Refused, err = w.Play(c, func(op, said string, err error) { a.Said += fmt.Sprintf("%-9s %s%v\n", op, said, err) })
		if err != nil {
			a.Error, a.Fault = err.Error(), IsFault(err)
		}
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
}

// Play is World.Play in the process. A crash of the process, or no answer for too long, is a fault.
func (p *Player) Play(c Case) (said string, refused bool, err error) {
	if p.cmd == nil {
		if err := p.begin(); err != nil {
			return "", false, err
		}
	}
	late := time.AfterFunc(hung, func() { p.cmd.Process.Signal(syscall.SIGQUIT) }) // it prints what it is at
	var a answer
	err = errors.Join(json.NewEncoder(p.in).Encode(c), p.out.Decode(&a))
	switch late.Stop(); {
	case err != nil:
		err, text := p.End(), p.crash.String()
		return "", false, Faultf("the process ended: %v: %s", err, text[:min(len(text), 4000)])
	case a.Fault:
		err = &Fault{a.Error}
	case a.Error != "":
		err = errors.New(a.Error)
	}
	return a.Said, a.Refused, err
}

func (p *Player) begin() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	p.crash.Reset()
	cmd := exec.Command(program, p.Args...)
	cmd.Stderr = &p.crash
	out, _ := cmd.StdoutPipe()
	p.in, _ = cmd.StdinPipe()
	p.cmd, p.out = cmd, json.NewDecoder(out)
	return cmd.Start()
}

// End ends the process.
func (p *Player) End() error {
	if p.cmd == nil {
		return nil
	}
	p.in.Close()
	err := p.cmd.Wait()
	p.cmd = nil
	return err
}
