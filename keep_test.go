package starling

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/starling-smc/starling/internal/lanes"
)

// kept is the checksum of every file of a run's folder that must not depend on how often the run was stopped: all but
// the manifest and the seconds of the trace.
func kept(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		switch e.Name() {
		case manifestFile:
			b = nil
		case traceFile:
			trace, err := readTrace(b)
			if err != nil {
				t.Fatal(err)
			}
			for i := range trace {
				trace[i].Seconds = 0
			}
			b, _ = json.Marshal(trace)
		}
		fmt.Fprintf(&out, "%s %x\n", e.Name(), sha256.Sum256(b))
	}
	return out.String()
}

// whole is a run that is never stopped, and what it leaves.
func whole(t *testing.T, spec Spec) (dir, files string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	f, err := TakeFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	fit(t, spec, Options{Folder: f})
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, kept(t, dir)
}

// resume goes on with a run in a folder.
func resume(ctx context.Context, dir string, spec Spec, o Options) (*Result, error) {
	f, err := ResumeFolder(dir)
	if err != nil {
		return nil, err
	}
	o.Folder = f
	r, err := Fit(ctx, spec, o)
	return r, errors.Join(err, f.Close())
}

// TestStopAndGoOn stops runs of every kind after every few events, each time on another number of threads and by other
// kernels: in the end the folder has the same bytes as that of a run that was never stopped.
func TestStopAndGoOn(t *testing.T) {
	for name, spec := range small(t) {
		t.Run(name, func(t *testing.T) {
			done, want := whole(t, spec)
			trace, err := readTrace(read(t, done, traceFile))
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(t.TempDir(), "run")
			stops := 0
			for ; ; stops++ {
				restore, err := lanes.SetKernel(lanes.Kernels()[stops%len(lanes.Kernels())])
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(context.Background())
				events, last := 0, 3+stops%5
				switch {
				case len(trace) < 5:
					last = 2 + stops%3
				case testing.Short() && len(trace) > 10:
					last *= 3
				}
				_, err = resume(ctx, dir, spec, Options{
					Threads: []int{1, 2, 7}[stops%3], Every: time.Duration(1 + stops%2*int(time.Hour)),
					Progress: func(Event) {
						if events++; events == last {
							cancel()
						}
					},
				})
				cancel()
				restore()
				if err == nil {
					break
				}
				if !errors.Is(err, context.Canceled) || stops > 200 {
					t.Fatal(err)
				}
				if _, err := os.Stat(dir); stops == 0 && errors.Is(err, fs.ErrNotExist) {
					continue // nothing was done, so nothing is left
				}
				if m, err := readManifest(dir); err != nil || m.Status != interrupted {
					t.Fatalf("after an interrupt: status %q, %v", m.Status, err)
				}
				if _, err := OpenRun(dir); err == nil || !strings.Contains(err.Error(), "--resume") {
					t.Fatalf("an unfinished run opens: %v", err)
				}
			}
			if got := kept(t, dir); got != want {
				t.Errorf("after %d stops:\n%s\nwithout:\n%s", stops, got, want)
			}
			if stops == 0 && !spec.pointOnly() {
				t.Error("never stopped")
			}
			r, err := resume(context.Background(), dir, spec, Options{})
			if err != nil || kept(t, dir) != want {
				t.Errorf("a run that is done, gone on with: %v", err)
			}
			var metrics bytes.Buffer
			if r.Metrics.WriteJSON(&metrics); err == nil {
				if b, _ := os.ReadFile(filepath.Join(dir, metricsFile)); metrics.String() != string(b) {
					t.Error("a run that is done gives other metrics when it is gone on with")
				}
			}
		})
	}
}

// copyLive copies the folder of a run that is at work. A file that is being replaced may be missing, as after a kill.
func copyLive(t *testing.T, to, from string) {
	t.Helper()
	entries, err := os.ReadDir(from)
	err = errors.Join(err, os.Mkdir(to, 0o777))
	for _, e := range entries { // the trace comes last: it has the iterations of every checkpoint before it
		b, there := os.ReadFile(filepath.Join(from, e.Name()))
		if errors.Is(there, fs.ErrNotExist) {
			continue
		}
		err = errors.Join(err, there, os.WriteFile(filepath.Join(to, e.Name()), b, 0o666))
	}
	if err != nil {
		t.Error(err)
	}
}

