//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/regular"
	"github.com/starling-smc/starling/internal/runs"
)

// The outcomes of one folder.
const (
	refused = "refused" // every verb gave an error, or its whole result; at least one gave an error
	same    = "same"    // every verb gave its whole result
	failed  = "failed"
)

// bench is a worker's place: the whole runs, and what the verbs give for them.
type bench struct {
	dir  string // in which folders are damaged, below the current one
	runs map[string]subject
	want map[string][]byte // by "VERB NAME"
}

func newBench(dir string) (*bench, error) {
	all, err := subjects()
	if err != nil {
		return nil, err
	}
	b := &bench{dir: dir, runs: all, want: map[string][]byte{}}
	for name, s := range all {
		for verb, do := range s.verbs {
			if err := b.copy(filepath.Join("done", name)); err != nil {
				return nil, err
			}
			if b.want[verb+" "+name], err = do(context.Background(), b.folder(), filepath.Join("done", name)); err != nil {
				return nil, fmt.Errorf("%s of the whole run %s: %w", verb, name, err)
			}
		}
		if err := b.copy(filepath.Join("begun", name)); err != nil {
			return nil, err
		}
		if b.want["resume "+name], err = s.resumed(context.Background(), b.folder()); err != nil {
			return nil, fmt.Errorf("resuming the whole run %s: %w", name, err)
		}
	}
	return b, nil
}

func (b *bench) folder() string { return filepath.Join(b.dir, "run") }

// copy replaces the folder by a copy of another one.
func (b *bench) copy(from string) error {
	if err := os.RemoveAll(b.folder()); err != nil {
		return err
	}
	return os.CopyFS(b.folder(), os.DirFS(from))
}

// worker damages the folders first, first + step, … below the given number.
func worker(work string, seed uint64, first, step, folders int) error {
	if err := os.Chdir(work); err != nil {
		return err
	}
	b, err := newBench(fmt.Sprintf("worker-%d", first%step))
	if err != nil {
		return err
	}
	fmt.Println(ready)
	for i := first; i < folders; i += step {
		late := time.AfterFunc(patience, func() { panic(fmt.Sprintf("folder %d takes more than %v", i, patience)) })
		outcome, text, err := b.try(seed, i, nil)
		late.Stop()
		if err != nil {
			return err
		}
		fmt.Println(i, outcome, strings.ReplaceAll(text, "\n", " | "))
	}
	return nil
}

// again damages one folder as a worker does, and prints what each verb says.
func again(work string, seed uint64, i int) error {
	b, err := newBench("damaged")
	if err != nil {
		return err
	}
	outcome, text, err := b.try(seed, i, func(verb string, err error) { fmt.Printf("%-9s %v\n", verb, err) })
	fmt.Println(outcome, text)
	return err
}

// try damages a copy of a run's folder, and gives it to every verb.
func (b *bench) try(seed uint64, i int, tell func(verb string, err error)) (outcome, text string, err error) {
	r := rand.New(rand.NewPCG(seed, uint64(i)))
	names := slices.Sorted(maps.Keys(b.runs))
	name := names[r.IntN(len(names))]
	from, way := "done", slices.Sorted(maps.Keys(b.runs[name].verbs))
	if r.IntN(3) == 0 {
		from, way = "begun", []string{"resume"}
	}
	if err := b.copy(filepath.Join(from, name)); err != nil {
		return "", "", err
	}
	var others []string
	for _, other := range names {
		others = append(others, filepath.Join(from, other))
	}
	did, err := damage(r, b.folder(), others)
	if err != nil {
		return "", "", err
	}
	limit := 4*size(b.folder()) + 200<<20
	resetPeak()
	outcome, did = same, from+" "+name+": "+did
	var faults []string
	for _, verb := range way {
		got, err := b.do(verb, name)
		if tell != nil {
			tell(verb, err)
		}
		switch {
		case err == nil && bytes.Equal(got, b.want[verb+" "+name]):
		case err == nil:
			faults = append(faults, verb+" gives another result without an error")
		case !named(err):
			faults = append(faults, fmt.Sprintf("%s: the error is of no known kind: %v", verb, err))
		default:
			outcome = refused
		}
	}
	if from == "done" {
		if fault := b.verified(name); fault != "" {
			faults = append(faults, fault)
		}
	}
	if most := peak(); most > limit {
		faults = append(faults, fmt.Sprintf("%d MB of memory, more than %d", most>>20, limit>>20))
	}
	if faults != nil {
		return failed, did + ": " + strings.Join(faults, "; "), nil
	}
	return outcome, did, nil
}

// verified says how verify is wrong about the damaged folder of a finished run: it must be content just where all files are
// those of the whole run.
func (b *bench) verified(name string) string {
	v, err := starling.VerifyRun(b.folder())
	content := err == nil && v.Count(runs.Differs, runs.Missing) == 0
	whole := true
	entries, _ := os.ReadDir(filepath.Join("done", name))
	for _, e := range entries {
		is, err := regular.Read(filepath.Join(b.folder(), e.Name()), 1<<30)
		was, _ := os.ReadFile(filepath.Join("done", name, e.Name()))
		whole = whole && err == nil && bytes.Equal(is, was)
	}
	if content != whole {
		return fmt.Sprintf("verify says %+v, %v", v, err)
	}
	return ""
}

// do calls one verb. A panic is an error.
func (b *bench) do(verb, name string) (got []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New(fmt.Sprint("panic: ", p, "\n", string(debug.Stack())))
		}
	}()
	if verb == "resume" {
		return b.runs[name].resumed(context.Background(), b.folder())
	}
	return b.runs[name].verbs[verb](context.Background(), b.folder(), filepath.Join("done", name))
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
