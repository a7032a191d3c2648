package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/starling-smc/starling/internal/chart"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/visible"
)

// page holds the contents of a page, from top to bottom.
type page struct {
	Kind     string // of page: onRun, onFilter or onRuns
	Title    string
	Lead     string // one line: which data, which network, which method
	Cards    []card
	First    *steps // what to do first; nil: the page does not say
	Summary  []topic
	Sections []section
	Made     string // the version that wrote the page
}

// Kinds of pages, which stand in their first lines.
const (
	onRun    = "starling report"
	onFilter = "starling filter"
	onRuns   = "starling compare"
	onSBC    = "starling sbc"
)

// IsComparison reports whether a file begins as the page of a Comparison.
func IsComparison(beginning []byte) bool {
	before, after, _ := strings.Cut(pageHTML, "{{.Kind}}")
	after, _, _ = strings.Cut(after, "\n")
	return bytes.HasPrefix(beginning, []byte(before+onRuns+after+"\n"))
}

// alone stands at the end of a page.
const alone = "This page is complete in itself: it loads nothing and runs no script."

// card is a name and a value: one of the figures at the top, or a fact about the run.
type card struct{ Name, Value, Note string }

// topic is a paragraph of the summary.
type topic struct {
	Title    string
	Text     []string
	Warnings []string
}

func (t *topic) say(format string, args ...any) {
	t.Text = append(t.Text, fmt.Sprintf(format, args...))
}
func (t *topic) warn(format string, args ...any) {
	t.Warnings = append(t.Warnings, fmt.Sprintf(format, args...))
}

// tell says a finding, or warns of it, and names the page that tells more of it.
func (t *topic) tell(f finding.Finding) {
	text := f.Sentence()
	if help := f.Help(); help != "" && f.Cure() != "" {
		text += " More: " + help + "."
	}
	if f.Warning() {
		t.Warnings = append(t.Warnings, text)
	} else {
		t.Text = append(t.Text, text)
	}
}

// step is something to do: what, why, and the page that tells more of it.
type step struct{ Do, Why, More string }

// steps are in the order in which to take them.
type steps struct{ List []step }

// first lists what to do first about findings.
func first(found []finding.Finding) *steps {
	const most = 3
	s := new(steps)
	for _, f := range finding.First(found, most) {
		s.List = append(s.List, step{f.Cure(), f.Brief(), f.Help()})
	}
	return s
}

// section is a part of the page under a heading.
type section struct {
	ID, Title string
	Text      []string
	Figures   []figure
	Galleries []gallery
	Tables    []table
	Code      string // the config
	Facts     []card
}

// figure is one picture, or two above one another, with a legend, a text, and its numbers.
type figure struct {
	Title   string
	Charts  []template.HTML
	Legend  []key
	Caption string
	Data    *table
}

// key is an entry of a legend.
type key struct {
	Sample template.HTML
	Name   string
}

func lineKey(class, name string) key { return key{chart.Sample(class, false), name} }

// table has a head and rows whose first cell names them. All other columns but Words are numbers.
type table struct {
	Caption string
	Head    []string
	Rows    []row
	Words   []int
}

// row is a line of a table or, without cells, a heading of the rows that follow.
type row struct {
	Name  string
	Cells []cell
}

type cell struct {
	Text string
	Best bool
	Word bool
}

func (t *table) add(name string, cells ...string) {
	r := row{Name: name}
	for i, c := range cells {
		r.Cells = append(r.Cells, cell{Text: c, Word: slices.Contains(t.Words, i+1)})
	}
	t.Rows = append(t.Rows, r)
}

// gallery shows examples of one group.
type gallery struct {
	Name   string
	Shelf  []shelf
	Tables []table
}

// shelf is a row of pictures.
type shelf struct {
	Name   string
	Images []image
}

type image struct {
	Source        template.URL
	Alt           string
	Lines         []string
	Width, Height int
}

//go:embed style.css
var style string

//go:embed page.html
var pageHTML string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"style": func() template.CSS { return template.CSS(style) },
	"word":  func(t table, column int) bool { return column == 0 || slices.Contains(t.Words, column) },
	"span":  func(t table) int { return len(t.Head) },
	"whole": whole,
	"lone":  func(figures []figure, i int) bool { return i == len(figures)-1 && i%abreast != abreast-1 },
}).Parse(pageHTML))

// abreast is how many figures stand side by side on a wide screen, as the style sheet has it.
const abreast = 3

// inner finds where a long word consists of several: data.csv.file, shape=2,layers=3.
var inner = regexp.MustCompile(`([.,_])([[:alpha:]])`)

// whole keeps words with hyphens, such as names of runs, on one line: where one does not fit, it is moved to the next line as a whole.
// Only a longer word than fits on a phone may be broken. Other long words, such as keys of a config, may be broken behind their parts.
func whole(text string) template.HTML {
	const most, long = 32, 9
	words := strings.Split(text, " ")
	for i, w := range words {
		escaped := template.HTMLEscapeString(w)
		if strings.Contains(w, "-") && utf8.RuneCountInString(w) <= most {
			escaped = `<span class="whole">` + escaped + `</span>`
		} else if utf8.RuneCountInString(w) > long {
			escaped = inner.ReplaceAllString(escaped, "$1<wbr/>$2")
		}
		words[i] = escaped
	}
	return template.HTML(strings.Join(words, " "))
}

// write executes the template before it writes anything. Control characters in names are made visible.
func (p *page) write(w io.Writer) error {
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, p); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_, err := io.WriteString(w, visible.Text(b.String()))
	return err
}
