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

// program finds the Go programs of a page.
var program = regexp.MustCompile("(?s)```go\n(package main.*?)```")

// TestReadmeExampleBuilds compiles the programs of README and docs/go.md as a module of their own, as a user would: all that they use
// must be public. The program on slices is the example whose output a test of the front door compares.
func TestReadmeExampleBuilds(t *testing.T) {
	files := map[string][]byte{}
	pages := map[string]string{}
	for _, name := range []string{"README.md", "docs/go.md"} {
		page, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		codes := program.FindAllSubmatch(page, -1)
		if len(codes) != 1 {
			t.Fatalf("%s has %d Go programs, want one", name, len(codes))
		}
		files[fmt.Sprintf("program%d/main.go", len(files))] = codes[0][1]
		pages[name] = string(page)
	}
	asUser(t, "vet ./...", files)

	examples, err := os.ReadFile("../../example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(examples), "\nfunc ExampleFit_slices() {\n")
	inside, output, _ := strings.Cut(example, "\n\t// Output: ")
	output, _, _ = strings.Cut(output, "\n")
	if inside == "" || !strings.Contains(pages["docs/go.md"], "\nfunc main() {\n"+inside+"\n}\n") {
		t.Error("the program of docs/go.md is not that of ExampleFit_slices")
	}
	if output == "" || !strings.Contains(pages["docs/go.md"], "It prints:\n\n```text\n"+output+"\n```") {
		t.Errorf("docs/go.md does not say that its program prints %q", output)
	}
}

// TestReadmeIsShort: what does not fit stands in docs.
func TestReadmeIsShort(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(readme, []byte("\n")); n > 120 {
		t.Errorf("README.md has %d lines, want at most 120", n)
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
