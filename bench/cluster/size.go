package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// before is the last revision without a cluster.
const before = "b993c681952fa3c537475f10609f30b98901fa89"

// size measures the command, stripped and without cgo, and lists the modules of a program that imports the library.
func size(ctx context.Context, b *bench) error {
	revisions := []struct{ name, revision string }{{"before", before}, {"now", "HEAD"}}
	fmt.Println("| | bytes of the command | modules linked | modules of a program that imports starling |\n|---|---|---|---|")
	var lists [][]string
	for _, r := range revisions {
		dir := filepath.Join(b.temp, "size-"+r.name)
		if err := show(ctx, "sh", "-c", `mkdir "$1" && git archive "$2" | tar x -C "$1"`, "sh", dir, r.revision); err != nil {
			return err
		}
		bytes, linked, err := commandOf(ctx, dir)
		if err != nil {
			return err
		}
		list, err := tidied(ctx, filepath.Join(b.temp, "imports-"+r.name), dir)
		if err != nil {
			return err
		}
		lists = append(lists, list)
		fmt.Printf("| %s | %.1f MB | %d | %d |\n", r.name, float64(bytes)/1e6, linked, len(list))
	}
	fmt.Printf("\nThese modules are, before: %s\nnow: %s\n", strings.Join(lists[0], ", "), strings.Join(lists[1], ", "))
	return nil
}

// commandOf builds the command of a source tree.
func commandOf(ctx context.Context, dir string) (bytes int64, modules int, err error) {
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", "command", "./cmd/starling")
	c.Dir, c.Env, c.Stderr = dir, append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
	if err := c.Run(); err != nil {
		return 0, 0, err
	}
	path := filepath.Join(dir, "command")
	info, err := os.Stat(path)
	if err != nil {
		return 0, 0, err
	}
	text, err := exec.CommandContext(ctx, "go", "version", "-m", path).Output()
	return info.Size(), strings.Count(string(text), "\n\tdep\t"), err
}

// tidied are the modules, beside starling, that go mod tidy lists for a program that imports the library and nothing else.
func tidied(ctx context.Context, dir, library string) (modules []string, err error) {
	if err := os.Mkdir(dir, 0o777); err != nil {
		return nil, err
	}
	const module = "github.com/starling-smc/starling"
	files := map[string]string{
		"go.mod":  "module example.org/scratch\n\ngo 1.26\n\nrequire " + module + " v0.0.0\n\nreplace " + module + " => " + library + "\n",
		"main.go": "package main\n\nimport _ \"" + module + "\"\n\nfunc main() {}\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return nil, err
		}
	}
	c := exec.CommandContext(ctx, "go", "mod", "tidy")
	c.Dir, c.Stderr = dir, os.Stderr
	if err := c.Run(); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		name := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(name) >= 2 && strings.HasPrefix(name[1], "v") && name[0] != module {
			modules = append(modules, name[0])
		}
	}
	return modules, nil
}
