package runs

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/testkit"
)

// TestChecksums: the manifest of a run that is done lists every file that the run wrote. One bit of any of them, a file that is
// missing, and a file that was put there are named, with what to do, and by Verify.
func TestChecksums(t *testing.T) {
	dir, _ := whole(t)
	record, err := Read(dir, fitKind)
	if err != nil {
		t.Fatal(err)
	}
	files := []string{configFile, traceFile, checkpointFile, "result.bin"}
	if len(record.Manifest.Files) != len(files) {
		t.Errorf("the manifest lists %v", record.Manifest.Files)
	}
	verified := func(file string, want State) {
		t.Helper()
		v, err := Verify(dir, fitKind)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range v.Files {
			state := OK
			if f.File == file {
				state = want
			}
			if f.State != state {
				t.Errorf("%s is changed, and %s is said to be %q: %s", file, f.File, f.State, f.Why)
			}
		}
		if bad := v.Count(Differs, Missing); (bad > 0) != (want != OK) || len(v.Files) != 5 {
			t.Errorf("%s: %d of %d files", file, bad, len(v.Files))
		}
	}
	verified("", OK)
	for _, file := range files {
		whole := read(t, dir, file)
		for _, at := range []int{0, len(whole) / 2, len(whole) - 1} {
			flipped := bytes.Clone(whole)
			flipped[at] ^= 1
			put(t, dir, file, flipped)
			var bad *DamagedError
			_, err := record.File(file)
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), filepath.Join(dir, file)+": is not as the run wrote it") {
				t.Errorf("%s, byte %d: %v", file, at, err)
			}
			if _, err := Read(dir, fitKind); (err != nil) != (file == configFile || file == traceFile) || err != nil && !errors.As(err, &bad) {
				t.Errorf("%s, byte %d: the run is read: %v", file, at, err)
			}
			verified(file, Differs)
		}
		os.Remove(filepath.Join(dir, file))
		var bad *DamagedError
		if _, err := record.File(file); !errors.As(err, &bad) || !strings.Contains(err.Error(), file) {
			t.Errorf("without %s: %v", file, err)
		}
		if _, err := Read(dir, fitKind); (err != nil) != (file == configFile || file == traceFile) {
			t.Errorf("without %s, which others may not need, the run is read: %v", file, err)
		}
		verified(file, Missing)
		put(t, dir, file, whole)
	}
	put(t, dir, "report.html", nil)
	if _, err := record.File("report.html"); err == nil || !strings.Contains(err.Error(), "does not list it") {
		t.Errorf("a file that the run did not write: %v", err)
	}
	os.Remove(filepath.Join(dir, "report.html"))
	verified("", OK)
}

// TestManifestChecksum: no bit of a manifest can be changed without a word, and what an older version or another program wrote
// is refused. Each time it is said what to do.
func TestManifestChecksum(t *testing.T) {
	dir, _ := whole(t)
	text := read(t, dir, manifestFile)
	refused := func(what string, text []byte, want string) {
		t.Helper()
		put(t, dir, manifestFile, text)
		var bad *DamagedError
		if _, err := ReadManifest(dir); !errors.As(err, &bad) || !strings.Contains(err.Error(), filepath.Join(dir, manifestFile)+": ") ||
			!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "away and resume the run with starling 1.0") {
			t.Errorf("%s: %v, want %s", what, err, want)
		}
	}
	for i := range 8 * len(text) {
		flipped := bytes.Clone(text)
		flipped[i/8] ^= 1 << (i % 8)
		if new(Manifest).read(flipped) == nil {
			t.Errorf("bit %d is changed: …%s…", i, flipped[max(0, i/8-20):min(len(text), i/8+20)])
		}
	}
	change := func(old, new string) []byte { return bytes.Replace(text, []byte(old), []byte(new), 1) }
	refused("a note", change("a <note>", "a <vote>"), "does not fit its own checksum")
	refused("an unknown key", testkit.Seal(change(`"threads"`, `"treads"`)), `unknown key "treads": did you mean "threads"?`)
	refused("a key twice", testkit.Seal(change(`"threads": 2`, `"threads": 2, "threads": 3`)), `the key "threads" comes twice`)
	refused("a second value", append(bytes.Clone(text), "{}"...), "something follows the document")
	refused("no checksum", []byte(`{"status": "running"}`), "has no checksums")
	refused("no list of files", testkit.Seal([]byte(`{"kind": "fit", "status": "done", "checksum": ""}`)), "has no checksums")
	refused("a file elsewhere", testkit.Seal(change(`"result.bin"`, `"../result.bin"`)), `"../result.bin" is not the name of a file in this folder`)
}

// TestDamagedManifest: what the error about a damaged manifest advises mends the run, whether it is done or not.
func TestDamagedManifest(t *testing.T) {
	done, want := whole(t)
	begun := filepath.Join(t.TempDir(), "run")
	stoppedAfter(t, begun, 25)
	for _, dir := range []string{begun, done} {
		text := read(t, dir, manifestFile)
		put(t, dir, manifestFile, text[:len(text)/2])
		if err := newJob().resume(t.Context(), dir); err == nil || !strings.Contains(err.Error(), manifestFile+": ends after ") ||
			!strings.Contains(err.Error(), "away and resume the run with starling 1.0") {
			t.Errorf("with half a manifest: %v", err)
		}
		os.Remove(filepath.Join(dir, manifestFile))
		if err := newJob().resume(t.Context(), dir); err != nil || contents(t, dir) != want {
			t.Errorf("without the manifest: %v\n%s\nwant\n%s", err, contents(t, dir), want)
		}
	}
}

