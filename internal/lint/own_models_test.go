package lint

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"testing"
)

var update = flag.Bool("update", false, "write what the programs of docs/own-models.md print into the page")

// TestOwnModels compiles and runs the programs of docs/own-models.md as a user would, and compares what they print with what the
// page says.
func TestOwnModels(t *testing.T) {
	if testing.Short() {
		t.Skip("samples three posteriors")
	}
	const page = "../../docs/own-models.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	programs := regexp.MustCompile("(?s)```go\n(package main.*?)```\n\nIt prints:\n\n```text\n(.*?)```").FindAllSubmatch(text, -1)
	if len(programs) != 3 {
		t.Fatalf("%s has %d programs with what they print, want 3", page, len(programs))
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
