package lint

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A citation of a paper is "NAME, section 3.2", "NAME, section 5, A3", "NAME, sections 2 and 3.2" or "check 7 of NAME", where
// docs/NAME.md is the page that restates the paper.
var (
	paperName = `(?:docs/)?([a-z]+(?:-[a-z]+){2,})(?:\.md)?`
	cited     = regexp.MustCompile(`\b` + paperName + `, sections? ([0-9][0-9.]*[a-z]?)(?: and ([0-9][0-9.]*[a-z]?))?(?:, (A[0-9]+))?`)
	checked   = regexp.MustCompile(`\b[Cc]heck ([0-9]+) of ` + paperName)
	heading   = regexp.MustCompile(`(?m)^(?:## |\*\*)([0-9]+(?:\.[0-9]+)?[a-z]?)\.? `)
	resolved  = regexp.MustCompile(`(?m)^- \*\*(A[0-9]+)\.\*\* `)
	listed    = regexp.MustCompile(`(?:^|· |·\n)([0-9]+)\. `)
)

// paperPage is what can be cited of a page that restates a paper.
type paperPage struct {
	sections, errata, checks []string
}

// paperPages are the pages that say how comments cite their sections.
func paperPages(t *testing.T) map[string]paperPage {
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]paperPage{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, text := strings.TrimSuffix(filepath.Base(file), ".md"), string(raw)
		if !strings.Contains(joined(text), `cite its sections as "`+name+`, section …"`) {
			continue
		}
		_, checks, _ := strings.Cut(text, " Checks\n\n")
		pages[name] = paperPage{firsts(heading, text), firsts(resolved, text), firsts(listed, checks)}
	}
	return pages
}

func firsts(pattern *regexp.Regexp, text string) (list []string) {
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	return list
}

// joined puts text on one line: a citation may go on in the next line of a comment.
func joined(text string) string {
	return regexp.MustCompile(`\s*\n[\t ]*(?://|#)?\s*`).ReplaceAllString(text, " ")
}

// unresolved lists the citations of a text that no page has, and counts all.
func unresolved(pages map[string]paperPage, text string) (bad []string, n int) {
	text = joined(text)
	for _, m := range cited.FindAllStringSubmatch(text, -1) {
		n++
		p, ok := pages[m[1]]
		for _, section := range m[2:4] {
			section = strings.TrimSuffix(section, ".") // the end of a sentence
			ok = ok && (section == "" || slices.Contains(p.sections, section))
		}
		if !ok || m[4] != "" && !slices.Contains(p.errata, m[4]) {
			bad = append(bad, m[0])
		}
	}
	for _, m := range checked.FindAllStringSubmatch(text, -1) {
		n++
		if !slices.Contains(pages[m[2]].checks, m[1]) {
			bad = append(bad, m[0])
		}
	}
	return bad, n
}

// TestCitationsResolve: whoever follows a citation of a paper, in a comment, a page or the meaning of a setting, finds the section.
func TestCitationsResolve(t *testing.T) {
	pages := paperPages(t)
	if len(pages) != 5 {
		t.Errorf("%d pages restate a paper, want one for each of the five of docs/papers.md", len(pages))
	}
	names, cites := map[string]int{}, 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains([]string{".git", "runs"}, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !slices.Contains([]string{".go", ".md", ".txt", ".py", ".yaml"}, filepath.Ext(path)) || filepath.Base(path) == "papers_test.go" {
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		bad, n := unresolved(pages, string(raw))
		for _, b := range bad {
			t.Errorf("%s cites %q, which no page of docs has", strings.TrimPrefix(path, "../../"), b)
		}
		cites += n
		for name := range pages {
			names[name] += strings.Count(string(raw), name+", section")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range pages {
		if names[name] < 2 {
			t.Errorf("no comment cites a section of docs/%s.md", name)
		}
	}
	if cites < 60 {
		t.Errorf("found %d citations only", cites)
	}
}

// TestCitationsAreSeen: a section, an erratum, a check and a paper that no page has are told, also where a line ends in a citation.
func TestCitationsAreSeen(t *testing.T) {
	pages := map[string]paperPage{"a-fine-paper": {[]string{"2", "3.1", "3.3a"}, []string{"A3"}, []string{"7"}}}
	for text, want := range map[string]string{
		"(a-fine-paper, section 3.1; more":              "",
		"see a-fine-paper, section 2.":                  "",
		"// a-fine-paper,\n// section 3.3a":             "",
		"\t# a-fine-paper, sections 2\n\t# and 3.1, A3": "",
		"check 7 of a-fine-paper":                       "",
		"docs/a-fine-paper.md, section 2, A3)":          "",
		"// a-fine-paper,\n// section 3.3":              "[a-fine-paper, section 3.3]",
		"a-fine-paper, section 2, A4":                   "[a-fine-paper, section 2, A4]",
		"a-fine-paper, sections 2 and 4":                "[a-fine-paper, sections 2 and 4]",
		"another-fine-paper, section 2":                 "[another-fine-paper, section 2]",
		"Check 8 of a-fine-paper":                       "[Check 8 of a-fine-paper]",
	} {
		bad, n := unresolved(pages, text)
		if got := strings.TrimPrefix(fmt.Sprint(bad), "[]"); got != want || n != 1 {
			t.Errorf("%q: %s of %d, want %s", text, got, n, want)
		}
	}
}
