package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/starling-smc/starling/internal/golden"
)

// command runs the command within the test's process and returns what it prints.
func command(t *testing.T, args ...string) (string, error) {
	t.Helper()
	used := false
	root := newRoot(&used)
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetArgs(args)
	err := root.Execute()
	return out.String(), err
}

// TestShowGolden: data show says of each reference file just what is expected of it.
func TestShowGolden(t *testing.T) {
	const files = "../../internal/formats/testdata"
	for _, c := range golden.Read(t, "../"+files+"/files.json") {
		t.Run(c.Name, func(t *testing.T) {
			var in struct {
				File, Delimiter string
				HasHeader       bool `json:"has_header"`
			}
			var want map[string]any
			if err := json.Unmarshal(c.Inputs, &in); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(c.Expected, &want); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(files, in.File)
			if c.Kind == "safetensors" {
				path = filepath.Join("../../internal/safetensors/testdata", in.File)
			}
			uses := [][]string{{"data", "show", "--json", "--words=false", path}}
			if c.Kind == "csv" {
				header := "--header=false"
				if in.HasHeader {
					header = "--header=true"
				}
				uses = append(uses, append(uses[0], "--delimiter", in.Delimiter, header))
			}
			for _, args := range uses {
				out, err := command(t, args...)
				if ok := want["ok"].(bool); ok != (err == nil) {
					t.Fatalf("%v: error %v, want ok %v", args, err, ok)
				}
				if err != nil {
					if out != "" {
						t.Errorf("an error, and still there is output: %s", out)
					}
					continue
				}
				var got map[string]any
				if err := json.Unmarshal([]byte(out), &got); err != nil {
					t.Fatal(err)
				}
				if got["format"] != c.Kind {
					t.Errorf("format %v, want %s", got["format"], c.Kind)
				}
				for key, value := range want {
					if shown, there := got[key]; key != "ok" && (!there || !reflect.DeepEqual(shown, value)) {
						t.Errorf("%s is %v, want %v", key, shown, value)
					}
				}
				if _, there := want["metadata"]; !there && got["metadata"] != nil {
					t.Errorf("metadata %v", got["metadata"])
				}
			}
		})
	}
}

// TestShowForPeople only looks for a crash: every reference file, as text.
func TestShowForPeople(t *testing.T) {
	paths, err := filepath.Glob("../../*/testdata/files/*")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../../internal/*/testdata/files/*")
	if err != nil || len(paths)+len(more) < 50 {
		t.Fatal(len(paths), len(more), err)
	}
	for _, path := range append(paths, more...) {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		out, err := command(t, "data", "show", path)
		if (err == nil) != (out != "") {
			t.Errorf("%s, %d bytes: error %v, output %q", path, info.Size(), err, out)
		}
	}
}

// TestShowTellsHowFar: while a large file is read, lines say how far that is.
func TestShowTellsHowFar(t *testing.T) {
	defer func(was time.Duration, stderr *os.File) { plainEvery, os.Stderr = was, stderr }(plainEvery, os.Stderr)
	plainEvery = time.Millisecond
	path := filepath.Join(t.TempDir(), "large.csv")
	if err := os.WriteFile(path, append([]byte("a,b\n"), bytes.Repeat([]byte("1,2\n"), 300_000)...), 0o666); err != nil {
		t.Fatal(err)
	}
	stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	os.Stderr = stderr
	out, err := command(t, "data", "show", path)
	text, _ := os.ReadFile(stderr.Name())
	if err != nil || !regexp.MustCompile(`(?m)^read large.csv  \d+ %  .*[0-9,]+ rows so far; --rows looks at the first alone$`).Match(text) {
		t.Errorf("%v, %q", err, text)
	}
	if !strings.Contains(out, "300,000 rows") || strings.Contains(out, "so far") {
		t.Errorf("%q", out)
	}
}
