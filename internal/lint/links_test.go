package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var (
	link  = regexp.MustCompile(`\]\(([^)\s]*)\)`)
	title = regexp.MustCompile(`(?m)^#+ (.*)$`)
	fence = regexp.MustCompile("(?ms)^```.*?^```")
)

// anchor is the name that a page gives to a heading: letters and digits in lower case, and a hyphen for each space.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// TestLinksResolve: every link of a document to another file, or to a section, leads somewhere.
func TestLinksResolve(t *testing.T) {
	links := 0
	for _, pattern := range []string{"../../*.md", "../../*/*.md", "../../docs/*/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			for _, m := range link.FindAllStringSubmatch(readPage(t, file), -1) {
				if strings.Contains(m[1], "://") {
					continue
				}
				links++
				path, section, _ := strings.Cut(m[1], "#")
				target := filepath.Join(filepath.Dir(file), path)
				if path == "" {
					target = file
				}
				if _, err := os.Stat(target); err != nil {
					t.Errorf("%s links to %s, which is no file", file, m[1])
					continue
				}
				if section == "" {
					continue
				}
				var anchors []string
				for _, h := range title.FindAllStringSubmatch(readPage(t, target), -1) {
					anchors = append(anchors, anchor(h[1]))
				}
				if !slices.Contains(anchors, section) {
					t.Errorf("%s links to %s, which is no section", file, m[1])
				}
			}
		}
	}
	if links < 100 {
		t.Errorf("found %d links only", links)
	}
}

// readPage is a document without its blocks of code.
func readPage(t *testing.T, file string) string {
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return fence.ReplaceAllString(string(raw), "")
}
