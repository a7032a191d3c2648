package runs

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/testkit"
)

// TestRefusedToGoOn: another config, other data, another version or kind, a trace that lacks lines. Nothing is changed.
func TestRefusedToGoOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	stoppedAfter(t, dir, 25)
	var bad *DamagedError
	for name, c := range map[string]struct {
		job    func(j *job)
		file   string
		change func(b []byte) []byte
		differ What // of another run; −1: it is this one, and damaged
		want   []string
	}{
		"config":  {job: func(j *job) { j.config = "seed: 2\n" }, differ: OtherConfig, want: []string{"cannot be resumed: seed: 2\n, but the run was begun with seed: 1"}},
		"version": {job: func(j *job) { j.version = "9.1.0" }, differ: OtherVersion, want: []string{"begun by starling 1.0, this is 9.1.0: go on with that version"}},
		"inputs": {job: func(j *job) { j.data = map[string]string{"train": "other", "validate": "dd"} }, differ: OtherInputs, want: []string{
			"the train examples are not those of the run: checksum other, was aa", "the run had no validate examples", "the run had test examples"}},
		"init":      {job: func(j *job) { j.init = "" }, differ: OtherInputs, want: []string{"the file from which the run starts is not the same: checksum none, was cc"}},
		"kind":      {file: manifestFile, change: replacing(`"kind": "fit"`, `"kind": "filter"`), differ: OtherKind, want: []string{"begun by starling filter, this is fit"}},
		"manifest":  {file: manifestFile, change: func(b []byte) []byte { return b[:len(b)/2] }, differ: -1, want: []string{manifestFile, "away and resume the run"}},
		"no config": {file: configFile, differ: -1, want: []string{configFile, "fit it again into another folder"}},
		"no trace":  {file: traceFile, differ: -1, want: []string{traceFile + ": no such file", "begin anew in another folder"}},
		"trace": {file: traceFile, change: func(b []byte) []byte {
			_, rest, _ := bytes.Cut(b, []byte("\n"))
			return rest
		}, differ: -1, want: []string{traceFile + " is not as the run wrote it", "begin anew in another folder"}},
	} {
		here := filepath.Join(t.TempDir(), "run")
		if err := os.CopyFS(here, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		switch {
		case c.change != nil:
			put(t, here, c.file, c.change(read(t, here, c.file)))
		case c.file != "":
			os.Remove(filepath.Join(here, c.file))
		}
		j := newJob()
		if c.job != nil {
			c.job(j)
		}
		before, manifest := contents(t, here), read(t, here, manifestFile)
		err := j.resume(t.Context(), here)
		var other *OtherRunError
		if another := errors.As(err, &other); another != (c.differ >= 0) || another && other.Differs != c.differ || !another && !errors.As(err, &bad) {
			t.Errorf("%s: %T %v", name, err, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
		if contents(t, here) != before || !bytes.Equal(manifest, read(t, here, manifestFile)) || len(j.watched) > 0 {
			t.Errorf("%s: the folder has changed", name)
		}
	}
	// What is damaged in the tail of the trace was written after the checkpoint, and does not matter.
	put(t, dir, traceFile, append(read(t, dir, traceFile), `{"island":0,"k":`...))
	if err := newJob().resume(t.Context(), dir); err != nil {
		t.Error(err)
	}
}

// replacing changes a manifest, so that it fits its own checksum.
func replacing(old, new string) func(b []byte) []byte {
	return func(b []byte) []byte { return testkit.Seal(bytes.Replace(b, []byte(old), []byte(new), 1)) }
}

// TestFinishedRun: any version shows a run that is done, another config does not; one that is damaged is not said to be its
// result.
func TestFinishedRun(t *testing.T) {
	dir, want := whole(t)
	j := newJob()
	j.version = "9.1.0"
	if err := j.resume(t.Context(), dir); err != nil || contents(t, dir) != want {
		t.Errorf("another version: %v", err)
	}
	put(t, dir, previousFile, nil) // of a process that was killed before it removed it
	if err := newJob().resume(t.Context(), dir); err != nil || contents(t, dir) != want {
		t.Errorf("with an old checkpoint: %v", err)
	}
	j.config = "seed: 2\n"
	var other *OtherRunError
	if err := j.resume(t.Context(), dir); !errors.As(err, &other) {
		t.Errorf("another config: %v", err)
	}
	f, err := ResumeFolder(dir, fitKind)
	if err != nil {
		t.Fatal(err)
	}
	run, err := newJob().in(t.Context(), f)
	if m := &run.Manifest; err != nil || !run.Done() || m.Version != "1.0" || m.Notes[0] != "a <note>" || m.Finished.IsZero() || m.Threads != 2 ||
		strings.ReplaceAll(string(m.Findings), " ", "") != "{\n\"kind\":\"toy\"\n}" {
		t.Errorf("read back: %+v, %v", run.Manifest, err)
	}
	f.Close()
	for _, file := range []string{"result.bin", traceFile, configFile, manifestFile} {
		whole := read(t, dir, file)
		for _, part := range [][]byte{whole[:len(whole)/2], nil} {
			put(t, dir, file, part)
			if part == nil {
				os.Remove(filepath.Join(dir, file))
			}
			if file == manifestFile && part == nil {
				continue // it goes on from the checkpoint
			}
			j := newJob()
			var bad *DamagedError
			err := j.resume(t.Context(), dir)
			says := "; move " + filepath.Join(dir, manifestFile) + " away and resume the run with starling 1.0"
			if file == traceFile {
				says = "; fit the run again into another folder"
			}
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), filepath.Join(dir, file)) ||
				!strings.Contains(err.Error(), says) || len(j.notices) > 0 {
				t.Errorf("%s cut to %d bytes: %v, told %q", file, len(part), err, j.notices)
			}
		}
		put(t, dir, file, whole)
	}
	os.Remove(filepath.Join(dir, manifestFile))
	os.Remove(filepath.Join(dir, "result.bin"))
	if err := newJob().resume(t.Context(), dir); err != nil || contents(t, dir) != want {
		t.Errorf("without a manifest the checkpoint gives the result again: %v", err)
	}
}

