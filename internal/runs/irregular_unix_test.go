//go:build unix

package runs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/starling-smc/starling/internal/testkit"
)

// TestPipes: a pipe in the place of a file of a run is an error at once that names it, where a process that opened it would wait
// for ever.
func TestPipes(t *testing.T) {
	done, _ := whole(t)
	begun := filepath.Join(t.TempDir(), "run")
	stoppedAfter(t, begun, 25)
	for _, c := range []struct{ dir, file string }{
		{done, configFile}, {done, manifestFile}, {done, traceFile}, {done, checkpointFile}, {done, "result.bin"},
		{begun, configFile}, {begun, manifestFile}, {begun, traceFile}, {begun, checkpointFile}, {begun, lockFile},
	} {
		here := filepath.Join(t.TempDir(), "run")
		if err := os.CopyFS(here, os.DirFS(c.dir)); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(here, c.file)
		os.Remove(path)
		if err := syscall.Mkfifo(path, 0o666); err != nil {
			t.Skip(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if c.file != lockFile {
				v, err := Verify(here, fitKind)
				if err != nil || v.Count(Differs) == 0 {
					t.Errorf("%s: verified: %+v, %v", path, v, err)
				}
			}
			if record, err := Read(here, fitKind); err == nil {
				if _, err := record.File(c.file); err == nil || !strings.Contains(err.Error(), path) {
					t.Errorf("%s: read: %v", path, err)
				}
			}
			if c.dir == done && c.file == checkpointFile {
				return // nobody needs it any more
			}
			j := newJob()
			err := j.resume(t.Context(), here)
			if c.dir == begun && c.file == checkpointFile { // it goes on from the one before
				if err != nil || len(j.notices) != 1 || !strings.Contains(j.notices[0], path+": is not a regular file but a pipe") {
					t.Errorf("%s: %v, told %q", path, err, j.notices)
				}
			} else if err == nil || !strings.Contains(err.Error(), path+": is not a regular file but a pipe") {
				t.Errorf("%s: resumed: %v", path, err)
			}
		}()
		select {
		case <-ended:
		case <-time.After(testkit.Patience):
			t.Fatalf("%s: it hangs", path)
		}
	}
}

// TestFolderInAFilesPlace: no file can replace a folder, so a run with one cannot be resumed before it is moved away.
func TestFolderInAFilesPlace(t *testing.T) {
	begun := filepath.Join(t.TempDir(), "run")
	stoppedAfter(t, begun, 25)
	for _, name := range []string{checkpointFile, previousFile, manifestFile, traceFile} {
		here := filepath.Join(t.TempDir(), "run")
		if err := os.CopyFS(here, os.DirFS(begun)); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(here, name)
		os.Remove(path)
		if err := os.Mkdir(path, 0o777); err != nil {
			t.Fatal(err)
		}
		var damaged *DamagedError
		err := newJob().resume(t.Context(), here)
		if !errors.As(err, &damaged) || !strings.Contains(err.Error(), path+": is not a regular file but a folder: move it away") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
