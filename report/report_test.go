package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/finding"
)

const hostile = `<script>alert(1)</script>"'&amp;` + "\u2028"

// shapes are the runs that pages are written of in tests.
var shapes = []shape{
	{name: "table", validate: true, restarts: true},
	{
		name: "images", input: []int{1, 8, 8}, n: 200, names: []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"},
		groups: []string{"noise", "letters"}, validate: true, restarts: true,
	},
	{name: "colours", input: []int{3, 70, 70}, n: 40, names: []string{"a rather long name of a class that goes on", "b", "c"}, groups: []string{"far"}},
	{name: hostile, names: []string{hostile, "</style>", "]]>"}, groups: []string{hostile, "a b\tc"}, validate: true},
	{name: "single", single: true, names: []string{"x", "y"}, groups: []string{"far"}},
	{name: "one island", islands: 1, particles: 50},
	{name: "batches", batches: true},
	{name: "one island of batches", batches: true, islands: 1, lines: 9},
	{name: "one chain", chains: true, islands: 1, lines: 1},
	{name: "many islands", islands: 40, lines: 30, validate: true},
	{name: "more islands", islands: 64, lines: 4},
	{name: "long chains", chains: true, islands: 40, lines: 1600, validate: true},
	{name: "undefined", undefined: true, validate: true},
	{name: "many classes", n: 300, names: slices.Repeat([]string{"k"}, 40)},
	{name: "regression", outputs: 1, n: 300, validate: true, restarts: true, chains: true, islands: 4, lines: 90},
	{name: "two outputs", outputs: 2},
	{name: "few", n: 2},
	{name: "wide", input: []int{30}},
	{name: "decides", n: 200, groups: []string{"far", "noise"}, restarts: true, decides: true},
	{name: "decides on numbers", outputs: 1, n: 200, decides: true},
}

func render(t testing.TB, f fixture) string {
	t.Helper()
	return renderWith(t, f, nil)
}

// renderWith is the page of a run with more findings than those of its trace.
func renderWith(t testing.TB, f fixture, findings []finding.Finding) string {
	t.Helper()
	f.find()
	f.run.Findings = append(f.run.Findings, findings...)
	var b bytes.Buffer
	if err := Write(&b, f.run, f.a); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestPages checks what every page must be, whatever the run is: well-formed, small, complete in itself, the same bytes
// each time, and with a text for every picture.
func TestPages(t *testing.T) {
	for _, s := range shapes {
		t.Run(strings.Map(func(r rune) rune {
			if r == '<' || r == '/' {
				return -1
			}
			return r
		}, s.name), func(t *testing.T) {
			page := render(t, s.make(t))
			if again := render(t, s.make(t)); again != page {
				t.Error("the same run gives another page")
			}
			if len(page) > 1_500_000 {
				t.Errorf("the page has %d bytes", len(page))
			}
			checkPage(t, page)
		})
	}
}

// checkPage reads a page as XML, which is stricter than HTML, and checks what is said of it in the package's comment.
func checkPage(t *testing.T, page string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	ids, refs := map[string]bool{}, map[string]bool{}
	var open []xml.StartElement
	heading, pictures, titled := 0, 0, 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		switch e := token.(type) {
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.StartElement:
			attr := map[string]string{}
			for _, a := range e.Attr {
				attr[a.Name.Local] = a.Value
				if strings.HasPrefix(a.Name.Local, "on") {
					t.Errorf("<%s> has a handler %s", e.Name.Local, a.Name.Local)
				}
			}
			if id := attr["id"]; id != "" {
				if ids[id] {
					t.Errorf("id %q stands twice", id)
				}
				ids[id] = true
			}
			for _, id := range strings.Fields(attr["aria-labelledby"]) {
				refs[id] = true
			}
			for _, key := range []string{"src", "href"} {
				if u := attr[key]; u != "" && !strings.HasPrefix(u, "data:") {
					if target, inside := strings.CutPrefix(u, "#"); inside && e.Name.Local == "a" {
						refs[target] = true
					} else {
						t.Errorf("<%s> loads %s", e.Name.Local, u)
					}
				}
			}
			if len(e.Name.Local) == 2 && e.Name.Local[0] == 'h' && e.Name.Local[1] >= '1' && e.Name.Local[1] <= '6' {
				level := int(e.Name.Local[1] - '0')
				if level > heading+1 {
					t.Errorf("heading %d follows heading %d", level, heading)
				}
				heading = level
			}
			switch e.Name.Local {
			case "html":
				if attr["lang"] == "" {
					t.Error("html has no lang")
				}
			case "script", "iframe", "object", "embed", "form", "base":
				t.Errorf("the page has a <%s>", e.Name.Local)
			case "img":
				if attr["alt"] == "" || attr["width"] == "" {
					t.Errorf("an image without text or width: %v", attr)
				}
			case "th":
				if attr["scope"] == "" {
					t.Error("a heading of a table without scope")
				}
			case "svg":
				if attr["role"] == "img" {
					if pictures++; attr["aria-labelledby"] == "" {
						t.Error("a picture without a name")
					}
				} else if attr["aria-hidden"] != "true" {
					t.Error("an svg that is neither a picture nor hidden")
				}
			case "title", "desc":
				if len(open) > 0 && open[len(open)-1].Name.Local == "svg" {
					titled++
				}
			}
			open = append(open, e)
		}
	}
	for id := range refs {
		if !ids[id] {
			t.Errorf("aria-labelledby or a link names %q, which is not there", id)
		}
	}
	if titled != 2*pictures || pictures == 0 {
		t.Errorf("%d pictures with %d titles and descriptions", pictures, titled)
	}
	page = regexp.MustCompile(`"data:image[^"]*"`).ReplaceAllString(page, "")
	for _, bad := range []string{"NaN", "+Inf", "-Inf", "ZgotmplZ", "%!", "<nil>"} {
		if strings.Contains(page, bad) {
			at := strings.Index(page, bad)
			t.Errorf("the page says %s: …%s…", bad, page[max(at-80, 0):min(at+40, len(page))])
		}
	}
}

