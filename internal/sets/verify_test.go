package sets

import (
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/testkit"
)

// Every known set is pinned, and what the program holds is as its pins say.
func TestPins(t *testing.T) {
	var names []string
	for _, k := range known() {
		names = append(names, k.Name)
		if k.BuiltIn != (k.Files == nil) || (k.Target != "" || k.Scaled != "") == (k.Pictures != nil || k.Text != nil) {
			t.Errorf("%+v", k)
		}
		for _, p := range pins[k.Name] {
			if len(p.sum) != 64 || p.size == 0 && (k.BuiltIn || !strings.HasSuffix(p.file, ".csv")) {
				t.Errorf("%s: pin %+v", k.Name, p)
			}
		}
		for _, d := range downloads[k.Name] {
			if d.Size == 0 || len(d.SHA256) != 64 || len(d.URLs) == 0 || d.folder == "" && !slices.Contains(k.Files, d.file) {
				t.Errorf("%s: download %+v", k.Name, d)
			}
		}
		if !k.BuiltIn {
			continue
		}
		list, err := Verify(k.Name, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range list {
			if v.State != OK {
				t.Errorf("%s: %+v", k.Name, v)
			}
		}
	}
	if got := slices.Sorted(maps.Keys(pins)); !slices.Equal(got, names) {
		t.Errorf("pins of %q, known are %q", got, names)
	}
}

// What counts is what a file holds, and everything else is said with its place.
func TestVerify(t *testing.T) {
	small(t, "mnist", []pin{text("mnist/x.gz", "hello")}, nil)
	dir := t.TempDir()
	put := func(file string, raw []byte) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, raw, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(set, dir string, state State, why string) {
		t.Helper()
		list, err := Verify(set, dir)
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		if v := list[0]; v.State != state || !strings.Contains(v.Why, why) || why == "" && v.Why != "" || dir != "" && !strings.HasPrefix(v.File, dir) {
			t.Errorf("%+v, want %s %q", v, state, why)
		}
	}
	expect("mnist", "", Missing, "")
	expect("mnist", dir, Missing, "")
	put("mnist/x.gz", testkit.Gzipped(t, []byte("hello")))
	expect("mnist", dir, OK, "")
	var poorly bytes.Buffer
	z, _ := gzip.NewWriterLevel(&poorly, gzip.NoCompression)
	z.Name = "hello.txt"
	io.WriteString(z, "hello")
	z.Close()
	put("mnist/x.gz", poorly.Bytes())
	expect("mnist", dir, OK, "")
	put("mnist/x.gz", testkit.Gzipped(t, []byte("hallo")))
	expect("mnist", dir, Wrong, "SHA-256 d3751d33f9cd5049c4af2b462735457e4d3baf130bcbb87f389e349fbaeb20b9, want 2cf24dba")
	put("mnist/x.gz", testkit.Gzipped(t, []byte("hello!")))
	expect("mnist", dir, Wrong, "more than 5 bytes")
	put("mnist/x.gz", testkit.Gzipped(t, []byte("hell")))
	expect("mnist", dir, Wrong, "4 bytes, want 5")
	put("mnist/x.gz", []byte("hello"))
	expect("mnist", dir, Wrong, "damaged gzip")
	put("mnist/x.gz", nil)
	expect("mnist", dir, Wrong, "damaged gzip: the file ends early")
	put("mnist/x.gz", poorly.Bytes()[:poorly.Len()-3])
	expect("mnist", dir, Wrong, "the file ends early")
	if err := os.Remove(filepath.Join(dir, "mnist", "x.gz")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "mnist", "x.gz"), 0o777); err != nil {
		t.Fatal(err)
	}
	expect("mnist", dir, Wrong, "is not a regular file")

	// A table may write its numbers as it likes.
	put("uci/pima.csv", []byte("a,b\n1,0.5\n2,1e10\n"))
	expect("pima", dir, Wrong, "SHA-256 ")
	sum := sumOf([]byte("a,b\n1,0.5\n2,1e+10\n"))
	small(t, "pima", []pin{{file: "uci/pima.csv", sum: sum}}, nil)
	for _, text := range []string{"\"a\";\"b\"\r\n1.0;.5\r\n2;10000000000\r\n", "a b\n  1.00   5e-1\n +2 1E+10"} {
		put("uci/pima.csv", []byte(text))
		expect("pima", dir, OK, "")
	}
	for _, text := range []string{"a,b\n1,0.5\n2,1e11\n", "a,c\n1,0.5\n2,1e10\n", "a,b\n2,1e10\n1,0.5\n", "a,b\n1,0.5\n"} {
		put("uci/pima.csv", []byte(text))
		expect("pima", dir, Wrong, "SHA-256 ")
	}
	put("uci/pima.csv", []byte("a,b\n1,x\n"))
	expect("pima", dir, Wrong, "line 2")
	if _, err := Verify("pimma", dir); err == nil {
		t.Error("an unknown set is verified")
	}
}

// The files in STARLING_DATA are what is pinned.
func TestVerifyData(t *testing.T) {
	dir := os.Getenv("STARLING_DATA")
	if dir == "" {
		t.Skip("STARLING_DATA is not set: skips the comparison of its files with what is known of them")
	}
	names := []string{"california", "fashion-mnist", "mnist", "naval", "pima"}
	if testing.Short() {
		names = []string{"california", "naval", "pima"}
	}
	for _, set := range names {
		list, err := Verify(set, dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range list {
			if v.State != OK {
				t.Errorf("%+v", v)
			}
		}
	}
}
