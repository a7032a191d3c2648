// Command faults breaks the program on purpose and expects a test to notice.
//
// Every file in patches/ is one deliberate fault: a unified diff with a header that names the test which must fail,
//
//	fault: the evidence lacks the factor 1/I
//	test: ./smc TestCheck3IslandsCombine
//
// The tree's tracked files are copied to a temporary folder. There every named test is run once as it is, and must pass;
// then each patch is applied and its test is run, and must fail. A fault that the test does not find, a patch that no
// longer applies, or one that does not compile, is reported, and the command exits with status 1.
//
//	go run ./internal/faults            # all
//	go run ./internal/faults smc-       # those whose file name contains smc-
package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	out, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return fmt.Errorf("not in a git checkout: %w", err)
	}
	root := strings.TrimSpace(string(out))
	patches, err := filepath.Glob(filepath.Join(root, "internal/faults/patches/*.patch"))
	if err != nil {
		return err
	}
	sort.Strings(patches)
	dir, err := os.MkdirTemp("", "faults")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := copyTree(root, dir); err != nil {
		return err
	}
	tried, missed := 0, 0
	sound := map[string]error{} // of tests on the code as it is
	for _, p := range patches {
		name := strings.TrimSuffix(filepath.Base(p), ".patch")
		if len(args) > 0 && !strings.Contains(name, args[0]) {
			continue
		}
		tried++
		if err := soundTest(dir, p, sound); err != nil {
			missed++
			fmt.Printf("%-34s BROKEN: %v\n", name, err)
			continue
		}
		verdict, found := try(dir, p)
		if !found {
			missed++
		}
		fmt.Printf("%-34s %s\n", name, verdict)
	}
	fmt.Printf("%d faults, %d found\n", tried, tried-missed)
	if tried == 0 {
		return fmt.Errorf("no patch in %s", filepath.Join(root, "internal/faults/patches"))
	}
	if missed > 0 {
		return fmt.Errorf("%d of %d faults were not found", missed, tried)
	}
	return nil
}

// header reads "key: value" from the lines above the diff.
func header(patch []byte, key string) string {
	m := regexp.MustCompile(`(?m)^` + key + `: (.*)$`).FindSubmatch(patch)
	if m == nil {
		return ""
	}
	return string(m[1])
}

// soundTest makes sure that the test of a patch passes, and is not skipped, without it; verdicts are kept in known.
func soundTest(dir, path string, known map[string]error) error {
	patch, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	test := header(patch, "test")
	if err, ok := known[test]; ok {
		return err
	}
	known[test] = nil
	if f := strings.Fields(test); len(f) == 2 {
		out, err := runTest(dir, f, "-v")
		if err != nil || bytes.Contains(out, []byte("--- SKIP: "+f[1]+" ")) {
			known[test] = fmt.Errorf("%s fails or is skipped without the fault", test)
		}
	}
	return known[test]
}

func runTest(dir string, test []string, flags ...string) ([]byte, error) {
	args := append([]string{"test", "-count=1", "-run", "^" + test[1] + "$"}, flags...)
	cmd := exec.Command("go", append(args, test[0])...)
	cmd.Dir = dir
	return cmd.CombinedOutput()
}

// try applies one patch, runs its test and takes the patch back.
func try(dir, path string) (verdict string, found bool) {
	patch, err := os.ReadFile(path)
	if err != nil {
		return err.Error(), false
	}
	test := strings.Fields(header(patch, "test"))
	if header(patch, "fault") == "" || len(test) != 2 {
		return "BROKEN: needs the headers fault: and test: PACKAGE NAME", false
	}
	if out, err := apply(dir, path); err != nil {
		return "BROKEN: does not apply: " + firstLine(out), false
	}
	defer func() {
		if out, err := apply(dir, path, "-R"); err != nil {
			verdict, found = "BROKEN: cannot be taken back: "+firstLine(out), false
		}
	}()
	out, err := runTest(dir, test)
	switch {
	case bytes.Contains(out, []byte("[build failed]")) || bytes.Contains(out, []byte("[setup failed]")):
		return "BROKEN: does not compile: " + firstLine(out), false
	case bytes.Contains(out, []byte("no tests to run")):
		return "BROKEN: there is no test " + test[1] + " in " + test[0], false
	case err == nil:
		return "NOT FOUND by " + test[0] + " " + test[1] + ": " + header(patch, "fault"), false
	}
	return fmt.Sprintf("found by %s %s: %s", test[0], test[1], header(patch, "fault")), true
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

// copyTree copies the files that git tracks, as they are in the working tree.
func copyTree(root, dir string) error {
	cmd := exec.Command("git", "ls-files", "-z")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	for _, f := range strings.Split(strings.TrimRight(string(out), "\x00"), "\x00") {
		raw, err := os.ReadFile(filepath.Join(root, f))
		if os.IsNotExist(err) {
			continue // deleted, not yet committed
		} else if err != nil {
			return err
		}
		to := filepath.Join(dir, f)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, raw, fs.FileMode(0o644)); err != nil {
			return err
		}
	}
	return nil
}
