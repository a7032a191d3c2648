package runs

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/internal/ckpt"
)

// outcome is how far a part has come elsewhere: at its end it is the result of a task, before that the state to go on from. It holds no
// times, so that every machine makes the same bytes.
type outcome struct {
	steps  int
	lines  []TraceLine       // of all steps, if the part is traced; without seconds
	shards []cluster.Content // what Run.Store was given, in order
	state  []byte            // of the part
}

const outcomeKind = "runs.Outcome/1"

// pack returns the outcome with a part's present state.
func (o *outcome) pack(part Part) ([]byte, error) {
	var state, lines bytes.Buffer
	if _, err := part.WriteTo(&state); err != nil {
		return nil, err
	}
	if err := writeTrace(&lines, o.lines); err != nil {
		return nil, err
	}
	shards, err := json.Marshal(o.shards)
	if err != nil {
		return nil, err
	}
	e := ckpt.NewEncoder(outcomeKind)
	e.Ints("steps", o.steps)
	e.Bytes("lines", lines.Bytes())
	e.Bytes("shards", shards)
	e.Bytes("state", state.Bytes())
	return e.Encode(), nil
}

// unpack is the inverse of pack. The state is a part of b.
func unpack(b []byte) (*outcome, error) {
	d, err := ckpt.NewDecoder(b, outcomeKind)
	if err != nil {
		return nil, err
	}
	o := new(outcome)
	d.Ints("steps", &o.steps)
	lines, shards := d.Bytes("lines"), d.Bytes("shards")
	o.state = d.Bytes("state")
	if err := d.Err(); err != nil {
		return nil, err
	}
	if o.lines, err = ReadTrace(lines); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(shards, &o.shards); err != nil {
		return nil, fmt.Errorf("files of kept states: %w", err)
	}
	if n := len(o.lines); n != 0 && n != o.steps {
		return nil, fmt.Errorf("%d lines of %d steps", n, o.steps)
	}
	for i, l := range o.lines {
		if l.K != i+1 || l.Part != o.lines[0].Part {
			return nil, fmt.Errorf("line %d is k %d of island %d", i+1, l.K, l.Part)
		}
	}
	return o, nil
}

// restore brings a part to the state of an outcome.
func (o *outcome) restore(part Part) error {
	if err := part.UnmarshalBinary(o.state); err != nil {
		return err
	}
	if part.K() != o.steps {
		return fmt.Errorf("it has made %d steps, not %d", part.K(), o.steps)
	}
	return nil
}

const statesKind = "runs.States/1"

// packStates returns the states of all parts of a phase that has ended, for the phases after it.
func packStates(parts []Part) ([]byte, error) {
	e := ckpt.NewEncoder(statesKind)
	e.Ints("parts", len(parts))
	for i, part := range parts {
		var state bytes.Buffer
		if _, err := part.WriteTo(&state); err != nil {
			return nil, err
		}
		e.Bytes(fmt.Sprint("part ", i), state.Bytes())
	}
	return e.Encode(), nil
}

// restoreStates is the inverse of packStates.
func restoreStates(b []byte, parts []Part) error {
	d, err := ckpt.NewDecoder(b, statesKind)
	if err != nil {
		return err
	}
	var n int
	if d.Ints("parts", &n); d.Err() == nil && n != len(parts) {
		d.Fail("%d parts, not %d", n, len(parts))
	}
	for i, part := range parts {
		state := d.Bytes(fmt.Sprint("part ", i))
		if err := d.Err(); err != nil {
			return err
		}
		if err := part.UnmarshalBinary(state); err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
	}
	return d.Err()
}
