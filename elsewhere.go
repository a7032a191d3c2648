package starling

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
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
)

// order is what a task's config holds: what a worker is to do, and by which config.
type order struct {
	Does    string `json:"does"`    // a name of works
	Shelves bool   `json:"shelves"` // kept states go to files
	Config  string `json:"config"`  // resolved

	Group   []int  `json:"group,omitempty"`   // of nodes of a filter: filtering.Group.First
	Session string `json:"session,omitempty"` // names the group
}

// Files that a task names have one of these beginnings.
const (
	namedFile = "file:" // as the config names it
	knownFile = "data:" // of a known set, as it is named below a data directory
)

// taskOf makes the task that all tasks of a run are like, and puts the files that it names into the store.
func taskOf(ctx context.Context, c cluster.Cluster, s *Spec, shelves bool, dir string) (cluster.Task, error) {
	task := taskOfThis()
	text, err := json.Marshal(order{Does: "part", Shelves: shelves, Config: string(s.YAML())})
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

// build names the program: two programs of the same name compute the same bytes. Where the revision does not say what the program was
// built from, it is known by its own bytes.
var build = sync.OnceValue(func() string {
	release, revision := Version()
	if revision == "" || strings.HasSuffix(revision, "+changes") {
		revision = strings.TrimPrefix(revision+" ", " ") + "program " + ownSum()
	}
	return fmt.Sprintf("%s (%s, %s)", release, revision, runtime.Version())
})

// ownSum is the beginning of the SHA-256 of the program's file.
func ownSum() string {
	path, err := os.Executable()
	if err != nil {
		return "unknown"
	}
	file, err := os.Open(path)
	if err != nil {
		return "unknown"
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "unknown"
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// elsewhere lets the workers of o.Cluster carry out the parts of a fit; nil where there are none. told returns what the method told last.
func elsewhere(o Options, s *Spec, told func() method.Status, tell func(Event)) *runs.Elsewhere {
	if o.Cluster == nil {
		return nil
	}
	return &runs.Elsewhere{
		Cluster: *o.Cluster,
		Task: func(ctx context.Context) (cluster.Task, error) {
			return taskOf(ctx, *o.Cluster, s, o.Folder != nil, o.DataDir)
		},
		Tell:    func(a runs.Away) { tell(&Progress{awayStatus(a, told())}) },
		Refused: refusals(tell),
	}
}

// oneByOne makes calls of different goroutines take turns.
func oneByOne(progress func(Event)) func(Event) {
	var turn sync.Mutex
	return func(e Event) {
		turn.Lock()
		defer turn.Unlock()
		progress(e)
	}
}

// refusals tells each refusal of workers once.
func refusals(tell func(Event)) func(words string) {
	said := map[string]bool{}
	return func(words string) {
		if !said[words] {
			said[words] = true
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
