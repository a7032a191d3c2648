package lock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

func TestTake(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if err := os.WriteFile(path, []byte("1"), 0o666); err != nil { // of a process that was killed
		t.Fatal(err)
	}
	l, err := Take(path)
	if err != nil || !l.Held() {
		t.Fatal(err)
	}
	var held *HeldError
	if _, err := Take(path); !errors.As(err, &held) || held.By != fmt.Sprint("process ", os.Getpid()) {
		t.Errorf("taken twice: %v", err)
	}
	if err := errors.Join(l.Free(), l.Free()); err != nil || l.Held() {
		t.Errorf("freed: %v, held %v", err, l.Held())
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
	other, err := Take(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Free(); err != nil || !other.Held() {
		t.Errorf("what is free takes nothing from another: %v", err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	if err := other.Free(); err != nil {
		t.Error(err)
	}
	none := filepath.Join(path, "lock")
	if l, err := Take(none); err == nil || errors.As(err, &held) || !strings.Contains(err.Error(), none) || l.Held() {
		t.Errorf("in a folder that is not there: %v", err)
	}
}

// A lock on a file that its last owner has removed does not count, whether or not another process has made a new file.
func TestThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	file := flock.New(path)
	if locked, err := file.TryLock(); !locked || err != nil || !there(file) {
		t.Fatalf("locked %v, %v, there %v", locked, err, there(file))
	}
	defer file.Close()
	if err := os.Remove(path); err != nil {
		t.Skip(err) // on a system where this cannot happen
	}
	if there(file) {
		t.Error("a file that was removed is there")
	}
	if l, err := try(file); l != nil || !errors.Is(err, errRemoved) { // Take then tries once more
		t.Errorf("a file that was removed is not told from one that another has: %v", err)
	}
	file = flock.New(path)
	if locked, err := file.TryLock(); !locked || err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	l, err := Take(path)
	if err != nil {
		t.Fatal(err)
	}
	if there(file) || l.Free() != nil {
		t.Error("another's file is taken for the one that was locked")
	}
}

// However fast owners take and free a lock, no two have it at the same time.
func TestOneAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var at atomic.Int32
	var taken, twice atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 2000 {
				l, err := Take(path)
				if errors.As(err, new(*HeldError)) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if at.Add(1) > 1 {
					twice.Add(1)
				}
				taken.Add(1)
				time.Sleep(20 * time.Microsecond) // in which another owner would show
				at.Add(-1)
				if err := l.Free(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if taken.Load() == 0 || twice.Load() > 0 {
		t.Errorf("taken %d times, %d of them while another had it", taken.Load(), twice.Load())
	}
}

// TestForeign: what lies in the place of a lock file and is none, or is reached through a link, stays as it is. The error says
// what to do.
func TestForeign(t *testing.T) {
	for name, make := range map[string]func(path, mine string) error{
		"symbolic link": func(path, mine string) error { return os.Symlink(mine, path) },
		"dangling link": func(path, mine string) error { return os.Symlink(mine+".none", path) },
		"hard link":     func(path, mine string) error { return os.Link(mine, path) },
		"hard link to a number": func(path, mine string) error {
			return errors.Join(os.WriteFile(mine+".number", []byte("12"), 0o666), os.Link(mine+".number", path))
		},
		"text":                func(path, mine string) error { return os.WriteFile(path, []byte("mine"), 0o666) },
		"number of 21 digits": func(path, mine string) error { return os.WriteFile(path, []byte(strings.Repeat("1", 21)), 0o666) },
		"folder in its place": func(path, mine string) error { return os.Mkdir(path, 0o777) },
		"link to a lock of ours": func(path, mine string) error {
			return errors.Join(os.WriteFile(mine+".lock", []byte("12"), 0o666), os.Symlink(mine+".lock", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path, mine := filepath.Join(dir, "lock"), filepath.Join(dir, "mine")
			if err := errors.Join(os.WriteFile(mine, []byte("my text"), 0o666), make(path, mine)); err != nil {
				t.Skip(err)
			}
			before, _ := os.ReadFile(path)
			l, err := Take(path)
			if err == nil || l.Held() || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "move it away") {
				t.Errorf("taken: %v", err)
			}
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Errorf("%q has become %q", before, after)
			}
			if text, _ := os.ReadFile(mine); string(text) != "my text" {
				t.Errorf("the user's file now holds %q", text)
			}
			if _, err := os.Lstat(mine + ".none"); err == nil {
				t.Error("a file was made behind a link")
			}
			if _, err := os.Lstat(path); err != nil {
				t.Errorf("it was removed: %v", err)
			}
		})
	}
}

// TestForeignMeanwhile: a file that takes the place of the lock file between its check and its locking is not written to.
func TestForeignMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if err := os.WriteFile(path, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := sign(path); !errors.Is(err, errForeign) {
		t.Errorf("signed: %v", err)
	}
	if text, _ := os.ReadFile(path); string(text) != "mine" {
		t.Errorf("it now holds %q", text)
	}
}
