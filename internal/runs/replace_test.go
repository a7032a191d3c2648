package runs

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

const rule = "rule.json"

// ruledKind is a kind of run whose rule can be replaced.
var ruledKind = Kind{Name: "fit", Files: []string{"result.bin", rule}, Replaced: []string{rule}, Differ: fitKind.Differ}

func textFile(name, text string) File {
	return File{name, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }}
}

// ruled is a finished run with a rule; without one if the text is empty.
func ruled(t *testing.T, text string, notes ...string) *Record {
	t.Helper()
	f, err := TakeFolder(filepath.Join(t.TempDir(), "run"), ruledKind)
	if err != nil {
		t.Fatal(err)
	}
	run, err := Open(f, []byte("seed: 1\n"), Manifest{Version: "1.0", Data: map[string]string{"train": "aa"}, Notes: notes}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	files := []File{textFile("result.bin", "result")}
	if text != "" {
		files = append(files, textFile(rule, text))
	}
	if err := errors.Join(run.Finish(files), f.Close()); err != nil {
		t.Fatal(err)
	}
	return reread(t, f.Dir)
}

func reread(t *testing.T, dir string) *Record {
	t.Helper()
	r, err := Read(dir, ruledKind)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// rules is what a run in a folder says of its rule: the text that readers get, empty without one, and how Verify finds the folder.
func rules(t *testing.T, dir string) (text, verified string) {
	t.Helper()
	r := reread(t, dir)
	if r.Has(rule) {
		b, err := r.File(rule)
		if err != nil {
			t.Fatal(err)
		}
		text = string(b)
	}
	v, err := Verify(dir, ruledKind)
	if err != nil || v.Count(Differs, Missing) > 0 {
		t.Errorf("%+v, %v", v, err)
	}
	for _, f := range v.Files {
		if f.Why != "" {
			verified += f.File + ": " + f.Why + "\n"
		}
	}
	return text, verified
}

// steps replaces the rule as far as so many steps, as a process does that is killed behind them.
func steps(t *testing.T, dir, text string, n int) {
	t.Helper()
	m, err := ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range (&Folder{Dir: dir, kind: ruledKind}).replacing(&m, textFile(rule, text))[:n] {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReplaceStopped: a process that is killed behind any step of a replacement, and the next one behind any step of another, leave the old
// rule or the new one; Verify finds all files whole, and whoever replaces the rule then succeeds and leaves no other file.
func TestReplaceStopped(t *testing.T) {
	const all, commits = 4, 3
	if r := ruled(t, "old"); !IsRunFile(filepath.Join(r.Dir, rule+nextSuffix), ruledKind) {
		t.Error("other output may take the place of a file that is to replace another")
	}
	for _, old := range []string{"old", ""} {
		whole := os.DirFS(ruled(t, old).Dir)
		for n := range all + 1 {
			for m := range all + 1 {
				dir, want := filepath.Join(t.TempDir(), "run"), old
				if err := os.CopyFS(dir, whole); err != nil {
					t.Fatal(err)
				}
				for i, stop := range []int{n, m} {
					text := []string{"new", "newer"}[i]
					if steps(t, dir, text, stop); stop >= commits {
						want = text
					}
					if got, said := rules(t, dir); got != want {
						t.Errorf("stopped behind steps %d and %d: rule %q, want %q (%s)", n, m, got, want, said)
					}
				}
				_, said := rules(t, dir)
				for words, is := range map[string]bool{
					rule + ": stands in rule.json.next":   m == commits || m == 0 && n == commits,
					rule + ".next: left from a command":   m == 2 || m == 0 && n == 2,
					rule + ": is not as the run wrote it": false,
					rule + ".next: not a file of the run": false,
				} {
					if strings.Contains(said, words) != is {
						t.Errorf("stopped behind steps %d and %d, verify says: %s", n, m, said)
					}
				}
				if err := reread(t, dir).Replace(textFile(rule, "last"), nil); err != nil {
					t.Fatal(err)
				}
				if got, said := rules(t, dir); got != "last" || said != "" || string(read(t, dir, rule)) != "last" {
					t.Errorf("stopped behind steps %d and %d, and replaced again: %q, %s", n, m, got, said)
				}
			}
		}
	}
}

// TestReplaceManifest: nothing in the manifest changes but the sum of the file and the manifest's own.
func TestReplaceManifest(t *testing.T) {
	for _, old := range []string{"old", ""} {
		r := ruled(t, old, "a <note>")
		was := reread(t, r.Dir)
		if err := r.Replace(textFile(rule, "new"), nil); err != nil {
			t.Fatal(err)
		}
		is := reread(t, r.Dir)
		if is.Manifest.Files[rule] == was.Manifest.Files[rule] || is.Manifest.Checksum == was.Manifest.Checksum || !maps.Equal(is.Manifest.Files, r.Manifest.Files) {
			t.Errorf("%v, of the record %v", is.Manifest.Files, r.Manifest.Files)
		}
		is.Manifest.Files[rule] = was.Manifest.Files[rule]
		if old == "" {
			delete(is.Manifest.Files, rule)
		}
		var a, b bytes.Buffer
		if err := errors.Join(was.Manifest.write(&a), is.Manifest.write(&b)); err != nil || a.String() != b.String() {
			t.Errorf("%v: %s\nwas\n%s", err, &b, &a)
		}
		f, err := ResumeFolder(r.Dir, ruledKind) // the run is still the one that was begun
		if err != nil {
			t.Fatal(err)
		}
		run, err := Open(f, []byte("seed: 1\n"), Manifest{Version: "1.0", Data: map[string]string{"train": "aa"}}, Options{})
		if err != nil || !run.Done() {
			t.Errorf("%v, %v", run, err)
		}
		f.Close()
	}
}

// TestReplaceSettledByResume: whoever resumes a run that is done ends a replacement that was stopped.
func TestReplaceSettledByResume(t *testing.T) {
	for stop, want := range map[int]string{2: "old", 3: "new"} {
		dir := ruled(t, "old").Dir
		steps(t, dir, "new", stop)
		f, err := ResumeFolder(dir, ruledKind)
		if err != nil {
			t.Fatal(err)
		}
		run, err := Open(f, []byte("seed: 1\n"), Manifest{Version: "1.0", Data: map[string]string{"train": "aa"}}, Options{})
		if err == nil {
			err = run.ReadBack(func() error { return nil })
		}
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		if got, said := rules(t, dir); got != want || said != "" || string(read(t, dir, rule)) != want {
			t.Errorf("stopped behind step %d: %q, %s", stop, got, said)
		}
	}
}

// TestReplaceRefused: a replacement that fails, or must not be, leaves every file as it was.
func TestReplaceRefused(t *testing.T) {
	full := File{rule, func(w io.Writer) error {
		_, err := io.WriteString(w, "half")
		return errors.Join(err, syscall.ENOSPC)
	}}
	for name, x := range map[string]struct {
		file   File
		before func(t *testing.T, r *Record)
		says   string
	}{
		"full disk": {full, nil, "stays as it was: RUN/rule.json.next was not written: no space left on device: make room there, and try again"},
		"another":   {textFile("result.bin", "new"), nil, "a run of kind fit keeps its result.bin"},
		"locked": {textFile(rule, "new"), func(t *testing.T, r *Record) {
			f, err := ResumeFolder(r.Dir, ruledKind)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { f.Close() })
		}, "another run is at work in this folder"},
		"damaged": {textFile(rule, "new"), func(t *testing.T, r *Record) {
			put(t, r.Dir, manifestFile, bytes.Replace(read(t, r.Dir, manifestFile), []byte("1.0"), []byte("1.1"), 1))
		}, "does not fit its own checksum"},
		"other run": {textFile(rule, "new"), func(t *testing.T, r *Record) {
			m := Manifest{}
			if err := m.read(read(t, r.Dir, manifestFile)); err != nil {
				t.Fatal(err)
			}
			m.Files["result.bin"] = strings.Repeat("0", 64)
			if err := (&Folder{Dir: r.Dir, kind: ruledKind}).writeManifest(&m); err != nil {
				t.Fatal(err)
			}
		}, "another run took the place"},
		"a folder in its way": {textFile(rule, "new"), func(t *testing.T, r *Record) {
			if err := os.MkdirAll(filepath.Join(r.Dir, rule+nextSuffix, "in"), 0o777); err != nil {
				t.Fatal(err)
			}
		}, "rule.json.next"},
	} {
		t.Run(name, func(t *testing.T) {
			r := ruled(t, "old")
			if x.before != nil {
				x.before(t, r)
			}
			was := files(t, r.Dir)
			err := r.Replace(x.file, nil)
			if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), r.Dir, "RUN"), x.says) {
				t.Errorf("error %v, want %s", err, x.says)
			}
			if is := files(t, r.Dir); !maps.Equal(was, is) {
				t.Errorf("left: %v", slices.Sorted(maps.Keys(is)))
			}
		})
	}
}

