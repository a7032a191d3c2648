package sets

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/fetch"
	"github.com/starling-smc/starling/internal/testkit"
)

func sumOf(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

type member struct {
	name string
	kind byte
	text string
}

func tarball(t *testing.T, members ...member) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	w := tar.NewWriter(z)
	for _, m := range members {
		head := &tar.Header{Name: m.name, Typeflag: m.kind, Size: int64(len(m.text)), Mode: 0o600}
		if m.kind == tar.TypeSymlink {
			head.Size, head.Linkname = 0, m.text
		}
		if err := w.WriteHeader(head); err != nil {
			t.Fatal(err)
		}
		if head.Size > 0 {
			if _, err := w.Write([]byte(m.text)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// small pins a set to a few bytes and a server of the test's own, until its end.
func small(t *testing.T, set string, files []pin, from []download) {
	oldPins, oldDownloads := pins[set], downloads[set]
	pins[set], downloads[set] = files, from
	t.Cleanup(func() { pins[set], downloads[set] = oldPins, oldDownloads })
}

// repin pins a file of a set, which must be small, to other bytes.
func repin(set string, i int, raw []byte) { pins[set][i] = text(pins[set][i].file, string(raw)) }

// client brings files over the network for Fetch, as in the command.
func client(c fetch.Client) func(context.Context, Remote, string) error {
	return func(ctx context.Context, r Remote, path string) error { return c.Get(ctx, fetch.File(r), path) }
}

func text(file, s string) pin { return pin{file: file, size: int64(len(s)), sum: sumOf([]byte(s))} }

func TestFetchFiles(t *testing.T) {
	packed := map[string][]byte{"/a.gz": testkit.Gzipped(t, []byte("one")), "/b.gz": testkit.Gzipped(t, []byte("two"))}
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		w.Write(packed[r.URL.Path])
	}))
	defer server.Close()
	from := func(file string) download {
		b := packed["/"+file]
		return download{file: "mnist/" + file, Remote: Remote{URLs: []string{server.URL + "/" + file}, Size: int64(len(b)), SHA256: sumOf(b)}}
	}
	small(t, "mnist", []pin{text("mnist/a.gz", "one"), text("mnist/b.gz", "two")}, []download{from("a.gz"), from("b.gz")})
	dir := t.TempDir()
	var shown []string
	get := func(name string) ([]Fetched, error) {
		t.Helper()
		asked, shown = nil, nil
		return Fetch(t.Context(), name, dir, func(ctx context.Context, r Remote, path string) error {
			file, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			c := fetch.Client{Progress: func(done int64) { shown = append(shown, fmt.Sprint(filepath.ToSlash(file), done == r.Size)) }}
			return client(c)(ctx, r, path)
		})
	}
	list, err := get("mnist")
	if err != nil {
		t.Fatal(err)
	}
	a := Fetched{filepath.Join(dir, "mnist", "a.gz"), 3, sumOf([]byte("one")), false}
	if list[0] != a || len(list) != 2 || !slices.Equal(shown, []string{"mnist/a.gztrue", "mnist/b.gztrue"}) || len(asked) != 2 {
		t.Errorf("%+v, shown %q, asked %q", list, shown, asked)
	}
	for _, k := range List(dir) {
		if k.Name == "mnist" && !k.Found {
			t.Error("what was fetched is not found")
		}
	}
	// What is there and right stays, however it is packed.
	if err := os.WriteFile(a.File, []byte(testkit.Gzipped(t, []byte("one"))), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "mnist", "b.gz")); err != nil {
		t.Fatal(err)
	}
	list, err = get("mnist")
	if err != nil || !list[0].There || list[1].There || !slices.Equal(asked, []string{"/b.gz"}) {
		t.Errorf("%+v, %v, asked %q", list, err, asked)
	}
	// What is wrong stays too, and nothing is asked for.
	if err := os.WriteFile(a.File, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = get("mnist")
	if mine, _ := os.ReadFile(a.File); !errors.Is(err, ErrContent) || !strings.Contains(err.Error(), a.File) || !strings.Contains(err.Error(), "move it away") || asked != nil || string(mine) != "mine" {
		t.Errorf("%v, asked %q, the file holds %q", err, asked, mine)
	}
	// Wrong bytes from the server: neither in place nor in part.
	if err := os.Remove(a.File); err != nil {
		t.Fatal(err)
	}
	packed["/a.gz"] = bytes.Repeat([]byte("x"), len(packed["/a.gz"]))
	_, err = get("mnist")
	if !errors.Is(err, fetch.ErrContent) || !strings.Contains(err.Error(), sumOf(packed["/a.gz"])) || !strings.Contains(err.Error(), downloads["mnist"][0].SHA256) {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "mnist", "a*")); left != nil {
		t.Errorf("%q are left", left)
	}

	if list, err := get("yacht"); err != nil || list != nil {
		t.Errorf("built in: %+v, %v", list, err)
	}
	if _, err := get("naval"); !errors.Is(err, ErrNoDownload) {
		t.Error(err)
	}
	if _, err := get("navel"); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
}

