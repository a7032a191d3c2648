package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"golang.org/x/sys/unix"
)

// TestTerminal runs a fit whose stderr is a terminal: it shows progress, in time.
func TestTerminal(t *testing.T) {
	terminal, screen := openTerminal(t)
	program, err := exec.LookPath("starling") // put there by testscript.Main
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "fit", filepath.Join("testdata", "trees.yaml"), "--out", filepath.Join(t.TempDir(), "run"), "--json")
	cmd.Dir, cmd.Stderr = filepath.Join("..", ".."), terminal
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	terminal.Close()
	var seen bytes.Buffer
	io.Copy(&seen, screen) // ends with an error when the program has closed its side
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, seen.String())
	}
	for _, want := range []string{
		`^trees: 72 to train`,
		`\rMAP +0 of 3 starts`,
		`\rMAP +best of 3 starts, epoch [0-9]+ +validation [0-9.]+ %`,
		`\rislands 3×8 +λ 1  ESS [0-9.]+/8  accepted [0-9.]+  ancestors [0-9]+`,
		`written to .*run`,
	} {
		if !regexp.MustCompile(want).Match(seen.Bytes()) {
			t.Errorf("no %s on the terminal:\n%q", want, seen.String())
		}
	}
}

// TestLinesOnATerminal: where stdout is a terminal, a scan is a short line; with --json there are no lines.
func TestLinesOnATerminal(t *testing.T) {
	program, err := exec.LookPath("starling")
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{"--quiet", "--json"} {
		terminal, screen := openTerminal(t)
		cmd := exec.Command(program, "filter", "range-bearing", "--set", "scans.simulate=2", "--out", filepath.Join(t.TempDir(), "run"), form)
		cmd.Stdout = terminal
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		terminal.Close()
		var seen bytes.Buffer
		io.Copy(&seen, screen)
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v\n%s", err, seen.String())
		}
		short := regexp.MustCompile(`(?m)^2  [0-9]+ returns?  1 \(.* ± .*, .* ± .*\)`).Match(seen.Bytes())
		if short == (form == "--json") || bytes.Contains(seen.Bytes(), []byte(`{"k"`)) {
			t.Errorf("%s: on the terminal is\n%s", form, seen.String())
		}
	}
}

// openTerminal returns the program's side of a pseudo-terminal, and the screen's.
func openTerminal(t *testing.T) (terminal, screen *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screen.Close() })
	if err := unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return terminal, screen
}
