package starling

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/starling-smc/starling/baseline"
	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/smc"
)

// keeper keeps a run in its folder while it goes on, so that a process that is killed loses little. A nil keeper keeps
// nothing.
//
// The parts of a phase, restarts or islands, go on side by side, and a checkpoint may have each at another step: nobody
// waits. When one is due, each part that is at work is packed at the end of its step, and the last of them writes. One
// whose step takes longer than the interval is written as it was packed last.
type keeper struct {
	folder *Folder
	every  time.Duration
	now    func() time.Time

	restarts []*baseline.Restart // to go on from; nil: begin
	islands  []*smc.State

	turn           sync.Mutex // for all that follows
	trace          *os.File
	state          checkpoint
	parts          [][]byte // those of state that are at work
	running, asked []bool   // which parts have made a step and not the last, and which are to be packed
	saved, round   time.Time
	rotate         bool  // what is written last is good, and worth keeping until the next is complete
	changed        bool  // since then
	failed         error // of a write; none is tried after it
}

// phase begins one of n parts.
func (k *keeper) phase(parts *[][]byte, n int) {
	if *parts == nil {
		*parts = make([][]byte, n)
	}
	k.parts, k.running, k.asked = *parts, make([]bool, n), make([]bool, n)
}

// step is told of part i after each of its steps; save asks for a checkpoint now.
func (k *keeper) step(i int, part io.WriterTo, done, save bool) error {
	if k == nil {
		return nil
	}
	k.turn.Lock()
	defer k.turn.Unlock()
	k.running[i] = !done
	now := k.now()
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
		return k.write()
	}
	return nil
}

// pack brings what is held of part i up to date, in the memory where it lies.
func (k *keeper) pack(i int, part io.WriterTo) error {
	p := packing{bytes: k.parts[i]}
	_, err := part.WriteTo(&p)
	k.changed = k.changed || p.changed || p.at != len(p.bytes)
	k.parts[i], k.asked[i] = p.bytes[:p.at], false
	return err
}

// packing writes over the bytes of a part and finds out whether they change.
type packing struct {
	bytes   []byte
	at      int // how many are new
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

// write writes a checkpoint.
func (k *keeper) write() error {
	if k.failed != nil {
		return k.failed
	}
	previous := ""
	if k.rotate {
		previous = k.folder.path(previousFile)
	}
	if k.failed = k.trace.Sync(); k.failed == nil {
		k.failed = ckpt.Replace(k.folder.path(checkpointFile), previous, k.state.writeTo)
	}
	if k.failed != nil {
		k.failed = fmt.Errorf("saving the run: %w", k.failed)
		return k.failed
	}
	k.rotate, k.changed, k.folder.kept = true, false, true
	k.saved, k.round = k.now(), time.Time{}
	return nil
}

// rest saves where the parts are after a phase: its end or, if stopped is not nil, where they were stopped. state is
// that of a part, nil where there is none to save.
func (k *keeper) rest(stopped error, state func(i int) io.WriterTo) error {
	if k == nil || k.failed != nil {
		return stopped
	}
	for i := range k.parts {
		if part := state(i); part != nil {
			if err := k.pack(i, part); err != nil {
				return errors.Join(stopped, err)
			}
		}
	}
	if !k.changed && k.rotate || stopped != nil && k.state.empty() {
		return stopped
	}
	return errors.Join(stopped, k.write())
}

// line adds to the trace, before the checkpoint that has its iteration.
func (k *keeper) line(l TraceLine) error {
	if k == nil {
		return nil
	}
	k.turn.Lock()
	defer k.turn.Unlock()
	if k.failed == nil {
		if err := json.NewEncoder(k.trace).Encode(l); err != nil {
			k.failed = fmt.Errorf("saving the run: %w", err)
		}
	}
	return k.failed
}

// open makes the folder this run's: a new one, or one in which it was begun and which says how far it is. It reports
// whether it is done already; then the run has its ensembles.
func (r *run) open(o Options) (finished bool, err error) {
	f := o.Folder
	if !f.held() {
		return false, fmt.Errorf("folder %s is not taken, or was closed", f.Dir)
	}
	k := &keeper{folder: f, every: o.Every, now: o.clock()}
	k.state.identity = r.identity()
	if k.every == 0 {
		k.every = 10 * time.Second
	}
	if !f.made || f.kept {
		if finished, err = k.resume(r); finished || err != nil {
			return finished, err
		}
	}
	if f.resumed && !f.kept {
		r.progress(&Notice{f.Dir + " has no checkpoint: the run begins anew"})
	}
	for _, l := range r.Trace {
		r.before = max(r.before, time.Duration(l.Seconds*float64(time.Second)))
	}
	r.worked = r.before
	if err := ckpt.WriteFile(f.path(configFile), k.state.config); err != nil {
		return false, err
	}
	if err := f.writeManifest(r.manifest(running)); err != nil {
		return false, err
	}
	if err := ckpt.Replace(f.path(traceFile), "", func(w io.Writer) error { return writeTrace(w, r.Trace) }); err != nil {
		return false, err
	}
	if k.trace, err = os.OpenFile(f.path(traceFile), os.O_APPEND|os.O_WRONLY, 0); err != nil {
		return false, err
	}
	k.saved = k.now()
	r.keep = k
	return false, nil
}

// initData is the file of model.init among the checksums of the data.
const initData = "model.init"

func (r *run) identity() identity {
	id := identity{config: r.Spec.YAML(), data: checksums(r.Data)}
	id.release, id.revision = Version()
	if r.Init != "" {
		id.data[initData] = r.Init
	}
	return id
}

// resume finds out how far the run is that was begun in the folder.
func (k *keeper) resume(r *run) (finished bool, err error) {
	f := k.folder
	m, err := readManifest(f.Dir)
	begun := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, f.damaged(err)
	}
	if begun && (m.Status == done || f.has(checkpointFile) || f.has(previousFile)) {
		config, err := os.ReadFile(f.path(configFile))
		if err != nil {
			return false, f.damaged(err)
		}
		was := identity{m.Version, m.Revision, config, maps.Clone(m.Data)}
		if m.Init != "" && was.data != nil {
			was.data[initData] = m.Init
		}
		if m.Status == done { // nothing is computed: any version may show it
			was.release, was.revision = k.state.release, k.state.revision
		}
		if err := k.state.differ(&was); err != nil {
			return false, &OtherRunError{fmt.Errorf("%s cannot go on: %w", f.Dir, err)}
		}
		r.Started = m.Started
	}
	if begun && m.Status == done {
		f.kept = true
		if err := r.reload(f.Dir); err != nil {
			return false, f.damaged(err)
		}
		if err := f.tidy(); err != nil {
			return false, err
		}
		r.progress(&Notice{"the run in " + f.Dir + " is done; this is its result"})
		return true, nil
	}
	if err := k.load(r.progress); err != nil || !f.kept {
		return false, err
	}
	r.evaluation = time.Duration(m.EvaluationSeconds * float64(time.Second))
	if r.Trace, err = f.cutTrace(k.islands); len(r.Trace) == 0 { // it was stopped in the search of point estimates
		r.before = time.Duration(m.WorkSeconds * float64(time.Second))
	}
	return false, err
}

