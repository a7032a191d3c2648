package runs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/testkit"
)

// streaming is a kind whose lines are on the disk alone.
var streaming = Kind{Name: "filter", Files: []string{"result.bin"}, Streams: true}

// endless is a part that ends without saying so before.
type endless struct{ toy }

func (p *endless) Done() bool { return p.k > p.steps }

func (p *endless) Step(ctx context.Context) (Line, error) {
	if p.k == p.steps {
		p.steps-- // done: K stays
		return Line{}, io.EOF
	}
	return p.toy.Step(ctx)
}

func (p *endless) UnmarshalBinary(b []byte) error { return p.toy.UnmarshalBinary(b) }

const streamed = 60 // steps of the test's stream

// lastSteps keeps the lines of the last steps.
func lastSteps(n int) func(Lines) (int, error) {
	return func(so Lines) (int, error) {
		last := 0
		for l, err := range so {
			if err != nil {
				return 0, err
			}
			last = l.K
		}
		return last - n + 1, nil
	}
}

// stream makes a run of a stream that keeps its last lines, 0: all, or resumes it.
func stream(ctx context.Context, dir string, last int, watch func(k int, r *Run) error) (seen []int, err error) {
	f, err := ResumeFolder(dir, streaming)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r, err := Open(f, []byte("seed: 1\n"), Manifest{Version: "1.0"}, Options{Every: 1})
	if err != nil {
		return nil, err
	}
	if r.Done() {
		return nil, r.ReadBack(func() error { return nil })
	}
	r.keep.least = 500
	p := Phase{Name: "scans", Parts: []Part{&endless{toy{seed: 5, steps: streamed, size: 8}}}, Open: true, Watch: func(l TraceLine) error { return watch(l.K, r) }}
	if last > 0 {
		p.First = lastSteps(last)
	}
	err = r.Phase(ctx, pool.New(1), p)
	if err == nil {
		for l, failed := range r.Lines() {
			seen, err = append(seen, l.K), errors.Join(err, failed)
		}
	}
	if err == nil {
		err = r.Finish([]File{{"result.bin", func(w io.Writer) error {
			_, err := w.Write([]byte{1})
			return err
		}}})
	}
	return seen, r.Close(err)
}

func steady(int, *Run) error { return nil }

// TestStreams stops the run of a stream after every few steps: in the end its lines are those of the last steps, the others gone, and they are
// never many more on the disk. No line is in memory.
func TestStreams(t *testing.T) {
	for _, last := range []int{0, 7} {
		dir, stops, longest := filepath.Join(t.TempDir(), "run"), 0, int64(0)
		want := []int{}
		for k := 1; k <= streamed; k++ {
			if last == 0 || k > streamed-last {
				want = append(want, k)
			}
		}
		for ; ; stops++ {
			ctx, cancel := context.WithCancel(t.Context())
			left := 2 + 5*(stops%3)
			seen, err := stream(ctx, dir, last, func(k int, r *Run) error {
				if left--; left == 0 {
					cancel()
				}
				if len(r.trace) > 0 {
					t.Errorf("%d lines in memory", len(r.trace))
				}
				if info, err := os.Stat(filepath.Join(dir, traceFile)); err == nil {
					longest = max(longest, info.Size())
				}
				return nil
			})
			cancel()
			if err == nil {
				if fmt.Sprint(seen) != fmt.Sprint(want) {
					t.Errorf("last %d: lines %v", last, seen)
				}
				break
			}
			if !errors.Is(err, context.Canceled) || stops > 40 {
				t.Fatal(err)
			}
		}
		record, err := Read(dir, streaming)
		if err != nil || len(record.Trace) > 0 {
			t.Fatal(err, record)
		}
		var read []int
		for l, err := range record.Lines() {
			if err != nil {
				t.Fatal(err)
			}
			read = append(read, l.K)
		}
		if fmt.Sprint(read) != fmt.Sprint(want) || stops < 5 {
			t.Errorf("last %d, after %d stops: lines %v in the folder", last, stops, read)
		}
		if last > 0 && longest > 2500 { // twice the 7 lines of 90 bytes, and what comes before the next checkpoint
			t.Errorf("the trace has had %d bytes", longest)
		}
		if v, err := Verify(dir, streaming); err != nil || v.Count(Differs, Missing) > 0 {
			t.Error(v, err)
		}
	}
}

