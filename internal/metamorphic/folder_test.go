//go:build unix

package metamorphic

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestDifferences finds each kind of difference, and none if only times differ.
func TestDifferences(t *testing.T) {
	base := map[string]string{
		"posterior.safetensors": "abc", "metrics.json": `{"accuracy": 0.5, "nll": "NaN"}`, "manifest.json": `{"status": "done", "seconds": 3}`,
		"trace.jsonl": `{"k":1,"divergent":0,"seconds":0.5}` + "\n" + `{"k":2,"divergent":1,"seconds":1}` + "\n",
	}
	folder := func(changes map[string]string) string {
		dir := t.TempDir()
		for name, text := range base {
			if changed, ok := changes[name]; ok {
				text = changed
			}
			if text == "" {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	before := folder(nil)
	for _, c := range []struct {
		file, text string
		want       []string
	}{
		{"trace.jsonl", `{"seconds":9,"k":1,"divergent":0}` + "\n" + `{"k":2,"lag":3,"divergent":1}` + "\n", nil},
		{"trace.jsonl", `{"k":1,"divergent":0}` + "\n" + `{"k":2,"divergent":2,"mood":"good"}` + "\n",
			[]string{"trace.jsonl: line 2: divergent was 1 and is 2", `trace.jsonl: line 2: mood is new: "good"`}},
		{"trace.jsonl", `{"k":1}` + "\n" + `{"k":2.0,"divergent":1}` + "\n",
			[]string{"trace.jsonl: line 1: divergent is gone; it was 0", "trace.jsonl: line 2: k was 2 and is 2.0"}},
		{"trace.jsonl", `{"k":1}` + "\n", []string{"trace.jsonl: 2 lines, and now 1"}},
		{"posterior.safetensors", "abd", []string{"posterior.safetensors: byte 2 of 3 and 3"}},
		{"posterior.safetensors", "ab", []string{"posterior.safetensors: byte 2 of 3 and 2"}},
		{"posterior.safetensors", "", []string{"posterior.safetensors: only one of the runs has it: before true, after false"}},
		{"metrics.json", `{"accuracy": 0.5, "nll": 2}`, []string{`metrics.json: nll was "NaN" and is 2`}},
		{"metrics.json", `{"accuracy":0.5, "nll": "NaN"}`, []string{"metrics.json: byte 12 of 31 and 30"}},
		{"manifest.json", `{"status": "done", "seconds": 4}`, nil},
		{"manifest.json", `{"status": "failed", "seconds": 3}`, []string{`manifest.json: status was "done" and is "failed"`}},
	} {
		after := folder(map[string]string{c.file: c.text})
		got, err := Differences(before, after)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s %s: %q, %v, want %q", c.file, c.text, got, err, c.want)
		}
		if got, err := Differences(before, after, c.file); err != nil || got != nil {
			t.Errorf("%s %s: %q, %v, although the file does not count", c.file, c.text, got, err)
		}
	}
}
