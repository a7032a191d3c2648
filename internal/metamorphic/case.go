//go:build unix

// Package metamorphic tests whole runs from outside, as pebble's metamorphic tests do with a database. A case is a list of operations on
// the folder of a run: processes start and are killed, files are damaged, and verbs read what is there. The history of a case does
// not depend on threads, kernels, instants of kills and the time between checkpoints: each operation gives what it gives for a run
// that was left alone, or an error that says where the fault is. A case that fails is made small.
//
//	case.go     cases, and how they are played
//	world.go    where they are played
//	player.go   processes that play them
//	runs.go     the runs that they begin with: configs and tables
//	process.go  the command at work, its signals, and the phases of a run
//	damage.go   damages of files
//	verbs.go    what people do with a folder
//	folder.go   what differs between two folders
//	reduce.go   small cases
package metamorphic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/regular"
	"github.com/starling-smc/starling/internal/runs"
)

// Case is a list of operations. The first one makes the folder: "done NAME" is a copy of a run that is done, "begun NAME" of one
// that was interrupted, and "new NAME" is none. Then come any of
//
//	start KEY=VALUE …            a process starts the run or resumes it (process.go)
//	edit FILE FROM TO TEXT …     a damage (damage.go)
//	resume                       the run is resumed, without a process
//	predict, evaluate, report …  a verb (verbs.go)
//	verify                       every file is checked: right just where the files are those of the whole run
//	same                         the folder, of a run that is done, has the files of the whole run
type Case []string

func (c Case) String() string { return strings.Join(c, "; ") }

// Parse is the inverse of String.
func Parse(text string) Case { return strings.Split(text, "; ") }

// simpler lists operations that could stand for one of a case that fails.
func simpler(op string) (all []string) {
	words := strings.Fields(op)
	switch words[0] {
	case "edit":
		e, err := parseEdit(words[2:])
		if err != nil {
			return nil
		}
		for _, less := range e.simpler() {
			all = append(all, less.op(words[1]))
		}
	case "start":
		for i, w := range words[1:] {
			if !strings.HasPrefix(w, "signal=") && !strings.HasPrefix(w, "after=") {
				all = append(all, strings.Join(slices.Delete(slices.Clone(words), i+1, i+2), " "))
			}
		}
	}
	return all
}

// Fault is the error of an operation that a correct program does not give.
type Fault struct{ text string }

func (e *Fault) Error() string { return e.text }

// Faultf is a fault of some text.
func Faultf(format string, args ...any) error { return &Fault{fmt.Sprintf(format, args...)} }

// IsFault reports whether an error is or holds one.
func IsFault(err error) bool {
	_, is := errors.AsType[*Fault](err)
	return is
}

// Ended is what a start says whose process ended by itself.
const Ended = "ended"

// play is a case at work.
type play struct {
	w    *World
	run  Run
	from string        // the whole run that the folder is a copy of
	took time.Duration // by the last process
}

func (p *play) folder() string { return filepath.Join(p.w.place, "run") }

// Play does the operations of a case, one after another, and tells each, with what it said. The error joins all faults. An error that is no
// fault says that the case cannot be played. refused: some verb gave an error.
func (w *World) Play(c Case, tell func(op, said string, err error)) (refused bool, err error) {
	p, err := w.open(c[0])
	if err != nil {
		return false, err
	}
	if err := p.copy(); err != nil {
		return false, err
	}
	var faults []error
	for _, op := range c[1:] {
		said, err := p.do(op)
		if tell != nil {
			tell(op, said, err)
		}
		switch {
		case IsFault(err):
			faults = append(faults, fmt.Errorf("%s: %w", op, err))
		case known(err):
			refused = true
		case err != nil:
			return false, fmt.Errorf("%s: %w", op, err)
		}
	}
	return refused, errors.Join(faults...)
}

// copy makes the folder anew.
func (p *play) copy() error {
	if err := os.RemoveAll(p.folder()); err != nil || strings.HasPrefix(p.from, "new/") {
		return err
	}
	return os.CopyFS(p.folder(), os.DirFS(p.from))
}

func (p *play) whole() string { return filepath.Join("done", p.run.Name) }

// do does one operation. A panic is a fault, and so is a verb that takes too much memory or time.
func (p *play) do(op string) (said string, err error) {
	words := strings.Fields(op)
	if words[0] == "start" {
		return p.start(words[1:])
	}
	if slices.Contains(damages, words[0]) && len(words) > 1 {
		return "", p.damage(words[0], words[1], words[2:])
	}
	limit, began := 4*size(p.folder())+200<<20, processors()
	resetPeak()
	defer func() {
		if r := recover(); r != nil {
			err = Faultf("panic: %v\n%s", r, debug.Stack())
		} else if most := peak(); most > limit {
			err = errors.Join(err, Faultf("%d MB of memory, more than %d", most>>20, limit>>20))
		} else if took := processors() - began; took > patience {
			err = errors.Join(err, Faultf("%v of a processor, more than %v", took, patience))
		}
	}()
	switch op {
	case "same":
		if !Done(p.folder()) {
			return "", errors.New("the run is not done: start it before")
		}
		return "", p.same()
	case "verify":
		return "", p.verify()
	case "resume":
		if err = p.run.fit(context.Background(), p.folder(), nil); err == nil {
			err = p.same()
		}
	default:
		err = p.verb(op)
	}
	if err != nil && !known(err) && !IsFault(err) {
		err = Faultf("the error is of no known kind: %v", err)
	}
	return "", err
}

// verb compares what a verb gives with what it gives for the whole run.
func (p *play) verb(name string) error {
	do := p.run.verbs()[name]
	if do == nil {
		return Faultf("no such operation")
	}
	got, err := do(context.Background(), p.folder(), p.whole())
	if err == nil && !bytes.Equal(got, p.w.want[p.run.Name][name]) {
		return Faultf("another result without an error")
	}
	return err
}

// same compares the folder with that of the whole run.
func (p *play) same() error {
	differences, err := Differences(p.whole(), p.folder())
	if err == nil && differences != nil {
		return Faultf("differs from a run that was left alone:\n%s", strings.Join(differences, "\n"))
	}
	return err
}

// verify asks starling whether the files are right. It must be content just where all files are those of the whole run.
func (p *play) verify() error {
	v, err := starling.VerifyRun(p.folder())
	content, whole := err == nil && v.Count(runs.Differs, runs.Missing) == 0, true
	entries, _ := os.ReadDir(p.whole())
	for _, e := range entries {
		is, err := regular.Read(filepath.Join(p.folder(), e.Name()), 1<<30)
		was, _ := os.ReadFile(filepath.Join(p.whole(), e.Name()))
		whole = whole && err == nil && bytes.Equal(is, was)
	}
	if content != whole {
		return Faultf("says %+v, %v", v, err)
	}
	return err
}

// size is the number of bytes of a folder's files.
func size(dir string) (n int64) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			n += info.Size()
		}
	}
	return n
}

// patience is the longest time that a verb may take, without that in which the machine does other work.
const patience = 10 * time.Second

// processors is the time of processors that this process has taken.
func processors() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// resetPeak forgets the largest memory of the process so far, where the system can.
func resetPeak() { os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// peak is the largest number of bytes that the process has had in memory since resetPeak; 0 if it is not known.
func peak() int64 {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		var kB int64
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kB); n == 1 {
			return kB << 10
		}
	}
	return 0
}