// TestFolderStates: what a killed process may leave before its first checkpoint is begun anew, and what no run has written
// is refused.
func TestFolderStates(t *testing.T) {
	done, whole := whole(t)
	for name, c := range map[string]struct {
		files []string
		want  string
	}{
		"none": {}, "half config": {files: []string{"." + configFile + ".77"}},
		"half result": {files: []string{configFile, manifestFile, ".result.bin.77"}},
		"manifest":    {files: []string{configFile, manifestFile}}, "trace": {files: []string{configFile, manifestFile, traceFile, lockFile}},
		"foreign": {files: []string{"letter.txt"}, want: "it holds letter.txt"}, "both": {files: []string{"letter.txt", configFile}, want: "not the folder of a run"},
		"config": {files: []string{configFile}, want: "not the folder of a run: it holds config.yaml, but no manifest.json"},
		"result": {files: []string{"result.bin", ".result.bin.77"}, want: "it holds result.bin"},
		"editor": {files: []string{".config.yaml.swp"}, want: "it holds .config.yaml.swp"},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		for _, file := range c.files {
			b, _ := os.ReadFile(filepath.Join(done, file))
			put(t, dir, file, replacing(`"status": "done"`, `"status": "running"`)(b))
		}
		j := newJob()
		err := j.resume(t.Context(), dir)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", name, err)
			}
			for _, file := range c.files {
				if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
					t.Errorf("%s: a folder that is no run's loses a file: %v", name, err)
				}
			}
		} else if err != nil || contents(t, dir) != whole || len(j.notices) != 1 || !strings.Contains(j.notices[0], "no checkpoint: the run begins anew") {
			t.Errorf("%s: %v, told %q\n%s", name, err, j.notices, contents(t, dir))
		}
	}
}