func TestFetchArchive(t *testing.T) {
	good := []member{
		{"batches/readme.html", tar.TypeReg, "hello"},
		{"batches/../../outside", tar.TypeReg, "not wanted"},
		{"batches/one.bin", tar.TypeReg, "one"},
		{"other/two.bin", tar.TypeReg, "not it"},
		{"./batches/two.bin", tar.TypeReg, "two"},
	}
	files := []pin{text("cifar10/one.bin", "one"), text("cifar10/two.bin", "two")}
	for _, c := range []struct {
		name    string
		archive []byte
		there   map[string]string // files before
		err     string
		asked   bool
	}{
		{name: "whole", archive: tarball(t, good...), asked: true},
		{name: "one is there", archive: tarball(t, good...), there: map[string]string{"cifar10/one.bin": "one"}, asked: true},
		{name: "all are there", there: map[string]string{"cifar10/one.bin": "one", "cifar10/two.bin": "two"}},
		{name: "all are there as unpacked", there: map[string]string{"batches/one.bin": "one", "batches/two.bin": "two"}},
		{name: "one is wrong", there: map[string]string{"batches/one.bin": "eins"}, err: "batches/one.bin: wrong content: more than 3 bytes"},
		{name: "interrupted while unpacking", there: map[string]string{"cifar10/.a.tar.gz": string(tarball(t, good...))}},
		{name: "an archive from before is corrupt", there: map[string]string{"cifar10/.a.tar.gz": "hello"}, err: ".a.tar.gz, then fetch again)"},
		{name: "an archive from before is cut", there: map[string]string{"cifar10/.a.tar.gz": string(tarball(t, good...)[:100])}, err: "it was there before: delete"},
		{name: "lacks a file", archive: tarball(t, good[:3]...), err: "has no batches/two.bin", asked: true},
		{name: "a link in a file's place", archive: tarball(t, member{"batches/one.bin", tar.TypeSymlink, "/etc/hosts"}, good[4]), err: "has no batches/one.bin", asked: true},
		{name: "a file is too long", archive: tarball(t, member{"batches/one.bin", tar.TypeReg, "onetwo"}), err: "cifar10/one.bin: wrong content: not 3 bytes", asked: true},
		{name: "a file is another", archive: tarball(t, member{"batches/one.bin", tar.TypeReg, "eno"}), err: "cifar10/one.bin: wrong content: SHA-256 " + sumOf([]byte("eno")), asked: true},
		{name: "no archive", archive: []byte("hello"), err: "damaged gzip", asked: true},
		{name: "gzip of no archive", archive: testkit.Gzipped(t, []byte("hello")), err: "ends early", asked: true},
		{name: "truncated", archive: tarball(t, good...)[:100], err: "ends early", asked: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := false
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = true
				w.Write(c.archive)
			}))
			defer server.Close()
			small(t, "cifar10", files, []download{{"cifar10/.a.tar.gz", "batches", Remote{URLs: []string{server.URL}, Size: int64(len(c.archive)), SHA256: sumOf(c.archive)}}})
			dir := t.TempDir()
			for file, s := range c.there {
				path := filepath.Join(dir, filepath.FromSlash(file))
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(s), 0o666)); err != nil {
					t.Fatal(err)
				}
			}
			list, err := Fetch(t.Context(), "cifar10", dir, client(fetch.Client{}))
			if asked != c.asked {
				t.Errorf("asked: %v", asked)
			}
			if c.err != "" {
				if !errors.Is(err, ErrContent) || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%v, want %s", err, c.err)
				}
				if left, _ := filepath.Glob(filepath.Join(dir, "cifar10", "*"+fetch.Part)); left != nil {
					t.Errorf("%q are left", left)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range []string{"one", "two"} {
				if got, err := os.ReadFile(list[i].File); string(got) != want {
					t.Errorf("%s holds %q, %v", list[i].File, got, err)
				}
			}
			rest, _ := filepath.Glob(filepath.Join(dir, "cifar10", "*"))
			hidden, _ := filepath.Glob(filepath.Join(dir, "cifar10", ".*"))
			if len(rest) > 2 || len(hidden) > 0 {
				t.Errorf("left: %q, %q", rest, hidden)
			}
			if outside, _ := filepath.Glob(filepath.Join(dir, "..", "outside")); outside != nil {
				t.Errorf("%q came out of the archive", outside)
			}
		})
	}
}

func TestFetchInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "10")
		w.Write([]byte("hello"))
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer server.Close()
	small(t, "mnist", []pin{text("mnist/a", "hello, you")}, []download{{file: "mnist/a", Remote: Remote{URLs: []string{server.URL}, Size: 10, SHA256: sumOf([]byte("hello, you"))}}})
	dir := t.TempDir()
	_, err := Fetch(ctx, "mnist", dir, client(fetch.Client{Progress: func(int64) { cancel() }}))
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	list, err := Verify("mnist", dir)
	if err != nil || list[0].State != Missing || list[0].Why != "5 of 10 bytes are left of an interrupted download" {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestFetchFollowsNoLink: links under the names that a download takes lead nowhere, so that no file behind them is written.
func TestFetchFollowsNoLink(t *testing.T) {
	archive := tarball(t, member{"batches/one.bin", tar.TypeReg, "one"})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write(archive) }))
	defer server.Close()
	remote := Remote{URLs: []string{server.URL}, Size: int64(len(archive)), SHA256: sumOf(archive)}
	for _, c := range []struct {
		link string
		make func(old, new string) error
	}{
		{"one.bin.part", os.Symlink}, {"a.tar.gz.part", os.Symlink}, {"a.tar.gz.lock", os.Symlink},
		{"one.bin.part", os.Link}, {"a.tar.gz.part", os.Link}, {"a.tar.gz.lock", os.Link},
	} {
		link := c.link
		small(t, "cifar10", []pin{text("cifar10/one.bin", "one")}, []download{{"cifar10/a.tar.gz", "batches", remote}})
		dir := t.TempDir()
		mine, folder := filepath.Join(dir, "mine"), filepath.Join(dir, "cifar10")
		if err := errors.Join(os.WriteFile(mine, []byte("my text"), 0o666), os.Mkdir(folder, 0o777)); err != nil {
			t.Fatal(err)
		}
		if err := c.make(mine, filepath.Join(folder, link)); err != nil {
			t.Skip(err)
		}
		_, err := Fetch(t.Context(), "cifar10", dir, client(fetch.Client{}))
		if refused := err != nil; refused != (link != "one.bin.part") || refused && !strings.Contains(err.Error(), link) {
			t.Errorf("%s: %v", link, err)
		}
		if text, _ := os.ReadFile(mine); string(text) != "my text" {
			t.Errorf("%s: the file behind it now holds %q", link, text)
		}
	}
}

// A damaged archive of an earlier Fetch fails again every time: the error says to delete it.
func TestFetchDamagedArchive(t *testing.T) {
	var digits strings.Builder
	for i := range 1000 {
		fmt.Fprint(&digits, i)
	}
	long := digits.String()
	whole := tarball(t, member{"batches/one.bin", tar.TypeReg, long})
	for at := range 40 {
		cut, flipped := whole[:at*len(whole)/40], slices.Clone(whole)
		flipped[at*len(whole)/40] ^= 0xff
		for what, archive := range map[string][]byte{"cut": cut, "flipped": flipped} {
			small(t, "cifar10", []pin{text("cifar10/one.bin", long)}, []download{{"cifar10/.a.tar.gz", "batches", Remote{}}})
			place := filepath.Join(t.TempDir(), "cifar10", ".a.tar.gz")
			if err := errors.Join(os.Mkdir(filepath.Dir(place), 0o777), os.WriteFile(place, archive, 0o666)); err != nil {
				t.Fatal(err)
			}
			_, err := Fetch(t.Context(), "cifar10", filepath.Dir(filepath.Dir(place)), nil)
			if err == nil && what == "flipped" {
				continue // a byte of the header that does not count
			}
			if !errors.Is(err, ErrContent) || !strings.HasSuffix(err.Error(), "(it was there before: delete "+place+", then fetch again)") {
				t.Errorf("%s at %d: %v", what, at*len(whole)/40, err)
			}
		}
	}
}
