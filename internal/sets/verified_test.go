package sets

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/testkit"
)

// put4 writes four small files of MNIST's form, pins them, and returns a function that loads them.
func put4(t *testing.T, dir string) (files [4]string, load func() error) {
	t.Helper()
	small(t, "mnist", make([]pin, 4), nil)
	if err := os.MkdirAll(filepath.Join(dir, "mnist"), 0o777); err != nil {
		t.Fatal(err)
	}
	for i, raw := range [][]byte{
		append([]byte{0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 28, 0, 0, 0, 28}, make([]byte, 2*28*28)...), {0, 0, 8, 1, 0, 0, 0, 2, 7, 8},
		append([]byte{0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 28, 0, 0, 0, 28}, make([]byte, 28*28)...), {0, 0, 8, 1, 0, 0, 0, 1, 9},
	} {
		pins["mnist"][i] = text("mnist/"+mnistFiles[i], string(raw))
		files[i] = filepath.Join(dir, "mnist", mnistFiles[i])
		if err := os.WriteFile(files[i], testkit.Gzipped(t, raw), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return files, func() error {
		k, err := Find("mnist")
		if err != nil {
			return err
		}
		few := *k.Pictures
		few.Train, few.Test = 2, 1
		k.Pictures = &few
		_, _, err = k.Images(dir)
		return err
	}
}

// spoil changes the last label of a file and keeps its size.
func spoil(t *testing.T, file string, at time.Time) {
	t.Helper()
	if err := errors.Join(os.WriteFile(file, testkit.Gzipped(t, []byte{0, 0, 8, 1, 0, 0, 0, 2, 7, 9}), 0o666), os.Chtimes(file, at, at)); err != nil {
		t.Fatal(err)
	}
}

// TestLoadComparesFiles: known files are compared with their sums when they are loaded; those that were right before only if
// their size or time has changed, and no list of ours makes another file pass.
func TestLoadComparesFiles(t *testing.T) {
	dir := t.TempDir()
	files, load := put4(t, dir)
	list := filepath.Join(dir, verifiedName)
	wrong := func(what string) {
		t.Helper()
		want := files[1] + ": wrong content: SHA-256 "
		if err := load(); !errors.Is(err, ErrContent) || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "(data set mnist: ") {
			t.Errorf("%s: %v, want %s", what, err, want)
		}
	}
	right := func(what string) {
		t.Helper()
		if err := load(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	right("as pinned")
	info, err := os.Stat(files[1])
	if err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(files[1])
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	right("a second time")
	spoil(t, files[1], info.ModTime().Add(time.Second))
	wrong("written later")
	spoil(t, files[1], info.ModTime())
	right("of the same size and time: it is not read again") // by which this test knows that the list is used
	if v, err := Verify("mnist", dir); err != nil || v[1].State != Wrong {
		t.Errorf("verify trusts the list: %+v, %v", v, err)
	}
	for name, text := range map[string]string{
		"no list": "", "half a list": string(kept[:len(kept)/2]), "another list": `{"mnist/x": 1}`, "a list of other keys": strings.ReplaceAll(string(kept), `"size"`, `"sise"`),
		"a list of other sizes": strings.ReplaceAll(string(kept), `"size": `, `"size": 1`), "of other times": strings.ReplaceAll(string(kept), `"modified": `, `"modified": 1`),
		"of other sums": strings.ReplaceAll(string(kept), `"sha256": "`, `"sha256": "0`), "too long": string(kept) + strings.Repeat(" ", 2<<20),
	} {
		if err := os.WriteFile(list, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		wrong(name)
	}
	if err := errors.Join(os.WriteFile(files[1], good, 0o666), os.WriteFile(list, []byte("{"), 0o666)); err != nil {
		t.Fatal(err)
	}
	right("right again")
	if text, err := os.ReadFile(list); err != nil || strings.Count(string(text), `"sha256"`) != 4 {
		t.Errorf("a malformed list is not written again: %s, %v", text, err)
	}
}

// TestLoadWithoutList: a folder that cannot be written to costs the hashing only, and processes may load at the same time.
func TestLoadWithoutList(t *testing.T) {
	dir := t.TempDir()
	_, load := put4(t, dir)
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	if err := load(); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); left != nil {
		t.Errorf("%q in a read-only folder", left)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, verifiedName), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := load(); err != nil {
		t.Errorf("a folder in the place of the list: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, verifiedName)); err != nil {
		t.Fatal(err)
	}
	pool.New(4).Run(100, func(int) {
		if err := load(); err != nil {
			t.Error(err)
		}
	})
	if list := readVerified(dir); len(list) == 0 {
		t.Error("no list is left")
	}
}

// TestLoadComparesTables: a table counts by its cells, each time.
func TestLoadComparesTables(t *testing.T) {
	dir := t.TempDir()
	small(t, "pima", []pin{{file: "uci/pima.csv", sum: sumOf([]byte("glucose,diabetes\n1,1\n2,1\n"))}}, nil)
	if err := os.Mkdir(filepath.Join(dir, "uci"), 0o777); err != nil {
		t.Fatal(err)
	}
	load := func(text string) error {
		file := filepath.Join(dir, "uci", "pima.csv")
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		k, err := Find("pima")
		if err != nil {
			return err
		}
		_, err = k.Table(dir)
		return err
	}
	if err := load("glucose;diabetes\r\n1.0;1\r\n2;1e0\r\n"); err != nil {
		t.Errorf("the same numbers, written otherwise: %v", err)
	}
	for _, text := range []string{"glucose,diabetes\n1,1\n3,1\n", "glucose,diabetes\n1,1\n", "sugar,diabetes\n1,1\n2,1\n"} {
		if err := load(text); !errors.Is(err, ErrContent) || !strings.Contains(err.Error(), "pima.csv: wrong content: SHA-256 ") || !strings.HasSuffix(err.Error(), "says how to make it)") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := load("glucose,diabetes\n1,yes\n2,yes\n"); err == nil || !strings.Contains(err.Error(), `line 2, column 2 (diabetes): "yes" is not a number`) {
		t.Errorf("names: %v", err)
	}
}