// TestBatches: the page of a path of batches shows what its iterations were worth on the test examples, at the iterations
// that have it, and the variance of the log-weights beside what the particles carry; it does not speak of moves that were
// refused.
func TestBatches(t *testing.T) {
	f := shape{batches: true, islands: 1, lines: 9, particles: 10}.make(t)
	for k := range f.run.Trace {
		f.run.Trace[k].Divergent = k
	}
	v := f.view(t)
	rows := map[string][]string{}
	for _, figure := range v.sampler().Figures {
		for _, row := range figure.Data.Rows {
			for _, c := range row.Cells {
				rows[figure.Title] = append(rows[figure.Title], c.Text)
			}
		}
	}
	for title, want := range map[string]string{
		"Test NLL": "0.490 0.430 0.460 0.490 0.430", "Test accuracy": "0.9100 0.9100 0.9400 0.9700 0.9700",
		"Variance of the log-weights": "0.00 0.00 16.00 64.00 64.00",
	} {
		if got := strings.Join(rows[title], " "); got != want {
			t.Errorf("%s: %s, want %s", title, got, want)
		}
	}
	page := render(t, f)
	for says, want := range map[string]bool{
		"what 10 particles carry": true, "would have accepted 0\u00a0% of the last moves": true, "36 moves had infinite": true,
		"hardly moved": false, "were accepted": false, "were refused": false, "from the prior to the posterior": false,
	} {
		if strings.Contains(page, says) != want {
			t.Errorf("the page says %q: %v", says, !want)
		}
	}
}

// TestHostileNames finds names as text, not as markup.
func TestHostileNames(t *testing.T) {
	f := shape{name: hostile, names: []string{hostile, "b"}, groups: []string{hostile}}.make(t)
	findings := []finding.Finding{
		finding.Of(finding.ConstantColumns{Columns: finding.List([]string{hostile})}), finding.Of(finding.ChannelsLast{File: hostile, Channels: 1, Height: 2, Width: 3}),
	}
	f.run.Schema.Columns, f.run.Schema.Target = []string{hostile, "p", "q", "y"}, "y"
	page := renderWith(t, f, findings)
	if strings.Contains(page, "<script") || strings.Count(page, "&lt;script&gt;alert(1)&lt;/script&gt;") < 6 {
		t.Errorf("names are not escaped everywhere: %d times", strings.Count(page, "&lt;script&gt;"))
	}
	checkPage(t, page)
}

