package main

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// inOrder sorts faults for a run that tries a share of them: first those that changed since base, or that break a file
// which changed; then the others. Both parts begin at a fault that advances by one with each commit, so that every fault is
// tried in turn.
func inOrder(code *code, faults []*fault, base string) ([]*fault, error) {
	changed, since, err := changes(code.root, base)
	if err != nil {
		return nil, err
	}
	turn, err := rotation(code.root)
	if err != nil {
		return nil, err
	}
	former := map[string]*fault{} // of base
	for name := range changed {
		if text, err := git(code.root, "show", since+":"+name); err == nil && strings.HasPrefix(name, folder+"/") {
			old, _ := parse(name, text) // those that were in another form have changed
			for _, f := range old {
				former[f.name] = f
			}
		}
	}
	ordered, first := order(faults, turn, func(f *fault) bool {
		if old, ok := former[f.name]; changed[f.file] && !(ok && reflect.DeepEqual(old, f)) {
			return true
		}
		broken, _ := code.broken(f) // where it fits nowhere, trying it says so
		for name := range broken {
			if changed[name] {
				return true
			}
		}
		return false
	})
	fmt.Printf("%d faults changed, or break files that changed, since %s; then by rotation from %s\n", first, since, faults[turn%len(faults)].name)
	return ordered, nil
}

// order is inOrder without git; first is the number of faults that come first because they changed.
func order(faults []*fault, turn int, changed func(*fault) bool) (ordered []*fault, first int) {
	at := turn % len(faults)
	var rest []*fault
	for _, f := range slices.Concat(faults[at:], faults[:at]) {
		if changed(f) {
			ordered = append(ordered, f)
		} else {
			rest = append(rest, f)
		}
	}
	return append(ordered, rest...), len(ordered)
}

// changes returns the tracked files that differ from base, committed or not. The default base is where the branch left
// origin/main; on main itself it is the commit before the last. A clone of a single commit has no base, and no changes.
func changes(root, base string) (files map[string]bool, since string, err error) {
	if base == "" {
		head, err := git(root, "rev-parse", "HEAD")
		if err != nil {
			return nil, "", fmt.Errorf("git rev-parse HEAD: %w", err)
		}
		if base, err = git(root, "merge-base", "HEAD", "origin/main"); err != nil || base == head {
			if base, err = git(root, "rev-parse", "--verify", "--quiet", "HEAD~1"); err != nil {
				return nil, "the commit before, which this clone lacks", nil
			}
		}
	}
	out, err := git(root, "diff", "--name-only", "-z", base, "--")
	if err != nil {
		return nil, "", fmt.Errorf("git diff %s: %w", base, err)
	}
	files = map[string]bool{}
	for f := range strings.SplitSeq(out, "\x00") {
		if f != "" {
			files[f] = true
		}
	}
	return files, base[:min(len(base), 12)], nil
}

// rotation is a number that grows with each commit: the number of commits or, in a shallow clone, which does not know it,
// the time of the last commit in seconds.
func rotation(root string) (int, error) {
	args := []string{"rev-list", "--count", "HEAD"}
	if shallow, err := git(root, "rev-parse", "--is-shallow-repository"); err == nil && shallow == "true" {
		args = []string{"log", "-1", "--format=%ct"}
	}
	out, err := git(root, args...)
	if err != nil {
		return 0, fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return strconv.Atoi(out)
}
