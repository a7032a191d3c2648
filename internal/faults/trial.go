package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// trial runs tests on a tree over which faults are laid. The tree's own files stay as they are, and packages that a fault does
// not reach are compiled once.
type trial struct {
	code     *code
	dir      string // for the files of a fault
	unbroken map[test]outcome
}

// outcome is the result of a test without a fault.
type outcome struct {
	err  error
	took time.Duration
}

// try runs the test of a fault.
func (t *trial) try(f *fault) (verdict string, found bool) {
	broken, err := t.code.broken(f)
	if err != nil {
		return "BROKEN: " + err.Error(), false
	}
	before := t.withoutFault(f.test)
	if before.err != nil {
		return "BROKEN: " + before.err.Error(), false
	}
	overlay, err := t.overlay(broken)
	if err != nil {
		return "BROKEN: " + err.Error(), false
	}
	// A test that hangs has found the fault, too.
	out, err := t.run(f.test, overlay, "-timeout", (time.Minute + 5*before.took).String())
	switch {
	case bytes.Contains(out, []byte("[build failed]")) || bytes.Contains(out, []byte("[setup failed]")):
		return "BROKEN: does not compile: " + firstLine(out), false
	case err == nil:
		return fmt.Sprintf("NOT FOUND by %s: %s", f.test, f.what), false
	}
	return fmt.Sprintf("found by %s: %s", f.test, f.what), true
}

// withoutFault makes sure that a test passes, and is not skipped, on the code as it is.
func (t *trial) withoutFault(of test) outcome {
	if o, ok := t.unbroken[of]; ok {
		return o
	}
	began := time.Now()
	out, err := t.run(of, "", "-v", "-timeout=1h")
	o := outcome{took: time.Since(began)}
	if err != nil || bytes.Contains(out, []byte("--- SKIP: "+of.name+" ")) || bytes.Contains(out, []byte("no tests to run")) {
		o.err = fmt.Errorf("%s fails or is skipped without the fault", of)
	}
	t.unbroken[of] = o
	return o
}

// run runs one test of a package, and all programs that the test builds, with an overlay. vet runs elsewhere, and the binary
// needs no symbols.
func (t *trial) run(of test, overlay string, flags ...string) ([]byte, error) {
	args := append([]string{"test", "-count=1", "-vet=off", "-ldflags=-s -w", "-run", "^" + of.name + "$"}, flags...)
	cmd := exec.Command("go", append(args, of.pkg)...)
	cmd.Dir = t.code.root
	cmd.Env = os.Environ()
	if overlay != "" {
		cmd.Env = append(cmd.Env, "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -overlay="+overlay))
	}
	return cmd.CombinedOutput()
}

// overlay writes files for the flag -overlay of go, which reads them in the place of the tree's.
func (t *trial) overlay(files map[string]string) (path string, err error) {
	replace := map[string]string{}
	for name, text := range files {
		to := filepath.Join(t.dir, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			return "", err
		}
		replace[filepath.Join(t.code.root, name)] = to
	}
	raw, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path = filepath.Join(t.dir, "overlay.json")
	return path, os.WriteFile(path, raw, 0o644)
}

func firstLine(out []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line
}
