package runs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// What comes from a worker takes the place of the same run and of no other one. A crash in between leaves no checkpoint beside a trace that
// another process wrote.
func TestUnpack(t *testing.T) {
	_, want := whole(t)
	dir := filepath.Join(t.TempDir(), "run")
	if err := newJob().resume(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	there, err := ResumeFolder(dir, fitKind)
	if err != nil {
		t.Fatal(err)
	}
	same, timely, err := there.Parcels()
	if err := errors.Join(err, there.Close()); err != nil {
		t.Fatal(err)
	}

	other := filepath.Join(t.TempDir(), "other")
	j := newJob()
	j.config = "seed: 2\n"
	if err := j.resume(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	before := contents(t, other)
	f, err := ResumeFolder(other, fitKind)
	if err != nil {
		t.Fatal(err)
	}
	if err, closed := f.Unpack(same, timely), f.Close(); !errors.As(err, new(*OtherRunError)) || closed != nil || contents(t, other) != before {
		t.Errorf("another run: %v", err)
	}

	half := filepath.Join(t.TempDir(), "half")
	stoppedAfter(t, half, 30)
	if f, err = ResumeFolder(half, fitKind); err != nil {
		t.Fatal(err)
	}
	trace := filepath.Join(half, traceFile)
	if err := errors.Join(os.Rename(trace, trace+".was"), os.MkdirAll(filepath.Join(trace, "in the way"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := f.Unpack(same, timely); err == nil || f.has(checkpointFile) || f.has(previousFile) {
		t.Errorf("stopped by %v, and a checkpoint is there", err)
	}
	put(t, half, "report.html", []byte("of the run before"))
	if err := errors.Join(os.RemoveAll(trace), os.Remove(trace+".was")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Unpack(same, timely), f.Close()); err != nil || contents(t, half) != want {
		t.Errorf("%v:\n%s\nwant:\n%s", err, contents(t, half), want)
	}
}
