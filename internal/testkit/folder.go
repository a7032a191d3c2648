package testkit

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/ckpt"
)

// Contents lists the size and checksum of every file of a run's folder, without times, but not of the manifest, which depends on how
// often the run was stopped.
func Contents(t testing.TB, dir string) string {
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
		if e.Name() == "manifest.json" {
			b = nil
		}
		b = Timeless(e.Name(), b)
		fmt.Fprintf(&out, "%s %d bytes %x\n", e.Name(), len(b), sha256.Sum256(b))
	}
	return out.String()
}

// Timeless returns a file of a run's folder without times, which depend on the machine and on how often the run was stopped: the lines of
// a trace without them, a manifest with what it says of the results, a checkpoint without its trace, and no page.
func Timeless(name string, b []byte) []byte {
	switch name {
	case "report.html":
		return nil
	case "checkpoint", "checkpoint.previous":
		return ckpt.Without(b, "trace")
	case "manifest.json":
		return object(b, func(key string) bool {
			return !slices.Contains([]string{"kind", "status", "data", "notes", "findings"}, key)
		})
	case "trace.jsonl":
		var out []byte
		for line := range bytes.Lines(b) {
			out = append(out, object(line, func(key string) bool { return key == "seconds" || key == "lag" })...)
		}
		return out
	}
	return b
}

// object is a line with the JSON object of b without some keys, as it is written; b where it is none.
func object(b []byte, without func(key string) bool) []byte {
	var values map[string]json.RawMessage
	if json.Unmarshal(b, &values) != nil {
		return b
	}
	maps.DeleteFunc(values, func(key string, _ json.RawMessage) bool { return without(key) })
	out, err := json.Marshal(values)
	if err != nil {
		return b
	}
	return append(out, '\n')
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
