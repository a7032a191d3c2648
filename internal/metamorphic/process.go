//go:build unix

package metamorphic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/starling-smc/starling/internal/ckpt"
)

// Command is a process of a build of starling, on a kernel of its own.
func Command(ctx context.Context, program, kernel string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = os.Environ()
	if kernel != "" {
		cmd.Env = append(cmd.Env, "STARLING_KERNEL="+kernel)
	}
	return cmd
}

// Line is the line of the command that makes the run in a folder, or goes on with it.
func (r Run) Line(folder string) []string {
	verb := "fit"
	if r.filters() {
		verb = "filter"
	}
	line := []string{verb, r.Name + ".yaml", "--out", folder, "--resume"}
	for _, s := range r.longer {
		line = append(line, "--set", s)
	}
	return line
}

// signals are what a start may be ended by. INTINT is an interrupt and a second one at once.
var signals = map[string]syscall.Signal{"KILL": syscall.SIGKILL, "INT": syscall.SIGINT, "INTINT": syscall.SIGINT, "TERM": syscall.SIGTERM}

// start starts the run, or resumes it, and waits for its end, which may be a signal. The words are KEY=VALUE: kernel, threads,
// save-every; and signal, sent a time after the start, or after a file stands in the folder (at). It says in which phase the process ended.
func (p *play) start(args []string) (string, error) {
	has, line := map[string]string{}, p.run.Line(p.folder())
	for _, a := range args {
		key, value, _ := strings.Cut(a, "=")
		if has[key] = value; key == "threads" || key == "save-every" {
			line = append(line, "--"+key, value)
		}
	}
	signal, killed := signals[has["signal"]]
	after, err := time.ParseDuration(has["after"])
	if killed && err != nil {
		return "", fmt.Errorf("start: %w", err)
	}
	if killed && Done(p.folder()) {
		return Ended, nil
	}
	cmd := Command(context.Background(), p.w.program, has["kernel"], line...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return "", err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if killed {
		p.wait(ended, has["at"], after)
		cmd.Process.Signal(signal)
		if has["signal"] == "INTINT" {
			time.Sleep(after % (3 * time.Millisecond))
			cmd.Process.Signal(signal)
		}
	}
	err = <-ended
	if p.took = time.Since(began); err == nil {
		if !Done(p.folder()) {
			err = Faultf("the process says that the run is done, and its folder does not")
		}
		return Ended, err
	}
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	interrupted := signal != syscall.SIGKILL && status.ExitStatus() == 130 && strings.Contains(said.String(), "interrupted; ")
	if !killed || !interrupted && !(status.Signaled() && status.Signal() == signal) {
		return "", Faultf("the process ended with %v:\n%s", err, said.Bytes())
	}
	return Phase(p.folder())
}

// wait waits until the process has ended, or for a time after a file stands in the folder.
func (p *play) wait(ended chan error, file string, after time.Duration) {
	for file != "" && len(ended) == 0 {
		if _, err := os.Stat(filepath.Join(p.folder(), file)); err == nil {
			break
		}
		time.Sleep(200 * time.Microsecond)
	}
	for deadline := time.Now().Add(after); len(ended) == 0 && time.Now().Before(deadline); {
		time.Sleep(min(time.Until(deadline), time.Millisecond))
	}
}

// Done reports whether a folder holds a run that is done.
func Done(run string) bool {
	manifest, _ := os.ReadFile(filepath.Join(run, "manifest.json"))
	return strings.Contains(string(manifest), `"status": "done"`)
}

// Phase finds the stage of a run from its folder, at which no process works. A checkpoint in the folder must be readable.
func Phase(run string) (string, error) {
	has := func(name string) bool {
		_, err := os.Stat(filepath.Join(run, name))
		return err == nil
	}
	checkpoint, err := os.ReadFile(filepath.Join(run, "checkpoint"))
	if errors.Is(err, os.ErrNotExist) {
		checkpoint, err = os.ReadFile(filepath.Join(run, "checkpoint.previous"))
	}
	switch {
	case !has("config.yaml"):
		return "before its folder", nil
	case Done(run):
		return "done", nil
	case err != nil:
		return "before its first checkpoint", nil
	}
	d, err := ckpt.NewDecoder(checkpoint, "starling.Checkpoint/3")
	if err != nil {
		return "", Faultf("the checkpoint: %v", err)
	}
	var begun int // phases of the run
	d.Ints("phases", &begun)
	last := ""
	if begun > 0 {
		last = string(d.Bytes(fmt.Sprint("phase ", begun-1)))
	}
	switch {
	case d.Err() != nil:
		return "", Faultf("the checkpoint: %v", d.Err())
	case has("posterior.safetensors"), has("tracks.jsonl"):
		return "scores and files", nil
	case last != "" && last != "map":
		return "sampling", nil
	}
	return "point estimates", nil
}
