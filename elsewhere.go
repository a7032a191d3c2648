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
}

// Files that a task names have one of these beginnings.
const (
	namedFile = "file:" // as the config names it
	knownFile = "data:" // of a known set, as it is named below a data directory
)

// taskOf makes the task that all tasks of a run are like, and puts the files that it names into the store.
func taskOf(ctx context.Context, c cluster.Cluster, s *Spec, does string, shelves bool, dir string) (task cluster.Task, err error) {
	if s.Data.Memory != nil {
		return task, wrongUse("the examples are in the memory of this program, and workers are others: write them to files that the Spec names")
	}
	text, err := json.Marshal(order{does, shelves, string(s.YAML())})
	if err != nil {
		return task, err
	}
	if task.Config, err = cluster.Save(ctx, c.Blocks, cluster.Shared, text); err != nil {
		return task, err
	}
	task.Version, task.Arch, task.Kernels = build(), runtime.GOARCH, lanes.Kernels()
	put := func(name, path string) error {
		b, err := regular.Read(path, math.MaxInt64)
		if err != nil {
			return &DataError{Err: err}
		}
		content, err := cluster.Save(ctx, c.Blocks, cluster.Shared, b)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		task.Data = append(task.Data, cluster.Input{Name: name, Content: content})
		return nil
	}
	for _, name := range namedFiles(s) {
		if err := put(namedFile+name, name); err != nil {
			return task, err
		}
	}
	names, paths, err := s.Data.KnownFiles(dir)
	if err != nil {
		return task, &DataError{Err: err}
	}
	for i, name := range names {
		if err := put(knownFile+name, paths[i]); err != nil {
			return task, err
		}
	}
	return task, nil
}

// namedFiles are the files that a Spec names.
func namedFiles(s *Spec) []string {
	names := s.Data.Files()
	if s.Model.Init != "" {
		names = append(names, s.Model.Init)
	}
	return names
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
func elsewhere(o Options, s *Spec, told func() method.Status, tell func(method.Status)) runs.Executor {
	if o.Cluster == nil {
		return nil
	}
	return &runs.Elsewhere{
		Cluster: *o.Cluster,
		Task: func(ctx context.Context) (cluster.Task, error) {
			return taskOf(ctx, *o.Cluster, s, "part", o.Folder != nil, o.DataDir)
		},
		Tell: func(a runs.Away) { tell(awayStatus(a, told())) },
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
