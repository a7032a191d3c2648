package lint

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeExampleBuilds compiles the README's Go programs as a module of their own, as a user would: all that they use must be
// public. The program on slices is the example whose output a test of the front door compares.
func TestReadmeExampleBuilds(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile("(?s)```go\n(package main.*?)```").FindAllSubmatch(readme, -1)
	if len(codes) != 2 {
		t.Fatalf("README.md has %d Go programs, want one on a preset and one on slices", len(codes))
	}
	files := map[string][]byte{}
	for i, code := range codes {
		files[fmt.Sprintf("program%d/main.go", i)] = code[1]
	}
	asUser(t, "vet ./...", files)

	examples, err := os.ReadFile("../../example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	body := func(text []byte, function string) string {
		_, after, _ := strings.Cut(string(text), "\nfunc "+function+"() {\n")
		inside, _, _ := strings.Cut(after, "\n}\n")
		return inside
	}
	inside, output, _ := strings.Cut(body(examples, "ExampleFit_slices"), "\n\t// Output: ")
	if inside == "" || body(codes[1][1], "main") != inside {
		t.Error("the README's program on slices is not that of ExampleFit_slices")
	}
	if output == "" || !strings.Contains(string(readme), "It prints `"+output+"`") {
		t.Errorf("the README does not say that its program on slices prints %q", output)
	}
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
