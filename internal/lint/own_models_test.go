package lint

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"testing"

	"github.com/starling-smc/starling/internal/testkit"
)

var update = flag.Bool("update", false, "write what the programs of docs/own-*.md print into the pages")

// TestOwnModels compiles and runs the programs of docs/own-*.md as a user would, and compares what they print with what the pages
// say.
func TestOwnModels(t *testing.T) {
	testkit.Takes(t, 1)
	for name, programs := range map[string]int{"own-models": 3, "own-state-space-models": 1} {
		t.Run(name, func(t *testing.T) { runPage(t, "../../docs/"+name+".md", programs) })
	}
}

// runPage runs the programs of a page; want is their number.
func runPage(t *testing.T, page string, want int) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	programs := regexp.MustCompile("(?s)```go\n(package main.*?)```\n\nIt prints:\n\n```text\n(.*?)```").FindAllSubmatch(text, -1)
	if len(programs) != want {
		t.Fatalf("%s has %d programs with what they print, want %d", page, len(programs), want)
	}
	for i, p := range programs {
		program, says := p[1], p[2]
		printed := asUser(t, "run .", map[string][]byte{"main.go": program})
		if bytes.Equal(printed, says) {
			continue
		}
		if !*update {
			t.Errorf("program %d of %s prints\n%s\nthe page says\n%s\n(go test ./internal/lint -run OwnModels -update writes the page)",
				i+1, page, printed, says)
			continue
		}
		said := append(program[:len(program):len(program)], "```\n\nIt prints:\n\n```text\n"...)
		text = bytes.Replace(text, append(said[:len(said):len(said)], says...), append(said[:len(said):len(said)], printed...), 1)
	}
	if *update {
		if err := os.WriteFile(page, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
