//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is a process of the command that is heard line by line, and ended by signals only.
type process struct {
	what string
	cmd  *exec.Cmd
	log  string        // the file that its lines go to, behind those of the processes of that name before it
	over chan struct{} // closed when it has ended, and its children have
	err  error         // how, after that

	talked bool // it has said something; for those who know that it is over

	turn sync.Mutex
	sent syscall.Signal // 0: none
}

// begin starts a process. Its lines go to the file what.log in dir and, if heard is not nil, to heard.
func begin(dir, what string, heard func(*process, string), program string, line ...string) (*process, error) {
	p := &process{what: what, cmd: exec.Command(program, line...), log: filepath.Join(dir, what+".log"), over: make(chan struct{})}
	file, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, err
	}
	// A writer, and no file: Wait then waits for the children of the process, too, which have the other end.
	out := &lines{file: file, each: func(l string) {
		p.talked = true
		if heard != nil {
			heard(p, l)
		}
	}}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C is for the soak
	fmt.Fprintf(file, "\n%s%s%s\n", time.Now().Format("15:04:05.000"), starts, strings.Join(p.cmd.Args, " "))
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.err = p.cmd.Wait()
		fmt.Fprintf(file, "%s ended: %v\n", time.Now().Format("15:04:05.000"), p.err)
		file.Close()
		close(p.over)
	}()
	return p, nil
}

// send sends a signal, unless there was one.
func (p *process) send(signal syscall.Signal) {
	p.turn.Lock()
	defer p.turn.Unlock()
	if p.sent == 0 {
		p.sent = signal
		p.cmd.Process.Signal(signal)
	}
}

func (p *process) signal() syscall.Signal {
	p.turn.Lock()
	defer p.turn.Unlock()
	return p.sent
}

// slow is the time after which a process that was asked to end, or a run, is taken for one that waits for ever. Calls to a server that is away are
// repeated for two minutes.
const slow = 3 * time.Minute

// end waits for the end of a process that was sent a signal. It must end by it, or as those end that were asked to stop.
func (p *process) end(asked int) error {
	select {
	case <-p.over:
	case <-time.After(slow):
		syscall.Kill(-p.cmd.Process.Pid, syscall.SIGQUIT) // it prints what it is at
		return fmt.Errorf("%s, or a child of it, has not ended %v after %v: %s", p.what, slow, p.signal(), p.log)
	}
	status := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	switch sent := p.signal(); {
	case status.Signaled() && status.Signal() == sent && (sent == syscall.SIGKILL || !p.talked): // it may have just begun
	case sent != syscall.SIGKILL && status.Exited() && status.ExitStatus() == asked:
	case p.err == nil: // it was at its end
	default:
		return fmt.Errorf("%s ended with %v after %v: %s", p.what, p.err, sent, p.last())
	}
	return nil
}

// last are the last lines of the process.
func (p *process) last() string {
	b, _ := os.ReadFile(p.log)
	b = b[max(0, bytes.LastIndex(b, []byte(starts))):]
	return p.log + " has:\n" + string(b[max(0, len(b)-3000):])
}

// starts stands in the file before the line of each process.
const starts = " starts: "

// lines writes a process' output to a file, and calls each with every line.
type lines struct {
	file *os.File
	each func(string)
	rest []byte
}

func (l *lines) Write(b []byte) (int, error) {
	l.rest = append(l.rest, b...)
	for {
		i := bytes.IndexByte(l.rest, '\n')
		if i < 0 {
			return len(b), nil
		}
		line := string(l.rest[:i])
		l.rest = l.rest[i+1:]
		fmt.Fprintf(l.file, "%s %s\n", time.Now().Format("15:04:05.000"), line)
		l.each(line)
	}
}
