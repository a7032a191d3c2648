package starling

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/internal/depot"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/spec"
)

// WorkOptions are the resources of a worker. They do not change what it computes.
type WorkOptions struct {
	Name    string // of this process and no other, such as the host and the process
	Machine string // on which it is, for people
	Slots   int    // tasks at a time, one thread each; 0: one for each CPU

	Cache      string // a folder for the files of runs, which it keeps; it is made if need be
	CacheBytes int64  // limit of that folder; 0: no limit
	DataDir    string // a folder in which files may lie already
	Memory     int64  // limit in bytes, which a task must fit in; 0: no limit

	Note func(task cluster.Task, err error) // told of faults that the worker has survived; nil: nobody is told
}

// Work takes tasks of runs from a cluster and computes them until ctx ends: then each task is given back after its step. A task of another
// version of the program, or of another architecture, ends it with a *cluster.ForeignError; another worker gets the task.
func Work(ctx context.Context, c cluster.Cluster, o WorkOptions) error {
	w := &workshop{WorkOptions: o, wire: c.Wire, threads: pool.New(1)}
	if o.Slots == 0 {
		o.Slots = runtime.GOMAXPROCS(0)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	errs := make([]error, o.Slots)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			one := &cluster.Worker{
				Cluster: c, Name: fmt.Sprintf("%s-%d", o.Name, i+1), Machine: o.Machine, Work: w.work,
				Version: build(), Arch: runtime.GOARCH, Kernel: lanes.Kernel(), Note: o.Note,
			}
			if errs[i] = one.Run(ctx); errs[i] != nil {
				stop()
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// Build names the program as tasks and workers compare it.
func Build() string { return build() }

// works lists what a task may ask for.
var works = map[string]func(w *workshop, ctx context.Context, o order, job *cluster.Job) ([]byte, error){
	"part": (*workshop).part,
	"node": (*workshop).node,
	"run":  (*workshop).whole,
}

// workshop is a worker process. It keeps the plans of the runs that it was last given.
type workshop struct {
	WorkOptions
	wire    cluster.Wire
	threads *pool.Pool

	turn  sync.Mutex
	plans []*ready // the last first
}

// ready is a run that can begin, for all slots.
type ready struct {
	run  cluster.Sum
	once sync.Once
	plan *spec.Plan
	err  error
}

// mostPlans is the number of plans that a worker keeps: their examples are in memory.
const mostPlans = 2

func (w *workshop) work(ctx context.Context, job *cluster.Job) ([]byte, error) {
	text, err := job.Load(job.Task.Config)
	if err != nil {
		return nil, err
	}
	var o order
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, &cluster.FinalError{Err: fmt.Errorf("its order: %w", err)}
	}
	do := works[o.Does]
	if do == nil {
		return nil, &cluster.FinalError{Err: fmt.Errorf("it asks for %q, which this program does not know", o.Does)}
	}
	return do(w, ctx, o, job)
}

// part carries out a part of a phase of a fit.
func (w *workshop) part(ctx context.Context, o order, job *cluster.Job) ([]byte, error) {
	p := w.planned(job.Task.Run())
	p.once.Do(func() { p.plan, p.err = w.plan(o, job) })
	if p.err != nil {
		w.forget(p)
		return nil, p.err
	}
	one := p.plan.Job
	run, alone := runs.NewAlone(job, o.Shelves)
	one.Run = run
	_, err := one.Do(ctx, p.plan.Way)
	if errors.Is(err, runs.ErrCarriedOut) {
		return alone.Result(), nil
	}
	if err == nil {
		err = &cluster.FinalError{Err: fmt.Errorf("the run has no phase %q", job.Task.Phase)}
	}
	return nil, err
}

// planned returns the entry of a run, new or kept.
func (w *workshop) planned(run cluster.Sum) *ready {
	w.turn.Lock()
	defer w.turn.Unlock()
	i := slices.IndexFunc(w.plans, func(p *ready) bool { return p.run == run })
	p := &ready{run: run}
	if i >= 0 {
		p = w.plans[i]
		w.plans = slices.Delete(w.plans, i, i+1)
	}
	w.plans = slices.Insert(w.plans, 0, p)
	w.plans = w.plans[:min(len(w.plans), mostPlans)]
	return p
}

// forget drops an entry, so that the next task tries again.
func (w *workshop) forget(p *ready) {
	w.turn.Lock()
	defer w.turn.Unlock()
	w.plans = slices.DeleteFunc(w.plans, func(other *ready) bool { return other == p })
}

// plan makes the plan of a run from its config and files.
func (w *workshop) plan(o order, job *cluster.Job) (*spec.Plan, error) {
	s, err := ParseSpec("", []byte(o.Config))
	if err != nil {
		return nil, &cluster.FinalError{Err: err}
	}
	places, dir, err := w.files(job)
	if err != nil {
		return nil, err
	}
	return s.Placed(places).Plan(dir, w.Memory, method.Job{Pool: w.threads, Files: o.Shelves})
}

// files brings the files of a task to this machine. It returns where those lie that configs name, and the folder of known sets.
func (w *workshop) files(job *cluster.Job) (places map[string]string, dir string, err error) {
	task := job.Task
	if len(task.Data) == 0 {
		return nil, w.DataDir, nil
	}
	here := w.DataDir != "" // the files lie in DataDir
	places = map[string]string{}
	var all []depot.File
	for i, in := range task.Data {
		name, known := strings.CutPrefix(in.Name, knownFile)
		f := depot.File{Sum: in.Content.Sum, Bytes: in.Content.Bytes, Name: name, Get: func() ([]byte, error) { return job.Load(in.Content) }}
		at := name
		if !known {
			name, _ = strings.CutPrefix(in.Name, namedFile)
			at = baseOf(name)
			f.Name = fmt.Sprintf("%d/%s", i, at)
			places[name] = filepath.Join(w.DataDir, at)
		}
		here = here && depot.Is(filepath.Join(w.DataDir, filepath.FromSlash(at)), f.Sum)
		all = append(all, f)
	}
	if here {
		return places, w.DataDir, nil
	}
	text, err := json.Marshal(task.Data)
	if err != nil {
		return nil, "", err
	}
	dir, err = depot.Depot{Dir: w.Cache, Most: w.CacheBytes}.Folder(cluster.SumOf(text).String(), all)
	if err != nil {
		return nil, "", err
	}
	for i, in := range task.Data {
		if name, named := strings.CutPrefix(in.Name, namedFile); named {
			places[name] = filepath.Join(dir, filepath.FromSlash(all[i].Name))
		}
	}
	return places, dir, nil
}
