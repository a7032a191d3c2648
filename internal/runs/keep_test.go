package runs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/testkit"
)

// text is a part whose state is a text.
type text struct {
	state string
	k     int
	done  bool
	fails error
}

func (p *text) Step(context.Context) (Line, error) { panic("it makes no steps") }
func (p *text) Done() bool                         { return p.done }
func (p *text) K() int                             { return p.k }
func (p *text) UnmarshalBinary([]byte) error       { panic("it is not restored") }

func (p *text) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, p.state)
	return int64(n), errors.Join(err, p.fails)
}

// TestPackedInPlace: a part is packed where it lies, and one that grows takes nothing from its neighbour in the file that
// both were read from. Whether it has changed is told of every part.
func TestPackedInPlace(t *testing.T) {
	var file bytes.Buffer
	longer, neighbour := strings.Repeat("1", 99), strings.Repeat("2", 200)
	both := &savedPhase{name: "both", steps: []int{1, 1}, parts: [][]byte{[]byte("10"), []byte(neighbour)}}
	if err := (&checkpoint{phases: []*savedPhase{both}}).writeTo(&file); err != nil {
		t.Fatal(err)
	}
	c, err := readCheckpoint(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	k := &keeper{state: *c}
	p, err := k.begin("both", 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		to              string
		changed, inside bool
	}{{"10", false, true}, {"11", true, true}, {"5", true, true}, {"5", false, true}, {"51", true, true}, {longer, true, false}} {
		k.changed = false
		was := &p.parts[0][0]
		if err := k.pack(0, &text{state: step.to, k: i}); err != nil {
			t.Fatal(err)
		}
		if string(p.parts[0]) != step.to || string(p.parts[1]) != neighbour || k.changed != step.changed || p.steps[0] != i {
			t.Errorf("packed %s: parts %q after %v steps, changed %v", step.to, p.parts, p.steps, k.changed)
		}
		if step.inside && was != &p.parts[0][0] {
			t.Errorf("packed %s into new memory", step.to)
		}
	}
}

// opened is a keeper in a new folder.
func opened(t *testing.T, every time.Duration, now func() time.Time) *keeper {
	t.Helper()
	f, err := TakeFolder(filepath.Join(t.TempDir(), "run"), fitKind)
	if err != nil {
		t.Fatal(err)
	}
	run, err := Open(f, nil, Manifest{}, Options{Every: every, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { errors.Join(run.Close(nil), f.Close()) })
	return run.keep
}

// saved is what the first phase of a checkpoint has of each part; empty without a checkpoint.
func saved(t *testing.T, f *Folder) string {
	t.Helper()
	b, err := os.ReadFile(f.path(checkpointFile))
	if err != nil {
		return ""
	}
	c, err := readCheckpoint(b)
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for i, p := range c.phases[0].parts {
		if c.phases[0].steps[i] == 0 {
			p = []byte("-")
		}
		parts = append(parts, string(p))
	}
	return strings.Join(parts, " ")
}

// TestWhenSaved: with an interval of 10 s, states are saved at most that often, once all parts that are at work have ended
// a step; one whose step takes longer than the interval holds nobody back.
func TestWhenSaved(t *testing.T) {
	now := time.Unix(0, 0)
	k := opened(t, 10*time.Second, func() time.Time { return now })
	if _, err := k.begin("four", 4, nil); err != nil {
		t.Fatal(err)
	}
	for _, s := range []struct {
		at, i, step int
		done        bool
		want        string // parts of the checkpoint after it
	}{
		{1, 0, 1, false, ""}, {2, 1, 1, false, ""}, {3, 2, 1, false, ""},
		{11, 0, 2, false, ""}, {12, 0, 3, false, ""}, {12, 1, 2, false, ""}, {13, 2, 2, false, "2 2 2 -"}, // all that are at work
		{22, 1, 3, false, "2 2 2 -"}, {24, 1, 4, false, "2 2 2 -"}, {25, 0, 4, false, "2 2 2 -"}, {33, 0, 5, false, "2 2 2 -"},
		{34, 0, 6, false, "4 4 2 -"},                                                           // the third takes too long
		{35, 2, 3, false, "4 4 2 -"}, {44, 3, 1, true, "4 4 2 -"}, {44, 0, 7, true, "4 4 2 -"}, // some end
		{45, 1, 5, false, "4 4 2 -"}, {46, 2, 4, false, "7 5 4 1"},
	} {
		now = time.Unix(int64(s.at), 0)
		if err := k.step(s.i, &text{state: fmt.Sprint(s.step), k: s.step, done: s.done}, false); err != nil {
			t.Fatal(err)
		}
		if got := saved(t, k.folder); got != s.want {
			t.Errorf("at %d s, step %d of part %d: saved %q, want %q", s.at, s.step, s.i, got, s.want)
		}
	}
	now = time.Unix(47, 0)
	if err := k.step(1, &text{state: "6", k: 6, done: true}, true); err != nil || saved(t, k.folder) != "7 6 4 1" {
		t.Errorf("asked for at an end: saved %q, %v", saved(t, k.folder), err)
	}
}

// TestSaveEnds: a phase that asks for it is saved whenever a part ends, however long the interval is; another only at its
// end.
func TestSaveEnds(t *testing.T) {
	for _, ends := range []bool{true, false} {
		f, err := TakeFolder(filepath.Join(t.TempDir(), "run"), fitKind)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		run, err := Open(f, nil, Manifest{}, Options{Every: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		parts := []Part{&toy{steps: 2, silent: true}, &toy{steps: 3, silent: true}, &toy{steps: 1, silent: true}}
		var checkpoints []bool
		for _, p := range parts {
			p.(*toy).before = func(context.Context, int) error {
				checkpoints = append(checkpoints, f.has(checkpointFile))
				return nil
			}
		}
		if err := run.Phase(t.Context(), pool.New(1), Phase{Name: "a", Parts: parts, SaveEnds: ends}); err != nil {
			t.Fatal(err)
		}
		if want := []bool{false, false, ends, ends, ends, ends}; fmt.Sprint(checkpoints) != fmt.Sprint(want) || !f.has(checkpointFile) {
			t.Errorf("ends %v: a checkpoint before each step: %v, want %v", ends, checkpoints, want)
		}
		run.Close(nil)
	}
}

// TestNobodyWaits: while one part is in the middle of a step, the others go on and are saved.
func TestNobodyWaits(t *testing.T) {
	f, err := TakeFolder(filepath.Join(t.TempDir(), "run"), fitKind)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	run, err := Open(f, nil, Manifest{}, Options{Every: 1})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	slow := &toy{steps: 2, before: func(_ context.Context, k int) error {
		select {
		case <-ended:
		case <-time.After(testkit.Patience):
			t.Error("the others wait")
		}
		return nil
	}}
	quick := &toy{steps: 20}
	p := Phase{Name: "two", Parts: []Part{slow, quick}}
	p.Watch = func(l TraceLine) error {
		if l.Part == 1 && l.K == 20 {
			if c, err := readCheckpoint(read(t, f.Dir, checkpointFile)); err != nil || c.phases[0].steps[1] < 15 {
				t.Errorf("the checkpoint has %v steps, %v", c.phases[0].steps, err)
			}
			close(ended)
		}
		return nil
	}
	if err := run.Close(run.Phase(t.Context(), pool.New(2), p)); err != nil {
		t.Error(err)
	}
}

// TestPartNotWritten: a part that cannot be packed stops the run, and leaves the checkpoint before: what is held of that part
// is half overwritten, so that no other part may save it.
func TestPartNotWritten(t *testing.T) {
	k := opened(t, time.Hour, nil)
	if _, err := k.begin("two", 2, nil); err != nil {
		t.Fatal(err)
	}
	k.asked[0] = true
	if err := k.step(0, &text{state: "good", k: 1}, true); err != nil || saved(t, k.folder) != "good -" {
		t.Fatalf("saved %q, %v", saved(t, k.folder), err)
	}
	bad, other := &text{state: "bad", k: 2, fails: errors.New("no more"), done: true}, &text{state: "other", k: 1, done: true}
	for i, part := range []Part{bad, other} {
		if err := k.step(i, part, true); !errors.Is(err, bad.fails) || saved(t, k.folder) != "good -" {
			t.Errorf("part %d: saved %q, %v", i, saved(t, k.folder), err)
		}
	}
	if err := k.end(bad.fails, []Part{bad, other}, []int{2, 1}, nil); !errors.Is(err, bad.fails) || saved(t, k.folder) != "good -" {
		t.Errorf("at the end: saved %q, %v", saved(t, k.folder), err)
	}
}

// TestVanishedFolder: a folder that is removed during the run stops it with an error that names the file.
func TestVanishedFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	j := newJob()
	j.options.Every = 1
	j.watch = func(TraceLine) error {
		if len(j.watched) == 20 {
			for try := 0; os.RemoveAll(dir) != nil && try < 1000; try++ { // another part may just be adding a file
			}
		}
		return nil
	}
	err := j.resume(t.Context(), dir)
	if err == nil || !strings.Contains(err.Error(), "saving the run: "+filepath.Join(dir, checkpointFile)) || strings.Contains(err.Error(), "last good state") {
		t.Errorf("%v", err)
	}
}
