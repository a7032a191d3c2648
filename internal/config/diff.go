package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// listed is the largest number of differing values that Diff lists. A config for something else differs in nearly all of
// them.
const listed = 8

// Diff compares two configs that Encode wrote. Its error lists the values that differ by their paths, at most 8 of them; it
// is nil if none differ.
func Diff(was, is []byte) error {
	if bytes.Equal(was, is) {
		return nil
	}
	before, f := parse(was)
	if f != nil {
		return fmt.Errorf("the config as it was: %s", f.message)
	}
	now, f := parse(is)
	if f != nil {
		return fmt.Errorf("the config as it is: %s", f.message)
	}
	var paths []string
	old, young := map[string]string{}, map[string]string{}
	now.leaves("", func(path, value string) { young[path], paths = value, append(paths, path) })
	before.leaves("", func(path, value string) {
		if old[path] = value; young[path] == "" {
			paths = append(paths, path)
		}
	})
	var lines []string
	for _, path := range paths {
		if a, b := old[path], young[path]; a != b {
			line := fmt.Sprintf("%s: %s, but the run was begun with %s", path, cmp.Or(b, "not set"), a)
			if a == "" {
				line = fmt.Sprintf("%s: %s, but the run was begun without it", path, b)
			}
			lines = append(lines, line)
		}
	}
	if more := len(lines) - listed; more > 0 {
		lines = append(lines[:listed], fmt.Sprintf("… and %d more", more))
	}
	if lines == nil {
		return nil
	}
	return errors.New(strings.Join(lines, "\n"))
}

// leaves calls f for every leaf below n: every scalar and every empty table or list.
func (n *node) leaves(path string, f func(path, value string)) {
	if len(n.items) == 0 {
		f(path, n.flow())
		return
	}
	for i, item := range n.items {
		step := fmt.Sprint(i)
		if n.table {
			step = n.keys[i].name
		}
		item.leaves(join(path, step), f)
	}
}

// Difference is a value in which configs differ.
type Difference struct {
	Path   string
	Values []string // of each config; a dash: it does not have the value
}

// Differences lists the values in which configs that Encode wrote differ, in the order of the first config that has them. Texts that are
// no configs have no values.
func Differences(texts ...[]byte) (all []Difference) {
	at := map[string]int{}
	for i, text := range texts {
		n, f := parse(text)
		if f != nil {
			continue
		}
		n.leaves("", func(path, value string) {
			if _, ok := at[path]; !ok {
				at[path] = len(all)
				all = append(all, Difference{path, slices.Repeat([]string{"–"}, len(texts))})
			}
			all[at[path]].Values[i] = value
		})
	}
	return slices.DeleteFunc(all, func(d Difference) bool {
		return !slices.ContainsFunc(d.Values, func(v string) bool { return v != d.Values[0] })
	})
}
