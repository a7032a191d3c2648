package starling

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/filtering"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/regular"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/scans"
	"github.com/starling-smc/starling/spec"
	"github.com/starling-smc/starling/ssm"
)

// Files of a filter's folder, in addition to those of package runs.
const (
	linesFile     = "tracks.jsonl"          // a filtering.Line a scan
	tracksFile    = "tracks.csv"            // the estimates as a table
	particlesFile = "particles.safetensors" // the particles of every scan, if they are kept
	returnsFile   = "returns.json"          // filtering.Cells: where the returns were
)

// FilterRuns is the kind of run that Filter makes.
var FilterRuns = Kind{
	Name: "filter", Files: []string{linesFile, tracksFile, particlesFile, returnsFile, metricsFile, reportFile}, Streams: true, Differ: config.Diff,
}

// Filtering is the contents of a config of a filter, as [spec.Filtering] describes it.
type Filtering = spec.Filtering

// ParseFiltering reads a config of a filter; each of sets changes a value. See [spec.ParseFiltering]. The error is a *ConfigError.
func ParseFiltering(file string, text []byte, sets ...string) (Filtering, error) {
	return spec.ParseFiltering(file, text, sets...)
}

// PresetFiltering is ParseFiltering of a preset for filter.
func PresetFiltering(name string, sets ...string) (Filtering, error) {
	text, err := PresetText(name)
	if err != nil {
		return Filtering{}, err
	}
	return ParseFiltering(name, text, sets...)
}

// FilterKeys lists the keys of a config of a filter that sets can change.
func FilterKeys() []string { return spec.FilterKeys() }

// FilterOptions are the resources, the folder and the callbacks of a run of a filter. They do not change the result.
type FilterOptions struct {
	Options

	// Stream is where the scans come from, as JSON lines or CSV; nil: what the config says. A sender that replays them to a
	// resumed run may begin at any time up to the last scan that was filtered.
	Stream io.Reader
	// Line is called with each line as it is ready; nil: nobody. Its error stops the run, which can be resumed.
	Line func(*filtering.Line) error

	// Workers is how many workers of Cluster are free to take nodes of method ep, which then are divided among them; this process takes
	// part where there are fewer workers than nodes. 0: all nodes are here.
	Workers int
	// Away is how long a worker may stay away that has nodes, before the run ends with what it has; 0: 5 minutes.
	Away time.Duration
}

// Filtered is the result of a filter's run. Its lines are in the run's folder (FilterRun.Steps), or were told to FilterOptions.Line.
type Filtered struct {
	Spec     Filtering
	State    *filter.State // after the last scan; nil if the run was read back
	Metrics  *filtering.Metrics
	Findings []Finding
	Manifest Manifest
}

// Notes returns the findings in plain words, without those that only pages show.
func (r *Filtered) Notes() []string { return notes(r.Findings) }

// Filter takes the scans of a config, or of a stream, through its filter. With Options.Folder it saves the run there; given the
// folder of a run that was stopped, it goes on, and all files end with the same bytes. A run that is done is read back.
//
// The error is a *ConfigError for a fault of the Filtering, a *DataError for a fault of the scans, or the context's error if it ended.
func Filter(ctx context.Context, s Filtering, o FilterOptions) (*Filtered, error) {
	f := &filtered{options: o}
	if err := f.prepare(ctx, s); err != nil {
		return nil, err
	}
	if f.run.Done() {
		return f.readBack()
	}
	if err := f.run.Close(f.work(ctx)); err != nil {
		return nil, err
	}
	f.Manifest = f.run.Manifest
	return &f.Filtered, nil
}

// filtered is a Filter in progress.
type filtered struct {
	Filtered
	options FilterOptions
	pass    *filtering.Pass
	summary *filtering.Summary // of a run without a folder, whose lines are kept nowhere; nil: they are read from the folder
	run     *runs.Run
	files   []io.Closer
	scans   *counted // the file of scans; nil: there is none
	began   time.Time
}

// counted counts the bytes that are read from a file.
type counted struct {
	file *os.File
	size int64 // 0: unknown
	read atomic.Int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.file.Read(b)
	c.read.Add(int64(n))
	return n, err
}

