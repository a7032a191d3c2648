package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/starling-smc/starling/internal/testkit"
)

func TestGettingStarted(t *testing.T) {
	testkit.Elsewhere(t)
	carryOut(t, "docs/getting-started.md", "exists runs/rents/report.html runs/flowers/report.html runs/wine/report.html")
}

// TestReadme carries out what README.md says of a filter.
func TestReadme(t *testing.T) { carryOut(t, "README.md", "exists runs/drift/report.html") }

// carryOut carries a page out as it stands, and then one more command: each block of yaml or csv is a file, named in its first line,
// each line of a block of sh is a command, which fails if it begins with !, and each line of a block of text stands in what the last
// command said, at the beginning of a line; each line of a block of note in what it said on stderr. COMMAND > FILE writes what it said to a file. Programs in Go are for internal/lint.
func carryOut(t *testing.T, page, last string) {
	var script, files strings.Builder
	stream := ""
	says := func(stream string, lines []string) {
		for _, line := range lines {
			fmt.Fprintf(&script, "%s '(?m)^(starling: )?%s'\n", stream, strings.ReplaceAll(regexp.QuoteMeta(line), "'", "''"))
		}
	}
	for _, block := range blocks(t, page) {
		language, text := block[0], block[1]
		lines := strings.Split(strings.TrimSpace(text), "\n")
		switch language {
		case "sh":
			for _, line := range lines {
				stream = "stdout"
				command, fails := strings.CutPrefix(line, "! ")
				switch {
				case fails:
					stream = "stderr"
					command = "! exec " + command
				case !strings.HasPrefix(line, "cp "):
					command = "exec " + command
				}
				command, file, redirected := strings.Cut(command, " > ")
				if fmt.Fprintln(&script, command); redirected {
					fmt.Fprintln(&script, "cp stdout", file)
				}
			}
		case "text":
			says(stream, lines)
		case "note":
			says("stderr", lines)
		case "yaml":
			fmt.Fprintf(&files, "-- %s --\n%s", strings.TrimPrefix(lines[0], "# "), text)
		case "csv":
			fmt.Fprintf(&files, "-- %s --\n%s\n", strings.TrimPrefix(lines[0], "# "), strings.Join(lines[1:], "\n"))
		case "go":
		default:
			t.Fatalf("%s: a block of %s", page, language)
		}
	}
	script.WriteString(last + "\n")
	runPage(t, script.String()+files.String(), testscript.Params{Setup: func(env *testscript.Env) error {
		for _, folder := range []string{"examples", "internal/sets/uci"} {
			if err := os.CopyFS(filepath.Join(env.WorkDir, folder), os.DirFS("../../"+folder)); err != nil {
				return err
			}
		}
		return nil
	}})
}

// blocks are those of a page that are code, with their languages.
func blocks(t *testing.T, page string) [][2]string {
	t.Helper()
	text, err := os.ReadFile("../../" + page)
	if err != nil {
		t.Fatal(err)
	}
	var all [][2]string
	for _, block := range regexp.MustCompile("(?s)```(\\w+)\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		all = append(all, [2]string{block[1], block[2]})
	}
	return all
}

// runPage runs the script, with its files, that a page was made into.
func runPage(t *testing.T, script string, with testscript.Params) {
	t.Helper()
	with.Dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(with.Dir, "page.txt"), []byte(script), 0o666); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, with)
}

// TestEveryVerb: a verb explains itself with an example, a script of testdata runs it, and docs/getting-started.md has a line for it. A verb
// below another one, such as data show, is explained and run, too.
func TestEveryVerb(t *testing.T) {
	page, err := os.ReadFile("../../docs/getting-started.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/script/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var scripts []byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		scripts = append(scripts, text...)
	}
	root := newRoot(new(bool))
	var check func(*cobra.Command)
	check = func(verb *cobra.Command) {
		name := verb.CommandPath()
		if verb.Short == "" || !strings.Contains(verb.Example, "  "+name) {
			t.Errorf("%s: its command has no Short, or no Example that begins with it", name)
		}
		if verb.Runnable() && !regexp.MustCompile(`(?m)^exec `+name+`( .*)?$`).Match(scripts) {
			t.Errorf("%s: no script of testdata/script has a line \"exec %s\"", name, name)
		}
		if verb.Parent() == root && !strings.Contains(string(page), "\n    "+name+" ") {
			t.Errorf("%s: docs/getting-started.md has no line for it, under “All commands”", name)
		}
		for _, below := range verb.Commands() {
			check(below)
		}
	}
	check(root)
}

// TestFeaturesOfPage: features.txt runs the commands of the section on heads, as they stand there and in their order.
func TestFeaturesOfPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/partly-random.md")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("testdata/script/features.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## A head on features\n")
	section, _, _ = strings.Cut(section, "\n## ")
	_, block, _ := strings.Cut(section, "```sh\n")
	block, _, _ = strings.Cut(block, "```")
	commands, rest := strings.Split(strings.TrimSpace(block), "\n"), string(script)
	if len(commands) != 3 {
		t.Fatalf("commands %q", commands)
	}
	for _, command := range commands {
		_, after, found := strings.Cut(rest, "\nexec "+command+"\n")
		if !found {
			t.Errorf("no line \"exec %s\" after those of the commands before", command)
		}
		rest = after
	}
}
