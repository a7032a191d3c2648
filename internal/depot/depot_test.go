package depot

import (
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func file(name, text string, got *int) File {
	return File{Name: name, Sum: sha256.Sum256([]byte(text)), Bytes: int64(len(text)), Get: func() ([]byte, error) { *got++; return []byte(text), nil }}
}

// Files come once, and come again where they were changed or removed.
func TestFolder(t *testing.T) {
	d, got := Depot{Dir: filepath.Join(t.TempDir(), "new")}, 0
	files := []File{file("a.csv", "1,2", &got), file("set/b.idx", "345", &got)}
	for i, want := range []int{2, 2} {
		dir, err := d.Folder("k", files)
		if err != nil || got != want {
			t.Fatalf("time %d: got %d files, want %d; %v", i, got, want, err)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "set", "b.idx")); string(b) != "345" {
			t.Fatal(err, b)
		}
	}
	if err := os.WriteFile(filepath.Join(d.Dir, "k", "a.csv"), []byte("1,3"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir, err := d.Folder("k", files)
	if b, _ := os.ReadFile(filepath.Join(dir, "a.csv")); err != nil || got != 3 || string(b) != "1,2" {
		t.Fatal(got, string(b), err)
	}
}

func TestFolderRefuses(t *testing.T) {
	d, got := Depot{Dir: t.TempDir(), Most: 10}, 0
	for want, files := range map[string][]File{
		"outside": {file("../a", "1", &got)}, "give it more": {file("a", "12345678901", &got)},
		"another SHA-256": {{Name: "a", Bytes: 1, Get: func() ([]byte, error) { return []byte("x"), nil }}},
		"gone":            {{Name: "a", Bytes: 1, Get: func() ([]byte, error) { return nil, errors.New("gone") }}},
	} {
		if _, err := d.Folder("k", files); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, have %v", want, err)
		}
	}
}

// What was used longest ago makes room, and never the folder that is asked for.
func TestRoom(t *testing.T) {
	d, got := Depot{Dir: t.TempDir(), Most: 10}, 0
	old := time.Now().Add(-time.Hour)
	for i, key := range []string{"a", "b"} {
		if _, err := d.Folder(key, []File{file("f", "12345", &got)}); err != nil {
			t.Fatal(err)
		}
		at := old.Add(time.Duration(i) * time.Minute)
		if err := os.Chtimes(filepath.Join(d.Dir, key), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.Folder("a", []File{file("f", "12345", &got)}); err != nil || got != 2 { // used again
		t.Fatal(got, err)
	}
	if _, err := d.Folder("c", []File{file("f", "1", &got)}); err != nil {
		t.Fatal(err)
	}
	for key, there := range map[string]bool{"a": true, "b": false, "c": true} {
		if _, err := os.Stat(filepath.Join(d.Dir, key, "f")); (err == nil) != there {
			t.Errorf("%s is there: %v, want %v", key, err == nil, there)
		}
	}
}
