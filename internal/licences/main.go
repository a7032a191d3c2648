// Command licences writes the licences of everything that is linked into the starling command, into the file that the command
// carries and prints with starling version --licences. These texts must go with every copy of the binary.
//
//	go generate ./cmd/starling
//
// The modules are those of the command's imports on any of the systems that .ci/run builds for, so that the file is the same
// wherever it is written. It fails for a module without a licence file, and for a licence that it does not know.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const command = "github.com/starling-smc/starling/cmd/starling"

// systems are those whose imports are listed: each may need a module that others do not.
var systems = []string{"linux", "darwin", "windows"}

// known are the licences that starling can be distributed with, and words by which their texts are told: the first that fit
// count.
var known = []struct{ name, words string }{
	{"Apache-2.0", "Apache License Version 2.0"},
	{"MIT", "Permission is hereby granted, free of charge"},
	{"MPL-2.0", "Mozilla Public License Version 2.0"},
	{"BSD-3-Clause", "Neither the name of"},
	{"BSD-2-Clause", "Redistribution and use in source and binary forms"},
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("licences: ")
	if len(os.Args) != 2 {
		log.Fatal("want the file to write")
	}
	text, err := notices()
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(os.Args[1], text, 0o644); err != nil {
		log.Fatal(err)
	}
}

// work is something that is linked in, with its licence.
type work struct{ name, licence, text string }

// notices returns the whole text.
func notices() ([]byte, error) {
	works, err := linked()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprint(&b, "starling is distributed under the Apache License 2.0. The program contains the following, under their own licences.\n\n")
	for _, w := range works {
		fmt.Fprintf(&b, "  %s (%s)\n", w.name, w.licence)
	}
	for i, w := range works {
		if slices.ContainsFunc(works[:i], func(before work) bool { return before.text == w.text }) {
			continue // printed once for all that share it
		}
		fmt.Fprintf(&b, "\n%s\n", strings.Repeat("-", 80))
		for _, other := range works[i:] {
			if other.text == w.text {
				fmt.Fprintln(&b, other.name)
			}
		}
		fmt.Fprintf(&b, "\n%s\n", w.text)
	}
	return b.Bytes(), nil
}

// linked lists Go's own library, and the modules by their paths.
func linked() ([]work, error) {
	dirs := map[string]string{} // by module and version
	for _, system := range systems {
		modules, err := imports(system)
		if err != nil {
			return nil, err
		}
		for _, m := range modules {
			dirs[m.Path+" "+m.Version] = m.Dir
		}
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	dirs["Go's standard library"] = strings.TrimSpace(string(root))
	var works []work
	for name, dir := range dirs {
		w, err := read(name, dir)
		if err != nil {
			return nil, err
		}
		works = append(works, w)
	}
	slices.SortFunc(works, func(a, b work) int { return cmp.Compare(a.name, b.name) }) // Go's begins with a capital letter
	return works, nil
}

type module struct {
	Path, Version, Dir string
	Main               bool
}

// imports lists the modules whose packages the command imports on a system, other than its own.
func imports(system string) (modules []module, err error) {
	list := exec.Command("go", "list", "-deps", "-json=Module", command)
	list.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ Module *module }
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return modules, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if p.Module != nil && !p.Module.Main {
			modules = append(modules, *p.Module)
		}
	}
}

var licenceFile = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice)(\.txt|\.md)?$`)

// read reads the licence, and the notice that goes with some, from the folder of a module.
func read(name, dir string) (work, error) {
	w := work{name: name}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return w, fmt.Errorf("%s: %w", name, err)
	}
	var texts []string
	for _, e := range entries { // sorted
		if e.IsDir() || !licenceFile.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return w, fmt.Errorf("%s: %w", name, err)
		}
		texts = append(texts, strings.Trim(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n"))
	}
	if texts == nil {
		return w, fmt.Errorf("%s: no licence file in %s: take another module, or ask its authors", name, dir)
	}
	w.text = strings.Join(texts, "\n\n")
	if w.licence = kind(w.text); w.licence == "" {
		return w, fmt.Errorf("%s: a licence that is none of the known ones: read %s; if it permits distribution, add it to known", name, dir)
	}
	return w, nil
}

// kind names a licence by its text; empty if it is not known.
func kind(text string) string {
	text = strings.Join(strings.Fields(strings.ReplaceAll(text, ",", "")), " ")
	for _, k := range known {
		if strings.Contains(text, strings.ReplaceAll(k.words, ",", "")) {
			return k.name
		}
	}
	return ""
}
