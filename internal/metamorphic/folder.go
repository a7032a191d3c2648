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

	"github.com/starling-smc/starling/internal/testkit"
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
	all := maps.Clone(old)
	maps.Copy(all, now)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if slices.Contains(except, name) {
			continue
		}
		found := compare(name, old[name], now[name])
		if n := len(found); n > most {
			found = append(found[:most:most], fmt.Sprintf("and %d more", n-most))
		}
		for _, f := range found {
			differences = append(differences, name+": "+f)
		}
	}
	return differences, nil
}

// contents are the files of a run's folder, without times.
func contents(dir string) (map[string][]byte, error) {
	entries, err := os.ReadDir(dir)
	files := map[string][]byte{}
	for _, e := range entries {
		b, unread := os.ReadFile(filepath.Join(dir, e.Name()))
		if unread != nil {
			return nil, unread
		}
		files[e.Name()] = append([]byte{}, testkit.Timeless(e.Name(), b)...) // not nil
	}
	return files, err
}

// compare lists the differences of a file; nil stands for none.
func compare(name string, a, b []byte) (differences []string) {
	if a == nil || b == nil {
		return []string{fmt.Sprintf("only one of the runs has it: before %v, after %v", a != nil, b != nil)}
	}
	switch filepath.Ext(name) {
	case ".json":
		differences = compareObjects(a, b)
	case ".jsonl":
		before, after := slices.Collect(bytes.Lines(a)), slices.Collect(bytes.Lines(b))
		if len(before) != len(after) {
			return []string{fmt.Sprintf("%d lines, and now %d", len(before), len(after))}
		}
		for i := range before {
			for _, f := range compareObjects(before[i], after[i]) {
				differences = append(differences, fmt.Sprintf("line %d: %s", i+1, f))
			}
		}
	}
	if differences != nil || bytes.Equal(a, b) {
		return differences
	}
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	return []string{fmt.Sprintf("byte %d of %d and %d", at, len(a), len(b))}
}

// compareObjects compares two JSON objects key by key, as they are written: 0.1 and 0.10 differ.
func compareObjects(a, b []byte) (differences []string) {
	var before, after map[string]json.RawMessage
	if json.Unmarshal(a, &before) != nil || json.Unmarshal(b, &after) != nil {
		return nil
	}
	all := maps.Clone(before)
	maps.Copy(all, after)
	for _, k := range slices.Sorted(maps.Keys(all)) {
		switch x, y := compact(before[k]), compact(after[k]); {
		case x == y:
		case x == "":
			differences = append(differences, fmt.Sprintf("%s is new: %.60s", k, y))
		case y == "":
			differences = append(differences, fmt.Sprintf("%s is gone; it was %.60s", k, x))
		default:
			differences = append(differences, fmt.Sprintf("%s was %.60s and is %.60s", k, x, y))
		}
	}
	return differences
}

func compact(v json.RawMessage) string {
	var b bytes.Buffer
	json.Compact(&b, v) // it is JSON, or is missing
	return b.String()
}
