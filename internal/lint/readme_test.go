package lint

import (
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
	// The user's go.mod: this module from its folder, and what it requires.
	text := strings.Replace(string(mod), "module "+module, "module example", 1)
	text += "\nrequire " + module + " v0.0.0\n\nreplace " + module + " => " + root + "\n"
	dir := t.TempDir()
	for name, content := range map[string][]byte{"go.mod": []byte(text), "go.sum": sum, "main.go": code[1]} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "build", "-o", os.DevNull, ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
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