// share is the share of the file that is read; 0: unknown.
func (c *counted) share() float64 {
	if c == nil || c.size == 0 {
		return 0
	}
	return min(1, float64(c.read.Load())/float64(c.size))
}

func (f *filtered) tell(e Event) {
	if f.options.Progress != nil {
		f.options.Progress(e)
	}
}

func (f *filtered) prepare(ctx context.Context, s Filtering) (err error) {
	now := time.Now
	if f.options.now != nil {
		now = f.options.now
	}
	f.began = now()
	if err := s.Verify(); err != nil {
		return err
	}
	f.Spec = s
	if f.options.Stream == nil && s.Scans.Simulate == 0 && s.Scans.File == "" && s.Scans.Set == "" {
		return s.Fault("scans", "says nowhere where the scans come from: want simulate: 20, or file: scans.csv, or set: flights, "+
			"or give them to the command by --scans")
	}
	for _, own := range []struct {
		field string
		given bool
	}{{"simulate", s.Scans.Simulate > 0}, {"set", s.Scans.Set != ""}} {
		if own.given && f.options.Stream != nil {
			return s.Fault("scans."+own.field, "and a stream of scans: want one of them")
		}
	}
	if s.Last != "" && f.options.Folder == nil {
		return s.Fault("last", "keeps the lines of the last scans in a folder, and the run has none: give the command --out FOLDER, or leave last out")
	}
	if err := f.checkMemory(); err != nil {
		return err
	}
	threads := pool.New(f.options.Threads)
	f.pass = &filtering.Pass{
		Model: s.Model, Method: s.Method, Against: s.Against, Job: filter.Job{Model: s.Model, Seed: s.Seed, Pool: threads},
		Open: func(origin string) (scans.Source, error) { return f.open(ctx, origin) }, Replayed: f.options.Stream != nil, Skip: s.Scans.Bad == scans.Skip, Hold: s.Scans.Hold,
		Keep: s.Keep == spec.Samples, Now: now, Emit: f.options.Line, Notice: func(text string) { f.tell(&Notice{Text: text}) },
	}
	if f.pass.Group, err = groupOf(s, f.options.Cluster, f.options.Workers, f.options.Away, f.tell); err != nil {
		return err
	}
	if f.options.Folder == nil {
		f.summary = filtering.NewSummary(s.Model, s.Method, f.rival())
		f.pass.Fold = f.summary.Add
	}
	if err := f.pass.Begin(ctx); err != nil {
		return s.Fault("method", "%v", err)
	}
	m := Manifest{Started: f.began, Threads: threads.Threads(), Kernel: lanes.Kernel(), Data: map[string]string{}}
	m.Version, m.Revision = Version()
	f.run, err = runs.Open(f.options.Folder, s.YAML(), m, runs.Options{
		Every: f.options.Every, Now: f.options.now, Notice: func(text string) { f.tell(&Notice{Text: text}) },
	})
	return damage(err)
}

// checkMemory refuses a run whose particles need more memory than there is.
func (f *filtered) checkMemory() error {
	s := &f.Spec
	need := s.Method.Bytes(s.Model.Dim())
	if s.Against != nil {
		need += s.Against.Bytes(s.Model.Dim())
	}
	if s.Keep == spec.Samples {
		need += int64(s.Scans.Simulate) * s.Method.Bytes(s.Model.Dim())
	}
	if o := f.options.Memory; o > 0 && need > o {
		return s.Fault("method", "the particles need about %d MB of memory, and there are %d MB: take fewer", need>>20, o>>20)
	}
	return nil
}

// open opens the source of the scans.
func (f *filtered) open(ctx context.Context, origin string) (scans.Source, error) {
	s := &f.Spec
	if s.Scans.Simulate > 0 {
		m, ok := s.Model.(ssm.Simulator)
		if !ok {
			return nil, s.Fault("scans.simulate", "the model simulates nothing")
		}
		return scans.NewSimulated(m, s.Seed, s.Scans.Simulate), nil
	}
	if s.Scans.Set != "" {
		return scans.OpenSet(s.Scans.Set, origin)
	}
	text := f.options.Stream
	if text == nil {
		file, err := os.Open(s.Scans.File)
		if err != nil {
			return nil, &DataError{Err: fmt.Errorf("scans.file: %w", err)}
		}
		f.files = append(f.files, file)
		f.scans = &counted{file: file}
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			f.scans.size = info.Size()
		}
		text = f.scans
	}
	options := scans.Options{Columns: s.Scans.Columns, Time: s.Scans.Time, Unit: s.Scans.TimeUnit, Origin: origin, Whole: f.scans != nil && f.scans.size > 0, Step: ssm.Interval(s.Model)}
	if s.Scans.Truth != "" {
		file, err := os.Open(s.Scans.Truth)
		if err != nil {
			return nil, &DataError{Err: fmt.Errorf("scans.truth: %w", err)}
		}
		f.files = append(f.files, file)
		options.Truth = regular.Heard(ctx, file)
	}
	return scans.NewReader(regular.Heard(ctx, text), options), nil
}

