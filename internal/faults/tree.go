package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// tree is a copy of the tracked files, to which faults are applied.
type tree struct {
	dir      string
	unbroken map[string]outcome // of tests on the code as it is
}

// outcome is the result of a test without a fault.
type outcome struct {
	err  error
	took time.Duration
}

// try applies one patch, runs its test and reverts the patch.
func (t *tree) try(p *patch) (verdict string, found bool) {
	if problem := p.problem(t.dir); problem != "" {
		return problem, false
	}
	before := t.withoutFault(p.test)
	if before.err != nil {
		return "BROKEN: " + before.err.Error(), false
	}
	if out, err := apply(t.dir, p.path); err != nil {
		return "BROKEN: does not apply: " + firstLine(out), false
	}
	defer func() {
		if out, err := apply(t.dir, p.path, "-R"); err != nil {
			verdict, found = "BROKEN: cannot be reverted: "+firstLine(out), false
		}
	}()
	// A test that hangs has found the fault, too.
	out, err := t.test(p.test, "-timeout", (time.Minute + 5*before.took).String())
	switch {
	case bytes.Contains(out, []byte("[build failed]")) || bytes.Contains(out, []byte("[setup failed]")):
		return "BROKEN: does not compile: " + firstLine(out), false
	case err == nil:
		return fmt.Sprintf("NOT FOUND by %s: %s", strings.Join(p.test, " "), p.fault), false
	}
	return fmt.Sprintf("found by %s: %s", strings.Join(p.test, " "), p.fault), true
}

// withoutFault makes sure that a test passes, and is not skipped, on the code as it is.
func (t *tree) withoutFault(test []string) outcome {
	key := strings.Join(test, " ")
	if o, ok := t.unbroken[key]; ok {
		return o
	}
	began := time.Now()
	out, err := t.test(test, "-v")
	o := outcome{took: time.Since(began)}
	if err != nil || bytes.Contains(out, []byte("--- SKIP: "+test[1]+" ")) || bytes.Contains(out, []byte("no tests to run")) {
		o.err = fmt.Errorf("%s fails or is skipped without the fault", key)
	}
	t.unbroken[key] = o
	return o
}

// test runs one test of a package. vet runs elsewhere, and the binary needs no symbols.
func (t *tree) test(test []string, flags ...string) ([]byte, error) {
	args := append([]string{"test", "-count=1", "-vet=off", "-ldflags=-s -w", "-run", "^" + test[1] + "$"}, flags...)
	cmd := exec.Command("go", append(args, test[0])...)
	cmd.Dir = t.dir
	return cmd.CombinedOutput()
}

// copyTree copies the files that git tracks, as they are in the working tree.
func copyTree(root, dir string) error {
	out, err := git(root, "ls-files", "-z")
	if err != nil {
		return err
	}
	for _, f := range strings.Split(strings.TrimRight(out, "\x00"), "\x00") {
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
		if err := os.WriteFile(to, raw, 0o644); err != nil {
			return err
		}
	}
	return nil
}
