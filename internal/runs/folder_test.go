package runs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFolder: a folder is taken once, and giving it up leaves just what others put there.
func TestFolder(t *testing.T) {
	root := t.TempDir()
	f, err := TakeFolder(filepath.Join(root, "a", "b", "run"), fitKind)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := TakeFolder(f.Dir, fitKind); !errors.Is(err, fs.ErrExist) {
		t.Errorf("taken twice: %v", err)
	}
	beside, err := TakeFolder(filepath.Join(root, "a", "run"), fitKind)
	if err != nil {
		t.Fatal(err)
	}
	put(t, f.Dir, "result.bin", nil)
	put(t, beside.Dir, "letter.txt", nil)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "a", "b")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
	beside.Close() // the folder a was made for the other
	if left, err := os.ReadDir(beside.Dir); err != nil || len(left) != 1 || left[0].Name() != "letter.txt" {
		t.Errorf("of a letter is left %v, %v", left, err)
	}
	if err := os.WriteFile(filepath.Join(root, "file"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := TakeFolder(filepath.Join(root, "file", "run"), fitKind); err == nil || errors.Is(err, fs.ErrExist) {
		t.Errorf("in a file: %v", err)
	}
	if _, err := ResumeFolder(filepath.Join(root, "file"), fitKind); err == nil || !strings.Contains(err.Error(), "is no folder") {
		t.Errorf("a file: %v", err)
	}
}

// TestRetakeFolder: a folder in which there is nothing but a lock that nobody has is as good as none.
func TestRetakeFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	refused := func(what string) {
		t.Helper()
		if _, err := RetakeFolder(dir, fitKind); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("no folder")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	refused("an empty folder")
	put(t, dir, lockFile, []byte("1"))
	f, err := RetakeFolder(dir, fitKind)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := RetakeFolder(dir, fitKind); err == nil || !strings.Contains(err.Error(), "another run is at work") {
		t.Errorf("retaken twice: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing was kept, but the folder is left: %v", err)
	}
	os.Mkdir(dir, 0o777)
	put(t, dir, lockFile, []byte("1"))
	put(t, dir, configFile, nil)
	refused("a lock and a config")
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestLock: a folder is one process's at a time, also if that does not end well.
func TestLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	f, err := TakeFolder(dir, fitKind)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ResumeFolder(dir, fitKind); err == nil || !strings.Contains(err.Error(), dir+": another run is at work") || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("taken twice: %v", err)
	}
	f.kept = true
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	put(t, dir, lockFile, []byte("1")) // of a process that was killed
	if f, err = ResumeFolder(dir, fitKind); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// TestFolderClosed: who has closed a folder has nothing to do with it any more.
func TestFolderClosed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	f, err := TakeFolder(dir, fitKind)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	_, want := whole(t)
	other, err := TakeFolder(dir, fitKind)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newJob().in(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Close(), other.Close(), other.Close()); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, dir); got != want {
		t.Errorf("the run that another took the folder for is left as\n%s\nwant\n%s", got, want)
	}
	for _, folder := range []*Folder{f, {Dir: dir}} {
		if _, err := newJob().in(t.Context(), folder); err == nil || !strings.Contains(err.Error(), "not taken") {
			t.Errorf("a run in a folder that is not held: %v", err)
		}
	}
}

// TestNothingKept: a run that is stopped before its first checkpoint leaves no folder behind.
func TestNothingKept(t *testing.T) {
	root := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := newJob().resume(ctx, filepath.Join(root, "a", "run")); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(root); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestRunAtTheEnd: until all is written, the folder is that of a run which is not done.
func TestRunAtTheEnd(t *testing.T) {
	dir, _ := whole(t)
	f, err := TakeFolder(filepath.Join(t.TempDir(), "run"), fitKind)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	record, err := Read(dir, fitKind)
	if err != nil {
		t.Fatal(err)
	}
	// The first run leaves a trace, so that a manifest alone would make a run of the second.
	for _, c := range []struct {
		name  string
		write func(io.Writer) error
		fails bool
	}{
		{"result.bin", func(io.Writer) error {
			if _, err := Read(f.Dir, fitKind); err == nil {
				t.Error("a run before its result was written")
			}
			return nil
		}, false},
		{"report.html", func(io.Writer) error { return errors.New("no room") }, true},
		{"letter.txt", func(io.Writer) error { return nil }, true},
	} {
		err := f.Write(record.Config, record.Trace, []File{{c.name, c.write}}, &record.Manifest)
		if _, none := Read(f.Dir, fitKind); (err != nil) != c.fails || (none != nil) != c.fails {
			t.Errorf("%s: %v, then %v", c.name, err, none)
		}
		os.Remove(f.path(manifestFile))
	}
}

// TestIsRunFile: names that some kind of run keeps are a run's where a manifest is.
func TestIsRunFile(t *testing.T) {
	dir, _ := whole(t)
	filter := Kind{Name: "filter", Files: []string{"states.csv"}}
	for name, want := range map[string]bool{
		configFile: true, manifestFile: true, traceFile: true, checkpointFile: true, previousFile: true,
		"result.bin": true, "report.html": true, "states.csv": true, "letter.txt": false,
	} {
		if got := IsRunFile(filepath.Join(dir, name), fitKind, filter); got != want {
			t.Errorf("%s: %v", name, got)
		}
		if IsRunFile(filepath.Join(t.TempDir(), name), fitKind) {
			t.Errorf("%s beside no manifest is a run's", name)
		}
	}
}

// TestOneRunAtATime: a folder has one run at a time, also within a process; when that has ended, it can be gone on with.
func TestOneRunAtATime(t *testing.T) {
	f, err := TakeFolder(filepath.Join(t.TempDir(), "run"), fitKind)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for range 2 {
		run, err := Open(f, nil, Manifest{}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Open(f, nil, Manifest{}, Options{}); err == nil || !strings.Contains(err.Error(), "take a folder of its own for each run") {
			t.Errorf("a second run in a folder at work: %v", err)
		}
		if err := run.Close(nil); err != nil {
			t.Fatal(err)
		}
	}
}
