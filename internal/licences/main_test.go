package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The file that the command carries is what this program writes now, and it names no folder of the machine.
func TestNoticesAreFresh(t *testing.T) {
	want, err := notices()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../cmd/starling/licences.txt")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("cmd/starling/licences.txt is not what would be written: run go generate ./cmd/starling")
	}
	if home, err := os.UserHomeDir(); err == nil && bytes.Contains(got, []byte(home)) {
		t.Errorf("cmd/starling/licences.txt names %s", home)
	}
}

// A module without a licence file, and one under a licence that is not known, are refused; all files of a licence are read.
func TestRead(t *testing.T) {
	const bsd = "Redistribution and use\r\nin source and binary forms …\nNeither the name of …"
	for what, c := range map[string]struct {
		files   map[string]string
		licence string
		err     string
	}{
		"none":         {map[string]string{"README.md": bsd, "license.go": bsd}, "", "no licence file"},
		"unknown":      {map[string]string{"COPYING": "GNU GENERAL PUBLIC LICENSE"}, "", "none of the known ones"},
		"with notice":  {map[string]string{"LICENSE.txt": " Apache License\n  Version 2.0, January 2004", "NOTICE": "by us"}, "Apache-2.0", ""},
		"three":        {map[string]string{"Licence.md": bsd}, "BSD-3-Clause", ""},
		"two":          {map[string]string{"LICENSE": strings.Split(bsd, "…")[0]}, "BSD-2-Clause", ""},
		"mozilla's":    {map[string]string{"LICENSE": "Mozilla Public License, version 2.0\nMozilla Public License Version 2.0"}, "MPL-2.0", ""},
		"written wide": {map[string]string{"LICENSE": "Permission is hereby granted,\nfree   of charge"}, "MIT", ""},
	} {
		dir := t.TempDir()
		for name, text := range c.files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		w, err := read("some/module v1", dir)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) || !strings.Contains(err.Error(), "some/module v1") {
				t.Errorf("%s: %v", what, err)
			}
			continue
		}
		if err != nil || w.licence != c.licence || strings.Contains(w.text, "\r") {
			t.Errorf("%s: %+v, %v", what, w, err)
		}
		if c.files["NOTICE"] != "" && !strings.HasSuffix(w.text, "\n\nby us") {
			t.Errorf("%s: the notice is left out: %q", what, w.text)
		}
	}
}
