package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/testkit"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"starling": offline})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("STARLING_DATA", "")
			env.Setenv("DATA", os.Getenv("STARLING_DATA")) // see condition data
			root, err := filepath.Abs("../..")
			if err != nil {
				return err
			}
			env.Setenv("ROOT", root)
			for verb, places := range map[string][]config.Place{"": fitParts(), "filter_": filterParts()} {
				for _, p := range places { // as a regular expression; a long list goes on in the next line
					env.Setenv(verb+p.Key+"_names", strings.Join(p.Names, `,\s+`))
				}
			}
			for word, attack := range attacks {
				env.Setenv(word, attack)
			}
			env.Setenv("PYTORCH", filepath.Join(root, "testdata", "pytorch"))
			for _, file := range []string{"trees.csv", "trees.yaml"} {
				text, err := os.ReadFile(filepath.Join("..", "..", "testdata", file))
				if err != nil {
					return err
				}
				if err := os.MkdirAll(filepath.Join(env.WorkDir, "testdata"), 0o777); err != nil {
					return err
				}
				if err := os.WriteFile(filepath.Join(env.WorkDir, "testdata", file), text, 0o666); err != nil {
					return err
				}
			}
			return nil
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "full":
				return !testing.Short(), nil
			case "mount":
				return mayMount(), nil
			case "data":
				return os.Getenv("STARLING_DATA") != "", nil
			case "race":
				return testkit.Race, nil
			case "purego":
				return testkit.Purego, nil
			}
			return false, errors.New("unknown condition")
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":      exits,
			"interrupt":  interrupt,
			"killed":     killed,
			"terminated": terminated,
			"bombs":      bombs,
			"damage":     damage,
			"flip":       flip,
			"samestate":  sameState,
			"smalldisk":  smallDisk,
			"serve":      serve,
			"await":      await,
			"npy":        npy,
			"images":     images,
			"toparquet":  toParquet,
			"hostile":    hostile,
			"harmless":   harmless,
			"address":    address,
			"submit":     submit,
		},
	})
}

// exits STATUS PROGRAM ARGS…: the program ends with just this status.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	status := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		status = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(status) != args[0] {
		ts.Fatalf("%s ends with %d, want %s", strings.Join(args[1:], " "), status, args[0])
	}
}

// interrupt FILE PROGRAM ARGS…: interrupts it once the file is there and not empty, or, if that is "header", after its first line of
// output; it must end with 130, write at most the line of the scan in progress to stdout, and say what was saved. The command that it names to continue the run becomes
// $AGAIN, empty if nothing was saved.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	cmd, stdout, stderr := started(ts, args[0], args[1:])
	ts.Check(cmd.Process.Signal(os.Interrupt))
	before := stdout.Len()
	cmd.Wait()
	saved := strings.Contains(stderr.String(), " is saved in ")
	if cmd.ProcessState.ExitCode() != 130 || strings.Count(stdout.String()[before:], "\n") > 1 || saved == strings.Contains(stderr.String(), "nothing was saved") {
		ts.Fatalf("interrupted: %v, %d bytes more on stdout, stderr:\n%s", cmd.ProcessState, stdout.Len()-before, stderr.String())
	}
	again := ""
	if saved {
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		again = strings.TrimSpace(lines[len(lines)-1])
	}
	ts.Logf("again: %s", again)
	ts.Setenv("AGAIN", again)
}

// killed FILE PROGRAM ARGS…: kills it once the file is there and not empty, or after its first line of output.
func killed(ts *testscript.TestScript, neg bool, args []string) {
	cmd, _, _ := started(ts, args[0], args[1:])
	ts.Check(cmd.Process.Kill())
	if cmd.Wait(); cmd.ProcessState.ExitCode() != -1 {
		ts.Fatalf("it ended before: %v", cmd.ProcessState)
	}
}

// begun starts a program.
func begun(ts *testscript.TestScript, args []string) (cmd *exec.Cmd, stdout, stderr *buffer) {
	path := args[0]
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if p, err := exec.LookPath(filepath.Join(dir, args[0])); err == nil {
			path = p
			break
		}
	}
	cmd, stdout, stderr = exec.Command(path, args[1:]...), &buffer{}, &buffer{}
	cmd.Dir, cmd.Env = ts.Getenv("WORK"), append(os.Environ(), "STARLING_DATA=")
	cmd.Stdout, cmd.Stderr = stdout, stderr
	ts.Check(cmd.Start())
	ts.Defer(func() { cmd.Process.Kill() })
	return cmd, stdout, stderr
}

// started starts a program and waits for a file that is not empty, or for output.
func started(ts *testscript.TestScript, file string, args []string) (cmd *exec.Cmd, stdout, stderr *buffer) {
	cmd, stdout, stderr = begun(ts, args)
	deadline := time.Now().Add(testkit.Patience)
	for {
		info, err := os.Stat(ts.MkAbs(file))
		if file == "header" && stdout.Len() > 0 || err == nil && info.Size() > 0 {
			return cmd, stdout, stderr
		}
		if time.Now().After(deadline) {
			ts.Fatalf("waited for %s; stderr:\n%s", file, stderr.String())
		}
		time.Sleep(time.Millisecond)
	}
}

// buffer takes what a program writes.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) Len() int { return len(b.String()) }

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// damage FILE: cuts it in half.
func damage(ts *testscript.TestScript, neg bool, args []string) {
	b, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b[:len(b)/2], 0o666))
}

// flip FILE: changes the lowest bit of the byte in its middle.
func flip(ts *testscript.TestScript, neg bool, args []string) {
	b, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	b[len(b)/2] ^= 1
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o666))
}

// samestate A B: two checkpoints are the same but for the sums of the trace, whose lines have times.
func sameState(ts *testscript.TestScript, neg bool, args []string) {
	var states [2][]byte
	for i := range states {
		b, err := os.ReadFile(ts.MkAbs(args[i]))
		ts.Check(err)
		states[i] = ckpt.Without(b, "trace")
	}
	if !bytes.Equal(states[0], states[1]) {
		ts.Fatalf("%s and %s differ", args[0], args[1])
	}
}
