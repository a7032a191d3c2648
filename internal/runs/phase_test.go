package runs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/testkit"
)

// TestStopAndGoOn stops a run after every few steps, each time on another number of threads: in the end the folder has the
// same bytes as that of a run that was never stopped.
func TestStopAndGoOn(t *testing.T) {
	_, want := whole(t)
	for few := range 4 {
		dir := filepath.Join(t.TempDir(), "run")
		stops := 0
		for ; ; stops++ {
			ctx, cancel := context.WithCancel(t.Context())
			j := newJob()
			j.threads = []int{1, 2, 7}[stops%3]
			j.options.Every = time.Duration(1 + stops%2*int(time.Hour))
			var made atomic.Int32
			j.before = func(context.Context, int) error { made.Add(1); return nil }
			j.watch = func(TraceLine) error {
				if int(made.Load()) > few+stops%2 {
					cancel()
				}
				return nil
			}
			err := j.resume(ctx, dir)
			cancel()
			if err == nil {
				break
			}
			if !errors.Is(err, context.Canceled) || stops > 200 {
				t.Fatal(err)
			}
			if m, err := ReadManifest(dir); err != nil || m.Status != Interrupted {
				t.Fatalf("after an interrupt: status %q, %v", m.Status, err)
			}
			if _, err := Read(dir, fitKind); err == nil || !strings.Contains(err.Error(), "--resume") {
				t.Fatalf("an unfinished run is read: %v", err)
			}
		}
		if got := contents(t, dir); got != want || stops < 3 {
			t.Errorf("after %d stops:\n%s\nwithout:\n%s", stops, got, want)
		}
		j := newJob()
		if err := j.resume(t.Context(), dir); err != nil || contents(t, dir) != want || len(j.watched) > 0 {
			t.Errorf("a run that is done, resumed: %v, %d steps", err, len(j.watched))
		}
		if len(j.notices) != 1 || !strings.Contains(j.notices[0], "is done; this is its result") {
			t.Errorf("a run that is done, resumed: told %q", j.notices)
		}
	}
}

// TestKilledAnywhere copies the folder again and again while a run is at work, which is what a killed process would have
// left, and goes on in the copies. It does so too in each state that the final writes pass through.
func TestKilledAnywhere(t *testing.T) {
	_, want := whole(t)
	root := t.TempDir()
	dir := filepath.Join(root, "run")
	var copies []string
	j := newJob()
	j.options.Every = 1
	j.watch = func(TraceLine) error {
		copies = append(copies, filepath.Join(root, fmt.Sprint("copy", len(copies))))
		testkit.CopyLive(t, copies[len(copies)-1], dir)
		return nil
	}
	if err := j.resume(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if len(copies) != 12+27 {
		t.Errorf("%d copies of 39 steps", len(copies))
	}
	last := copies[len(copies)-1]
	for _, file := range []string{checkpointFile, traceFile} {
		put(t, last, file, read(t, dir, file))
	}
	order := []string{configFile, "result.bin", traceFile, manifestFile}
	for i, file := range order {
		name := filepath.Join(root, fmt.Sprint("end", i))
		if err := os.CopyFS(name, os.DirFS(last)); err != nil {
			t.Fatal(err)
		}
		for _, file := range order[:i+1] {
			put(t, name, file, read(t, dir, file))
		}
		put(t, name, "."+file+".123", []byte("half"))
		copies = append(copies, name)
	}
	for i, dir := range copies {
		if testing.Short() && i%4 > 0 {
			continue
		}
		if err := newJob().resume(t.Context(), dir); err != nil {
			t.Errorf("%s: %v", dir, err)
		} else if got := contents(t, dir); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", dir, got, want)
		}
	}
}

