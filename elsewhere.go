package starling

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/regular"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/spec"
)

// order is what a task's config holds: what a worker is to do, and by which config.
type order struct {
	Does    string `json:"does"`    // a name of works
	Shelves bool   `json:"shelves"` // kept states go to files
	Config  string `json:"config"`  // resolved

	// Sums are those of the examples, and of model.init, that the submitter has read: a file may change while it is sent.
	Sums map[string]string `json:"sums,omitempty"`

	Group   []int  `json:"group,omitempty"`   // of nodes of a filter: filtering.Group.First
	Session string `json:"session,omitempty"` // names the group
}

// What a task may ask for; works has who does it.
const (
	doPart = "part" // of a phase of a fit
	doNode = "node" // of a filter, or several
	doRun  = "run"  // as a whole
)

// Files that a task names have one of these beginnings.
const (
	namedFile = "file:" // as the config names it
	knownFile = "data:" // of a known set, as it is named below a data directory
)

// taskOf makes the task that all tasks of a run are like, and puts the files that it names into the store.
func taskOf(ctx context.Context, c cluster.Cluster, s *Spec, shelves bool, dir string, sums map[string]string) (cluster.Task, error) {
	task := taskOfThis()
	text, err := json.Marshal(order{Does: doPart, Shelves: shelves, Config: string(s.YAML()), Sums: sums})
	if err != nil {
		return task, err
	}
	files := files{Blocks: c.Blocks}
	if err := files.add(ctx, s, dir); err != nil {
		return task, err
	}
	task.Data = files.inputs
	task.Config, err = cluster.Save(ctx, c.Blocks, cluster.Shared, text)
	return task, err
}

// taskOfThis is a task of this program, before it is said what to do.
func taskOfThis() cluster.Task {
	return cluster.Task{Version: build(), Arch: runtime.GOARCH, Kernels: lanes.Kernels()}
}

// files puts files into the store, each once.
type files struct {
	cluster.Blocks
	inputs []cluster.Input
}

// add puts the files that a Spec reads. dir is the folder of known sets.
func (f *files) add(ctx context.Context, s *Spec, dir string) error {
	if s.Data.Memory != nil {
		return wrongUse("the examples are in the memory of this program, and workers are others: write them to files that the Spec names")
	}
	for _, name := range s.Files() {
		if err := f.put(ctx, namedFile+name, name); err != nil {
			return err
		}
	}
	names, paths, err := s.Data.KnownFiles(dir)
	if err != nil {
		return &DataError{Err: err}
	}
	for i, name := range names {
		if err := f.put(ctx, knownFile+name, paths[i]); err != nil {
			return err
		}
	}
	return nil
}

func (f *files) put(ctx context.Context, name, path string) error {
	if slices.ContainsFunc(f.inputs, func(in cluster.Input) bool { return in.Name == name }) {
		return nil
	}
	b, err := regular.Read(path, math.MaxInt64)
	if err != nil {
		return &DataError{Err: err}
	}
	content, err := cluster.Save(ctx, f.Blocks, cluster.Shared, b)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	f.inputs = append(f.inputs, cluster.Input{Name: name, Content: content})
	return nil
}

// sumsOf are the sums of what a plan has read.
func sumsOf(p *spec.Plan) map[string]string {
	sums := p.Job.Data.Checksums()
	sums["model.init"] = p.InitSum
	return sums
}

// elsewhere lets the workers of o.Cluster carry out the parts of a fit; nil where there are none. told returns what the method told last.
func elsewhere(o Options, s *Spec, sums map[string]string, told func() method.Status, tell func(Event)) *runs.Elsewhere {
	if o.Cluster == nil {
		return nil
	}
	return &runs.Elsewhere{
		Cluster: *o.Cluster,
		Task: func(ctx context.Context) (cluster.Task, error) {
			task, err := taskOf(ctx, *o.Cluster, s, o.Folder != nil, o.DataDir, sums)
			if err == nil {
				tell(&Submitted{task.Run()})
			}
			return task, err
		},
		Tell:    func(a runs.Away) { tell(&Progress{awayStatus(a, told())}) },
		Refused: refusals(tell),
	}
}

// oneByOne makes calls of different goroutines take turns. Where progress is nil, nobody is told.
func oneByOne(progress func(Event)) func(Event) {
	if progress == nil {
		return func(Event) {}
	}
	var turn sync.Mutex
	return func(e Event) {
		turn.Lock()
		defer turn.Unlock()
		progress(e)
	}
}

// refusals tells each refusal of workers once.
func refusals(tell func(Event)) func(words string) {
	var said sync.Map // words of the phase before may still come
	return func(words string) {
		if _, again := said.LoadOrStore(words, true); !again {
			tell(&Notice{Text: words})
		}
	}
}

// awayStatus describes a phase on other machines in a line, under the name that the method gave the phase.
func awayStatus(a runs.Away, told method.Status) method.Status {
	s := method.Status{Phase: told.Phase, Share: a.Share, Resumed: a.Resumed}
	if s.Phase == "" || told.Ended {
		s.Phase = a.Phase
	}
	at := 0
	for _, n := range a.Machines {
		at += n
	}
	s.Long = fmt.Sprintf("%d of %s done", a.Done, numeral.Several(a.Parts, "part"))
	s.Short = fmt.Sprintf("%d/%d", a.Done, a.Parts)
	switch {
	case at > 0:
		s.Long += fmt.Sprintf(", %d at work on %s", at, numeral.Several(len(a.Machines), "machine"))
		s.Short += fmt.Sprintf(", %d on %s", at, numeral.Several(len(a.Machines), "machine"))
	case a.Done < a.Parts:
		s.Long += ", waiting for workers"
		s.Short += ", waiting"
	}
	return s
}

// baseOf is the last element of a file's name, on whatever system it was named.
func baseOf(name string) string {
	return filepath.Base(filepath.FromSlash(strings.ReplaceAll(name, `\`, "/")))
}
