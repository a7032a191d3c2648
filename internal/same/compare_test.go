//go:build unix

package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestCompareRuns finds each kind of difference, and none if only seconds and the names of keys differ.
func TestCompareRuns(t *testing.T) {
	base := map[string]string{
		"posterior.safetensors": "abc", "metrics.json": `{"accuracy": 0.5, "nll": "NaN"}`,
		"trace.jsonl": `{"k":1,"broken":0,"settled":3,"seconds":0.5}` + "\n" + `{"k":2,"broken":1,"settled":3,"seconds":1}` + "\n",
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
		{"trace.jsonl", `{"seconds":9,"k":1,"divergent":0,"annealed":3}` + "\n" + `{"k":2,"divergent":1,"annealed":3}` + "\n", nil},
		{"trace.jsonl", `{"k":1,"divergent":0,"annealed":3}` + "\n" + `{"k":2,"divergent":2,"annealed":3,"mood":"good"}` + "\n",
			[]string{"trace.jsonl: line 2: divergent was 1 and is 2", `trace.jsonl: line 2: mood is new: "good"`}},
		{"trace.jsonl", `{"k":1,"broken":0}` + "\n" + `{"k":2.0,"broken":1,"settled":3}` + "\n",
			[]string{"trace.jsonl: line 1: annealed is gone; it was 3", "trace.jsonl: line 2: k was 2 and is 2.0"}},
		{"trace.jsonl", `{"k":1}` + "\n", []string{"trace.jsonl: 2 lines, and now 1"}},
		{"posterior.safetensors", "abd", []string{"posterior.safetensors: byte 2 of 3 and 3"}},
		{"posterior.safetensors", "ab", []string{"posterior.safetensors: byte 2 of 3 and 2"}},
		{"posterior.safetensors", "", []string{"posterior.safetensors: only one of the runs has it: old true, new false"}},
		{"metrics.json", `{"accuracy": 0.5, "nll": 2}`, []string{`metrics.json: nll was "NaN" and is 2`}},
		{"metrics.json", `{"accuracy":0.5, "nll": "NaN"}`, []string{"metrics.json: the same values, but other bytes"}},
	} {
		got, err := compareRuns(before, folder(map[string]string{c.file: c.text}))
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s %s: %q, %v, want %q", c.file, c.text, got, err, c.want)
		}
	}
	if _, err := compareRuns(before, folder(map[string]string{"trace.jsonl": `{"k":1,"broken":0,"divergent":1}` + "\n{}\n"})); err == nil {
		t.Error("a key by both of its names is read")
	}
}

func TestMedian(t *testing.T) {
	costs := []cost{{3, 1, 5}, {1, 2, 5}, {2, 9, 4}, {9, 8, 5}, {8, 7, 1}}
	if got := median(costs); got != (cost{3, 7, 5}) {
		t.Errorf("%v", got)
	}
}