// damaged says what to do about a file of the folder that is missing or cannot be read.
func (f *Folder) damaged(err error) error {
	return &DataError{fmt.Errorf("the run in %s is damaged: %w; fit it again into another folder, by another --out", f.Dir, err)}
}

// load reads the checkpoint or, if that is not good, the previous one. There may be none.
func (k *keeper) load(tell func(Event)) error {
	var faults []error
	for _, name := range []string{checkpointFile, previousFile} {
		path := k.folder.path(name)
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var c *checkpoint
		if err == nil {
			c, err = readCheckpoint(b)
		}
		if err == nil && k.state.differ(&c.identity) != nil {
			err = errors.New("it is of another run")
		}
		if err == nil {
			k.restarts, k.islands, err = c.unpack()
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s is refused: %w", path, err))
			continue
		}
		for _, fault := range faults {
			tell(&Notice{fmt.Sprintf("%v; the run goes on from %s", fault, path)})
		}
		k.state.restarts, k.state.islands = c.restarts, c.islands
		k.rotate, k.folder.kept = name == checkpointFile, true
		return nil
	}
	if faults != nil {
		return &DataError{fmt.Errorf("%w; there is no good one left: begin anew in another folder", errors.Join(faults...))}
	}
	return nil
}

// cutTrace is the part of the trace that the states have behind them. The rest was written after the last checkpoint,
// the last line perhaps not wholly.
func (f *Folder) cutTrace(islands []*smc.State) ([]TraceLine, error) {
	text, err := os.ReadFile(f.path(traceFile))
	if err != nil {
		return nil, &DataError{err}
	}
	last := make([]int, len(islands))
	var kept []TraceLine
	for _, line := range bytes.Split(text, []byte("\n")) {
		var l TraceLine
		if json.Unmarshal(line, &l) != nil || l.Island < 0 || l.Island >= len(islands) || islands[l.Island] == nil {
			continue
		}
		if l.K == last[l.Island]+1 && l.K <= islands[l.Island].K {
			last[l.Island]++
			kept = append(kept, l)
		}
	}
	for i, st := range islands {
		if st != nil && last[i] != st.K {
			return nil, &DataError{fmt.Errorf("%s lacks iteration %d of island %d, which the checkpoint has: begin anew in another folder",
				f.path(traceFile), last[i]+1, i)}
		}
	}
	return kept, nil
}

// reload takes what a finished run came to from its folder.
func (r *run) reload(dir string) error {
	was, err := OpenRun(dir)
	if err != nil {
		return err
	}
	r.Ensembles, r.Trace, r.Notes, r.Finished = was.Ensembles, was.Trace, was.Manifest.Notes, was.Manifest.Finished
	return nil
}

// close writes the result or, after an error, how the run stands.
func (k *keeper) close(r *run, err error) error {
	if k == nil {
		return err
	}
	if err == nil && !k.rotate { // a run without parts
		err = k.write()
	}
	err = errors.Join(err, k.trace.Close())
	if err == nil {
		if err = k.folder.Write(&r.Result); err == nil {
			return nil
		}
		err = fmt.Errorf("the run is done but could not be written: %w", err)
	}
	if !k.folder.kept {
		return err
	}
	status := failed
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		status = interrupted
	}
	k.folder.writeManifest(r.manifest(status)) // the first error is the one to tell
	if status == failed && (k.folder.has(checkpointFile) || k.folder.has(previousFile)) {
		err = fmt.Errorf("%w\nthe last good state is kept in %s", err, k.folder.Dir)
	}
	return err
}
