package starling

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/ckpt"
)

// TestFolder: a folder is taken once, and giving it up leaves just what others put there.
func TestFolder(t *testing.T) {
	root := t.TempDir()
	f, err := TakeFolder(filepath.Join(root, "a", "b", "run"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := TakeFolder(f.Dir); !errors.Is(err, fs.ErrExist) {
		t.Errorf("taken twice: %v", err)
	}
	beside, err := TakeFolder(filepath.Join(root, "a", "run"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "a", "b")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
	beside.Close() // the folder a was made for the other
	left, err := os.ReadDir(filepath.Join(root, "a"))
	if err != nil || len(left) != 0 {
		t.Errorf("in a: %v, %v", left, err)
	}
	if err := os.WriteFile(filepath.Join(root, "file"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := TakeFolder(filepath.Join(root, "file", "run")); err == nil || errors.Is(err, fs.ErrExist) {
		t.Errorf("in a file: %v", err)
	}
}

// TestFolderClosed: who has closed a folder has nothing to do with it any more.
func TestFolderClosed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	f, err := TakeFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	_, want := whole(t, trees(t))
	other, err := TakeFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	fit(t, trees(t), Options{Folder: other})
	if err := errors.Join(f.Close(), other.Close(), other.Close()); err != nil {
		t.Fatal(err)
	}
	if got := kept(t, dir); got != want {
		t.Errorf("the run that another took the folder for is left as\n%s\nwant\n%s", got, want)
	}
	for _, folder := range []*Folder{f, {Dir: dir}} {
		if _, err := Fit(t.Context(), trees(t), Options{Folder: folder}); err == nil || !strings.Contains(err.Error(), "not taken") {
			t.Errorf("a run in a folder that is not held: %v", err)
		}
	}
}

// TestFolderBecomesRunAtTheEnd: until all is written, it is no run's folder.
func TestFolderBecomesRunAtTheEnd(t *testing.T) {
	f, err := TakeFolder(filepath.Join(t.TempDir(), "run"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := fit(t, trees(t), Options{})
	for _, file := range r.files() {
		if _, err := OpenRun(f.Dir); err == nil {
			t.Errorf("a run before %s was written", file.name)
		}
		if err := ckpt.Replace(f.path(file.name), "", file.write); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := OpenRun(f.Dir); err != nil {
		t.Error(err)
	}
}
