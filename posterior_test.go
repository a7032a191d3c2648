package starling

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/runs"
)

// cutFits is FitRuns with a posterior of several files already where it is small.
func cutFits() Kind {
	kind := FitRuns
	kind.Most = 1200
	return kind
}

// keptIn fits a Spec into a folder of a kind.
func keptIn(t *testing.T, spec Spec, kind Kind) (r *Result, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	f, err := TakeFolder(dir, kind)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return fitted(t, spec, Options{Folder: f}), dir
}

// posteriorBytes is the posterior of a run as one file.
func posteriorBytes(t *testing.T, r *Run) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := bnn.WritePosterior(&b, r.Posterior); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestLargePosterior: a posterior beyond the limit is several files and an index, of which a reader sees what the one file has, and
// which belong to the run as the one does: a file that is missing, cut, changed or another run's is named.
func TestLargePosterior(t *testing.T) {
	for name, spec := range map[string]Spec{"all random": trees(t), "partly": small(t)["partly-full"]} {
		_, one := kept(t, spec)
		_, dir := keptIn(t, spec, cutFits())
		files, err := filepath.Glob(filepath.Join(dir, "posterior*"))
		if err != nil || len(files) < 4 || filepath.Base(files[len(files)-1]) != "posterior.safetensors.index.json" {
			t.Fatalf("%s: %v", name, files)
		}
		run, err := OpenRun(dir)
		if err != nil {
			t.Fatal(err)
		}
		single, err := OpenRun(one)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := posteriorBytes(t, run), posteriorBytes(t, single); !bytes.Equal(a, b) || !bytes.Equal(a, read(t, one, posteriorFile)) {
			t.Errorf("%s: %d bytes of several files, %d of one, and they differ", name, len(a), len(b))
		}
		if _, err := resume(t.Context(), dir, spec, Options{}); err != nil {
			t.Errorf("%s: a run that is done, gone on with: %v", name, err)
		}
		v, err := runs.Verify(dir, FitRuns)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range v.Files {
			if f.State != runs.OK {
				t.Errorf("%s: %s is %s: %s", name, f.File, f.State, f.Why)
			}
		}
		if name == "partly" {
			continue
		}
		_, another := keptIn(t, trees(t, "seed=9"), cutFits())
		for _, path := range files {
			file := filepath.Base(path)
			if !IsRunFile(path) {
				t.Errorf("%s is not known as a file of its run", path)
			}
			good := read(t, dir, file)
			flipped := bytes.Clone(good)
			flipped[len(flipped)-5] ^= 1
			for damage, text := range map[string][]byte{"cut": good[:len(good)-4], "flipped": flipped, "another's": read(t, another, file), "missing": nil} {
				if bytes.Equal(text, good) {
					continue // the index of the same tensors
				}
				if save(t, path, text); text == nil {
					os.Remove(path)
				}
				var bad *DataError
				if _, err := OpenRun(dir); !errors.As(err, &bad) || !strings.Contains(err.Error(), path) {
					t.Errorf("%s %s: %T %v", file, damage, err, err)
				}
				v, err := runs.Verify(dir, FitRuns)
				if err != nil {
					t.Fatal(err)
				}
				if i := slices.IndexFunc(v.Files, func(f runs.Verified) bool { return f.File == file }); i < 0 || v.Files[i].State == runs.OK {
					t.Errorf("%s %s: verify says nothing", file, damage)
				}
			}
			save(t, path, good)
		}
	}
}
