//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// renamed has the new names of keys of trace lines, by their old names.
var renamed = map[string]string{"broken": "divergent", "settled": "annealed"}

// most is the largest number of differences that are listed for a file.
const most = 10

// compareRuns lists the differences between two folders of runs, by file, line and key.
func compareRuns(before, after string) (differences []string, err error) {
	for _, name := range []string{"posterior.safetensors", "map.safetensors", "map.jsonl", "particles.safetensors", "tracks.jsonl", "metrics.json", "trace.jsonl"} {
		a, err := read(filepath.Join(before, name))
		if err != nil {
			return nil, err
		}
		b, err := read(filepath.Join(after, name))
		if err != nil {
			return nil, err
		}
		var found []string
		switch {
		case (a == nil) != (b == nil):
			found = []string{fmt.Sprintf("only one of the runs has it: old %v, new %v", a != nil, b != nil)}
		case name == "trace.jsonl":
			found, err = compareTraces(a, b)
		case bytes.Equal(a, b):
		case name == "metrics.json":
			if found, err = compareLines(a, b, nil); found == nil && err == nil {
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

// read returns a file's content, and nil if there is no such file.
func read(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
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

// compareTraces compares line by line, without seconds and lag.
func compareTraces(a, b []byte) (differences []string, err error) {
	before, after := lines(a), lines(b)
	if len(before) != len(after) {
		return []string{fmt.Sprintf("%d lines, and now %d", len(before), len(after))}, nil
	}
	for i := range before {
		found, err := compareLines(before[i], after[i], renamed)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		for _, f := range found {
			differences = append(differences, fmt.Sprintf("line %d: %s", i+1, f))
		}
	}
	return differences, nil
}

func lines(text []byte) [][]byte {
	return bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
}

// compareLines compares two JSON objects key by key, as they are written: 0.1 and 0.10 differ. If names is not nil, either
// object may have the old or the new names of keys, and the keys seconds and lag do not count.
func compareLines(a, b []byte, names map[string]string) (differences []string, err error) {
	before, err := object(a, names)
	if err != nil {
		return nil, err
	}
	after, err := object(b, names)
	if err != nil {
		return nil, err
	}
	keys := append(sortedKeys(before), sortedKeys(after)...)
	slices.Sort(keys)
	for _, k := range slices.Compact(keys) {
		x, old := before[k]
		y, now := after[k]
		switch {
		case !old:
			differences = append(differences, fmt.Sprintf("%s is new: %s", k, short(y)))
		case !now:
			differences = append(differences, fmt.Sprintf("%s is gone; it was %s", k, short(x)))
		case !bytes.Equal(x, y):
			differences = append(differences, fmt.Sprintf("%s was %s and is %s", k, short(x), short(y)))
		}
	}
	return differences, nil
}

func object(text []byte, names map[string]string) (map[string]json.RawMessage, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, err
	}
	out := map[string]json.RawMessage{}
	for k, v := range raw {
		if names != nil && (k == "seconds" || k == "lag") {
			continue
		}
		if name := names[k]; name != "" {
			k = name
		}
		if out[k] != nil {
			return nil, fmt.Errorf("key %s occurs twice, by its old and by its new name", k)
		}
		var b bytes.Buffer
		if err := json.Compact(&b, v); err != nil {
			return nil, err
		}
		out[k] = b.Bytes()
	}
	return out, nil
}

func short(v json.RawMessage) string {
	const enough = 60
	if len(v) > enough {
		return string(v[:enough]) + "…"
	}
	return string(v)
}
