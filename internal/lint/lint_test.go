// Package lint holds tests of the source tree itself: imports, cycles of files, builds without assembly, documents and their programs,
// links and citations.
package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/starling-smc/starling"

// level orders the packages: a package imports only packages of lower levels. A package may be listed before it exists.
var level = map[string]int{
	"cluster": 0, "internal/ckpt": 0, "internal/golden": 0, "internal/lanes": 0, "internal/numeral": 0, "internal/pool": 0, "internal/regular": 0, "internal/spelling": 0, "internal/stated": 0, "internal/table": 0, "internal/visible": 0, "presets": 0,
	"internal/cells": 1, "internal/chart": 1, "internal/config": 1, "internal/depot": 1, "internal/finding": 1, "internal/jsontext": 1, "internal/lock": 1, "internal/packed": 1, "internal/parquet": 1, "internal/rng": 1, "internal/safetensors": 1, "internal/testkit": 1,
	"cluster/broker": 1, "cluster/keyring": 1, "cluster/clustertest": 1, "cluster/server": 2,
	"internal/arrays": 2, "internal/dense": 2, "internal/fetch": 2, "internal/tables": 2, "internal/weights": 2,
	"internal/formats": 3,
	"internal/sets":    4,
	"data":             5,
	"mcmc":             6, "nn": 6, "uq": 6,
	"bayes": 7, "bnn": 7, "decide": 7, "smc": 7, "ssm": 7,
	"eval": 8, "filter": 8, "internal/runs": 8, "scans": 8,
	"filtering": 9, "method": 9,
	"sbc":          10,
	"spec":         10,
	"":             11,
	"report":       12,
	"paper":        13,
	"cmd/starling": 14,
}

// outside are packages that may import anything: tools and tests.
var outside = []string{"internal/lint", "internal/faults", "internal/metamorphic", "internal/soak", "internal/same", "internal/hostile", "internal/licences", "internal/keys", "data/_make", "bench"}

type goPackage struct {
	ImportPath, Dir string
	Export          string // file of export data, where asked for
	Imports         []string
	GoFiles, SFiles []string
}

func list(t *testing.T, args ...string) (out []goPackage) {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,Export,Imports,GoFiles,SFiles"}, args...)...)
	cmd.Dir = "../.."
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	raw, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	for {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
}

func relative(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
}

// TestImportsGoDown checks the levels of docs/architecture.md.
func TestImportsGoDown(t *testing.T) {
	for _, p := range list(t, "./...") {
		name := relative(p.ImportPath)
		skip := false
		for _, o := range outside {
			skip = skip || name == o || strings.HasPrefix(name, o+"/")
		}
		if skip {
			continue
		}
		own, ok := level[name]
		if !ok {
			t.Errorf("package %q has no level: add it to level and to docs/architecture.md", name)
			continue
		}
		for _, i := range p.Imports {
			if !strings.HasPrefix(i, module) {
				continue
			}
			other, ok := level[relative(i)]
			if !ok {
				t.Errorf("%s imports %s, which has no level: it is a tool, or is missing in level", name, relative(i))
			} else if other >= own {
				t.Errorf("%s (level %d) imports %s (level %d): imports go downward only", name, own, relative(i), other)
			}
		}
	}
}

// TestLibraryHasNoNetwork: a program that uses the library does not get an HTTP client with it. Only the command downloads.
func TestLibraryHasNoNetwork(t *testing.T) {
	for _, p := range list(t, "-deps", "./report") {
		if p.ImportPath == "net/http" {
			t.Error("./report, or what it imports, imports net/http")
		}
	}
}

// TestLibraryHasNoServer: a program that uses the library gets neither NATS's client nor its server. Only the command has them.
func TestLibraryHasNoServer(t *testing.T) {
	for _, p := range list(t, "-deps", ".", "./report") {
		if strings.HasPrefix(p.ImportPath, "github.com/nats-io/") || strings.HasPrefix(p.ImportPath, module+"/cluster/") {
			t.Errorf("the front door or ./report, or what they import, imports %s", p.ImportPath)
		}
	}
}

// TestPuregoHasNoAssembly: with the tag purego, no package has assembly, on any architecture.
func TestPuregoHasNoAssembly(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		t.Setenv("GOARCH", arch)
		for _, p := range list(t, "-tags", "purego", "./...") {
			if len(p.SFiles) > 0 {
				t.Errorf("%s: %s has %v with the tag purego", arch, p.ImportPath, p.SFiles)
			}
		}
	}
}

// TestFilesAreShort: no Go file has more than 600 lines, except generated files, which say so in their first line.
func TestFilesAreShort(t *testing.T) {
	err := filepath.WalkDir("../..", func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || path == "../../runs") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if n := bytes.Count(raw, []byte("\n")); n > 600 && !bytes.Contains(raw[:200], []byte("DO NOT EDIT")) {
			t.Errorf("%s has %d lines", path, n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
