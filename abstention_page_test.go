package starling

import (
	"regexp"
	"strings"
	"testing"
)

// TestAbstentionPage: what docs/abstention.md tells users to write is a config: the lines at its top, and each piece of a block decide in its text.
func TestAbstentionPage(t *testing.T) {
	page := string(read(t, "docs", "abstention.md"))
	const rest = "\nmodel: {layers: [{dense: 2}], likelihood: %}\nprior: {normal: {variance: 1}}\nmethod: ensemble\nmap: {restarts: 2}\n"
	parse := func(config, likelihood string) error {
		_, err := ParseSpec("mine.yaml", []byte("name: mine\n"+config+strings.Replace(rest, "%", likelihood, 1)))
		return err
	}
	top := ""
	head, _, _ := strings.Cut(page, "\n## ")
	for line := range strings.Lines(head) {
		if text, ok := strings.CutPrefix(line, "    "); ok {
			top += text
		}
	}
	if err := parse(top, "categorical"); err != nil || !strings.Contains(top, "decide:") {
		t.Errorf("the page begins with\n%s\n%v", top, err)
	}
	pieces := regexp.MustCompile("`((?:temperature|sets|abstain): [^`]+)`").FindAllStringSubmatch(page, -1)
	if len(pieces) < 9 {
		t.Fatalf("only %d pieces of a block decide", len(pieces))
	}
	const data = "data: {csv: {file: mine.csv, target: y}, split: {calibrate: 0.2}}\ndecide: {"
	for _, p := range pieces {
		classes, numbers := parse(data+p[1]+"}", "categorical"), parse(data+p[1]+"}", "{gaussian: {sd: 1}}")
		if classes != nil && numbers != nil {
			t.Errorf("%s: of classes %v, of numbers %v", p[1], classes, numbers)
		}
	}
}
