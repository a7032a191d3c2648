package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/regular"
)

// keeper saves a run in its folder while it goes on. A nil keeper saves nothing.
//
// When a checkpoint is due, each part that is at work is packed at the end of its step, and the last part to be packed writes
// the file. A part whose step takes longer than the interval is saved in its last packed state.
type keeper struct {
	folder *Folder
	every  time.Duration
	now    func() time.Time
	from   string     // the checkpoint file that the run was resumed from; empty: the run began anew
	begun  *beginning // the trace up to that checkpoint; nil: there is none, or the trace is open

	turn           sync.Mutex // guards the fields below; not held while a part computes
	trace          *os.File
	traced         *summing // of the bytes in trace
	state          checkpoint
	phase          *savedPhase // the phase of state that is at work
	running, asked []bool      // parts that have made a step and not the last, and parts that are to be packed
	saved, round   time.Time   // when the last checkpoint was written, and when the next one fell due; zero: not yet
	rotate         bool        // the last written file is good: keep it until the next one is complete
	changed        bool        // some part has made a step since the last checkpoint
	failed         error       // the error of a write; no other write is tried after it

	first   func(Lines) (int, error) // of the phase that is at work: the first step whose line is still needed; nil: all are
	longest int64                    // bytes of the trace from which on it is made shorter
	least   int64                    // below so many bytes it is not
}

// begin begins a phase, or resumes it from its saved state.
func (k *keeper) begin(name string, parts int, first func(Lines) (int, error)) (*savedPhase, error) {
	if k == nil {
		return (&checkpoint{}).phase(name, parts)
	}
	k.turn.Lock()
	defer k.turn.Unlock()
	p, err := k.state.phase(name, parts)
	if err != nil {
		return nil, err
	}
	k.phase, k.running, k.asked, k.first = p, make([]bool, parts), make([]bool, parts), first
	return p, nil
}

// step is called after each step of part i. save asks for a checkpoint without waiting for the interval.
func (k *keeper) step(i int, part Part, save bool) error {
	if k == nil {
		return nil
	}
	k.turn.Lock()
	defer k.turn.Unlock()
	done, now := part.Done(), k.now()
	k.running[i] = !done
	if k.round.IsZero() && now.Sub(k.saved) >= k.every {
		k.round = now
		copy(k.asked, k.running)
		k.asked[i] = true
	}
	if k.asked[i] || done {
		if err := k.pack(i, part); err != nil {
			return err
		}
	}
	complete := !slices.Contains(k.asked, true) || now.Sub(k.round) >= k.every
	if save || !k.round.IsZero() && complete {
		if err := k.write(sum{}); err != nil {
			return err
		}
		return k.shorten(false)
	}
	return nil
}

// pack updates the saved bytes of part i, in place.
func (k *keeper) pack(i int, part Part) error {
	p := packing{bytes: k.phase.parts[i]}
	_, err := part.WriteTo(&p)
	if err != nil { // the saved bytes are partly overwritten, and useless
		k.failed = fmt.Errorf("saving the run: part %d of phase %q: %w", i, k.phase.name, err)
		return k.failed
	}
	k.changed = k.changed || p.changed || p.at != len(p.bytes)
	k.phase.parts[i], k.phase.steps[i], k.asked[i] = p.bytes[:p.at], part.K(), false
	return nil
}

// packing overwrites the saved bytes of a part and records whether they change.
type packing struct {
	bytes   []byte
	at      int // bytes written so far
	changed bool
}

// Grow makes room for n bytes in all.
func (p *packing) Grow(n int) { p.bytes = slices.Grow(p.bytes, max(0, n-len(p.bytes))) }

func (p *packing) Write(b []byte) (int, error) {
	end := p.at + len(b)
	if end > len(p.bytes) || !bytes.Equal(p.bytes[p.at:end], b) {
		p.bytes, p.changed = append(p.bytes[:p.at], b...), true
	}
	p.at = end
	return len(b), nil
}

// write writes a checkpoint. sorted is the sum of the trace as Finish writes it, where the trace is complete.
func (k *keeper) write(sorted sum) error {
	if k.failed != nil {
		return k.failed
	}
	previous := ""
	if k.rotate {
		previous = k.folder.path(previousFile)
	}
	k.state.trace, k.state.sorted = k.traced.sum(), sorted
	if k.failed = k.trace.Sync(); k.failed == nil {
		k.failed = ckpt.Replace(k.folder.path(checkpointFile), previous, k.state.writeTo)
	}
	if k.failed != nil {
		k.failed = saving(k.failed)
		return k.failed
	}
	k.rotate, k.changed, k.folder.kept = true, false, true
	k.saved, k.round = k.now(), time.Time{}
	return nil
}

