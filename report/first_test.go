package report

import (
	"regexp"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/finding"
)

// between is the part of a page from one text to the next.
func between(t *testing.T, page, from, to string) string {
	t.Helper()
	_, after, ok := strings.Cut(page, from)
	part, _, also := strings.Cut(after, to)
	if !ok || !also {
		t.Fatalf("the page has no %q … %q", from, to)
	}
	return part
}

// TestWhatToDoFirst: the page lists the three most urgent cures, in their order, each with what was found and the section that tells
// more; where there is nothing to do, it says so.
func TestWhatToDoFirst(t *testing.T) {
	f := shape{n: 200, chains: true, islands: 4, lines: 40}.make(t)
	for i := range f.run.Trace {
		if f.run.Trace[i].Island == 1 {
			f.run.Trace[i].Acceptance = .02
		}
	}
	page := strings.ReplaceAll(renderWith(t, f, []finding.Finding{
		finding.Of(finding.EvidenceScatters{LogEvidence: -3, SD: 9, Effective: 1.1, Islands: 4}), finding.Of(finding.UnevenWeights{Networks: 40, Effective: 2}),
	}), "\u00a0", " ")
	if at, also := strings.Index(page, `id="first"`), strings.Index(page, `id="summary"`); at < 0 || also < at {
		t.Errorf("what to do first stands at %d, the summary at %d", at, also)
	}
	said := regexp.MustCompile("<[^>]*>").ReplaceAllString(between(t, page, `<h2 id="first">What to do first</h2>`, "</section>"), "")
	var items []string
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(line); line != "" {
			items = append(items, line)
		}
	}
	want := []string{
		"Take a higher accept, as 0.9 (it was 0.75). Chain 1 is stuck. More: docs/choosing.md, “Moves that do not move”.",
		"Take more particles, more moves in an iteration, or combine: equal. " +
			"The weights are uneven, so the 40 networks are worth 2.0 of equal weight. More: docs/choosing.md, “Weights that collapse”.",
		"Take prior: {normal: {variance: learned}}. The posterior is under-confident (mean confidence 82.6 %, accuracy 100.0 %). " +
			"More: docs/choosing.md, “Over- and under-confidence”.",
	}
	if got := strings.Join(items, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	calm := shape{n: 200, chains: true, islands: 4, lines: 40}.make(t)
	answers(calm, .9, 10)
	if said := between(t, render(t, calm), `<h2 id="first">`, "</section>"); !strings.Contains(said, "Nothing: no finding asks for a change.") || strings.Contains(said, "<li>") {
		t.Errorf("nothing is to do, and the page says %s", said)
	}
}

// TestContents: a page links all its sections, in their order, and a comparison says nothing of what to do first.
func TestContents(t *testing.T) {
	link, title := regexp.MustCompile(`<a href="#([a-z]+)">`), regexp.MustCompile(`<h2 id="([a-z]+)">`)
	c, err := comparison(t, shape{}, shape{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := c.Write(&b); err != nil {
		t.Fatal(err)
	}
	for name, page := range map[string]string{"run": render(t, shape{restarts: true}.make(t)), "comparison": b.String(), "filter": filterPage(t, filterPages()["walk"])} {
		var links, titles []string
		for _, m := range link.FindAllStringSubmatch(page, -1) {
			links = append(links, m[1])
		}
		for _, m := range title.FindAllStringSubmatch(page, -1) {
			titles = append(titles, m[1])
		}
		if got, want := strings.Join(links, " "), strings.Join(titles, " "); got != want || len(links) < 3 {
			t.Errorf("%s: links to %s, sections %s", name, got, want)
		}
		if strings.Contains(page, `id="first"`) != (name != "comparison") {
			t.Errorf("%s: what to do first is there: %v", name, name == "comparison")
		}
	}
}

// TestWhole: words with hyphens are kept on one line, unless they are longer than a phone is wide.
func TestWhole(t *testing.T) {
	for text, want := range map[string]string{
		"best MAP": "best MAP", "a-b c": `<span class="whole">a-b</span> c`, "<-> x": `<span class="whole">&lt;-&gt;</span> x`,
		strings.Repeat("a-", 16): `<span class="whole">` + strings.Repeat("a-", 16) + "</span>", strings.Repeat("a-", 17): strings.Repeat("a-", 17),
		"data.csv.drop a.b 0.123": "data.<wbr/>csv.<wbr/>drop a.b 0.123",
		"from a\u00a0to b-c,":     "from a\u00a0to <span class=\"whole\">b-c,</span>",
	} {
		if got := string(whole(text)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	c, err := comparison(t, shape{}, shape{})
	if err != nil {
		t.Fatal(err)
	}
	c.Runs[0].Name = "learned-prior-2"
	var b strings.Builder
	if err := c.Write(&b); err != nil {
		t.Fatal(err)
	}
	broken := regexp.MustCompile(`<(h1|th)[^>]*>[^<]*learned-prior-2|</svg> learned-prior-2`)
	if at := broken.FindString(b.String()); at != "" || strings.Count(b.String(), `<span class="whole">learned-prior-2</span>`) < 5 {
		t.Errorf("a name may break at its hyphens: %s", at)
	}
}

// TestLoneFigures: only the last figure of a section shows its numbers at once, and only where its row has room beside it.
func TestLoneFigures(t *testing.T) {
	for n := range 8 {
		p := page{Title: "x", Sections: []section{{ID: "s", Title: "s"}}}
		for range n {
			p.Sections[0].Figures = append(p.Sections[0].Figures, figure{Title: "f", Data: &table{Caption: "c", Head: []string{"h"}}})
		}
		var b strings.Builder
		if err := p.write(&b); err != nil {
			t.Fatal(err)
		}
		figures := strings.Split(b.String(), "<figure>")[1:]
		if len(figures) != n {
			t.Fatalf("%d figures, want %d", len(figures), n)
		}
		for i, f := range figures {
			if open := strings.Contains(f, `<details open="">`); open != (i == n-1 && n%3 != 0) {
				t.Errorf("figure %d of %d is open: %v", i, n, open)
			}
		}
	}
}
