//go:build unix

package metamorphic

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/starling-smc/starling"
)

// World is where cases are played: the working directory. The whole runs are in done/NAME, and in begun/NAME those that were
// interrupted; they are made where they are missing.
type World struct {
	Took map[string]time.Duration // for a whole run, by a process

	place   string                       // a folder for the folder that operations work on
	program string                       // makes the runs; "": this process makes them, with settings that take less time
	want    map[string]map[string][]byte // what the verbs give for the whole runs
}

// NewWorld returns the working directory, in which the tables stand (WriteTables).
func NewWorld(place, program string) *World {
	return &World{map[string]time.Duration{}, place, program, map[string]map[string][]byte{}}
}

// open reads the operation that a case begins with.
func (w *World) open(op string) (*play, error) {
	state, name, _ := strings.Cut(op, " ")
	r, err := named(name)
	if err != nil || !slices.Contains([]string{"done", "begun", "new"}, state) {
		return nil, fmt.Errorf("%q: want done, begun or new, and the name of a run", op)
	}
	p := &play{w: w, run: r, from: filepath.Join(state, name)}
	if err := w.Make(p.run); err != nil || w.program != "" || w.want[name] != nil {
		return p, err
	}
	return p, w.learn(p.run)
}

// Make makes a whole run where it is not there yet.
func (w *World) Make(r Run) error {
	if _, err := os.Stat(filepath.Join("done", r.Name)); err == nil {
		return nil
	}
	if w.program == "" {
		if err := r.make(); err != nil {
			return fmt.Errorf("%s: %w", r.Name, err)
		}
		return nil
	}
	p := &play{w: w, run: r, from: "new/" + r.Name}
	if err := p.copy(); err != nil {
		return err
	}
	if _, err := p.start(nil); err != nil {
		return fmt.Errorf("%s: %w", r.Name, err)
	}
	w.Took[r.Name] = p.took
	return errors.Join(os.MkdirAll("done", 0o777), os.Rename(p.folder(), p.whole()))
}

// learn asks the verbs what they give for a whole run.
func (w *World) learn(r Run) error {
	p := &play{w: w, run: r, from: "done/" + r.Name}
	w.want[r.Name] = map[string][]byte{}
	for name, do := range r.verbs() {
		err := p.copy()
		if err == nil {
			w.want[r.Name][name], err = do(context.Background(), p.folder(), p.whole())
		}
		if err != nil {
			return fmt.Errorf("%s of the whole run %s: %w", name, r.Name, err)
		}
	}
	return nil
}

// make makes the run twice: done, and interrupted.
func (r Run) make() error {
	events := 0
	if err := r.fit(context.Background(), filepath.Join("done", r.Name), func(starling.Event) { events++ }); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	left, begun := events/2, filepath.Join("begun", r.Name)
	err := r.fit(ctx, begun, func(starling.Event) {
		if left--; left == 0 {
			cancel()
		}
	})
	if err == nil {
		return fmt.Errorf("was done before it was interrupted")
	}
	_, err = os.Stat(filepath.Join(begun, "checkpoint"))
	return err
}
