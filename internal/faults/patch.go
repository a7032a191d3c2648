package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// patch is one deliberate fault.
type patch struct {
	path, name string
	fault      string   // what it breaks
	test       []string // package and name of the test that must fail
	files      []string // changed by it
}

// readPatches reads the patches of a folder, by name.
func readPatches(dir string) ([]*patch, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.patch")) // sorted
	if err != nil {
		return nil, err
	}
	var all []*patch
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		all = append(all, parse(path, text))
	}
	return all, nil
}

var (
	headerLine = regexp.MustCompile(`(?m)^(fault|test): (.*)$`)
	fileLine   = regexp.MustCompile(`(?m)^(?:--- a|\+\+\+ b)/(.*)$`)
)

func parse(path string, text []byte) *patch {
	p := &patch{path: path, name: strings.TrimSuffix(filepath.Base(path), ".patch")}
	for _, m := range headerLine.FindAllSubmatch(text, -1) {
		switch value := string(m[2]); string(m[1]) {
		case "fault":
			p.fault = value
		case "test":
			p.test = strings.Fields(value)
		}
	}
	for _, m := range fileLine.FindAllSubmatch(text, -1) {
		if f := string(m[1]); !slices.Contains(p.files, f) {
			p.files = append(p.files, f)
		}
	}
	return p
}

// problem says why a patch cannot be tried on a tree, and is empty if it can: it has headers, its diff applies, and the test
// exists. It runs nothing.
func (p *patch) problem(root string) string {
	if p.fault == "" || len(p.test) != 2 {
		return "BROKEN: needs the headers fault: and test: PACKAGE NAME"
	}
	if out, err := apply(root, p.path, "--check"); err != nil {
		return "BROKEN: does not apply: " + firstLine(out)
	}
	name, _, _ := strings.Cut(p.test[1], "/")
	declared := regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(name) + `\(t \*testing\.T\)`)
	files, _ := filepath.Glob(filepath.Join(root, p.test[0], "*_test.go")) // an error is of the pattern
	for _, f := range files {
		if text, err := os.ReadFile(f); err == nil && declared.Match(text) {
			return ""
		}
	}
	return fmt.Sprintf("BROKEN: there is no test %s in %s", name, p.test[0])
}

// apply runs git apply on the tree in dir.
func apply(dir, path string, args ...string) ([]byte, error) {
	cmd := exec.Command("git", append(append([]string{"apply"}, args...), path)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir)) // not in a checkout that holds the folder
	return cmd.CombinedOutput()
}

func firstLine(out []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line
}
