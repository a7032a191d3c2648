// Command faults breaks the program on purpose and expects a test to notice.
//
// Every file in patches/ is one deliberate fault: a unified diff with a header that names the test which must fail,
//
//	fault: the evidence lacks the factor 1/I
//	test: ./smc TestCheck3IslandsCombine
//
// The tree's tracked files are copied to a temporary folder. There every named test is run once on the code as it is, and
// must pass. Then each patch is applied and its test is run, and must fail. The command reports faults that the test does not
// find, and patches that no longer apply or do not compile; then its exit status is 1.
//
//	go run ./internal/faults            # all
//	go run ./internal/faults smc-       # those whose file name contains smc-
//	go run ./internal/faults -share 5m  # as many as begin within 5 minutes: those of changed files first, then by rotation
//	go run ./internal/faults -list      # runs no test: prints each patch, its files, its test, and whether it applies
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	share := flag.Duration("share", 0, "start no fault after this `time`: first those of changed files, then by rotation")
	base := flag.String("base", "", "`commit` that files have changed since (default: where this branch left origin/main, or the last commit)")
	listing := flag.Bool("list", false, "print each patch, its files, its test and whether it applies; run no test")
	flag.Parse()
	if err := run(flag.Arg(0), *share, *base, *listing); err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

func run(part string, share time.Duration, base string, listing bool) error {
	root, err := git(".", "rev-parse", "--show-toplevel")
	if err != nil {
		return fmt.Errorf("not in a git checkout: %w", err)
	}
	patches, err := readPatches(filepath.Join(root, "internal/faults/patches"))
	if err != nil {
		return err
	}
	patches = slices.DeleteFunc(patches, func(p *patch) bool { return !strings.Contains(p.name, part) })
	if len(patches) == 0 {
		return fmt.Errorf("no patch in %s", filepath.Join(root, "internal/faults/patches"))
	}
	if listing {
		return list(root, patches)
	}
	if share > 0 {
		if patches, err = inOrder(root, patches, base); err != nil {
			return err
		}
	}
	return tryAll(root, patches, share)
}

// list prints all patches without running a test.
func list(root string, patches []*patch) error {
	stale := 0
	for _, p := range patches {
		verdict := "applies"
		if problem := p.problem(root); problem != "" {
			verdict = problem
			stale++
		}
		fmt.Printf("%-34s %-40s %-60s %s\n", p.name, strings.Join(p.files, " "), strings.Join(p.test, " "), verdict)
	}
	fmt.Printf("%d patches, %d of them apply\n", len(patches), len(patches)-stale)
	if stale > 0 {
		return fmt.Errorf("%d of %d patches must be renewed", stale, len(patches))
	}
	return nil
}

// tryAll runs the patches in a copy of the tree, and starts none later than share allows; 0 is no limit.
func tryAll(root string, patches []*patch, share time.Duration) error {
	dir, err := os.MkdirTemp("", "faults")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := copyTree(root, dir); err != nil {
		return err
	}
	began, tried, missed := time.Now(), 0, 0
	tree := &tree{dir: dir, unbroken: map[string]outcome{}}
	for _, p := range patches {
		if share > 0 && time.Since(began) >= share {
			break
		}
		tried++
		verdict, found := tree.try(p)
		if !found {
			missed++
		}
		fmt.Printf("%-34s %s\n", p.name, verdict)
	}
	fmt.Printf("%d of %d faults were tried, %d found", tried, len(patches), tried-missed)
	if tried < len(patches) {
		fmt.Printf("; next: %s", patches[tried].name)
	}
	fmt.Println()
	if missed > 0 {
		return fmt.Errorf("%d of %d faults were not found", missed, tried)
	}
	return nil
}

// git runs a git command in a folder and returns its output without white space around it.
func git(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}