// files are the files in a folder and their bytes.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		if all[e.Name()] = ""; e.Type().IsRegular() {
			all[e.Name()] = string(read(t, dir, e.Name()))
		}
	}
	return all
}

// TestReplacedWhileRead: whoever reads a run while its rule is replaced again and again gets a whole rule, also by a manifest that was read
// before.
func TestReplacedWhileRead(t *testing.T) {
	r := ruled(t, strings.Repeat("0", 1000))
	before := reread(t, r.Dir)
	done, wait := make(chan struct{}), sync.WaitGroup{}
	wait.Go(func() {
		defer close(done)
		for i := range 40 {
			if err := r.Replace(textFile(rule, strings.Repeat(string(rune('0'+i%10)), 1000)), nil); err != nil {
				t.Error(err)
			}
		}
	})
	whole := func(b []byte) bool { return len(b) == 1000 && bytes.Count(b, b[:1]) == 1000 }
	for reads, ended := 0, false; !ended; reads++ {
		select {
		case <-done:
			ended = true
		default:
		}
		now := reread(t, r.Dir)
		for _, record := range []*Record{now, before} {
			if b, err := record.File(rule); err != nil || !whole(b) {
				t.Fatalf("read %d: %.20q, %v", reads, b, err)
			}
		}
		if v, err := Verify(r.Dir, ruledKind); err != nil || v.Count(Differs, Missing) > 0 {
			t.Fatalf("read %d: %+v, %v", reads, v, err)
		}
	}
	wait.Wait()
	if b, err := before.File(rule); err != nil || b[0] != '9' {
		t.Errorf("in the end %.20q, %v", b, err)
	}
	put(t, r.Dir, rule, []byte("damaged"))
	if _, err := before.File(rule); !errors.As(err, new(*DamagedError)) || !strings.Contains(err.Error(), rule+": is not as the run wrote it") {
		t.Errorf("damaged: %v", err)
	}
}
