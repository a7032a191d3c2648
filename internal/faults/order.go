package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// inOrder sorts patches for a run that tries a share of them: first those that changed since base, or that break a file
// which changed; then the others. Both parts begin at a patch that advances by one with each commit, so that every patch is
// tried in turn.
func inOrder(root string, patches []*patch, base string) ([]*patch, error) {
	changed, since, err := changes(root, base)
	if err != nil {
		return nil, err
	}
	turn, err := rotation(root)
	if err != nil {
		return nil, err
	}
	ordered, first := order(patches, changed, turn)
	fmt.Printf("%d patches changed, or break files that changed, since %s; then by rotation from %s\n", first, since, patches[turn%len(patches)].name)
	return ordered, nil
}

// order is inOrder without git; first is the number of patches that concern changed files.
func order(patches []*patch, changed map[string]bool, turn int) (ordered []*patch, first int) {
	at := turn % len(patches)
	var rest []*patch
	for _, p := range slices.Concat(patches[at:], patches[:at]) {
		if changed["internal/faults/patches/"+filepath.Base(p.path)] || slices.ContainsFunc(p.files, func(f string) bool { return changed[f] }) {
			ordered = append(ordered, p)
		} else {
			rest = append(rest, p)
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
