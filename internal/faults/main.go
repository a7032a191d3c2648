// Command faults breaks the program on purpose and expects a test to notice.
//
// The text files in list/ hold the deliberate faults. Each fault has a name, says what is wrong, where, and which test must
// fail; then come the old text and the new one:
//
//	smc-islands-sum: the evidence lacks the factor 1/I
//	in ./smc Combine
//	test ./smc TestCheck3IslandsCombine
//	- logsum - rng.Log(islands)
//	+ logsum
//
// "in" names a declaration of a package: a function, a method as Type.Method, a type, a variable or a constant. The old text
// must fit exactly one place of it. White space, line breaks and comments count for nothing, so that a declaration may be
// formatted anew or move to another file. A text of several lines has its mark before each line. Without new text the old one
// is deleted. Where a fault changes several places, further lines "in", "-" and "+" follow. A file that is not Go is named in
// place of a declaration. Lines that begin with # are comments.
//
// Every named test is run once on the code as it is, and must pass. Then each fault is laid over the tree, whose files stay as
// they are, its test is run, and must fail. The command reports faults that the test does not find, and those that no longer
// fit or do not compile; then its exit status is 1.
//
//	go run ./internal/faults            # all
//	go run ./internal/faults smc-       # those whose name contains smc-
//	go run ./internal/faults -share 5m  # as many as begin within 5 minutes: those of changed files first, then by rotation
//	go run ./internal/faults -list      # runs no test: prints each fault, its files, its test, and whether it fits
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

func main() {
	share := flag.Duration("share", 0, "start no fault after this `time`: first those of changed files, then by rotation")
	base := flag.String("base", "", "`commit` that files have changed since (default: where this branch left origin/main, or the last commit)")
	listing := flag.Bool("list", false, "print each fault, its files, its test and whether it fits; run no test")
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
	faults, err := readFaults(root)
	if err != nil {
		return err
	}
	faults = slices.DeleteFunc(faults, func(f *fault) bool { return !strings.Contains(f.name, part) })
	if len(faults) == 0 {
		return fmt.Errorf("no fault of %s has a name that contains %q", folder, part)
	}
	code := newCode(root)
	if listing {
		return list(code, faults)
	}
	if share > 0 {
		if faults, err = inOrder(code, faults, base); err != nil {
			return err
		}
	}
	return tryAll(code, faults, share)
}

// list prints all faults without running a test.
func list(code *code, faults []*fault) error {
	stale := 0
	for _, f := range faults {
		broken, err := code.broken(f)
		verdict := "fits"
		if err != nil {
			verdict = "BROKEN: " + err.Error()
			stale++
		}
		var files []string
		for name := range broken {
			files = append(files, name)
		}
		slices.Sort(files)
		fmt.Printf("%-34s %-40s %-60s %s\n", f.name, strings.Join(files, " "), f.test, verdict)
	}
	fmt.Printf("%d faults, %d of them fit\n", len(faults), len(faults)-stale)
	if stale > 0 {
		return fmt.Errorf("%d of %d faults must be renewed", stale, len(faults))
	}
	return nil
}

// tryAll tries the faults one after another, and starts none later than share allows; 0 is no limit.
func tryAll(code *code, faults []*fault, share time.Duration) error {
	dir, err := os.MkdirTemp("", "faults")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	began, tried, missed := time.Now(), 0, 0
	trial := &trial{code: code, dir: dir, unbroken: map[test]outcome{}}
	for _, f := range faults {
		if share > 0 && time.Since(began) >= share {
			break
		}
		tried++
		verdict, found := trial.try(f)
		if !found {
			missed++
		}
		fmt.Printf("%-34s %s\n", f.name, verdict)
	}
	fmt.Printf("%d of %d faults were tried, %d found", tried, len(faults), tried-missed)
	if tried < len(faults) {
		fmt.Printf("; next: %s", faults[tried].name)
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