// TestShortenedTraceOfAKilledRun: whatever moment a run is killed at while its trace is made shorter, it goes on, from the checkpoint and from the
// one before.
func TestShortenedTraceOfAKilledRun(t *testing.T) {
	root := t.TempDir()
	dir, before, after := filepath.Join(root, "run"), filepath.Join(root, "before"), filepath.Join(root, "after")
	_, err := stream(t.Context(), dir, 7, func(k int, r *Run) error {
		switch k {
		case 1:
			r.keep.longest = 1 << 30
		case 30: // of its step the line is in the trace, and not yet the checkpoint
			testkit.CopyLive(t, before, dir)
			r.keep.longest = 0
		case 31:
			testkit.CopyLive(t, after, dir)
			return errors.New("stop")
		}
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "stop") {
		t.Fatal(err)
	}
	size := func(dir string) int64 {
		info, err := os.Stat(filepath.Join(dir, traceFile))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	if size(after) >= size(before) {
		t.Fatalf("%d bytes after %d: nothing was removed", size(after), size(before))
	}
	for name, from := range map[string][3]string{ // the trace, the checkpoint and the one before
		"after":                      {after, after, after},
		"killed before the renaming": {before, after, after},
		"old checkpoint":             {before, before, before},
	} {
		for _, damaged := range []bool{false, true} {
			here := filepath.Join(root, fmt.Sprint(name, damaged))
			if err := os.CopyFS(here, os.DirFS(after)); err != nil {
				t.Fatal(err)
			}
			os.Remove(filepath.Join(here, lockFile))
			for i, file := range []string{traceFile, checkpointFile, previousFile} {
				b, err := os.ReadFile(filepath.Join(from[i], file))
				if err == nil && damaged && file == checkpointFile {
					b[len(b)/2] ^= 1
				}
				if err == nil {
					err = os.WriteFile(filepath.Join(here, file), b, 0o666)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if seen, err := stream(t.Context(), here, 7, steady); err != nil || fmt.Sprint(seen) != "[54 55 56 57 58 59 60]" {
				t.Errorf("%s, damaged %v: lines %v, %v", name, damaged, seen, err)
			}
		}
	}
}

// TestDamagedStream: a trace that was changed is not gone on from, not finished with, and not read back.
func TestDamagedStream(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	change := func(from, to string) {
		path := filepath.Join(dir, traceFile)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(b), from, to, 1)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	_, err := stream(t.Context(), dir, 0, func(k int, _ *Run) error {
		if k == 20 {
			change(`"left":50`, `"left":99`)
		}
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "another process has written to it") {
		t.Fatalf("%v", err)
	}
	change(`"left":99`, `"left":50`)
	if _, err := stream(t.Context(), dir, 0, steady); err != nil {
		t.Fatal(err)
	}
	record, err := Read(dir, streaming)
	if err != nil {
		t.Fatal(err)
	}
	change(`"k":30`, `"k":31`)
	if _, err := Read(dir, streaming); !errors.As(err, new(*DamagedError)) {
		t.Errorf("a changed trace: %v", err)
	}
	failed := error(nil)
	for _, err := range record.Lines() {
		failed = err
	}
	if !errors.As(failed, new(*DamagedError)) {
		t.Errorf("a trace that was changed after it was opened: %v", failed)
	}
	for text, fails := range map[string]bool{
		`{"island":0,"k":3,"progress":0,"seconds":0}` + "\n" + `{"island":0,"k":4,"progress":0,"seconds":0}`: false,
		`{"island":0,"k":3,"progress":0,"seconds":0}` + "\n" + `{"island":0,"k":5,"progress":0,"seconds":0}`: true,
		`{"island":0,"k":3,"progress":0,"seconds":0}` + "\n" + `{"island":0,"k":3,"progress":0,"seconds":0}`: true,
		`{"island":1,"k":3,"progress":0,"seconds":0}`:                                                        true,
		`{"island":0,"k":0,"progress":0,"seconds":0}`:                                                        true,
		`{"island":0,"k":1,"progress":0,"seconds":0}{}`:                                                      true,
	} {
		failed = nil
		for _, err := range linesOf(strings.NewReader(text)) {
			failed = err
		}
		if (failed != nil) != fails {
			t.Errorf("%s: %v", text, failed)
		}
	}
}