// TestContrast computes the contrast of all text and lines from the style sheet (WCAG 2.2, 1.4.3 and 1.4.11).
func TestContrast(t *testing.T) {
	blocks := regexp.MustCompile(`:root \{([^}]*)\}`).FindAllStringSubmatch(style, -1)
	if len(blocks) != 2 {
		t.Fatalf("%d sets of colours, want light and dark", len(blocks))
	}
	for i, block := range blocks {
		colours := map[string][3]float64{}
		for _, m := range regexp.MustCompile(`--([a-z0-9-]+): #([0-9a-f]{6});`).FindAllStringSubmatch(block[1], -1) {
			v, err := strconv.ParseUint(m[2], 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			colours[m[1]] = [3]float64{float64(v >> 16), float64(v >> 8 & 255), float64(v & 255)}
		}
		cell := [3]float64{} // the darkest square of a matrix: .35 of the first series on paper
		for c := range cell {
			cell[c] = .35*colours["s0"][c] + .65*colours["paper"][c]
		}
		colours["cell"] = cell
		pairs := [][2]string{{"ink", "paper"}, {"soft", "paper"}, {"accent", "paper"}, {"ink", "panel"}, {"warn", "warn-paper"}, {"ink", "cell"}}
		for s := range styles {
			pairs = append(pairs, [2]string{fmt.Sprint("s", s), "paper"})
		}
		shade := [3]float64{} // the strongest square of a map, over which lines are drawn: .36 of the last series on paper
		for c := range shade {
			shade[c] = .36*colours["s5"][c] + .64*colours["paper"][c]
		}
		for s := range styles {
			if c := contrast(colours[fmt.Sprint("s", s)], shade); !(c >= 3) {
				t.Errorf("set %d: s%d on the strongest square has contrast %.2f", i, s, c)
			}
		}
		for _, p := range pairs {
			a, ok := colours[p[0]]
			b, also := colours[p[1]]
			if c := contrast(a, b); !ok || !also || c < 4.5 {
				t.Errorf("set %d: %s on %s has contrast %.2f", i, p[0], p[1], c)
			}
		}
	}
}

func contrast(a, b [3]float64) float64 {
	luminance := func(c [3]float64) float64 {
		var l [3]float64
		for i, v := range c {
			if v /= 255; v <= .04045 {
				l[i] = v / 12.92
			} else {
				l[i] = math.Pow((v+.055)/1.055, 2.4)
			}
		}
		return .2126*l[0] + .7152*l[1] + .0722*l[2]
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + .05) / (min(x, y) + .05)
}

// TestStyles checks that every series and mark that charts use has a look.
func TestStyles(t *testing.T) {
	for i := range styles {
		for _, kind := range []string{".line", ".dots", ".span", ".outline", ".chart .mark", ".chart .band"} {
			if !strings.Contains(style, kind+"."+class(i)) {
				t.Errorf("no style for %s.%s", kind, class(i))
			}
		}
	}
}

// TestBadAssessment refuses what does not fit together.
func TestBadAssessment(t *testing.T) {
	f := shape{groups: []string{"far"}}.make(t)
	f.a.Groups = nil
	if err := Write(io.Discard, f.run, f.a); err == nil {
		t.Error("groups without predictions pass")
	}
	f = shape{outputs: 1}.make(t)
	f.a.Regression.Mean = f.a.Regression.Mean[1:]
	if err := Write(io.Discard, f.run, f.a); err == nil {
		t.Error("too few predictions pass")
	}
	f.a.Regression = nil
	if err := Write(io.Discard, f.run, f.a); err == nil {
		t.Error("an assessment of nothing passes")
	}
}
