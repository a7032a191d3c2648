package starling

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/starling-smc/starling/internal/runs"
)

// many is a small run that keeps so many states that they are moved to files.
func many(t *testing.T, sets ...string) Spec {
	return regression(t, "both", append([]string{"model.layers=[{dense: 700}, tanh, {dense: 1}]",
		"method={smc: {particles: 10, islands: 2, path: {constant: {iterations: 50, batch: 10}}, move: {leapfrog: {step: 0.001}}, weight: momentum, keep: {after: 3}}}"}, sets...)...)
}

// shards lists the files of kept states in a run's folder.
func shards(t *testing.T, dir string) (names []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "samples-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		names = append(names, filepath.Base(path))
	}
	return names
}

// TestShards: a run whose kept states are moved to files has the posterior of a run in memory, and the same bytes after stops. When it is
// done, the files are gone.
func TestShards(t *testing.T) {
	for i, sets := range [][]string{nil, {"method.smc.keep.as=bfloat16"}} {
		if i > 0 && testing.Short() {
			break
		}
		spec := many(t, sets...)
		inMemory := fitted(t, spec, Options{})
		result, done := kept(t, spec)
		if a, b := fingerprint(t, inMemory), fingerprint(t, result); a != b {
			t.Fatalf("%v: in memory\n%s\nin a folder\n%s", sets, a, b)
		}
		if n := len(result.Posterior.LogWeights); n != 2*10*47 || len(shards(t, done)) > 0 {
			t.Fatalf("%d states are kept, and files %v", n, shards(t, done))
		}
		dir, most := filepath.Join(t.TempDir(), "run"), 0
		for stops := 0; ; stops++ {
			ctx, cancel := context.WithCancel(t.Context())
			events := 0
			_, err := resume(ctx, dir, spec, Options{Threads: 1 + stops%2, Every: time.Duration(1 + stops%2*int(time.Hour)), Progress: func(Event) {
				if events++; events == 40 {
					cancel()
				}
			}})
			cancel()
			if err == nil {
				break
			}
			if !errors.Is(err, context.Canceled) || stops > 20 {
				t.Fatal(err)
			}
			most = max(most, len(shards(t, dir)))
		}
		if most < 2 {
			t.Errorf("at most %d files on the way", most)
		}
		if got, want := contents(t, dir), contents(t, done); got != want {
			t.Errorf("%v: after stops\n%s\nwithout\n%s", sets, got, want)
		}
	}
}

// TestDamagedShards: a file of kept states that is missing, cut, changed, or another run's is named when the run is resumed, and the run
// is not silently smaller. Put back, the run goes on. A file that the checkpoint does not count is written again.
func TestDamagedShards(t *testing.T) {
	if testing.Short() {
		t.Skip("the folder is the same in every build")
	}
	spec, dir := many(t), filepath.Join(t.TempDir(), "run")
	_, done := kept(t, spec)
	interruptAfter(t, dir, spec, 60)
	files := shards(t, dir)
	if len(files) == 0 {
		t.Fatal("no files to damage")
	}
	path := filepath.Join(dir, files[0])
	good := read(t, dir, files[0])
	flipped := slices.Clone(good)
	flipped[len(flipped)-5] ^= 1
	for name, text := range map[string][]byte{"cut": good[:len(good)-4], "flipped": flipped, "another": bytes.Repeat(good, 2), "missing": nil} {
		if save(t, path, text); text == nil {
			os.Remove(path)
		}
		var bad *DataError
		if _, err := resume(t.Context(), dir, spec, Options{}); !errors.As(err, &bad) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "remove it") ||
			strings.Contains(err.Error(), "the last good state") {
			t.Errorf("%s: %T %v", name, err, err)
		}
	}
	save(t, path, good)
	save(t, filepath.Join(dir, "samples-0-7"), []byte("from a step that no checkpoint has"))
	if _, err := resume(t.Context(), dir, spec, Options{}); err != nil {
		t.Fatal(err)
	}
	if got, want := contents(t, dir), contents(t, done); got != want {
		t.Errorf("after damage\n%s\nwithout\n%s", got, want)
	}
}

