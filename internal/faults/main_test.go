package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestPatches checks every patch without running its test: it says what it breaks, it applies to the tree, and the test that
// must fail exists.
func TestPatches(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here to apply patches with")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	patches, err := readPatches(filepath.Join(root, "internal/faults/patches"))
	if err != nil || len(patches) == 0 {
		t.Fatalf("patches: %v, %v", patches, err)
	}
	for _, p := range patches {
		if problem := p.problem(root); problem != "" {
			t.Errorf("%s: %s", p.name, problem)
		}
	}
}

func names(patches []*patch) (names []string) {
	for _, p := range patches {
		names = append(names, p.name)
	}
	return names
}

// Patches of changed files come first, and both parts begin where the rotation is.
func TestOrder(t *testing.T) {
	var patches []*patch
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		patches = append(patches, parse("patches/"+name+".patch", []byte("fault: f\ntest: ./p T\n\n--- a/"+name+".go\n+++ b/"+name+".go\n--- a/all.go\n+++ b/all.go\n")))
	}
	if p := patches[0]; p.fault != "f" || !slices.Equal(p.test, []string{"./p", "T"}) || !slices.Equal(p.files, []string{"a.go", "all.go"}) {
		t.Errorf("%+v", p)
	}
	for _, c := range []struct {
		changed []string
		turn    int
		want    string
		first   int
	}{
		{nil, 0, "abcde", 0}, {nil, 5, "abcde", 0}, {nil, 8, "deabc", 0},
		{[]string{"b.go", "e.go", "other.go"}, 0, "beacd", 2},
		{[]string{"b.go", "internal/faults/patches/e.patch"}, 2, "ebcda", 2},
		{[]string{"all.go"}, 3, "deabc", 5},
	} {
		changed := map[string]bool{}
		for _, f := range c.changed {
			changed[f] = true
		}
		ordered, first := order(patches, changed, c.turn)
		got := ""
		for _, name := range names(ordered) {
			got += name
		}
		if got != c.want || first != c.first {
			t.Errorf("%v changed, turn %d: %s, %d first; want %s, %d", c.changed, c.turn, got, first, c.want, c.first)
		}
	}
}

// TestChanges looks at a repository of three commits, at its shallow clone, and at one without commits before.
func TestChanges(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	dir := t.TempDir()
	do := func(dir string, args ...string) {
		t.Helper()
		if _, err := git(dir, append([]string{"-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"}, args...)...); err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	check := func(what, dir, base string, turn int, want ...string) {
		t.Helper()
		files, since, err := changes(dir, base)
		if err != nil || len(files) != len(want) || slices.ContainsFunc(want, func(f string) bool { return !files[f] }) {
			t.Errorf("%s: %v since %s, %v; want %v", what, files, since, err, want)
		}
		if got, err := rotation(dir); err != nil || turn > 0 && got != turn || turn < 0 && got < 1e9 {
			t.Errorf("%s: rotation %d, %v; want %d", what, got, err, turn)
		}
	}
	do(dir, "init", "-q", "-b", "main")
	write("a", "1")
	do(dir, "add", "a")
	do(dir, "commit", "-qm", "one")
	check("one commit", dir, "", 1)
	do(dir, "update-ref", "refs/remotes/origin/main", "HEAD")
	for i, name := range []string{"b", "c"} {
		write(name, "1")
		do(dir, "add", name)
		do(dir, "commit", "-qm", name)
		check("a branch", dir, "", 2+i, []string{"b", "c"}[:1+i]...)
	}
	write("a", "2")
	check("a branch, not all committed", dir, "", 3, "a", "b", "c")
	check("since another commit", dir, "HEAD", 3, "a")
	write("a", "1")
	check("nothing", dir, "HEAD", 3)
	do(dir, "update-ref", "refs/remotes/origin/main", "HEAD")
	check("main", dir, "", 3, "c")
	shallow := t.TempDir()
	do(dir, "clone", "-q", "--depth", "1", "file://"+dir, shallow)
	check("shallow", shallow, "", -1)
}
