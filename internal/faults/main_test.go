package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestFaults checks every fault without running its test: it fits one place of the tree, and the test that must fail exists.
func TestFaults(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	faults, err := readFaults(root)
	if err != nil || len(faults) == 0 {
		t.Fatalf("faults: %v, %v", faults, err)
	}
	code := newCode(root)
	for _, f := range faults {
		if _, err := code.broken(f); err != nil {
			t.Errorf("%s: %s: %v", f.file, f.name, err)
		}
	}
}

func TestParse(t *testing.T) {
	faults, err := parse("f", `# about all
a: it breaks
in ./p T.Do
test ./q TestX/case
- old
+ new
-- b
in ./p T.Do
- more
- lines

b-2: more: of it
test . TestY
in . file.yaml
- x
+ 
+ 	y
`)
	want := []*fault{
		{"a", "it breaks", test{"./q", "TestX/case"}, []edit{
			{"./p", "T.Do", "old\n", "new\n"}, {"./p", "T.Do", "- b\n", ""}, {"./p", "T.Do", "more\nlines\n", ""},
		}, "f"},
		{"b-2", "more: of it", test{".", "TestY"}, []edit{{".", "file.yaml", "x\n", "\n\ty\n"}}, "f"},
	}
	if err != nil || !reflect.DeepEqual(faults, want) {
		t.Errorf("%+v, %v", faults, err)
	}
	for text, want := range map[string]string{
		"a: b\nin . F\n- x\n":                           "f: a names no test",
		"a: b\ntest . T\n\nc: d\nin . F\ntest . T\n- x": "f: a has no old text",
		"a: b\ntest . T\n- x\n":                         "f:3: a text belongs below a line",
		"a: b\ntest . T\nin . F\n+ x\n":                 "f:4: a new text belongs below an old one",
		"a: b\nin F\n":                                  "f:2: want ",
		"in . F\n":                                      "f:1: want ",
	} {
		if _, err := parse("f", text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
}

// TestBroken changes a small package, and says why it cannot.
func TestBroken(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.go": `package p

const ( one, two = 1, 2
three = 3 )

// Do does.
func (s *T[K, V]) Do(x int) (y int) {
	y = f(x, // first
		1+x,
	)
	if x > one { y++; y++ }
	return y
}
`,
		"b.go":      "package p\n\ntype T[K, V any] struct{ n, m int }\n\nfunc (t T[K, V]) Other() int { return t.n - t.m }\n",
		"b_test.go": "package p\n\nfunc TestIt(t *testing.T) {}\n\nfunc Do() { y++ }\n",
		"c.txt":     "some  words\n here, some there\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	code := newCode(dir)
	for _, c := range []struct{ in, old, new, want string }{
		{"T.Do", "f(x, 1+x)", "0", "y = 0"},
		{"T.Do", "f(\n x,\n 1 + x,\n)", "0", "y = 0"},
		{"T.Do", "y++\ny++", "y--", "{ y-- }"},
		{"T.Do", "y++\nreturn", "", ". T.Do: its text fits 0 places"},
		{"T.Do", "y++", "", ". T.Do: its text fits 2 places"},
		{"T.Do", "y--", "", ". T.Do: its text fits 0 places"},
		{"T.Do", "+", "-", "1-x"},
		{"one", "1", "7", "one, two = 7, 2"},
		{"two", "2", "7", "one, two = 1, 7"},
		{"three", "3", "4", "three = 4 )"},
		{"T", "n, m int", "m, n int", "struct{ m, n int }"},
		{"T.Away", "t.n - t.m", "", "there is no . T.Away; its text fits T.Other"},
		{"T.Do", "/* a comment */", "", ". T.Do: an old text is empty"},
		{"c.txt", "words here,", "sentences", "some  sentences some there"},
		{"c.txt", "some", "", ". c.txt: its text fits 2 places"},
		{"a.go", "package", "", "there is no . a.go"},
	} {
		files, err := code.broken(&fault{test: test{".", "TestIt/part"}, edits: []edit{{".", c.in, c.old, c.new + "\n"}}})
		got := ""
		for _, text := range files {
			got += text
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %q to %q: %s; want %q", c.in, c.old, c.new, got, c.want)
		}
	}
	it := test{".", "TestIt"}
	if files, err := code.broken(&fault{test: it, edits: []edit{{".", "T.Other", "t.n", "1"}, {".", "T", "n, m", "l, n, m"}, {".", "T.Other", "t.m", "2"}}}); err != nil ||
		!strings.Contains(files["b.go"], "struct{ l, n, m int }") || !strings.Contains(files["b.go"], "return 1 - 2 ") {
		t.Errorf("three edits: %q, %v", files, err)
	}
	if _, err := code.broken(&fault{test: it, edits: []edit{{".", "T.Other", "t.n - t.m", "1"}, {".", "T.Other", "t.m", "2"}}}); err == nil || !strings.Contains(err.Error(), "overlap") {
		t.Errorf("edits of one place: %v", err)
	}
	if _, err := code.broken(&fault{test: test{".", "TestOther"}}); err == nil || err.Error() != "there is no test TestOther in ." {
		t.Errorf("no such test: %v", err)
	}
}

// TestTrial tries faults of a module of two packages: one that a test finds, one that it does not find, and others that cannot
// be tried.
func TestTrial(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":   "module m\n\ngo 1.26\n",
		"p/p.go":   "package p\n\nfunc Sum(x, y int) int { return x + y }\n\nfunc Loose() int { return 1 }\n",
		"p/q/q.go": "package q\n\nimport \"m/p\"\n\nfunc Twice(x int) int { return p.Sum(x, x) }\n",
		"p/q/q_test.go": "package q\n\nimport \"testing\"\n\nfunc TestTwice(t *testing.T) {\n\tif Twice(3) != 6 {\n\t\tt.Error(Twice(3))\n\t}\n}\n" +
			"\nfunc TestSkipped(t *testing.T) { t.Skip() }\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	trial := &trial{code: newCode(dir), dir: t.TempDir(), unbroken: map[test]outcome{}}
	for _, c := range []struct {
		test string
		edit edit
		want string
	}{
		{"TestTwice", edit{"./p", "Sum", "x + y", "x - y"}, "found by ./p/q TestTwice: wrong"},
		{"TestTwice", edit{"./p", "Loose", "1", "2"}, "NOT FOUND by ./p/q TestTwice: wrong"},
		{"TestTwice", edit{"./p", "Sum", "x + y", "x + z"}, "BROKEN: does not compile: "},
		{"TestTwice", edit{"./p", "Sum", "z", ""}, "BROKEN: ./p Sum: its text fits 0 places"},
		{"TestSkipped", edit{"./p", "Sum", "x + y", "x - y"}, "BROKEN: ./p/q TestSkipped fails or is skipped"},
	} {
		got, found := trial.try(&fault{what: "wrong", test: test{"./p/q", c.test}, edits: []edit{c.edit}})
		if !strings.HasPrefix(got, c.want) || found != strings.HasPrefix(c.want, "found") {
			t.Errorf("%+v: %s, %v; want %s", c.edit, got, found, c.want)
		}
	}
}

// TestOrder: faults that changed come first, and both parts begin where the rotation is.
func TestOrder(t *testing.T) {
	var faults []*fault
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		faults = append(faults, &fault{name: name})
	}
	for _, c := range []struct {
		changed string
		turn    int
		want    string
		first   int
	}{
		{"", 0, "abcde", 0}, {"", 5, "abcde", 0}, {"", 8, "deabc", 0}, {"be", 0, "beacd", 2}, {"be", 2, "ebcda", 2}, {"abcde", 3, "deabc", 5},
	} {
		ordered, first := order(faults, c.turn, func(f *fault) bool { return strings.Contains(c.changed, f.name) })
		got := ""
		for _, f := range ordered {
			got += f.name
		}
		if got != c.want || first != c.first {
			t.Errorf("%s changed, turn %d: %s, %d first; want %s, %d", c.changed, c.turn, got, first, c.want, c.first)
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

// TestInOrder: of the faults in a file that changed, only those that are new or other than before come first, and so do those
// of a declaration whose file changed.
func TestInOrder(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	entry := func(name, decl, new string) string {
		return name + ": wrong\nin . " + decl + "\ntest . T\n- 1\n+ " + new + "\n\n"
	}
	write("a.go", "package p\n\nvar a = 1\n")
	write("b.go", "package p\n\nvar b = 1\n")
	write("p_test.go", "package p\n\nfunc T(t *testing.T) {}\n")
	list := folder + "/p.txt"
	write(list, entry("a", "a", "2")+entry("b", "b", "2")+entry("c", "a", "3")+entry("d", "a", "4"))
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "."}, {"-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false", "commit", "-qm", "one"},
	} {
		if _, err := git(dir, args...); err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
	}
	for _, c := range []struct{ what, name, text, want string }{
		{"a fault altered, one new, one gone", list, entry("a", "a", "2") + entry("b", "b", "2") + entry("d", "a", "5") + entry("e", "a", "6"), "deba"},
		{"the file of a declaration", "b.go", "package p\n\nvar b, c = 1, 2\n", "bdea"},
	} {
		write(c.name, c.text)
		faults, err := readFaults(dir)
		if err != nil {
			t.Fatal(err)
		}
		ordered, err := inOrder(newCode(dir), faults, "HEAD")
		got := ""
		for _, f := range ordered {
			got += f.name
		}
		// The rotation begins at the second fault: one commit was made.
		if err != nil || got != c.want {
			t.Errorf("%s: %s, %v; want %s", c.what, got, err, c.want)
		}
	}
}