// work filters all scans, while workers have nodes where there are some.
func (f *filtered) work(ctx context.Context) error {
	if g := f.pass.Group; g != nil {
		return withNodes(ctx, *f.options.Cluster, g, f.Spec.YAML(), f.tell, f.all)
	}
	return f.all(ctx)
}

// all filters all scans.
func (f *filtered) all(ctx context.Context) error {
	defer func() {
		for _, file := range f.files {
			file.Close()
		}
	}()
	f.tell(&Progress{method.Status{Phase: "scans"}})
	phase := runs.Phase{Name: "scans", Parts: []runs.Part{f.pass}, Open: true, Watch: f.watch}
	if f.Spec.Last != "" {
		phase.First = f.Spec.Last.First
	}
	if err := f.run.Phase(ctx, pool.New(1), phase); err != nil {
		return scanError(err)
	}
	f.tell(&Progress{method.Status{Phase: "scans", Share: 1, Ended: true, Long: numeral.Several(f.pass.K(), "scan")}})
	f.State = f.pass.State()
	if err := f.summarise(); err != nil {
		return err
	}
	f.Findings = append(f.Spec.Method.Findings(), f.Metrics.Findings(f.Spec.Method)...)
	if f.Findings = append(f.Findings, f.Metrics.Timings(f.Spec.Scans.TimeUnit != "")...); f.Metrics.Errors == nil {
		f.Findings = append(f.Findings, f.pass.TruthElsewhere()...)
	}
	m := &f.run.Manifest
	m.Notes = notes(f.Findings)
	var err error
	if m.Findings, err = json.Marshal(f.Findings); err != nil {
		return err
	}
	return f.run.Finish(f.result())
}

// rival is the title of the other method; empty: there is none.
func (f *filtered) rival() string {
	if f.Spec.Against == nil {
		return ""
	}
	return f.Spec.Against.Title()
}

// steps reads the lines in the folder.
func (f *filtered) steps() iter.Seq2[*filtering.Step, error] { return filtering.Steps(f.run.Lines()) }

// summarise sums up the lines.
func (f *filtered) summarise() (err error) {
	if f.summary != nil {
		f.Metrics = f.summary.Metrics(f.pass.LeftOut())
		return nil
	}
	f.Metrics, err = filtering.Summarise(f.Spec.Model, f.Spec.Method, f.steps(), f.pass.LeftOut(), f.rival())
	return err
}

// scanError makes an error about the scans a *DataError.
func scanError(err error) error {
	if errors.As(err, new(*ConfigError)) || errors.As(err, new(*DataError)) {
		return err
	}
	if filtering.AboutScans(err) {
		return &DataError{Err: err}
	}
	return err
}

// watch reports the progress after a scan.
func (f *filtered) watch(l runs.TraceLine) error {
	if f.options.Progress == nil {
		return nil
	}
	s := method.Status{Phase: "scans", Share: f.scans.share()}
	if n := f.Spec.Scans.Simulate; n > 0 {
		s.Share = float64(l.K) / float64(n)
	}
	var err error
	s.Long, s.Short, err = filtering.Words(l)
	f.tell(&Progress{s})
	return err
}

