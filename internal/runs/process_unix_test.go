//go:build unix

package runs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-smc/starling/internal/testkit"
)

// inFolder names the folder in which a child of this test process runs a job, instead of the tests.
const inFolder = "STARLING_RUNS_TEST_FOLDER"

func TestMain(m *testing.M) {
	dir := os.Getenv(inFolder)
	switch {
	case dir == "":
		os.Exit(m.Run())
	case filepath.Base(dir) == replacesRule:
		os.Exit(replaceForever(filepath.Dir(dir)))
	}
	j := newJob()
	j.options.Every = 1
	j.before = func(ctx context.Context, k int) error { // it waits half-way, to be killed
		wait := 3 * time.Millisecond
		if k == 5 {
			wait = time.Minute
		}
		select {
		case <-time.After(wait):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := j.resume(context.Background(), dir); err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
	os.Exit(0)
}

// child runs the job in a process of its own, behind a shell command.
func child(t *testing.T, dir, before string) (cmd *exec.Cmd, stderr *bytes.Buffer) {
	t.Helper()
	cmd = exec.Command("sh", "-c", before+` exec "$0"`, os.Args[0])
	cmd.Env = append(os.Environ(), inFolder+"="+dir)
	stderr = new(bytes.Buffer)
	cmd.Stderr = stderr
	return cmd, stderr
}

// await waits for a condition.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(testkit.Patience); !is(); time.Sleep(200 * time.Microsecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited for %s in vain", what)
		}
	}
}

// TestTwoProcesses: two processes cannot work in one folder; whoever comes after one that was killed goes on, to the same
// bytes, and so again and again.
func TestTwoProcesses(t *testing.T) {
	_, want := whole(t)
	dir := filepath.Join(t.TempDir(), "run")
	for i, file := range []string{lockFile, configFile, checkpointFile, previousFile} {
		cmd, _ := child(t, dir, "")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		await(t, "its lock", func() bool {
			pid, _ := os.ReadFile(filepath.Join(dir, lockFile))
			return string(pid) == fmt.Sprint(cmd.Process.Pid)
		})
		await(t, file, func() bool { _, err := os.Stat(filepath.Join(dir, file)); return err == nil })
		if i == 2 {
			for _, take := range []func(string, Kind) (*Folder, error){TakeFolder, RetakeFolder, ResumeFolder} {
				if _, err := take(dir, fitKind); err == nil {
					t.Error("a folder is taken in which another process is at work")
				}
			}
			if err := newJob().resume(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "another run is at work in this folder (process ") {
				t.Errorf("two processes: %v", err)
			}
		}
		time.Sleep(time.Duration(i) * 7 * time.Millisecond)
		cmd.Process.Kill()
		if err := cmd.Wait(); err == nil {
			t.Errorf("the process that waits for %s was done before it was killed", file)
		}
	}
	if err := newJob().resume(t.Context(), dir); err != nil || contents(t, dir) != want {
		t.Errorf("after four kills: %v\n%s\nwant\n%s", err, contents(t, dir), want)
	}
}

// TestNoRoom: where files cannot grow any more, as on a full disk, the run stops with the name of the file, and leaves its last
// good state; with more room it goes on.
func TestNoRoom(t *testing.T) {
	_, want := whole(t)
	dir := filepath.Join(t.TempDir(), "run")
	cmd, stderr := child(t, dir, "ulimit -f 100;") // blocks of 512 bytes; the second island has 100,000
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Fatalf("%v: %s", err, stderr)
	}
	for _, says := range []string{"saving the run: " + filepath.Join(dir, checkpointFile) + " is as it was before: ", "the last good state is kept in " + dir} {
		if !strings.Contains(stderr.String(), says) {
			t.Errorf("%s\nwant %s", stderr, says)
		}
	}
	if m, err := ReadManifest(dir); err != nil || m.Status != Failed {
		t.Errorf("status %q, %v", m.Status, err)
	}
	j := newJob()
	if err := j.resume(t.Context(), dir); err != nil || contents(t, dir) != want {
		t.Errorf("with more room: %v\n%s\nwant\n%s", err, contents(t, dir), want)
	}
	if len(j.notices) > 0 {
		t.Errorf("told %q", j.notices)
	}
	dir = filepath.Join(t.TempDir(), "none", "run")
	cmd, stderr = child(t, dir, "ulimit -f 0;")
	if err := cmd.Run(); err == nil {
		t.Error("a run with no room at all")
	}
	if left, err := os.ReadDir(filepath.Dir(filepath.Dir(dir))); err != nil || len(left) != 0 {
		t.Errorf("no room at all, but left: %v, %v; %s", left, err, stderr)
	}
}
