//go:build unix

package metamorphic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/starling-smc/starling/internal/ckpt"
)

// most is the largest number of differences that are listed for a file.
const most = 10

// Differences lists where two folders of runs differ, by file, line and key. Times do not count, nor do the files in except.
func Differences(before, after string, except ...string) (differences []string, err error) {
	old, err := contents(before)
	if err != nil {
		return nil, err
	}
	now, err := contents(after)
	if err != nil {
		return nil, err
	}
	names := slices.Concat(slices.Collect(maps.Keys(old)), slices.Collect(maps.Keys(now)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if slices.Contains(except, name) {
			continue
		}
		a, b := old[name], now[name]
		var found []string
		switch {
		case (a == nil) != (b == nil):
			found = []string{fmt.Sprintf("only one of the runs has it: before %v, after %v", a != nil, b != nil)}
		case name == "manifest.json":
			found, err = compareObjects(a, b, func(key string) bool { return strings.Contains(" kind status data notes findings ", " "+key+" ") })
		case name == "trace.jsonl":
			found, err = compareTraces(a, b)
		case bytes.Equal(a, b):
		case name == "metrics.json":
			if found, err = compareObjects(a, b, func(string) bool { return true }); found == nil && err == nil {
				found = []string{"the same values, but other bytes"}
			}
		default:
			found = []string{fmt.Sprintf("byte %d of %d and %d", mismatch(a, b), len(a), len(b))}
		}
		if err != nil {
			return nil, fmt.Errorf("%s of %s and %s: %w", name, before, after, err)
		}
		if n := len(found); n > most {
			found = append(found[:most:most], fmt.Sprintf("and %d more", n-most))
		}
		for _, f := range found {
			differences = append(differences, name+": "+f)
		}
	}
	return differences, nil
}

// contents are the files of a run's folder. The page shows times, and is left out; so is the trace in a checkpoint.
func contents(dir string) (map[string][]byte, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		switch e.Name() {
		case "report.html":
			continue
		case "checkpoint":
			b = ckpt.Without(b, "trace")
		}
		files[e.Name()] = append([]byte{}, b...) // an empty file is not nil
	}
	return files, nil
}

// mismatch is the index of the first byte that differs.
func mismatch(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// compareTraces compares line by line, without times.
func compareTraces(a, b []byte) (differences []string, err error) {
	before, after := slices.Collect(bytes.Lines(a)), slices.Collect(bytes.Lines(b))
	if len(before) != len(after) {
		return []string{fmt.Sprintf("%d lines, and now %d", len(before), len(after))}, nil
	}
	for i := range before {
		found, err := compareObjects(before[i], after[i], func(key string) bool { return key != "seconds" && key != "lag" })
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		for _, f := range found {
			differences = append(differences, fmt.Sprintf("line %d: %s", i+1, f))
		}
	}
	return differences, nil
}

// compareObjects compares two JSON objects key by key, as they are written: 0.1 and 0.10 differ.
func compareObjects(a, b []byte, counts func(key string) bool) (differences []string, err error) {
	var before, after map[string]json.RawMessage
	if err := json.Unmarshal(a, &before); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, &after); err != nil {
		return nil, err
	}
	all := maps.Clone(before)
	maps.Copy(all, after)
	for _, k := range slices.Sorted(maps.Keys(all)) {
		x, y := compact(before[k]), compact(after[k])
		switch {
		case !counts(k) || x == y:
		case x == "":
			differences = append(differences, fmt.Sprintf("%s is new: %s", k, short(y)))
		case y == "":
			differences = append(differences, fmt.Sprintf("%s is gone; it was %s", k, short(x)))
		default:
			differences = append(differences, fmt.Sprintf("%s was %s and is %s", k, short(x), short(y)))
		}
	}
	return differences, nil
}

func compact(v json.RawMessage) string {
	var b bytes.Buffer
	json.Compact(&b, v) // what is no JSON was refused before
	return b.String()
}

func short(v string) string {
	const enough = 60
	if len(v) > enough {
		return v[:enough] + "…"
	}
	return v
}
