package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/starling-smc/starling/internal/ckpt"
)

// checkpoint is the state that a run resumes from: the identity of the run and the state of each of its parts. It holds no
// times, so a run's last checkpoint has the same bytes however often the run was stopped, except for the sums of the trace:
// the lines of the trace have times.
type checkpoint struct {
	identity
	trace  sum           // of the trace's file when the checkpoint was written
	sorted sum           // of the trace that is about to take its place: as Finish writes it, part by part, or a shorter one; otherwise the zero sum
	phases []*savedPhase // in the order in which they began
}

// upTo finds the beginning of the trace's file that the checkpoint was written after.
func (c *checkpoint) upTo(path string) (*beginning, error) {
	for _, s := range []sum{c.trace, c.sorted} {
		if b, err := begins(path, s); b != nil || err != nil {
			return b, err
		}
	}
	return nil, errTrace
}

// errTrace is the error for a trace that was damaged or cut after the checkpoint was written.
var errTrace = errors.New("up to this checkpoint, " + traceFile + " is not as the run wrote it")

// savedPhase is a phase in a checkpoint.
type savedPhase struct {
	name   string
	traced bool     // its steps leave lines in the trace; at most one phase of a run is traced
	steps  []int    // of each part, at the time when it was packed; 0: the part has not begun
	parts  [][]byte // what each part wrote
}

// identity identifies a run. A run can be resumed only by a run with an equal identity.
type identity struct {
	kind              string
	release, revision string
	config            []byte            // resolved
	data              map[string]string // checksum of each part of the data
	init              string            // checksum of the file from which the work starts
}

const checkpointKind = "starling.Checkpoint/3"

// writeTo writes a container of package ckpt.
func (c *checkpoint) writeTo(w io.Writer) error {
	sums, err := json.Marshal(c.data) // in the order of the names
	if err != nil {
		return err
	}
	e := ckpt.NewEncoder(checkpointKind)
	e.Bytes("run", []byte(c.kind))
	e.Bytes("release", []byte(c.release))
	e.Bytes("revision", []byte(c.revision))
	e.Bytes("config", c.config)
	e.Bytes("data", sums)
	e.Bytes("init", []byte(c.init))
	e.Bytes("trace", append(c.trace.append(nil), c.sorted.append(nil)...))
	e.Ints("phases", len(c.phases))
	for i, p := range c.phases {
		traced := 0
		if p.traced {
			traced = 1
		}
		e.Bytes(fmt.Sprint("phase ", i), []byte(p.name))
		e.Ints(fmt.Sprintf("phase %d parts", i), len(p.parts), traced)
		for j, part := range p.parts {
			e.Ints(fmt.Sprintf("phase %d part %d steps", i, j), p.steps[j])
			e.Bytes(fmt.Sprintf("phase %d part %d", i, j), part)
		}
	}
	_, err = e.WriteTo(w)
	return err
}

// readCheckpoint is the inverse of writeTo. The parts are slices of b.
func readCheckpoint(b []byte) (*checkpoint, error) {
	d, err := ckpt.NewDecoder(b, checkpointKind)
	if err != nil {
		return nil, err
	}
	c := &checkpoint{identity: identity{
		kind: string(d.Bytes("run")), release: string(d.Bytes("release")), revision: string(d.Bytes("revision")),
		config: d.Bytes("config"), init: string(d.Bytes("init")),
	}}
	sums := d.Bytes("data")
	if d.Err() == nil {
		if err := json.Unmarshal(sums, &c.data); err != nil {
			d.Fail("checksums of the data: %v", err)
		}
	}
	if sums := d.Bytes("trace"); d.Err() == nil && len(sums) != 2*sumSize {
		d.Fail("section %q has %d bytes, not %d", "trace", len(sums), 2*sumSize)
	} else if d.Err() == nil {
		c.trace, c.sorted = readSum(sums[:sumSize]), readSum(sums[sumSize:])
	}
	var phases int
	d.Ints("phases", &phases)
	for i := 0; i < phases && d.Err() == nil; i++ {
		p := readPhase(d, i)
		for _, other := range c.phases {
			if other.name == p.name || other.traced && p.traced {
				d.Fail("phases %q and %q have the same name, or both leave lines in the trace", other.name, p.name)
			}
		}
		c.phases = append(c.phases, p)
	}
	if err := d.Err(); err != nil {
		return nil, err
	}
	return c, nil
}

