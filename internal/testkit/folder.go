package testkit

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/ckpt"
)

// Contents lists the size and checksum of every file of a run's folder, but not of the manifest, which depends on how often the
// run was stopped. timeless returns the trace without its seconds, which depend on it too, as do the sums of the trace in a
// checkpoint.
func Contents(t testing.TB, dir string, timeless func(trace []byte) []byte) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		switch e.Name() {
		case "manifest.json":
			b = nil
		case "trace.jsonl":
			b = timeless(b)
		case "checkpoint", "checkpoint.previous":
			b = ckpt.Without(b, "trace")
		}
		fmt.Fprintf(&out, "%s %d bytes %x\n", e.Name(), len(b), sha256.Sum256(b))
	}
	return out.String()
}

// CopyLive copies the folder of a run that is at work. A file that is being replaced may be missing, as after a kill.
func CopyLive(t testing.TB, to, from string) {
	t.Helper()
	entries, err := os.ReadDir(from)
	err = errors.Join(err, os.Mkdir(to, 0o777))
	for _, e := range entries { // the trace comes last: it has the steps of every checkpoint before it
		b, there := os.ReadFile(filepath.Join(from, e.Name()))
		if errors.Is(there, fs.ErrNotExist) {
			continue
		}
		err = errors.Join(err, there, os.WriteFile(filepath.Join(to, e.Name()), b, 0o666))
	}
	if err != nil {
		t.Error(err)
	}
}

// Seal returns the text of a manifest that a test has changed, with the checksum that fits it.
func Seal(manifest []byte) []byte {
	checksum := regexp.MustCompile(`"checksum": "[^"]*"`)
	sum := sha256.Sum256(checksum.ReplaceAll(manifest, []byte(`"checksum": ""`)))
	return checksum.ReplaceAll(manifest, fmt.Appendf(nil, `"checksum": "%x"`, sum))
}