// result lists the files of the result.
func (f *filtered) result() []runs.File {
	files := []runs.File{
		{Name: linesFile, Write: func(w io.Writer) error { return filtering.WriteLines(w, f.steps()) }},
		{Name: tracksFile, Write: func(w io.Writer) error { return filtering.WriteTable(w, f.Spec.Model, f.steps()) }},
		{Name: metricsFile, Write: func(w io.Writer) error { return jsontext.Write(w, f.Metrics) }},
		{Name: returnsFile, Write: func(w io.Writer) error { return jsontext.Write(w, f.pass.Cells()) }},
	}
	if f.Spec.Keep == spec.Samples {
		files = append(files, runs.File{Name: particlesFile, Write: f.pass.WriteParticles})
	}
	return files
}

// readBack returns the result of a run that is done.
func (f *filtered) readBack() (*Filtered, error) {
	dir := f.options.Folder.Dir
	var was *FilterRun
	err := f.run.ReadBack(func() (err error) {
		was, err = OpenFilterRun(dir)
		return err
	})
	if err != nil {
		return nil, damage(err)
	}
	f.Filtered = was.Filtered
	if f.options.Line == nil {
		return &f.Filtered, nil
	}
	for s, err := range was.Steps() {
		if err == nil {
			err = f.options.Line(&s.Line)
		}
		if err != nil {
			return nil, err
		}
	}
	return &f.Filtered, nil
}

// FilterRun is the folder of a filter's run, read back.
type FilterRun struct {
	Dir string
	Filtered
	Cells *filtering.Cells

	record *runs.Record
}

// Steps reads what the scans have left in the folder, one after another: there may be more of them than fit into memory. The first error
// ends them. That a file was changed is known after its last line.
func (r *FilterRun) Steps() iter.Seq2[*filtering.Step, error] {
	return func(yield func(*filtering.Step, error) bool) {
		begun := false
		for s, err := range filtering.Steps(r.record.Lines()) {
			if k := s.Line.K; err == nil && !begun && k > 1 && r.Spec.Last == "" {
				err = fmt.Errorf("the first line is that of k %d: lines are missing", k)
			}
			if err != nil && !errors.As(err, new(*runs.DamagedError)) {
				err = r.damaged("trace.jsonl", err)
			}
			if !yield(s, damage(err)) || err != nil {
				return
			}
			begun = true
		}
	}
}

// Differs returns an error that lists the values in which a resolved Filtering differs from the run's; nil if none differ but the name.
func (r *FilterRun) Differs(s Filtering) error {
	s.Name = r.Spec.Name
	return config.Diff(r.Spec.YAML(), s.YAML())
}

// Particles reads the particles of every scan, scan by scan, each with the Dim numbers of its state; nil if the run has not kept them.
// Weighted ones have log-weights, one after another in the same order; else these are nil.
func (r *FilterRun) Particles() (x, logWeights []float64, err error) {
	if r.Spec.Keep != spec.Samples {
		return nil, nil, nil
	}
	text, err := r.record.File(particlesFile)
	if err != nil {
		return nil, nil, damage(err)
	}
	if x, logWeights, err = filtering.ReadParticles(text); err != nil {
		return nil, nil, r.damaged(particlesFile, err)
	}
	return x, logWeights, nil
}

func (r *FilterRun) damaged(file string, err error) error {
	return &DataError{Err: fmt.Errorf("%s: %w", filepath.Join(r.Dir, file), err)}
}

// OpenFilterRun reads the folder of a finished run of a filter. Errors are those of OpenRun.
func OpenFilterRun(dir string) (*FilterRun, error) {
	record, err := runs.Read(dir, FilterRuns)
	if err != nil {
		return nil, damage(err)
	}
	r := &FilterRun{Dir: dir, Filtered: Filtered{Manifest: record.Manifest, Metrics: new(filtering.Metrics)}, Cells: new(filtering.Cells), record: record}
	if r.Spec, err = ParseFiltering(filepath.Join(dir, "config.yaml"), record.Config); err != nil {
		return nil, &DataError{Err: err}
	}
	if len(r.Manifest.Findings) > 0 {
		if err := jsontext.Read(r.Manifest.Findings, &r.Findings); err != nil {
			return nil, r.damaged("manifest.json", fmt.Errorf("findings: %w", err))
		}
	}
	for name, into := range map[string]any{metricsFile: r.Metrics, returnsFile: r.Cells} {
		text, err := record.File(name)
		if err != nil {
			return nil, damage(err)
		}
		if err := jsontext.Read(text, into); err != nil {
			return nil, r.damaged(name, err)
		}
	}
	return r, nil
}
