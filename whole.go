package starling

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/method"
)

// Whole is a run that one worker makes as a whole, and the folder that it is to have here. It has a Fit or a Filter.
type Whole struct {
	Dir    string
	Fit    *Spec
	Filter *Filtering
}

// whole is what Fit and Filter have in common.
type whole interface {
	kind() Kind
	yaml() []byte
	spec() *Spec                                                        // whose files travel; nil: none do
	files() []string                                                    // that it names
	run(ctx context.Context, places map[string]string, o Options) error // the files that it names lie at places
}

func (w Whole) as() whole {
	if w.Fit != nil {
		return wholeFit{w.Fit}
	}
	return wholeFilter{w.Filter}
}

// wholes reads the configs of tasks, by the names of their kinds of run.
var wholes = map[string]func(text []byte) (whole, error){
	FitRuns.Name: func(text []byte) (whole, error) {
		s, err := ParseSpec("config.yaml", text)
		return wholeFit{&s}, err
	},
	FilterRuns.Name: func(text []byte) (whole, error) {
		s, err := ParseFiltering("config.yaml", text)
		return wholeFilter{&s}, err
	},
}

type wholeFit struct{ *Spec }

func (w wholeFit) kind() Kind      { return FitRuns }
func (w wholeFit) yaml() []byte    { return w.YAML() }
func (w wholeFit) spec() *Spec     { return w.Spec }
func (w wholeFit) files() []string { return w.Files() }
func (w wholeFit) run(ctx context.Context, places map[string]string, o Options) error {
	_, err := Fit(ctx, w.Placed(places), o)
	return err
}

type wholeFilter struct{ *Filtering }

func (w wholeFilter) kind() Kind   { return FilterRuns }
func (w wholeFilter) yaml() []byte { return w.YAML() }
func (w wholeFilter) spec() *Spec  { return nil }
func (w wholeFilter) files() []string {
	return slices.DeleteFunc([]string{w.Scans.File, w.Scans.Truth}, func(name string) bool { return name == "" })
}
func (w wholeFilter) run(ctx context.Context, _ map[string]string, o Options) error {
	_, err := Filter(ctx, *w.Filtering, FilterOptions{Options: o})
	return err
}

// wholeOrder is the config of a task that is a whole run. The task names it beside the order, since all tasks of a list of runs have one order.
type wholeOrder struct {
	Verb   string `json:"verb"`
	Config string `json:"config"`
	From   string `json:"from"` // the way from the run's folder to the folder that its files are relative to
}

// MakeElsewhere has the workers of a cluster make runs, each by one of them, and puts their folders in place: as many runs at a time as
// there are workers, each on one thread. Fit and Filter then read them back. Folders of runs that are done stay as they are; runs that
// were begun here go on there. The first error of a run is its entry in failed, nil where it is done. progress is called
// with events as Options.Progress is; nil: with none.
func MakeElsewhere(ctx context.Context, c cluster.Cluster, all []Whole, dataDir string, progress func(Event)) (failed []error, err error) {
	failed = make([]error, len(all))
	m := &making{Cluster: c, all: all, dir: dataDir}
	if err := m.prepare(ctx); err != nil || len(m.tasks) == 0 {
		return failed, err
	}
	watch := &wholeWatch{all: len(all), done: len(all) - len(m.tasks), at: map[int]runs.Step{}, machines: map[string]bool{}, tell: oneByOne(progress)}
	watch.refused = refusals(watch.tell)
	watch.tell(&Submitted{m.tasks[0].Run()})
	watch.report()
	stop, err := c.Hear(m.tasks[0].Run(), watch.hear)
	if err != nil {
		return failed, err
	}
	defer watch.end()
	defer stop()
	err = (&cluster.Coordinator{Cluster: c}).Do(ctx, m.tasks, func(j int, end cluster.End) error {
		i := m.at[j]
		why, err := m.place(i, end)
		failed[i] = why
		return err
	})
	if err == nil {
		return failed, c.Finish(ctx, m.tasks[0].Run())
	}
	return failed, runs.Cancelled(ctx, c, m.tasks[0].Run(), err)
}

// making is a MakeElsewhere in progress.
type making struct {
	cluster.Cluster
	all   []Whole
	dir   string
	tasks []cluster.Task
	at    []int // of each task in all
}

