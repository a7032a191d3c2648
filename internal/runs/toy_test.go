package runs

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/testkit"
)

// toy is a part that counts: its state follows from the seed and the number of steps alone.
type toy struct {
	seed   uint64
	steps  int
	size   int  // bytes of the state, about
	silent bool // leaves no trace

	before func(ctx context.Context, k int) error // of a step; nil: nothing
	ahead  error                                  // of a step that is made nevertheless, which no part should do

	k     int
	state uint64
}

type toyFields struct {
	Epochs float64 `json:"epochs"`
	Left   int     `json:"left"`
	Note   string  `json:"note,omitempty"`
}

func (p *toy) Step(ctx context.Context) (Line, error) {
	if p.before != nil {
		if err := p.before(ctx, p.k); err != nil {
			return Line{}, err
		}
	}
	if p.k == 0 {
		p.state = p.seed
	}
	p.k++
	p.state = p.state*6364136223846793005 + 1442695040888963407
	line := Line{Progress: float64(p.k) / float64(p.steps)}
	if !p.silent {
		line.Fields = toyFields{Epochs: float64(p.state>>40) / 3, Left: p.steps - p.k, Note: map[bool]string{true: "<&>"}[p.k%3 == 0]}
	}
	return line, p.ahead
}

func (p *toy) Done() bool { return p.k >= p.steps }
func (p *toy) K() int     { return p.k }

// WriteTo writes a state that grows and shrinks from step to step, in pieces.
func (p *toy) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(p.k)), p.state))
	body := bytes.Repeat([]byte{byte(p.state >> 32)}, p.size+37*(p.k%5))
	for len(body) > 0 && err == nil {
		piece := body[:min(len(body), 4096)]
		var m int
		m, err = w.Write(piece)
		n, body = n+m, body[len(piece):]
	}
	return int64(n), err
}

func (p *toy) UnmarshalBinary(b []byte) error {
	if len(b) < 16 {
		return errors.New("too few bytes")
	}
	k := int(binary.LittleEndian.Uint64(b))
	if len(b) != 16+p.size+37*(k%5) {
		return fmt.Errorf("%d bytes at step %d", len(b), k)
	}
	p.k, p.state = k, binary.LittleEndian.Uint64(b[8:])
	return nil
}

// job is a run of two phases: three silent parts, and four that leave a trace and start from what the three ended with.
type job struct {
	config  string
	version string
	data    map[string]string
	init    string
	threads int
	options Options
	watch   func(l TraceLine) error                // of both phases
	before  func(ctx context.Context, k int) error // of every step
	intact  func() error                           // of the run

	watched []TraceLine // what Watch was told
	kept    []TraceLine // what Resumed was told
	notices []string
}

var fitKind = Kind{Name: "fit", Files: []string{"result.bin", "report.html"}, Differ: func(was, is []byte) error {
	return fmt.Errorf("%s, but the run was begun with %s", is, was)
}}

func newJob() *job {
	return &job{config: "seed: 1\n", version: "1.0", data: map[string]string{"train": "aa", "test": "bb"}, init: "cc", threads: 2}
}

func (j *job) islands(seeds []uint64) []Part {
	sum := uint64(0)
	for _, s := range seeds {
		sum += s
	}
	return []Part{
		&toy{seed: sum, steps: 12, size: 20, before: j.before},
		&toy{seed: sum + 1, steps: 5, size: 100_000, before: j.before},
		&toy{seed: sum + 2, steps: 9, size: 0, before: j.before},
		&toy{seed: sum + 3, steps: 1, size: 300, before: j.before},
	}
}

// in carries the job out in a folder, or in none.
func (j *job) in(ctx context.Context, f *Folder) (*Run, error) {
	o := j.options
	o.Notice = func(text string) { j.notices = append(j.notices, text) }
	m := Manifest{Version: j.version, Threads: j.threads, Kernel: "none", Data: j.data, Init: j.init, Notes: []string{"a <note>"}}
	run, err := Open(f, []byte(j.config), m, o)
	if err != nil {
		return nil, err
	}
	run.Intact = j.intact
	if run.Done() {
		return run, run.ReadBack(func() error {
			record, err := Read(f.Dir, fitKind)
			if err == nil {
				_, err = record.File("result.bin")
			}
			return errors.Join(err, CheckTrace(run.Trace(), 4))
		})
	}
	return run, run.Close(j.work(ctx, run))
}

func (j *job) work(ctx context.Context, run *Run) error {
	watch := func(l TraceLine) error {
		j.watched = append(j.watched, l)
		if j.watch == nil {
			return nil
		}
		return j.watch(l)
	}
	resumed := func(kept []TraceLine) error {
		j.kept = append(j.kept, kept...)
		return nil
	}
	workers := pool.New(j.threads)
	points := make([]Part, 3)
	for i := range points {
		points[i] = &toy{seed: uint64(i), steps: 3 + i, size: 50 * i, silent: true, before: j.before}
	}
	if err := run.Phase(ctx, workers, Phase{Name: "points", Parts: points, SaveEnds: true, Watch: watch, Resumed: resumed}); err != nil {
		return err
	}
	var seeds []uint64
	for _, p := range points {
		seeds = append(seeds, p.(*toy).state)
	}
	islands := j.islands(seeds)
	if err := run.Phase(ctx, workers, Phase{Name: "islands", Parts: islands, Watch: watch, Resumed: resumed}); err != nil {
		return err
	}
	if err := run.Aside(func() error { return nil }); err != nil {
		return err
	}
	run.Manifest.Findings = []byte(`{"kind":"toy"}`)
	return run.Finish(resultFiles(islands))
}

func resultFiles(parts []Part) []File {
	return []File{{"result.bin", func(w io.Writer) error {
		for _, p := range parts {
			if _, err := w.Write(binary.LittleEndian.AppendUint64(nil, p.(*toy).state)); err != nil {
				return err
			}
		}
		return nil
	}}}
}

// resume takes a folder, begins or resumes the job in it, and gives it free.
func (j *job) resume(ctx context.Context, dir string) error {
	f, err := ResumeFolder(dir, fitKind)
	if err != nil {
		return err
	}
	_, err = j.in(ctx, f)
	return errors.Join(err, f.Close())
}

// whole is a run that is never stopped, and what it leaves.
func whole(t *testing.T) (dir, files string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	if err := newJob().resume(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	return dir, contents(t, dir)
}

// stoppedAfter leaves a run as an interrupt after so many steps does.
func stoppedAfter(t *testing.T, dir string, steps int) {
	t.Helper()
	newJob().stoppedAfter(t, dir, steps)
}

func (j *job) stoppedAfter(t *testing.T, dir string, steps int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	j.options.Every = 1
	j.watch = func(TraceLine) error {
		if len(j.watched) == steps {
			cancel()
		}
		return nil
	}
	if err := j.resume(ctx, dir); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

// contents is what testkit.Contents says of a run's folder.
func contents(t *testing.T, dir string) string {
	t.Helper()
	return testkit.Contents(t, dir)
}

func read(t *testing.T, dir, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func put(t *testing.T, dir, file string, b []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, file), b, 0o666); err != nil {
		t.Fatal(err)
	}
}