func readPhase(d *ckpt.Decoder, i int) *savedPhase {
	p := &savedPhase{name: string(d.Bytes(fmt.Sprint("phase ", i)))}
	var parts, traced int
	d.Ints(fmt.Sprintf("phase %d parts", i), &parts, &traced)
	p.traced = traced != 0
	for j := 0; j < parts && d.Err() == nil; j++ {
		var steps int
		d.Ints(fmt.Sprintf("phase %d part %d steps", i, j), &steps)
		part := slices.Clip(d.Bytes(fmt.Sprintf("phase %d part %d", i, j))) // clipped: the next part follows in the same array
		if steps < 0 || steps == 0 && len(part) > 0 {
			d.Fail("part %d of phase %q has %d bytes after %d steps", j, p.name, len(part), steps)
		}
		p.steps, p.parts = append(p.steps, steps), append(p.parts, part)
	}
	return p
}

// phase returns the phase of that name, which is added if there is none.
func (c *checkpoint) phase(name string, parts int) (*savedPhase, error) {
	for _, p := range c.phases {
		if p.name == name {
			if len(p.parts) != parts {
				return nil, fmt.Errorf("phase %q has %d parts, not %d", name, len(p.parts), parts)
			}
			return p, nil
		}
	}
	p := &savedPhase{name: name, steps: make([]int, parts), parts: make([][]byte, parts)}
	c.phases = append(c.phases, p)
	return p, nil
}

// traced returns the phase whose steps leave lines in the trace; nil where there is none.
func (c *checkpoint) traced() *savedPhase {
	for _, p := range c.phases {
		if p.traced {
			return p
		}
	}
	return nil
}

// empty reports whether no part has made a step.
func (c *checkpoint) empty() bool {
	begun := func(steps int) bool { return steps > 0 }
	return !slices.ContainsFunc(c.phases, func(p *savedPhase) bool { return slices.ContainsFunc(p.steps, begun) })
}

// differ compares the identity of a saved run, was, with the identity of the run that would resume it; nil if they are equal.
func (is *identity) differ(was *identity, differ func(was, is []byte) error) error {
	other := func(what What, err error) error { return &OtherRunError{what, err} }
	switch {
	case was.kind != is.kind:
		return other(OtherKind, fmt.Errorf("the run was begun by starling %s, this is %s: choose another folder", was.kind, is.kind))
	case was.release != is.release || was.revision != is.revision:
		return other(OtherVersion, fmt.Errorf("the run was begun by starling %s, this is %s: go on with that version, or begin anew in another folder",
			versionText(was.release, was.revision), versionText(is.release, is.revision)))
	case !bytes.Equal(was.config, is.config):
		err := errors.New("the config is not the run's")
		if differ != nil {
			err = differ(was.config, is.config)
		}
		if err != nil {
			return other(OtherConfig, err)
		}
	}
	if err := inputsDiffer(was, is); err != nil {
		return other(OtherInputs, err)
	}
	return nil
}

func versionText(release, revision string) string {
	if revision == "" {
		return release
	}
	return release + " (" + revision + ")"
}

// inputsDiffer names the parts whose examples are not the same.
func inputsDiffer(was, is *identity) error {
	var faults []error
	for _, part := range slices.Sorted(maps.Keys(is.data)) {
		switch old, ok := was.data[part]; {
		case !ok:
			faults = append(faults, fmt.Errorf("the run had no %s examples, the data have", part))
		case old != is.data[part]:
			faults = append(faults, fmt.Errorf("the %s examples are not those of the run: checksum %s, was %s", part, is.data[part], old))
		}
	}
	for _, part := range slices.Sorted(maps.Keys(was.data)) {
		if _, ok := is.data[part]; !ok {
			faults = append(faults, fmt.Errorf("the run had %s examples, the data have none", part))
		}
	}
	if was.init != is.init {
		faults = append(faults, fmt.Errorf("the file from which the run starts is not the same: checksum %s, was %s", some(is.init), some(was.init)))
	}
	return errors.Join(faults...)
}

func some(checksum string) string {
	if checksum == "" {
		return "none"
	}
	return checksum
}