// prepare makes the tasks of the runs that are not done.
func (m *making) prepare(ctx context.Context) error {
	order, err := json.Marshal(order{Does: doRun})
	if err != nil {
		return err
	}
	base := taskOfThis()
	if base.Config, err = cluster.Save(ctx, m.Blocks, cluster.Shared, order); err != nil {
		return err
	}
	files := files{Blocks: m.Blocks}
	for _, w := range m.all {
		if s := w.as().spec(); s != nil {
			if err := files.add(ctx, s, m.dir); err != nil {
				return err
			}
		} else if named := w.as().files(); len(named) > 0 {
			return wrongUse("scans.file %s: the scans of a whole run elsewhere are simulated, or of a set that starling knows", named[0])
		}
	}
	base.Data = files.inputs
	for i, w := range m.all {
		if manifest, err := runs.ReadManifest(w.Dir); err == nil && manifest.Status == runs.Done {
			continue
		}
		text, err := json.Marshal(wholeOrder{w.as().kind().Name, string(w.as().yaml()), whence(w.Dir)})
		if err != nil {
			return err
		}
		config, err := cluster.Save(ctx, m.Blocks, cluster.Shared, text)
		if err != nil {
			return err
		}
		task := base
		task.Phase, task.Part, task.Earlier = "runs", i, []cluster.Input{{Name: "config", Content: config}}
		if err := m.seed(ctx, w, task); err != nil {
			return err
		}
		m.tasks, m.at = append(m.tasks, task), append(m.at, i)
	}
	return nil
}

// seed lets a run go on from what its folder has.
func (m *making) seed(ctx context.Context, w Whole, task cluster.Task) error {
	if _, err := os.Stat(w.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	folder, err := ResumeFolder(w.Dir, w.as().kind())
	if err != nil {
		return err
	}
	defer folder.Close()
	if !folder.Holds() {
		return nil
	}
	state, err := packFolder(folder)
	if err != nil {
		return err
	}
	return m.Seed(ctx, task, state)
}

// place puts the folder of a run in place. failed is why there is none.
func (m *making) place(i int, end cluster.End) (failed, err error) {
	w := m.all[i]
	d, err := ckpt.NewDecoder(end.Result, wholeKind)
	if err != nil {
		return nil, fmt.Errorf("run %s, as it came back: %w", w.Dir, err)
	}
	why, same := len(d.Bytes("failed")) > 0, d.Bytes("files")
	if err := d.Err(); err != nil {
		return nil, fmt.Errorf("run %s, as it came back: %w", w.Dir, err)
	}
	if why {
		return errors.New(string(end.Beside)), nil
	}
	folder, err := ResumeFolder(w.Dir, w.as().kind())
	if err != nil {
		return nil, err
	}
	return nil, errors.Join(folder.Unpack(same, end.Beside), folder.Close())
}

const wholeKind = "starling.Whole/2"

// packWhole is the end of a whole run, as the result of a task. Why it failed comes beside it: the words of an error may name what only one
// machine has, and two results of a task are compared.
func packWhole(failed bool, same []byte) []byte {
	e := ckpt.NewEncoder(wholeKind)
	var flag []byte
	if failed {
		flag = []byte{1}
	}
	e.Bytes("failed", flag)
	e.Bytes("files", same)
	return e.Encode()
}

const begunKind = "starling.Begun/1"

// packFolder is a run that has begun, as a state to go on from.
func packFolder(folder *Folder) ([]byte, error) {
	same, timely, err := folder.Parcels()
	if err != nil {
		return nil, err
	}
	e := ckpt.NewEncoder(begunKind)
	e.Bytes("files", same)
	e.Bytes("timely", timely)
	return e.Encode(), nil
}

// unpackFolder is the inverse of packFolder.
func unpackFolder(state []byte, folder *Folder) error {
	d, err := ckpt.NewDecoder(state, begunKind)
	if err != nil {
		return err
	}
	same, timely := d.Bytes("files"), d.Bytes("timely")
	if err := d.Err(); err != nil {
		return err
	}
	return folder.Unpack(same, timely)
}

// wholeWatch follows the runs and reports their progress.
type wholeWatch struct {
	turn sync.Mutex // for all that follows
	over bool

	all, done int
	at        map[int]runs.Step
	machines  map[string]bool
	tell      func(Event)
	refused   func(words string)
}

// end lets nothing more be told: a word may come while the watch ends.
func (w *wholeWatch) end() {
	w.turn.Lock()
	defer w.turn.Unlock()
	w.over = true
}

func (w *wholeWatch) hear(word cluster.Word) {
	w.turn.Lock()
	defer w.turn.Unlock()
	if w.over {
		return
	}
	if word.Refused != "" {
		w.refused(fmt.Sprintf("machine %s: %s", word.Machine, word.Refused))
	}
	var s runs.Step
	if json.Unmarshal(word.Step, &s) != nil {
		return
	}
	if w.at[s.Part].Progress < 1 && s.Progress >= 1 {
		w.done++
	}
	w.at[s.Part], w.machines[word.Machine] = s, true
	w.report()
}

func (w *wholeWatch) report() {
	s := method.Status{Phase: "runs", Share: float64(w.done) / float64(w.all), Ended: w.done == w.all}
	s.Long = fmt.Sprintf("%d of %s done", w.done, numeral.Several(w.all, "run"))
	switch n := len(w.machines); {
	case n > 0:
		s.Long += ", on " + numeral.Several(n, "machine")
	case !s.Ended:
		s.Long += ", waiting for workers"
	}
	s.Short = s.Long
	w.tell(&Progress{s})
}