// TestVerifyUnfinished: of a run that is not done, the checkpoints are checked, and by them the config and the trace.
func TestVerifyUnfinished(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := Verify(dir, fitKind); !errors.As(err, new(*NotDoneError)) {
		t.Errorf("no folder: %v", err)
	}
	if _, err := Verify(filepath.Dir(dir), fitKind); !errors.As(err, new(*NotDoneError)) {
		t.Errorf("the folder of no run: %v", err)
	}
	stoppedAfter(t, dir, 25)
	if _, err := Verify(dir, Kind{Name: "filter"}); !errors.As(err, new(*OtherRunError)) {
		t.Errorf("another kind: %v", err)
	}
	put(t, dir, "letter.txt", nil)
	put(t, dir, "result.bin", nil)
	states := func() map[string]State {
		v, err := Verify(dir, fitKind)
		if err != nil {
			t.Fatal(err)
		}
		if v.Status == Done {
			t.Error("it is said to be done")
		}
		states := map[string]State{}
		for _, f := range v.Files {
			states[f.File] = f.State
		}
		return states
	}
	for name, c := range map[string]struct {
		file   string
		change func(b []byte) []byte // nil: removed
		want   State
	}{
		"nothing":           {want: OK},
		"manifest":          {manifestFile, flipped(10), Differs},
		"no manifest":       {manifestFile, nil, Missing},
		"config":            {configFile, flipped(2), Differs},
		"no config":         {configFile, nil, Missing},
		"checkpoint":        {checkpointFile, flipped(300), Differs},
		"no checkpoint":     {checkpointFile, nil, Missing},
		"the one before":    {previousFile, flipped(300), Differs},
		"tail of the trace": {traceFile, func(b []byte) []byte { return append(b, "half"...) }, OK},
	} {
		var whole []byte
		if c.file != "" {
			whole = read(t, dir, c.file)
			if c.change == nil {
				os.Remove(filepath.Join(dir, c.file))
			} else {
				put(t, dir, c.file, c.change(bytes.Clone(whole)))
			}
		}
		for file, state := range states() {
			want := OK
			switch file {
			case c.file:
				want = c.want
			case "letter.txt", "result.bin":
				want = Unlisted
			}
			if state != want {
				t.Errorf("%s: %s is said to be %q, want %q", name, file, state, want)
			}
		}
		if c.file != "" {
			put(t, dir, c.file, whole)
		}
	}
	put(t, dir, traceFile, flipped(40)(read(t, dir, traceFile)))
	if s := states(); s[checkpointFile] != Differs || s[previousFile] != Differs {
		t.Errorf("the trace is damaged: %v", s)
	}
}

// flipped changes the lowest bit of a byte.
func flipped(at int) func(b []byte) []byte {
	return func(b []byte) []byte {
		b[at] ^= 1
		return b
	}
}

// FuzzManifest: any text is refused or read, and what is read is written and read alike.
func FuzzManifest(f *testing.F) {
	var example bytes.Buffer
	m := Manifest{Kind: "fit", Version: "1.0", Data: map[string]string{"train": "aa"}, Status: Done, Notes: []string{"a <note>"},
		Findings: []byte(`[{"kind": "toy", "numbers": {"n": 1e3}}]`), Files: map[string]string{"result.bin": "bb"}}
	if err := m.write(&example); err != nil {
		f.Fatal(err)
	}
	f.Add(example.Bytes())
	f.Add([]byte(`{"status": "running", "checksum": ""}`))
	f.Add([]byte(`{"findings": {"a": [{}, {"a": null}], "a": "\ud800"}, "checksum": ""}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var m, same Manifest
		if m.read(testkit.Seal(text)) != nil {
			return
		}
		var once, twice bytes.Buffer
		if err := m.write(&once); err != nil {
			t.Fatal(err)
		}
		if err := same.read(once.Bytes()); err != nil {
			t.Fatalf("%q is read and written as %q: %v", text, once.Bytes(), err)
		}
		if err := same.write(&twice); err != nil || !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Errorf("written %q, read and written %q, %v", once.Bytes(), twice.Bytes(), err)
		}
	})
}

// TestTooLargeToRead: a file that nobody could read again is not written, and the run is not said to be done.
func TestTooLargeToRead(t *testing.T) {
	f, err := TakeFolder(filepath.Join(t.TempDir(), "run"), fitKind)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m := Manifest{Notes: []string{strings.Repeat("x", 4<<20)}}
	if err := f.Write([]byte("seed: 1\n"), nil, nil, &m); err == nil || !strings.Contains(err.Error(), "would be read again") {
		t.Errorf("a manifest of 4 MiB: %v", err)
	}
	if err := f.Write(make([]byte, 16<<20+1), nil, nil, &Manifest{}); err == nil || !strings.Contains(err.Error(), "config.yaml") {
		t.Errorf("a config of 16 MiB: %v", err)
	}
	if _, err := os.Stat(filepath.Join(f.Dir, manifestFile)); err == nil {
		t.Error("the run has a manifest")
	}
}