// TestDoneWithShards: the checkpoint of a run that is done goes with the shards that it counts. A damaged result, and a lost manifest, then
// have one mend, to fit the run again, and what a killed process left is tidied.
func TestDoneWithShards(t *testing.T) {
	if testing.Short() {
		t.Skip("the folder is the same in every build")
	}
	spec := many(t)
	_, dir := kept(t, spec)
	want := contents(t, dir)
	if _, err := os.Stat(filepath.Join(dir, checkpointFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("the checkpoint stays: %v", err)
	}
	save(t, filepath.Join(dir, checkpointFile), []byte("left"))
	save(t, filepath.Join(dir, "samples-0-0"), []byte("left"))
	if _, err := resume(t.Context(), dir, spec, Options{}); err != nil || contents(t, dir) != want {
		t.Errorf("left files: %v\n%s", err, contents(t, dir))
	}
	for file, says := range map[string]string{posteriorFile: "fit the run again into another folder", manifestFile: "begin the run anew in another folder"} {
		good := read(t, dir, file)
		damaged := slices.Clone(good)
		damaged[len(damaged)/2] ^= 1
		save(t, filepath.Join(dir, file), damaged)
		var bad *DataError
		if _, err := OpenRun(dir); !errors.As(err, &bad) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", file, err)
		}
		save(t, filepath.Join(dir, file), good)
	}
	os.Remove(filepath.Join(dir, manifestFile))
	if _, err := OpenRun(dir); err == nil || !strings.Contains(err.Error(), "but no manifest.json and no good checkpoint") {
		t.Error(err)
	}
}

// TestVerifyShards: of a run that is not done, verify names a file of kept states that the checkpoint counts and that is missing, cut or
// changed, whether the run has a stopping rule, whose state stands before that of the island, or not. A file that the checkpoint does not
// count is not blamed.
func TestVerifyShards(t *testing.T) {
	if testing.Short() {
		t.Skip("the folder is the same in every build")
	}
	for _, sets := range [][]string{nil, {"method.smc.path={full: {iterations: 50}}", "method.smc.stop={patience: 40}"}} {
		spec, dir := many(t, sets...), filepath.Join(t.TempDir(), "run")
		interruptAfter(t, dir, spec, 60)
		files := shards(t, dir)
		if len(files) == 0 {
			t.Fatal("no files to damage")
		}
		save(t, filepath.Join(dir, "samples-1-77"), []byte("from a step that no checkpoint has"))
		states := func() map[string]runs.State {
			v, err := VerifyRun(dir)
			if err != nil {
				t.Fatal(err)
			}
			states := map[string]runs.State{}
			for _, f := range v.Files {
				states[f.File] = f.State
			}
			return states
		}
		first := states()
		for _, name := range files {
			if first[name] != runs.OK {
				t.Errorf("%v: %s is %q", sets, name, first[name])
			}
		}
		if first["samples-1-77"] != runs.Unlisted {
			t.Errorf("%v: a file that no checkpoint counts is %q", sets, first["samples-1-77"])
		}
		for _, name := range files {
			good := read(t, dir, name)
			flipped := slices.Clone(good)
			flipped[len(flipped)/2] ^= 1
			for want, text := range map[runs.State][]byte{runs.Differs: flipped, runs.Missing: nil} {
				path := filepath.Join(dir, name)
				if save(t, path, text); text == nil {
					os.Remove(path)
				}
				for file, state := range states() {
					if file == name && state != want || file != name && state != first[file] {
						t.Errorf("%v: %s is to be %q: %s is %q", sets, name, want, file, state)
					}
				}
			}
			save(t, filepath.Join(dir, name), good)
		}
	}
}

// TestFullDisk: the disk is asked before the run, and again when a file of kept states is begun. The error names the file, the bytes and
// the mend; the last good state is kept, and the run goes on from it when there is room.
func TestFullDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("the folder is the same in every build")
	}
	spec, dir := many(t), filepath.Join(t.TempDir(), "run")
	_, done := kept(t, spec)
	full := func(asked int) func(string) (int64, bool) { // from one question on
		n := 0
		return func(string) (int64, bool) {
			if n++; n >= asked {
				return 1000, true
			}
			return 1 << 40, true
		}
	}
	if _, err := resume(t.Context(), dir, spec, Options{free: full(1)}); err == nil || !strings.Contains(err.Error(), "method.smc.keep: the states that are kept need about ") {
		t.Errorf("before the run: %v", err)
	}
	_, err := resume(t.Context(), dir, spec, Options{Every: 1, free: full(4)})
	if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "samples-")) || !strings.Contains(err.Error(), "bytes of the disk, which has 1000 free: make room there, and resume the run with --resume") ||
		!strings.Contains(err.Error(), "the last good state is kept in "+dir) {
		t.Errorf("while it runs: %v", err)
	}
	if n := len(shards(t, dir)); n != 2 {
		t.Errorf("%d files of kept states, want the 2 before the disk was full", n)
	}
	if _, err := resume(t.Context(), dir, spec, Options{}); err != nil {
		t.Fatal(err)
	}
	if got, want := contents(t, dir), contents(t, done); got != want {
		t.Errorf("with room again\n%s\nwithout\n%s", got, want)
	}
}