// TestKilledAnywhere copies the folder again and again while a run is at work, which is what a killed process would have
// left, and goes on in the copies.
func TestKilledAnywhere(t *testing.T) {
	spec := trees(t)
	_, want := whole(t, spec)
	root := t.TempDir()
	dir := filepath.Join(root, "run")
	var copies []string
	leave := func(e Event) {
		copies = append(copies, filepath.Join(root, fmt.Sprint("copy", len(copies))))
		copyLive(t, copies[len(copies)-1], dir)
	}
	f, err := TakeFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := fit(t, spec, Options{Folder: f, Every: 1, Progress: leave})
	if len(copies) < 20 {
		t.Errorf("only %d copies", len(copies))
	}
	// As it is written at the end, file by file, from where the sampler ended.
	last := copies[len(copies)-1]
	for _, file := range []string{checkpointFile, traceFile} {
		if err := os.WriteFile(filepath.Join(last, file), read(t, dir, file), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for i, file := range r.files() {
		name := filepath.Join(root, fmt.Sprint("end", i))
		if err := os.CopyFS(name, os.DirFS(last)); err != nil {
			t.Fatal(err)
		}
		for _, file := range r.files()[:i+1] {
			w, err := os.Create(filepath.Join(name, file.name))
			if err == nil {
				err = errors.Join(file.write(w), w.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		os.WriteFile(filepath.Join(name, "."+file.name+".123"), []byte("half"), 0o666)
		copies = append(copies, name)
	}
	for i, dir := range copies {
		if testing.Short() && i%4 > 0 {
			continue
		}
		if _, err := resume(t.Context(), dir, spec, Options{}); err != nil {
			t.Errorf("%s: %v", dir, err)
		} else if got := kept(t, dir); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", dir, got, want)
		}
	}
}

// TestDamagedCheckpoint: a checkpoint that is cut off, has a bit flipped, or is of another run is named and refused, and
// the previous one taken; if that is not good either, the run is refused and nothing is changed.
func TestDamagedCheckpoint(t *testing.T) {
	spec := trees(t)
	_, want := whole(t, spec)
	other, _ := whole(t, trees(t, "seed=99"))
	dir := filepath.Join(t.TempDir(), "run")
	interruptAfter(t, dir, spec, 40)
	good := read(t, dir, checkpointFile)
	if slices.Equal(good, read(t, dir, previousFile)) {
		t.Fatal("both checkpoints are the same")
	}
	flip := func(at int) []byte {
		b := slices.Clone(good)
		b[at] ^= 1
		return b
	}
	for name, c := range map[string]struct {
		bytes  []byte
		reason string
	}{
		"empty":       {nil, "too few"},
		"cut":         {good[:len(good)/2], "cut off"},
		"one less":    {good[:len(good)-1], "cut off"},
		"first bit":   {flip(0), "not a starling container"},
		"middle bit":  {flip(len(good) / 2), "damaged"},
		"last bit":    {flip(len(good) - 1), "damaged"},
		"another run": {read(t, other, checkpointFile), "another run"},
		"text":        {[]byte(strings.Repeat("no checkpoint ", 99)), "not a starling container"},
	} {
		t.Run(name, func(t *testing.T) {
			here := filepath.Join(t.TempDir(), "run")
			if err := os.CopyFS(here, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(here, checkpointFile)
			if err := os.WriteFile(path, c.bytes, 0o666); err != nil {
				t.Fatal(err)
			}
			var told []string
			_, err := resume(t.Context(), here, spec, Options{Every: 1, Progress: func(e Event) {
				if n, ok := e.(*Notice); ok {
					told = append(told, n.Text)
				}
			}})
			if err != nil {
				t.Fatal(err)
			}
			if len(told) != 1 || !strings.Contains(told[0], path+" is refused") || !strings.Contains(told[0], c.reason) ||
				!strings.Contains(told[0], "goes on from "+filepath.Join(here, previousFile)) {
				t.Errorf("told %q, want %q", told, c.reason)
			}
			if got := kept(t, here); got != want {
				t.Errorf("from the previous checkpoint:\n%s\nwant\n%s", got, want)
			}

			both := filepath.Join(t.TempDir(), "run")
			if err := os.CopyFS(both, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			for _, file := range []string{checkpointFile, previousFile} {
				if err := os.WriteFile(filepath.Join(both, file), c.bytes, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			before := kept(t, both)
			var bad *DataError
			if _, err := resume(t.Context(), both, spec, Options{}); !errors.As(err, &bad) || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("both damaged: %v", err)
			}
			if kept(t, both) != before {
				t.Error("both damaged: the folder has changed")
			}
		})
	}
}

func read(t *testing.T, dir, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// interruptAfter leaves a run as an interrupt after some events does.
func interruptAfter(t *testing.T, dir string, spec Spec, events int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if _, err := resume(ctx, dir, spec, Options{Every: 1, Progress: func(Event) {
		if events--; events == 0 {
			cancel()
		}
	}}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

// TestRefusedToGoOn: another config, other data, another version, a trace that lacks lines. Nothing is changed.
func TestRefusedToGoOn(t *testing.T) {
	spec := trees(t)
	dir := filepath.Join(t.TempDir(), "run")
	interruptAfter(t, dir, spec, 40)
	var config *ConfigError
	var bad *DataError
	for name, c := range map[string]struct {
		spec   Spec
		file   string
		change func(b []byte) []byte
		target any
		want   []string
	}{
		"config": {spec: trees(t, "method.smc.islands=4", "map.rate=0.2", "prior.anchor.s=0.6"), target: &config, want: []string{
			"method.smc.islands: 4, but the run was begun with 3",
			"map.rate: 0.2, but the run was begun with 0.1", "prior.anchor.s: 0.6, but the run was begun with 0.5"}},
		"method": {spec: trees(t, "method={mcmc: {chains: 3}}"), target: &config, want: []string{
			"method.mcmc.chains: 3, but the run was begun with nothing", "method.mcmc.move.hmc.accept", "\n… and "}},
		"version": {spec: spec, file: manifestFile, change: func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"version": "`), []byte(`"version": "9.`), 1)
		}, want: []string{"begun by starling 9." + version + ", this is " + version}},
		"data": {spec: spec, file: manifestFile, change: func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"train": "`), []byte(`"train": "0`), 1)
		}, target: &bad, want: []string{"train examples are not those of the run"}},
		"manifest": {spec: spec, file: manifestFile, change: func(b []byte) []byte { return b[:len(b)/2] }, target: &bad, want: []string{manifestFile}},
		"trace": {spec: spec, file: traceFile, change: func(b []byte) []byte {
			_, rest, _ := bytes.Cut(b, []byte("\n"))
			return rest
		}, target: &bad, want: []string{traceFile + " lacks iteration 1 of island"}},
	} {
		here := filepath.Join(t.TempDir(), "run")
		if err := os.CopyFS(here, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		if c.change != nil {
			if err := os.WriteFile(filepath.Join(here, c.file), c.change(read(t, here, c.file)), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		before, manifest := kept(t, here), read(t, here, manifestFile)
		_, err := resume(t.Context(), here, c.spec, Options{})
		if err == nil || c.target != nil && !errors.As(err, c.target) {
			t.Errorf("%s: %T %v", name, err, err)
			continue
		}
		if other := name != "manifest" && name != "trace"; errors.As(err, new(*OtherRunError)) != other {
			t.Errorf("%s: another run: %v, of %T %v", name, !other, err, err)
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
		if kept(t, here) != before || !bytes.Equal(manifest, read(t, here, manifestFile)) {
			t.Errorf("%s: the folder has changed", name)
		}
	}
	// What is damaged in the tail of the trace was written after the checkpoint, and does not matter.
	path := filepath.Join(dir, traceFile)
	if err := os.WriteFile(path, append(read(t, dir, traceFile), `{"island":0,"k":`...), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := resume(t.Context(), dir, spec, Options{}); err != nil {
		t.Error(err)
	}
}

// TestVanishedFolder: a folder that is removed during the run stops it with an error that names the file.
func TestVanishedFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	events := 0
	_, err := resume(t.Context(), dir, trees(t), Options{Every: 1, Progress: func(Event) {
		if events++; events == 40 {
			os.RemoveAll(dir)
		}
	}})
	if err == nil || !strings.Contains(err.Error(), "saving the run: "+filepath.Join(dir, checkpointFile)) || strings.Contains(err.Error(), "last good state") {
		t.Errorf("%v", err)
	}
}

// TestFolderStates: what a killed process may leave before its first checkpoint is begun anew, and what no run has
// written is refused.
func TestFolderStates(t *testing.T) {
	spec := trees(t)
	done, want := whole(t, spec)
	for name, c := range map[string]struct {
		files []string
		want  string
	}{
		"none": {}, "config": {files: []string{configFile}}, "half config": {files: []string{"." + configFile + ".77"}},
		"manifest": {files: []string{configFile, manifestFile}}, "trace": {files: []string{configFile, manifestFile, traceFile, lockFile}},
		"foreign": {files: []string{"letter.txt"}, want: "it holds letter.txt"}, "both": {files: []string{"letter.txt", configFile}, want: "no run's folder"},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		for _, file := range c.files {
			b, _ := os.ReadFile(filepath.Join(done, file))
			b = bytes.Replace(b, []byte(`"status": "done"`), []byte(`"status": "running"`), 1)
			if err := os.WriteFile(filepath.Join(dir, file), b, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		told := ""
		_, err := resume(t.Context(), dir, spec, Options{Progress: func(e Event) {
			if n, ok := e.(*Notice); ok {
				told += n.Text
			}
		}})
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", name, err)
			}
		} else if err != nil || kept(t, dir) != want || !strings.Contains(told, "no checkpoint: the run begins anew") {
			t.Errorf("%s: %v, told %q\n%s", name, err, told, kept(t, dir))
		}
	}
}

// TestLock: a folder is one process's at a time, also if that does not end well.
func TestLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	f, err := TakeFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ResumeFolder(dir); err == nil || !strings.Contains(err.Error(), dir+": another run is at work") || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("taken twice: %v", err)
	}
	f.kept = true
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, lockFile), []byte("1"), 0o666); err != nil { // of a process that was killed
		t.Fatal(err)
	}
	if f, err = ResumeFolder(dir); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// TestSameFolderAgain: a Folder that is still held goes on too, and another run does not take its place.
func TestSameFolderAgain(t *testing.T) {
	spec := trees(t)
	_, want := whole(t, spec)
	f, err := TakeFolder(filepath.Join(t.TempDir(), "run"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	events := 0
	if _, err := Fit(ctx, spec, Options{Folder: f, Every: 1, Progress: func(Event) {
		if events++; events == 40 {
			cancel()
		}
	}}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	again := 0
	fit(t, spec, Options{Folder: f, Progress: func(Event) { again++ }})
	all := 0
	fit(t, spec, Options{Progress: func(Event) { all++ }})
	if again > all-39+2 { // but for the first, Loaded, and what was not saved
		t.Errorf("%d events after 40 of %d", again, all)
	}
	var config *ConfigError
	if _, err := Fit(t.Context(), trees(t, "seed=99"), Options{Folder: f}); !errors.As(err, &config) {
		t.Errorf("another run in the folder of one that is done: %v", err)
	}
	if err := f.Close(); err != nil || kept(t, f.Dir) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, kept(t, f.Dir), want)
	}
}

// part is a part whose state is a number of steps.
type part int

func (p part) WriteTo(w io.Writer) (int64, error) {
	n, err := fmt.Fprint(w, int(p))
	return int64(n), err
}

// TestPackedInPlace: a part is packed where it lies, and one that grows takes nothing from its neighbour in the file that
// both were read from. Whether it has changed is told of every part.
func TestPackedInPlace(t *testing.T) {
	var file bytes.Buffer
	longer, neighbour := strings.Repeat("1", 99), strings.Repeat("2", 200)
	if err := (&checkpoint{islands: [][]byte{[]byte("10"), []byte(neighbour)}}).writeTo(&file); err != nil {
		t.Fatal(err)
	}
	c, err := readCheckpoint(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	k := &keeper{}
	k.phase(&c.islands, 2)
	for _, step := range []struct {
		to              string
		changed, inside bool
	}{{"10", false, true}, {"11", true, true}, {"5", true, true}, {"5", false, true}, {"51", true, true}, {longer, true, false}} {
		k.changed = false
		was := &c.islands[0][0]
		if err := k.pack(0, strings.NewReader(step.to)); err != nil {
			t.Fatal(err)
		}
		if string(c.islands[0]) != step.to || string(c.islands[1]) != neighbour || k.changed != step.changed {
			t.Errorf("packed %s: parts %q, changed %v", step.to, c.islands, k.changed)
		}
		if step.inside && was != &c.islands[0][0] {
			t.Errorf("packed %s into new memory", step.to)
		}
	}
}

// TestWhenSaved: with an interval of 10 s, states are saved at most that often, once all parts that are at work have ended
// a step; one whose step takes longer than the interval holds nobody back.
func TestWhenSaved(t *testing.T) {
	now := time.Unix(0, 0)
	f, err := TakeFolder(filepath.Join(t.TempDir(), "run"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	trace, err := os.Create(f.path(traceFile))
	if err != nil {
		t.Fatal(err)
	}
	defer trace.Close()
	k := &keeper{folder: f, every: 10 * time.Second, now: func() time.Time { return now }, trace: trace, saved: now}
	k.phase(&k.state.islands, 4)
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
		if err := k.step(s.i, part(s.step), s.done, false); err != nil {
			t.Fatal(err)
		}
		got := ""
		if b, err := os.ReadFile(f.path(checkpointFile)); err == nil {
			c, err := readCheckpoint(b)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range c.islands {
				if p == nil {
					p = []byte("-")
				}
				got = strings.TrimSpace(got + " " + string(p))
			}
		}
		if got != s.want {
			t.Errorf("at %d s, step %d of part %d: saved %q, want %q", s.at, s.step, s.i, got, s.want)
		}
	}
}
