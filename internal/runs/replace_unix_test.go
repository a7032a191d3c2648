//go:build unix

package runs

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// replacesRule, behind the name of a folder, makes a child of this test process replace the rule of the run in it again and again.
const replacesRule = "replacesRule"

func replaceForever(dir string) int {
	for i := 0; ; i++ {
		r, err := Read(dir, ruledKind)
		if err == nil {
			err = r.Replace(textFile(rule, strings.Repeat(string(rune('0'+i%10)), 10_000)), nil)
		}
		if err != nil {
			fmt.Fprint(os.Stderr, err)
			return 1
		}
	}
}

// TestReplaceKilled: a process that is killed at any instant leaves a whole rule that the manifest lists, and the next one goes on. Of
// thirty instants some lie within a replacement, since there is nothing else that the process does.
func TestReplaceKilled(t *testing.T) {
	dir := ruled(t, "old").Dir
	within := 0
	for i := range 30 {
		cmd, stderr := child(t, filepath.Join(dir, replacesRule), "")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		locked := func() bool {
			pid, _ := os.ReadFile(filepath.Join(dir, lockFile))
			return string(pid) == fmt.Sprint(cmd.Process.Pid)
		}
		await(t, "its lock", locked)
		time.Sleep(time.Duration(i*173) * time.Microsecond)
		cmd.Process.Kill()
		if cmd.Wait(); cmd.ProcessState.ExitCode() != -1 {
			t.Fatalf("it ended before: %s", stderr)
		}
		if got, said := rules(t, dir); got != "old" && (len(got) != 10_000 || strings.Count(got, got[:1]) != len(got)) {
			t.Errorf("instant %d: rule %.20q; %s", i, got, said)
		} else if strings.Contains(said, nextSuffix) || locked() {
			within++
		}
	}
	if within == 0 {
		t.Error("no process was killed within a replacement: the test says nothing")
	}
	if err := reread(t, dir).Replace(textFile(rule, "last"), nil); err != nil {
		t.Error(err)
	}
	if got, _ := rules(t, dir); got != "last" {
		t.Errorf("in the end %q", got)
	}
}

// TestReplaceNoRoom: where the manifest cannot be written any more, as on a full disk, the old rule stays, and the new one does not lie about.
func TestReplaceNoRoom(t *testing.T) {
	dir := ruled(t, "old", strings.Repeat("a long note, ", 6000)).Dir
	was := files(t, dir)
	cmd, stderr := child(t, filepath.Join(dir, replacesRule), "ulimit -f 100;") // blocks of 512 bytes; the manifest has 78,000 bytes, the rule 10,000
	if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("%v: %s", err, stderr)
	}
	if says := "the run in " + dir + " stays as it was: " + filepath.Join(dir, manifestFile) + " is as it was before: "; !bytes.HasPrefix(stderr.Bytes(), []byte(says)) {
		t.Errorf("%s\nwant %s", stderr, says)
	}
	if is := files(t, dir); len(is) != len(was) || is[rule] != "old" || is[manifestFile] != was[manifestFile] {
		t.Errorf("left %d files, there were %d; rule %.20q", len(is), len(was), is[rule])
	}
	if got, said := rules(t, dir); got != "old" || said != "" {
		t.Errorf("rule %q; %s", got, said)
	}
}
