package starling

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/internal/depot"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/regular"
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

	Lease time.Duration                      // of the cluster's queue; 0: cluster.LeaseTime
	Every time.Duration                      // between two states that are saved; 0: 10 s
	Note  func(task cluster.Task, err error) // told of faults that the worker has survived; nil: nobody is told
	Taken func(task cluster.Task)            // told of each task that is begun; nil: nobody is told
	Ended func(task cluster.Task, err error) // told of its end, and of cluster.ErrStopped and its like; nil: nobody is told
}

// Worker computes tasks of runs that a cluster hands out.
type Worker struct {
	cluster cluster.Cluster
	options WorkOptions
	shop    workshop
}

// NewWorker returns a worker that has not begun.
func NewWorker(c cluster.Cluster, o WorkOptions) *Worker {
	if o.Slots == 0 {
		o.Slots = runtime.GOMAXPROCS(0)
	}
	return &Worker{c, o, workshop{WorkOptions: o, wire: c.Wire, threads: pool.New(1), at: map[*cluster.Job]bool{}}}
}

// foreignPause is how long a worker leaves a task of another program to others.
const foreignPause = 10 * time.Second

// Run takes and computes tasks until ctx ends: then each task is given back after its step, and Run returns nil. A task of another version of
// the program, or of another architecture, or one that needs more than this machine has, is left to others. A *cluster.HungError says that a task hangs: end the process.
func (w *Worker) Run(ctx context.Context) error {
	w.shop.sweep()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	errs := make(chan error, w.options.Slots)
	for i := range w.options.Slots {
		go func() { errs <- w.slot(ctx, i) }()
	}
	for range w.options.Slots {
		if err := <-errs; err != nil {
			return err // a slot that hangs would never end
		}
	}
	return nil
}

func (w *Worker) slot(ctx context.Context, i int) error {
	one := &cluster.Worker{
		Cluster: w.cluster, Name: fmt.Sprintf("%s-%d", w.options.Name, i+1), Machine: w.options.Machine, Work: w.shop.work,
		Version: build(), Arch: runtime.GOARCH, Kernel: lanes.Kernel(), Every: w.options.Every, Lease: w.options.Lease, Note: w.options.Note,
	}
	for {
		err := one.Run(ctx)
		foreign := (*cluster.ForeignError)(nil)
		if !errors.As(err, &foreign) {
			return err
		}
		one.Refuse(foreign)
		if w.options.Note != nil {
			w.options.Note(cluster.Task{}, err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(foreignPause):
		}
	}
}

// AtWork is a task that a worker computes.
type AtWork struct {
	Run      cluster.Sum `json:"run"`
	Phase    string      `json:"phase"`
	Part     int         `json:"part"`
	Progress float64     `json:"progress"` // 0 to 1
}

// Tasks are those that the worker computes now.
func (w *Worker) Tasks() []AtWork {
	all := []AtWork{} // and not null in JSON
	w.shop.turn.Lock()
	defer w.shop.turn.Unlock()
	for job := range w.shop.at {
		all = append(all, AtWork{job.Task.Run(), job.Task.Phase, job.Task.Part, job.Share()})
	}
	slices.SortFunc(all, func(a, b AtWork) int { return cmp.Or(cmp.Compare(a.Phase, b.Phase), cmp.Compare(a.Part, b.Part)) })
	return all
}

// works lists who does what a task asks for.
var works = map[string]func(w *workshop, ctx context.Context, o order, job *cluster.Job) ([]byte, error){
	doPart: (*workshop).part,
	doNode: (*workshop).node,
	doRun:  (*workshop).whole,
}

// workshop is a worker process. It keeps the plans of the runs that it was last given.
type workshop struct {
	WorkOptions
	wire    cluster.Wire
	threads *pool.Pool

	turn  sync.Mutex
	plans []*ready // the last first
	at    map[*cluster.Job]bool
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

func (w *workshop) work(ctx context.Context, job *cluster.Job) (result []byte, err error) {
	w.turn.Lock()
	w.at[job] = true
	w.turn.Unlock()
	if w.Taken != nil {
		w.Taken(job.Task)
	}
	defer func() {
		w.turn.Lock()
		delete(w.at, job)
		w.turn.Unlock()
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if w.Ended != nil {
			w.Ended(job.Task, err)
		}
	}()
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
	result, err = do(w, ctx, o, job)
	return result, unfit(err)
}

// unfit marks the errors of this machine, such as too little memory or a full disk: the task is left to workers that have more.
func unfit(err error) error {
	short := new(ConfigError)
	switch {
	case errors.As(err, new(*cluster.FinalError)), errors.As(err, new(*cluster.ForeignError)):
	case errors.As(err, &short) && short.OfMachine(), errors.As(err, new(*depot.SmallError)), errors.As(err, new(*fs.PathError)), errors.As(err, new(*os.LinkError)),
		errors.As(err, new(*regular.ChangedError)):
		return &cluster.ForeignError{Why: err}
	}
	return err
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
	run.Intact, one.Run = one.Data.Unchanged, run
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
	s, err := ParseSpec("config.yaml", []byte(o.Config))
	if err != nil {
		return nil, &cluster.FinalError{Err: err}
	}
	places, dir, err := w.files(job, s.Files())
	if err != nil {
		return nil, err
	}
	p, err := s.Placed(places).Plan(dir, w.Memory, method.Job{Pool: w.threads, Files: o.Shelves})
	if err == nil && !maps.Equal(sumsOf(p), o.Sums) {
		err = &cluster.FinalError{Err: errors.New("the files of examples, or of model.init, have changed since the run read them: begin it again")}
	}
	return p, err
}

// files brings the files of a task to this machine. It returns where those lie that configs name, and the folder of known sets. A config that
// names a file which the task does not bring is refused: that file would be read from this machine's disk, for whoever submits the run.
func (w *workshop) files(job *cluster.Job, named []string) (places map[string]string, dir string, err error) {
	task := job.Task
	for _, name := range named {
		if !slices.ContainsFunc(task.Data, func(in cluster.Input) bool { return in.Name == namedFile+name }) {
			return nil, "", &cluster.FinalError{Err: fmt.Errorf("the config names the file %s, and the task does not bring it", name)}
		}
	}
	places = map[string]string{}
	if len(task.Data) == 0 {
		return places, w.DataDir, nil
	}
	here := w.DataDir != "" // the files lie in DataDir
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
		path := filepath.FromSlash(at)
		here = here && filepath.IsLocal(path) && depot.Is(filepath.Join(w.DataDir, path), f.Sum)
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
