package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPatches checks of every patch what needs no run of a test: that it says what it breaks, that it applies to the tree,
// and that the test which must notice exists.
func TestPatches(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here to apply patches with")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	patches, err := filepath.Glob("patches/*.patch")
	if err != nil || len(patches) == 0 {
		t.Fatalf("patches: %v, %v", patches, err)
	}
	tests := map[string]string{} // test files of packages
	for _, p := range patches {
		patch, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		test := strings.Fields(header(patch, "test"))
		if header(patch, "fault") == "" || len(test) != 2 {
			t.Errorf("%s: needs the headers fault: and test: PACKAGE NAME", p)
			continue
		}
		if out, err := apply(root, filepath.Join(root, "internal/faults", p), "--check"); err != nil {
			t.Errorf("%s does not apply: %s", p, firstLine(out))
		}
		text, ok := tests[test[0]]
		if !ok {
			files, _ := filepath.Glob(filepath.Join(root, test[0], "*_test.go"))
			for _, f := range files {
				raw, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				text += string(raw)
			}
			tests[test[0]] = text
		}
		name, _, _ := strings.Cut(test[1], "/")
		if !regexp.MustCompile(`(?m)^func ` + name + `\(t \*testing\.T\)`).MatchString(text) {
			t.Errorf("%s: there is no test %s in %s", p, name, test[0])
		}
	}
}