// TestDiskOfResume: on a disk that has just as much as the question before the run asks for, the run comes to its end, and is never refused
// when it goes on. What it has saved so far takes of the disk.
func TestDiskOfResume(t *testing.T) {
	if testing.Short() {
		t.Skip("the folder is the same in every build")
	}
	spec := many(t)
	memory := spec.Way().Memory(&planned(t, spec, true).Job)
	enough, capacity := 2*memory.Disk+3*memory.Saved, int64(0)
	dir := filepath.Join(t.TempDir(), "run")
	used := func() (bytes int64) {
		entries, _ := os.ReadDir(dir) // none: it is gone after a refusal
		for _, e := range entries {
			if info, err := e.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return bytes
	}
	free := func(string) (int64, bool) { return capacity - used(), true }
	with := func(c int64) error {
		capacity = c
		ctx, cancel := context.WithCancel(t.Context())
		events := 0
		defer cancel()
		_, err := resume(ctx, dir, spec, Options{Every: 1, free: free, Progress: func(Event) {
			if events++; events == 40 {
				cancel()
			}
		}})
		return err
	}
	if err := with(enough - 1); err == nil || !strings.Contains(err.Error(), "iterations would fit)") {
		t.Errorf("a byte less: %v", err)
	}
	for stops := 0; ; stops++ {
		err := with(enough + 1<<10) // the lock
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) || stops > 20 {
			t.Fatalf("after %d stops, with %d of %d bytes used: %v", stops, used(), enough, err)
		}
		info, err := os.Stat(filepath.Join(dir, "checkpoint"))
		if err != nil {
			t.Fatal(err)
		}
		if !(info.Size() < memory.Saved+4096) {
			t.Errorf("after %d stops a checkpoint of %d bytes, estimated as %d", stops, info.Size(), memory.Saved)
		}
	}
}

// killDir is the variable of the environment that makes TestKilledInShard the process that is killed, with a folder.
const killDir = "STARLING_TEST_KILL"

// TestKilledInShard: a process that is killed while it writes a file of kept states, with a part of it on the disk, loses nothing: the run
// goes on from its last state to the same bytes.
func TestKilledInShard(t *testing.T) {
	spec := many(t)
	if dir := os.Getenv(killDir); dir != "" {
		begun := 0
		_, err := resume(t.Context(), dir, spec, Options{Every: 1, free: func(string) (int64, bool) {
			if begun++; begun == 4 { // before the run, and at each of three files
				go func() {
					for {
						if half, _ := filepath.Glob(filepath.Join(dir, ".samples-*")); len(half) > 0 {
							p, _ := os.FindProcess(os.Getpid())
							p.Kill()
						}
					}
				}()
			}
			return 1 << 40, true
		}})
		if err != nil {
			t.Fatal(err)
		}
		return // the kill came too late, as on a busy machine
	}
	if testing.Short() {
		t.Skip("the folder is the same in every build")
	}
	_, done := kept(t, spec)
	dir, half := "", []string(nil)
	for try := 0; half == nil; try++ {
		dir = filepath.Join(t.TempDir(), "run")
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledInShard$")
		cmd.Env = append(os.Environ(), killDir+"="+dir)
		if out, err := cmd.CombinedOutput(); err != nil && cmd.ProcessState.ExitCode() == 1 {
			t.Fatalf("%v\n%s", err, out)
		}
		half, _ = filepath.Glob(filepath.Join(dir, ".samples-*"))
		if try == 20 {
			t.Fatal("20 processes were killed before or after, but not while they wrote")
		}
	}
	if n := len(shards(t, dir)); n < 2 {
		t.Errorf("%d whole files of kept states beside the half one, want 2 or more", n)
	}
	if _, err := resume(t.Context(), dir, spec, Options{}); err != nil {
		t.Fatal(err)
	}
	if got, want := contents(t, dir), contents(t, done); got != want {
		t.Errorf("killed, and gone on with\n%s\nwithout\n%s", got, want)
	}
}
