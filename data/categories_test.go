package data

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/tables"
)

// TestUnits: a column of words is one of numbers with a unit if most of its words, and three at least, have the same texts around a number.
func TestUnits(t *testing.T) {
	for words, want := range map[string]bool{
		"$1 $2 $3.5 free": true, "12kg 3kg 4kg": true, "1.2% -3% +4%": true, "€19,311 €20,000 €7": true, "<5 <6 <70": true, "1,234,567 2,345,678 3,000,000": true,
		"-$5 -$6 -$7": true, "3.kg 4.kg 5.kg": true,
		"$1 $2": false, "$1 $2 $3 a b c": false, "p1 p2 p3": false, "18-24 25-34 35-44": false, "2a 3b 4c": false, "1.2.3 1.2.4 1.2.5": false, "1st 2nd 3rd": false,
		"red green blue": false, "c0 c1 c2": false, "１kg ２kg ３kg": false,
	} {
		e := &Expansion{Categories: strings.Fields(words)}
		if got := e.units(); got != want {
			t.Errorf("%s: %v", words, got)
		}
	}
	if before, after, ok := cells.Around([]byte("about 12 kg")); ok {
		t.Errorf("a letter before the number: %q, %q", before, after)
	}
	if before, after, ok := cells.Around([]byte("$ -12.5 per kg")); !ok || before != "$" || after != "per kg" {
		t.Errorf("%q, %q, %v", before, after, ok)
	}
}

// TestColumnsOfNames: words that are nearly all different, and numbers with a unit, are told in the run and to whoever looks at the table,
// without a header by their numbers.
func TestColumnsOfNames(t *testing.T) {
	cell := func(i int) string {
		price := fmt.Sprint("$", i*i%40)
		if i%20 == 7 {
			price = "free"
		}
		return fmt.Sprintf("n%d,%s,%s,%d", i*9/10, price, []string{"u", "v"}[i%2], i/2%2)
	}
	for header, columns := range map[string][2]string{"name,price,kind,y": {"name", "price"}, "": {"2", "3"}} {
		o := CSV{Target: "y"}
		if header == "" {
			o.Target = "5"
		}
		l, err := looked(t, o, header, 60, cell)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(l.Unlike, columns[:1]) || !slices.Equal(l.Units, columns[1:]) || len(l.OneHot) != 3 {
			t.Errorf("%q, %q of %q", l.Unlike, l.Units, l.OneHot)
		}
	}
	var b strings.Builder
	b.WriteString("name,price,kind,y\n")
	for i := range 60 {
		b.WriteString(cell(i) + "\n")
	}
	s := Settings{CSV: &CSV{File: put(t, t.TempDir(), "f.csv", b.String()), Target: "y", Other: tables.OtherZeros}}
	p := loaded(t, s, Need{})
	var said []string
	for _, f := range p.Findings() {
		if f.Early() {
			said = append(said, f.Words())
		}
	}
	all := strings.Join(said, "\n")
	if len(said) != 2 || !strings.Contains(all, "the words of column name are nearly all different (") || !strings.Contains(all, " inputs for 48 rows)") ||
		!strings.Contains(all, "the words of column price are numbers with a sign or a unit") || !strings.Contains(all, "data.csv.drop: [price]") {
		t.Errorf("%s", all)
	}
	few := *p
	few.Schema = &Schema{Expand: []Expansion{{Column: "name", Categories: make([]string, 24)}}}
	if found := few.Schema.unlike(48); found != nil {
		t.Errorf("half as many categories as rows: %q", found)
	}
}

// TestAmounts: a target of few whole numbers may be one of classes; one of many, of fractions, or each once, is none.
func TestAmounts(t *testing.T) {
	dir := t.TempDir()
	of := func(y func(i int) string) *Problem {
		var b strings.Builder
		b.WriteString("x,y\n")
		for i := range 60 {
			fmt.Fprintf(&b, "%d,%s\n", i*i%37, y(i))
		}
		return loaded(t, Settings{CSV: &CSV{File: put(t, dir, "f.csv", b.String()), Target: "y"}}, Need{Regression: true})
	}
	for name, c := range map[string]struct {
		y    func(i int) string
		want int
	}{
		"from 1":    {func(i int) string { return fmt.Sprint(i%4 + 1) }, 4},
		"from 0":    {func(i int) string { return fmt.Sprint(i % 12) }, 12},
		"gaps":      {func(i int) string { return fmt.Sprint(i % 3 * 10) }, 3},
		"fractions": {func(i int) string { return fmt.Sprint(float64(i%4) / 2) }, 0},
		"many":      {func(i int) string { return fmt.Sprint(i % 13) }, 0},
	} {
		if got := of(c.y).Amounts; got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	if same, err := ReadCSV(put(t, dir, "same.csv", "x,y\n1,7\n5,7\n2,7\n9,7\n4,7\n"), CSV{}); err != nil || same.Profile().Columns[1].Amounts() != 0 {
		t.Errorf("the same value in all rows: %v", err)
	}
}

// TestEmptyColumns: a column without a value in any training row is called empty, and not constant; a counter without a name has one in a
// sentence.
func TestEmptyColumns(t *testing.T) {
	var b strings.Builder
	b.WriteString(",void,same,x,y\n")
	for i := range 30 {
		fmt.Fprintf(&b, "%d,,7,%d,%d\n", i, i*i%17, i%2)
	}
	p := loaded(t, Settings{CSV: &CSV{File: put(t, t.TempDir(), "f.csv", b.String()), Target: "y", Missing: tables.MissingIndicator}}, Need{})
	var said []string
	for _, f := range p.Findings() {
		said = append(said, f.Words())
	}
	want := []string{
		"column same is constant over the training rows and was dropped", "column void has no value in any training row and was dropped",
		`column "" counts the rows and was left out (data.csv.keep: [""] keeps it)`,
	}
	if !slices.Equal(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
	raw, err := json.Marshal(p.Schema)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := DecodeSchema(raw); err != nil || !slices.Equal(s.Empty, []string{"void"}) {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := DecodeSchema([]byte(strings.Replace(string(raw), `"empty":["void"]`, `"empty":["x"]`, 1))); err == nil {
		t.Error("an input without values passes")
	}
}