// TestSameFolderAgain: a Folder that is still held goes on too, and another run does not take its place.
func TestSameFolderAgain(t *testing.T) {
	_, want := whole(t)
	f, err := TakeFolder(filepath.Join(t.TempDir(), "run"), fitKind)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	j := newJob()
	j.watch = func(TraceLine) error {
		if len(j.watched) == 25 {
			cancel()
		}
		return nil
	}
	if _, err := j.in(ctx, f); !errors.Is(err, context.Canceled) || !f.Kept() {
		t.Fatal(err)
	}
	again, made := newJob(), 0
	again.threads = 1
	again.before = func(context.Context, int) error { made++; return nil }
	if _, err := again.in(t.Context(), f); err != nil || made > 39-25 {
		t.Errorf("%d steps after 25 of 39, %v", made, err)
	}
	other := newJob()
	other.config = "seed: 99\n"
	if _, err := other.in(t.Context(), f); !errors.As(err, new(*OtherRunError)) {
		t.Errorf("another run in the folder of one that is done: %v", err)
	}
	if err := f.Close(); err != nil || contents(t, f.Dir) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, contents(t, f.Dir), want)
	}
}

// TestReadNotDone: a folder of no run and a run that is not done are told from one that is damaged.
func TestReadNotDone(t *testing.T) {
	dir, _ := whole(t)
	want := func(what, says string, notDone bool) {
		t.Helper()
		var unfinished *NotDoneError
		var bad *DamagedError
		_, err := Read(dir, fitKind)
		if errors.As(err, &unfinished) != notDone || errors.As(err, &bad) == notDone || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %T %v", what, err, err)
		}
	}
	remove := func(file string) {
		if err := os.Remove(filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
	}
	config, trace := read(t, dir, configFile), read(t, dir, traceFile)
	if _, err := Read(dir, Kind{Name: "filter"}); !errors.As(err, new(*OtherRunError)) || !strings.Contains(err.Error(), "made by starling fit, not by starling filter") {
		t.Errorf("a run of another kind: %v", err)
	}
	remove(configFile)
	want("a run that is done, without a config", configFile, false)
	put(t, dir, configFile, config)
	put(t, dir, traceFile, append(trace, "half"...))
	want("a run that is done, with a damaged trace", traceFile+": is not as the run wrote it", false)
	remove(traceFile)
	want("a run that is done, without a trace", traceFile, false)
	remove(configFile)
	for _, status := range []string{Running, Interrupted, Failed} {
		put(t, dir, manifestFile, testkit.Seal([]byte(`{"kind": "fit", "status": "`+status+`", "checksum": ""}`)))
		want(status+", without a config", "is "+status+" and has lost its config: "+filepath.Join(dir, configFile), true)
	}
	put(t, dir, configFile, config)
	for _, status := range []string{Running, Interrupted, Failed} {
		put(t, dir, manifestFile, testkit.Seal([]byte(`{"kind": "fit", "status": "`+status+`", "checksum": ""}`)))
		want(status, "is "+status+"; to go on with it: starling fit "+filepath.Join(dir, configFile)+" --out "+dir+" --resume", true)
	}
	put(t, dir, manifestFile, []byte(`{"sta`))
	want("a damaged manifest", manifestFile, false)
	remove(manifestFile)
	want("a run that has lost its manifest and its trace", "holds no run to read or to go on with: a config.yaml, but no manifest.json and no good checkpoint; fit it into another folder", true)
	put(t, dir, traceFile, trace)
	want("a run that has lost its manifest", "without a manifest; to go on with it", true)
	remove(configFile)
	want("a folder", "holds no run", true)
	if _, err := Read(dir, fitKind); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestManifest: seconds mean little without the number of threads that took them; the last process counts.
func TestManifest(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	stoppedAfter(t, dir, 20)
	j := newJob()
	j.threads = 3
	if err := j.resume(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	m, err := ReadManifest(dir)
	if err != nil || m.Threads != 3 || m.Kind != "fit" || m.Kernel != "none" || m.Data["test"] != "bb" || m.Init != "cc" || m.CPUs < 1 || m.Go == "" || m.Status != Done {
		t.Errorf("%+v, %v", m, err)
	}
	for _, key := range []string{"kind", "version", "go", "platform", "cpus", "threads", "kernel", "data", "init", "started", "finished", "status", "notes", "findings", "files", "checksum"} {
		if !strings.Contains(string(read(t, dir, manifestFile)), `  "`+key+`": `) {
			t.Errorf("no %s in the manifest", key)
		}
	}
	if !strings.Contains(string(read(t, dir, manifestFile)), `"a <note>"`) {
		t.Error("notes are escaped")
	}
}
