package lint

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeExampleBuilds compiles the README's Go program as a module of its own, as a user would: all that it uses must be
// public.
func TestReadmeExampleBuilds(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile("(?s)```go\n(package main.*?)```").FindSubmatch(readme)
	if code == nil {
		t.Fatal("README.md has no Go program")
	}
	asUser(t, "build -o "+os.DevNull+" .", map[string][]byte{"main.go": code[1]})
}

// TestExamplesBuild compiles the examples of the documentation as a user would who copies them: all that they use must be public.
func TestExamplesBuild(t *testing.T) {
	examples := map[string][]byte{}
	for _, pattern := range []string{"../../example_test.go", "../../*/example_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if examples[strings.TrimPrefix(f, "../../")], err = os.ReadFile(f); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(examples) < 3 {
		t.Errorf("found the examples of %d packages only", len(examples))
	}
	asUser(t, "vet ./...", examples)
}

// asUser runs a go command in a user's module with the given files, and returns what it prints. The module requires this one,
// from its folder, and what this one requires.
func asUser(t *testing.T, command string, files map[string][]byte) []byte {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(mod), "module "+module, "module example", 1)
	text += "\nrequire " + module + " v0.0.0\n\nreplace " + module + " => " + root + "\n"
	files["go.mod"], files["go.sum"] = []byte(text), sum
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", strings.Fields(command)...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s%s", command, err, out, stderr.Bytes())
	}
	return out
}

// TestNothingIsLeftOpen refuses placeholders in documents.
func TestNothingIsLeftOpen(t *testing.T) {
	for _, pattern := range []string{"../../*.md", "../../docs/*.md", "../../docs/*/*.md", "../../data/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if at := regexp.MustCompile(`@@|TODO|FIXME`).FindIndex(text); at != nil {
				t.Errorf("%s: %q is left open", f, text[at[0]:min(len(text), at[1]+20)])
			}
		}
	}
}
