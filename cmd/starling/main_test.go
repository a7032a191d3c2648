package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
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
			case "data":
				return os.Getenv("STARLING_DATA") != "", nil
			}
			return false, errors.New("unknown condition")
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":     exits,
			"interrupt": interrupt,
			"serve":     serve,
			"await":     await,
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

// interrupt PROGRAM ARGS…: interrupts it after its first line of output; it must end with 130, write no more to stdout,
// and say that nothing was saved.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	path := args[0]
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if p, err := exec.LookPath(filepath.Join(dir, args[0])); err == nil {
			path = p
			break
		}
	}
	cmd := exec.Command(path, args[1:]...)
	cmd.Dir, cmd.Env = ts.Getenv("WORK"), append(os.Environ(), "STARLING_DATA=")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	began := time.Now()
	ts.Check(cmd.Start())
	defer cmd.Process.Kill()
	var first [1 << 12]byte
	n, err := out.Read(first[:])
	ts.Check(err)
	ts.Logf("%v to the first output: %s", time.Since(began), first[:n])
	ts.Check(cmd.Process.Signal(os.Interrupt))
	rest, _ := out.Read(first[:])
	cmd.Wait()
	if status := cmd.ProcessState.ExitCode(); status != 130 || rest > 0 || !strings.Contains(stderr.String(), "nothing was saved") {
		ts.Fatalf("interrupted: status %d, %d bytes more on stdout, stderr:\n%s", status, rest, stderr.String())
	}
}