// end saves the parts after a phase: in their final states or, if stopped is not nil, where they were stopped. made is the
// number of steps of each part that are in the trace. A part that has made more steps keeps its last packed state. trace is
// the whole trace, in memory unless the phase is open; if the phase was not stopped, it is sorted.
func (k *keeper) end(stopped error, parts []Part, made []int, trace []TraceLine) error {
	if k == nil || k.failed != nil {
		return stopped
	}
	for i, part := range parts {
		if made[i] > 0 && part.K() == made[i] {
			if err := k.pack(i, part); err != nil {
				return errors.Join(stopped, err)
			}
		}
	}
	if stopped != nil {
		if !k.changed && k.rotate || k.state.empty() {
			return stopped
		}
		return errors.Join(stopped, k.write(sum{}))
	}
	var sorted sum
	switch {
	case k.phase.traced && k.folder.kind.Streams:
		if err := k.shorten(true); err != nil {
			return err
		}
		sorted = k.traced.sum()
	case k.phase.traced:
		whole := newSumming()
		if err := writeTrace(whole, trace); err != nil {
			return err
		}
		sorted = whole.sum()
	}
	if !k.changed && k.rotate && sorted == k.state.sorted {
		return nil
	}
	return k.write(sorted)
}

// line appends a line to the trace. It is called before a checkpoint holds that step.
func (k *keeper) line(l TraceLine) error {
	if k == nil {
		return nil
	}
	k.turn.Lock()
	defer k.turn.Unlock()
	k.phase.traced = true
	if k.failed == nil {
		if err := json.NewEncoder(io.MultiWriter(k.trace, k.traced)).Encode(l); err != nil {
			k.failed = saving(err)
		}
	}
	return k.failed
}

// lines reads the trace so far, which must be as this process wrote it.
func (k *keeper) lines(yield func(TraceLine, error) bool) {
	path := k.folder.path(traceFile)
	file, err := regular.Open(path)
	if err != nil {
		yield(TraceLine{}, err)
		return
	}
	defer file.Close()
	read := newSumming()
	for l, err := range linesOf(io.TeeReader(file, read)) {
		if err != nil {
			yield(TraceLine{}, fmt.Errorf("%s: %w", path, err))
			return
		}
		if !yield(l, nil) {
			return
		}
	}
	if read.sum() != k.traced.sum() {
		yield(TraceLine{}, &DamagedError{fmt.Errorf("%s: another process has written to it; begin anew in another folder", path)})
	}
}

// leastShortened is the size below which a trace is not made shorter.
const leastShortened = 1 << 20

// shorten removes the lines that are not needed, when the trace has become twice as long as it was after the last time, so that the work
// is in proportion to the lines. The trace is replaced by a shorter one whole. Two checkpoints are written before that, which go on from the
// longer one as well as from the shorter: whatever moment the process is killed at, the run goes on from both.
func (k *keeper) shorten(now bool) error {
	if k.first == nil || !now && k.traced.bytes < k.longest {
		return nil
	}
	from, err := k.first(k.lines)
	if err == nil {
		err = k.cutBefore(from)
	}
	switch {
	case k.failed != nil: // a checkpoint could not be written
		return k.failed
	case err != nil:
		k.failed = saving(err)
		return k.failed
	}
	k.longest = max(2*k.traced.bytes, k.least)
	return nil
}

// cutBefore removes the lines of the steps before one.
func (k *keeper) cutBefore(step int) error {
	path, rest := k.folder.path(traceFile), newSumming()
	at, err := lineAt(path, step)
	if err != nil || at == 0 {
		return err
	}
	err = ckpt.Replace(path, "", func(w io.Writer) error {
		if err := copyOf(io.MultiWriter(w, rest), path, at, k.traced.bytes); err != nil {
			return err
		}
		return errors.Join(k.write(rest.sum()), k.write(rest.sum()), k.close()) // closed: a system may not replace a file that is open
	})
	if err != nil {
		return err
	}
	k.traced = rest
	return k.reopen()
}

// reopen opens the trace's file to write on.
func (k *keeper) reopen() (err error) {
	if err := k.close(); err != nil {
		return err
	}
	k.trace, err = regular.Create(k.folder.path(traceFile), os.O_APPEND|os.O_WRONLY)
	return err
}

// close closes the trace. Closing it again does nothing.
func (k *keeper) close() error {
	if k == nil || k.trace == nil {
		return nil
	}
	trace := k.trace
	k.trace = nil
	return trace.Close()
}
