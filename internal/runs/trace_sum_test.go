package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/ckpt"
)

// TestDamagedTrace: whatever bit of the trace is flipped, a run never goes on with it: it goes on from the checkpoint before,
// if the trace is as it was up to there, or is refused with the name of the file.
func TestDamagedTrace(t *testing.T) {
	_, want := whole(t)
	dir := filepath.Join(t.TempDir(), "run")
	one := newJob()
	one.threads = 1 // a checkpoint after each step: the two that are kept are a line apart
	one.stoppedAfter(t, dir, 25)
	lengths := [2]int{}
	for i, name := range []string{checkpointFile, previousFile} {
		c, err := readCheckpoint(read(t, dir, name))
		if err != nil {
			t.Fatal(err)
		}
		lengths[i] = int(c.trace.bytes)
	}
	trace := read(t, dir, traceFile)
	if lengths[1] < 100 || lengths[0] < lengths[1]+10 || len(trace) < lengths[0] {
		t.Fatalf("a trace of %d bytes, checkpoints after %d", len(trace), lengths)
	}
	for _, c := range []struct {
		what string
		text []byte
		from string // the checkpoint; empty: none
	}{
		{"whole", trace, checkpointFile},
		{"tail", append(bytes.Clone(trace), `{"island":0,"k":`...), checkpointFile},
		{"after the one before", flipped(lengths[1] + 5)(bytes.Clone(trace)), previousFile},
		{"last byte", flipped(lengths[0] - 1)(bytes.Clone(trace)), previousFile},
		{"cut", trace[:lengths[0]-1], previousFile},
		{"before both", flipped(lengths[1] - 3)(bytes.Clone(trace)), ""},
		{"first byte", flipped(0)(bytes.Clone(trace)), ""},
		{"a digit of seconds", flipped(bytes.Index(trace, []byte(`"seconds":`)) + 11)(bytes.Clone(trace)), ""},
		{"empty", nil, ""},
	} {
		here := filepath.Join(t.TempDir(), "run")
		if err := os.CopyFS(here, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		put(t, here, traceFile, c.text)
		before := read(t, here, checkpointFile)
		j := newJob()
		err := j.resume(t.Context(), here)
		var bad *DamagedError
		switch {
		case c.from == "":
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), traceFile+" is not as the run wrote it") || !strings.Contains(err.Error(), "begin anew in another folder") {
				t.Errorf("%s: %v", c.what, err)
			}
			if !bytes.Equal(read(t, here, traceFile), c.text) || !bytes.Equal(read(t, here, checkpointFile), before) {
				t.Errorf("%s: the folder has changed", c.what)
			}
		case err != nil || contents(t, here) != want:
			t.Errorf("%s: %v\n%s\nwant\n%s", c.what, err, contents(t, here), want)
		case c.from == checkpointFile && len(j.notices) > 0, c.from == previousFile && (len(j.notices) != 1 || !strings.Contains(j.notices[0], traceFile)):
			t.Errorf("%s: told %q", c.what, j.notices)
		}
	}
}

// TestCheckpointsDifferInTheTrace: the sums of the trace are all in which the last checkpoints of two runs differ, since lines
// of the trace have times.
func TestCheckpointsDifferInTheTrace(t *testing.T) {
	one, _ := whole(t)
	other, _ := whole(t)
	a, b := read(t, one, checkpointFile), read(t, other, checkpointFile)
	if bytes.Equal(a, b) {
		t.Error("the traces of two runs have the same sum, so the sum is not theirs")
	}
	if !bytes.Equal(ckpt.Without(a, "trace"), ckpt.Without(b, "trace")) {
		t.Error("the checkpoints differ in more")
	}
}

// TestCutTraceAgain: of a step that was made again, after the run had gone on from a state before it, the last line counts.
func TestCutTraceAgain(t *testing.T) {
	var text bytes.Buffer
	lines := json.NewEncoder(&text)
	for _, l := range []TraceLine{{Part: 0, K: 1, Seconds: 1}, {Part: 0, K: 2, Seconds: 9}, {Part: 1, K: 1, Seconds: 2}, {Part: 0, K: 2, Seconds: 3}, {Part: 0, K: 3, Seconds: 4}} {
		if err := lines.Encode(l); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := cutTrace(text.Bytes(), []int{3, 1})
	if err != nil || len(kept) != 4 || kept[1].Seconds != 3 || kept[1].K != 2 {
		t.Errorf("%+v, %v", kept, err)
	}
	sortTrace(kept)
	for i, l := range kept[1:3] {
		if l.Seconds < kept[i].Seconds {
			t.Errorf("the seconds of part 0 go back: %+v", kept)
		}
	}
}
