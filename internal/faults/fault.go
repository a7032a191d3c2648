package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// folder holds the files of faults, from the root of the tree.
const folder = "internal/faults/list"

// fault is one deliberate fault.
type fault struct {
	name, what string // what it breaks
	test       test   // that must fail
	edits      []edit
	file       string // that lists it
}

// test is a test of a package.
type test struct{ pkg, name string }

func (t test) String() string { return t.pkg + " " + t.name }

// edit puts a new text in the place of an old one.
type edit struct {
	pkg, decl string // the package's folder, and a declaration of it or a file in it
	old, new  string
}

func (e edit) place() string { return e.pkg + " " + e.decl }

// readFaults reads all faults of a tree, in the order of the files.
func readFaults(root string) ([]*fault, error) {
	paths, err := filepath.Glob(filepath.Join(root, folder, "*.txt")) // sorted
	if err != nil {
		return nil, err
	}
	var all []*fault
	first := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		name := folder + "/" + filepath.Base(path)
		faults, err := parse(name, string(text))
		if err != nil {
			return nil, err
		}
		for _, f := range faults {
			if other, ok := first[f.name]; ok {
				return nil, fmt.Errorf("%s: the name %s is taken, in %s: choose another", name, f.name, other)
			}
			first[f.name] = name
		}
		all = append(all, faults...)
	}
	return all, nil
}

var (
	headLine = regexp.MustCompile(`^([a-z0-9-]+): (.+)$`)
	nameLine = regexp.MustCompile(`^(in|test) (\S+) (\S+)$`)
)

// parse reads the faults of a file; main.go describes its form.
func parse(path, text string) (faults []*fault, err error) {
	var f *fault
	var in edit     // whose texts come next
	mark := byte(0) // of the line before: '-' and '+' are parts of a text
	finish := func() error {
		switch {
		case f == nil:
		case f.test.name == "":
			return fmt.Errorf("%s: %s names no test: write a line \"test PACKAGE NAME\"", path, f.name)
		case len(f.edits) == 0:
			return fmt.Errorf("%s: %s has no old text: write lines that begin with \"- \"", path, f.name)
		}
		return nil
	}
	for i, line := range strings.Split(text, "\n") {
		wrong := func(why string) error { return fmt.Errorf("%s:%d: %s", path, i+1, why) }
		switch before := mark; {
		case strings.TrimSpace(line) == "" || line[0] == '#':
			mark = 0
		case line[0] == '-' || line[0] == '+':
			mark = line[0]
			body := strings.TrimPrefix(line[1:], " ") + "\n"
			switch {
			case f == nil || in.decl == "":
				return nil, wrong("a text belongs below a line \"in PACKAGE DECLARATION\"")
			case mark == '-' && before != '-':
				f.edits = append(f.edits, edit{pkg: in.pkg, decl: in.decl, old: body})
			case mark == '-':
				f.edits[len(f.edits)-1].old += body
			case before == 0:
				return nil, wrong("a new text belongs below an old one: write what is there in lines that begin with \"- \"")
			default:
				f.edits[len(f.edits)-1].new += body
			}
		default:
			mark = 0
			if m := nameLine.FindStringSubmatch(line); m != nil && f != nil {
				if m[1] == "in" {
					in = edit{pkg: m[2], decl: m[3]}
				} else {
					f.test = test{m[2], m[3]}
				}
				continue
			}
			m := headLine.FindStringSubmatch(line)
			if m == nil {
				return nil, wrong("want \"name: what is wrong\", \"in PACKAGE DECLARATION\", \"test PACKAGE NAME\", or a text behind \"- \" or \"+ \"")
			}
			if err := finish(); err != nil {
				return nil, err
			}
			f, in = &fault{name: m[1], what: m[2], file: path}, edit{}
			faults = append(faults, f)
		}
	}
	return faults, finish()
}