// TestWatch: steps are told of one at a time, after their lines are in the trace, and a run that is resumed tells what was
// kept apart from them.
func TestWatch(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	j := newJob()
	j.threads = 7
	var inside atomic.Int32
	j.watch = func(l TraceLine) error {
		if inside.Add(1) > 1 {
			t.Error("two steps are told of at a time")
		}
		time.Sleep(100 * time.Microsecond)
		if l.Fields != nil {
			line := fmt.Sprintf(`{"island":%d,"k":%d,"progress":`, l.Part, l.K)
			if !strings.Contains(string(read(t, dir, traceFile)), line) {
				t.Errorf("%s is not in the trace yet", line)
			}
		}
		inside.Add(-1)
		if len(j.watched) == 25 {
			return errors.New("enough")
		}
		return nil
	}
	if err := j.resume(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "enough") || !strings.Contains(err.Error(), "the last good state is kept in "+dir) {
		t.Fatal(err)
	}
	before := slices.DeleteFunc(slices.Clone(j.watched), func(l TraceLine) bool { return l.Fields == nil })
	again := newJob()
	if err := again.resume(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if want := []TraceLine{{Part: 0, K: 3}, {Part: 1, K: 4}, {Part: 2, K: 5}}; fmt.Sprint(again.kept[:3]) != fmt.Sprint(want) {
		t.Errorf("of the silent phase is told %v, want %v", again.kept[:3], want)
	}
	made := map[[2]int]int{}
	for _, l := range append(again.kept[3:], again.watched...) {
		made[[2]int{l.Part, l.K}]++
	}
	for _, l := range before {
		kept := slices.ContainsFunc(again.kept[3:], func(m TraceLine) bool {
			return m.Part == l.Part && m.K == l.K && bytes.Equal(m.Fields, l.Fields) && m.Seconds == l.Seconds
		})
		if !kept {
			t.Errorf("line %+v is not told of as kept", l)
		}
	}
	if len(again.kept) != 3+len(before) {
		t.Errorf("%d lines are told of as kept, want %d", len(again.kept), 3+len(before))
	}
	for step, times := range made {
		if times != 1 {
			t.Errorf("step %v is told of %d times", step, times)
		}
	}
	if len(made) != 27 {
		t.Errorf("%d steps are told of, want 27", len(made))
	}
}

// TestFirstErrorWins: the first error ends all parts; they are saved where they are.
func TestFirstErrorWins(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	first := errors.New("the first")
	j := newJob()
	j.threads = 4
	var failed atomic.Bool
	j.before = func(ctx context.Context, k int) error {
		if k == 7 && failed.CompareAndSwap(false, true) { // of the first or the third island
			return first
		}
		if k == 7 {
			<-ctx.Done()
			return errors.New("a later one")
		}
		return nil
	}
	err := j.resume(t.Context(), dir)
	if !errors.Is(err, first) || strings.Contains(err.Error(), "later") || !strings.Contains(err.Error(), "last good state") {
		t.Errorf("%v", err)
	}
	if m, err := ReadManifest(dir); err != nil || m.Status != Failed {
		t.Errorf("status %q, %v", m.Status, err)
	}
	again := newJob()
	made := 0
	again.threads = 1
	again.before = func(context.Context, int) error { made++; return nil }
	if err := again.resume(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	_, want := whole(t)
	if contents(t, dir) != want || made >= 27 {
		t.Errorf("gone on with %d steps of 39", made)
	}
}

// TestAhead: a part that fails after its step was made is left where its line is, and not saved ahead of the trace.
func TestAhead(t *testing.T) {
	f, err := TakeFolder(filepath.Join(t.TempDir(), "run"), fitKind)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	run, err := Open(f, nil, Manifest{}, Options{Every: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	part := &toy{steps: 9, size: 3}
	part.before = func(_ context.Context, k int) error {
		if k == 4 {
			part.ahead = errors.New("scores")
		}
		return nil
	}
	err = run.Close(run.Phase(t.Context(), pool.New(1), Phase{Name: "one", Parts: []Part{part}}))
	if err == nil || part.K() != 5 {
		t.Fatalf("%v at step %d", err, part.K())
	}
	fresh := &toy{steps: 9, size: 3}
	if run, err = Open(f, nil, Manifest{}, Options{}); err != nil {
		t.Fatal(err)
	}
	err = run.Phase(t.Context(), pool.New(1), Phase{Name: "one", Parts: []Part{fresh}})
	if err != nil || len(run.Trace()) != 9 || run.Close(nil) != nil {
		t.Errorf("gone on with: %v, %d lines", err, len(run.Trace()))
	}
}

// TestWithoutFolder: a run without a folder has the same trace, and can be written afterwards; a nil one runs as well.
func TestWithoutFolder(t *testing.T) {
	_, want := whole(t)
	j := newJob()
	run, err := j.in(t.Context(), nil)
	if err != nil || !run.Done() {
		t.Fatal(err)
	}
	f, err := TakeFolder(filepath.Join(t.TempDir(), "run"), fitKind)
	if err != nil {
		t.Fatal(err)
	}
	var seeds []uint64
	for i := range 3 {
		p := &toy{seed: uint64(i), steps: 3 + i, silent: true}
		for !p.Done() {
			p.Step(t.Context())
		}
		seeds = append(seeds, p.state)
	}
	islands := newJob().islands(seeds)
	if err := (*Run)(nil).Phase(t.Context(), pool.New(3), Phase{Name: "islands", Parts: islands}); err != nil {
		t.Fatal(err)
	}
	if err := (*Run)(nil).Aside(func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Write([]byte(j.config), run.Trace(), resultFiles(islands), &run.Manifest), f.Close()); err != nil {
		t.Fatal(err)
	}
	lines := slices.DeleteFunc(strings.SplitAfter(want, "\n"), func(line string) bool { return strings.HasPrefix(line, checkpointFile) })
	want = strings.Join(lines, "")
	if got := contents(t, f.Dir); got != want {
		t.Errorf("written afterwards:\n%s\nwant\n%s", got, want)
	}
	if record, err := Read(f.Dir, fitKind); err != nil || record.Manifest.Kind != "fit" || record.Manifest.Kernel != "none" ||
		string(record.Config) != j.config || CheckTrace(record.Trace, 4) != nil {
		t.Errorf("read back: %+v, %v", record, err)
	}
}

// TestRunPart: a part by itself, from any state on, ends with the bytes that it has within a run.
func TestRunPart(t *testing.T) {
	dir, _ := whole(t)
	c, err := readCheckpoint(read(t, dir, checkpointFile))
	if err != nil {
		t.Fatal(err)
	}
	points := c.phases[0]
	var seeds []uint64
	for i, saved := range points.parts {
		p := &toy{size: 50 * i}
		if err := p.UnmarshalBinary(saved); err != nil {
			t.Fatal(err)
		}
		seeds = append(seeds, p.state)
	}
	for i, want := range c.phases[1].parts {
		got, err := RunPart(t.Context(), newJob().islands(seeds)[i], nil)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("part %d by itself differs, %v", i, err)
		}
		half := newJob().islands(seeds)[i].(*toy)
		half.Step(t.Context())
		var saved bytes.Buffer
		half.WriteTo(&saved)
		if got, err = RunPart(t.Context(), newJob().islands(seeds)[i], saved.Bytes()); err != nil || !bytes.Equal(got, want) {
			t.Errorf("part %d from its first step on differs, %v", i, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := RunPart(ctx, &toy{steps: 3}, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := RunPart(t.Context(), &toy{steps: 3}, []byte("no state")); err == nil {
		t.Error("a part goes on from what is no state")
	}
}

// stray is a part that breaks a rule.
type stray struct {
	toy
	line func(Line) Line
	more int // that it counts
}

func (s *stray) Step(ctx context.Context) (Line, error) {
	l, err := s.toy.Step(ctx)
	s.k += s.more
	return s.line(l), err
}

// TestRules: parts that could not be resumed, or whose trace could not be read back, are refused at once.
func TestRules(t *testing.T) {
	keep := func(l Line) Line { return l }
	for want, part := range map[string]Part{
		"counts 2 steps after 0":           &stray{toy: toy{steps: 9}, line: keep, more: 1},
		"is at progress 0.1, done: true":   &stray{toy: toy{steps: 1}, line: func(l Line) Line { l.Progress = .1; return l }},
		"is at progress 1, done: false":    &stray{toy: toy{steps: 2}, line: func(l Line) Line { l.Progress = 1; return l }},
		"not an object":                    &stray{toy: toy{steps: 2}, line: func(l Line) Line { l.Fields = 3; return l }},
		"unsupported type":                 &stray{toy: toy{steps: 2}, line: func(l Line) Line { l.Fields = func() {}; return l }},
		"some steps leave lines in the tr": &stray{toy: toy{steps: 3}, line: func(l Line) Line { return map[bool]Line{true: l, false: {}}[l.Progress < .5] }},
	} {
		f, err := TakeFolder(filepath.Join(t.TempDir(), "run"), fitKind)
		if err != nil {
			t.Fatal(err)
		}
		run, err := Open(f, nil, Manifest{}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		err = run.Close(run.Phase(t.Context(), pool.New(1), Phase{Name: "one", Parts: []Part{part}}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		f.Close()
	}
	run := new(Run)
	for i, name := range []string{"a", "b"} {
		err := run.Phase(t.Context(), pool.New(1), Phase{Name: name, Parts: []Part{&toy{steps: 2}}})
		if (err != nil) != (i == 1) || i == 1 && !strings.Contains(err.Error(), `"a" and "b" of a run both leave lines`) {
			t.Errorf("traced phase %s: %v", name, err)
		}
	}
}

// TestResultNotWritten: a run whose result cannot be written is not done, and is finished by whoever resumes it.
func TestResultNotWritten(t *testing.T) {
	_, want := whole(t)
	dir := filepath.Join(t.TempDir(), "run")
	f, err := TakeFolder(dir, fitKind)
	if err != nil {
		t.Fatal(err)
	}
	j := newJob()
	j.watch = func(TraceLine) error {
		if len(j.watched) == 39 {
			return os.Mkdir(filepath.Join(dir, "result.bin"), 0o777) // in the way
		}
		return nil
	}
	run, err := j.in(t.Context(), f)
	if err == nil || !strings.Contains(err.Error(), "the run is done but could not be written: "+filepath.Join(dir, "result.bin")) ||
		!strings.Contains(err.Error(), "the last good state is kept in "+dir) {
		t.Error(err)
	}
	if m, err := ReadManifest(dir); err != nil || m.Status != Failed || !m.Finished.IsZero() || run.Done() {
		t.Errorf("status %q, finished %v, %v", m.Status, m.Finished, err)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, "result.bin")), f.Close()); err != nil {
		t.Fatal(err)
	}
	again := newJob()
	again.before = func(context.Context, int) error { t.Error("a step is made again"); return nil }
	if err := again.resume(t.Context(), dir); err != nil || contents(t, dir) != want {
		t.Errorf("finished: %v\n%s\nwant\n%s", err, contents(t, dir), want)
	}
}
