package starling

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/nn"
)

// odd are names that YAML or a reader could take for something else.
var odd = []string{
	"plain", "two words", "a: b", "a, b", `"quoted"`, "it's", "# hash", "- dash", "line\nbreak", "tab\there", "größe 日本", "{x}", "[1]", "null", "true", "y", "12", "1e3", "~",
	"&a", "*a", "!t", "%p", "@at", "`tick`", `back\slash`, "=1+1", "a  b", "{{.Name}}", strings.Repeat("long ", 30) + "end",
}

// cell writes a name as a cell of CSV.
func cell(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// oddTable writes a table with a column of each odd name, whose columns are by turns numbers, numbers with gaps, words, a counter
// and constant. The target has what is given.
func oddTable(t *testing.T, file string, target func(i int) string) {
	t.Helper()
	var b strings.Builder
	for _, name := range odd {
		fmt.Fprint(&b, cell(name), ",")
	}
	fmt.Fprintln(&b, "target")
	for i := range 40 {
		for k := range odd {
			fmt.Fprint(&b, []string{fmt.Sprint((i+k)*(i+k)%31, ".5"), []string{"", "1.5", "2"}[i%3], cell([]string{"b: 1", "a, #"}[i%2]), fmt.Sprint(i + 1), "7"}[k%5], ",")
		}
		fmt.Fprintln(&b, target(i))
	}
	save(t, file, []byte(b.String()))
}

// TestNewConfigOfOddNames: whatever columns, classes and files are called, the config parses to what was asked for, keeps to it when it
// is completed, and its network fits the data.
func TestNewConfigOfOddNames(t *testing.T) {
	testkit.Elsewhere(t)
	dir := t.TempDir()
	number := func(i int) string { return fmt.Sprint(i*i%17, ".25") }
	class := func(i int) string { return cell(strings.Replace(odd[i%len(odd)%20], "null", "null!", 1)) } // null stands for a missing value
	check := func(file, target string, columns func(int) string, change func(c *data.CSV)) {
		t.Helper()
		oddTable(t, file, columns)
		c := data.CSV{File: file, Target: target}
		if change != nil {
			change(&c)
		}
		text, err := NewConfig(c)
		if err != nil {
			t.Errorf("%q: %v", target, err)
			return
		}
		spec, err := ParseSpec("new", text)
		if err != nil {
			t.Errorf("%q: %v:\n%s", target, err, text)
			return
		}
		is := spec.Data.CSV
		if is.File != c.File || is.Target != c.Target || !slices.Equal(is.Drop, c.Drop) || !slices.Equal(is.Keep, c.Keep) {
			t.Errorf("%q: %+v, want %+v", target, is, c)
		}
		if err := spec.Verify(); err != nil {
			t.Errorf("%q: %v", target, err)
		}
		if is.Other != "zeros" || is.Missing != "indicator" {
			t.Errorf("words and missing values: %+v\n%s", is, text)
		}
		problem, err := spec.Load("", nil)
		if err != nil {
			t.Errorf("%q: %v", target, err)
			return
		}
		net, err := nn.New([]int{3}, spec.Model.Layers, spec.Model.Likelihood)
		if err != nil || net.Classes() != problem.Schema.Classes || net.Classes() == 0 && net.Targets() != 1 {
			t.Errorf("%q: %d classes, %v:\n%s", target, problem.Schema.Classes, err, text)
		}
		if in := fmt.Sprintf(" %d inputs. ", problem.Schema.Shape[0]); !strings.Contains(string(text), in) {
			t.Errorf("%q: want%sin\n%s", target, in, text)
		}
	}
	plain := filepath.Join(dir, "plain.csv")
	for _, name := range odd {
		if k := slices.Index(odd, name); k%5 < 3 && k%5 != 1 { // the others count, are constant or lack values
			check(plain, name, number, nil)
		}
		if file := filepath.Join(dir, name+".csv"); !strings.ContainsAny(name, "\\\n\t*\"") {
			check(file, "target", number, nil)
		}
	}
	check(plain, "target", class, nil)
	check(plain, "target", func(i int) string { return fmt.Sprint(i % 3) }, nil)
	check(plain, "target", number, func(c *data.CSV) { c.Drop, c.Keep = []string{odd[0], odd[2]}, []string{odd[8], odd[3]} })
}

// TestNewConfigWithoutHeader: columns have numbers.
func TestNewConfigWithoutHeader(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.csv")
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "%d,%d.5,%s,%s\n", i, i*i%17, []string{"", "1", "2"}[i%3], []string{"red", "blue"}[i%2])
	}
	save(t, file, []byte(b.String()))
	text, err := NewConfig(data.CSV{File: file, Target: "4"})
	if err != nil {
		t.Fatal(err)
	}
	if said := kind(&data.Look{Rows: 90, Classes: 3, Words: true, Names: []string{"1", "2.5", "2*"}}); !strings.HasSuffix(said, `. Only "2*" is no number: is it a slip?`) {
		t.Error(said)
	}
	for _, names := range [][]string{{"1", "a*"}, {"1", "a", "b"}, {"a", "b", "c"}} {
		if said := kind(&data.Look{Rows: 90, Classes: len(names), Words: true, Names: names}); strings.Contains(said, "slip") {
			t.Error(said)
		}
	}
	for _, want := range []string{`target: "4"  `, "words: one of 2 classes, blue and red\n", `values are missing in "3":`, `# keep: ["1"]  `, " 3 inputs."} {
		if !strings.Contains(string(text), want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
	spec, err := ParseSpec("new", text)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := spec.Load("", nil); err != nil {
		t.Error(err)
	}
}

// TestNewConfigOfGivenForm: a delimiter and a header that are given are those of the config.
func TestNewConfigOfGivenForm(t *testing.T) {
	file, no, yes := filepath.Join(t.TempDir(), "t.txt"), false, true
	for _, delimiter := range []string{"\t", "|", " ", "whitespace", "~", ";", ""} {
		for _, header := range []*bool{&no, &yes, nil} {
			between := map[string]string{"whitespace": "  ", "": ","}[delimiter]
			if between == "" {
				between = delimiter
			}
			var b strings.Builder
			for i := range 40 {
				fmt.Fprintf(&b, "%d.5%s%s\n", i*i%17, between, []string{"red", "blue"}[i%2])
			}
			save(t, file, []byte(b.String()))
			target := "2"
			if header == &yes {
				target = "red"
			}
			text, err := NewConfig(data.CSV{File: file, Target: target, Delimiter: delimiter, Header: header})
			if err != nil {
				t.Fatalf("%q: %v", delimiter, err)
			}
			spec, err := ParseSpec("new", text)
			if err != nil {
				t.Fatalf("%q: %v\n%s", delimiter, err, text)
			}
			if have := spec.Data.CSV; have.Delimiter != delimiter || (have.Header == nil) != (header == nil) || header != nil && *have.Header != *header {
				t.Errorf("delimiter %q, header %v: the config has %q, %v", delimiter, header, have.Delimiter, have.Header)
			}
		}
	}
}

// TestNewConfigRefuses: what is asked wrongly is a *ConfigError, what is wrong with the table a *DataError.
func TestNewConfigRefuses(t *testing.T) {
	dir := t.TempDir()
	file, one := filepath.Join(dir, "t.csv"), filepath.Join(dir, "one.csv")
	oddTable(t, file, func(i int) string { return fmt.Sprint(i % 2) })
	oddTable(t, one, func(i int) string { return "yes" })
	for want, table := range map[string]data.CSV{
		"needs a target":  {File: file},
		"needs a file":    {Target: "y"},
		`no column "t"`:   {File: file, Target: "t"},
		`no column "d"`:   {File: file, Target: "target", Drop: []string{"d"}},
		`no column "k"`:   {File: file, Target: "target", Keep: []string{"k"}},
		"is the target: ": {File: file, Target: "target", Drop: []string{"target"}},
	} {
		if text, err := NewConfig(table); !errors.As(err, new(*ConfigError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q\n%s", table, err, want, text)
		}
	}
	for want, table := range map[string]data.CSV{
		"one class only": {File: one, Target: "target"},
		"no such file":   {File: filepath.Join(dir, "none.csv"), Target: "target"},
	} {
		text, err := NewConfig(table)
		if !errors.As(err, new(*DataError)) || !strings.Contains(err.Error(), want) && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%+v: %v, want %q\n%s", table, err, want, text)
		}
	}
}

// TestTableEpochs: the budget is within its bounds, falls with rows and with parameters, and is about the same number of operations
// wherever it is between the bounds.
func TestTableEpochs(t *testing.T) {
	for _, network := range []tableNetwork{ofClasses, ofNumbers, ofFewNumbers} {
		checkEpochs(t, network)
	}
}

func checkEpochs(t *testing.T, network tableNetwork) {
	t.Helper()
	tableEpochs := network.epochs
	sizes := []int{1, 100, 1000, 3000, 10000, 30000, 100000, 1000000, 100000000}
	least, most := tableEpochs(1<<40, 1), tableEpochs(1, 1)
	if !(least > 0 && least < most && most == network.most) || tableEpochs(1, 1<<40) != least {
		t.Fatalf("from %d to %d passes", least, most)
	}
	between := 0
	for _, rows := range sizes {
		for _, parameters := range sizes {
			n := tableEpochs(rows, parameters)
			if n < least || n > most || tableEpochs(parameters, rows) != n || tableEpochs(rows*2, parameters) > n || tableEpochs(rows, parameters*2) > n {
				t.Errorf("%d rows, %d parameters: %d passes", rows, parameters, n)
			}
			if n > least && n < most {
				between++
				// passes are rounded down by less than the least of them
				if more := tableEpochs(rows*2, parameters); more > least && !(n >= 2*more-2*least && n <= 2*more+2*least) {
					t.Errorf("%d rows, %d parameters: %d passes, of twice the rows %d", rows, parameters, n, more)
				}
			}
		}
	}
	if between < 5 {
		t.Errorf("%d sizes between the bounds", between)
	}
}

// TestBudgetByParameters: the budget of a config is that of the parameters of its network, for classes and for numbers.
func TestBudgetByParameters(t *testing.T) {
	for _, look := range []data.Look{{Inputs: 3}, {Inputs: 40}, {Inputs: 40, Classes: 20}, {Inputs: 7, Classes: 2}} {
		look.Spread = &data.Spread{}
		between := false
		for look.Rows = 64; look.Rows < 1<<24; look.Rows += look.Rows / 4 {
			spec, err := ParseSpec("new", tableConfig(data.CSV{File: "t.csv", Target: "y"}, &look, noiseByRule).Config())
			if err != nil {
				t.Fatal(err)
			}
			net, err := nn.New([]int{look.Inputs}, spec.Model.Layers, spec.Model.Likelihood)
			if err != nil {
				t.Fatal(err)
			}
			network := ofNumbers
			switch {
			case look.Classes > 0:
				network = ofClasses
			case look.Rows <= 500:
				network = ofFewNumbers
			}
			want := network.epochs(look.Rows, net.Dim())
			between = between || want > network.epochs(1<<40, 1) && want < network.epochs(1, 1)
			if have := spec.Method.(method.MCMC).Epochs; have != want {
				t.Errorf("%+v, %d parameters: %d passes, want %d", look, net.Dim(), have, want)
			}
		}
		if !between {
			t.Errorf("%+v: no budget between the bounds", look)
		}
	}
}

// TestNewConfigOfFewRows: up to 500 rows numbers are predicted by one hidden layer, whose chains aim at a high acceptance, and classes by
// the same network as those of more rows.
func TestNewConfigOfFewRows(t *testing.T) {
	for _, c := range []struct {
		look   data.Look
		layers int // of weights
		accept float64
	}{
		{data.Look{Rows: 500, Inputs: 3}, 2, .9}, {data.Look{Rows: 501, Inputs: 3}, 3, .75}, {data.Look{Rows: 500, Inputs: 3, Few: true}, 2, .9},
		{data.Look{Rows: 500, Inputs: 3, Classes: 2}, 2, .75},
	} {
		c.look.Spread = &data.Spread{}
		spec, err := ParseSpec("new", tableConfig(data.CSV{File: "t.csv", Target: "y"}, &c.look, noiseByRule).Config())
		if err != nil {
			t.Fatal(err)
		}
		dense := 0
		for _, layer := range spec.Model.Layers {
			if _, ok := layer.(nn.Dense); ok {
				dense++
			}
		}
		chains := spec.Method.(method.MCMC)
		move := chains.Move.(mcmc.HMC)
		if dense != c.layers || move.Accept != c.accept {
			t.Errorf("%+v: %d layers of weights, accept %v", c, dense, move.Accept)
		}
		if move.Most != chains.Epochs/100 || move.Most < 64 {
			t.Errorf("%+v: trajectories have up to %d leapfrogs of %d epochs, want a hundredth", c, move.Most, chains.Epochs)
		}
	}
	if move := ofNumbers.move(2000); move != "{hmc: {length: auto, most: 64}}" {
		t.Errorf("a small budget has the move %s", move)
	}
}

// TestRunName: a name for a run that needs no quotes.
func TestRunName(t *testing.T) {
	for file, want := range map[string]string{
		"flowers.csv": "flowers", "../a b/My data (1).csv.gz": "My-data-1", ".hidden.csv": "hidden", "größe.csv": "größe", "2024.csv": "2024",
		"a/b/": "b", "....": "table", "!?.csv": "table", "x\ny.csv": "x-y", strings.Repeat("n", 101) + ".csv": "table", "-x.csv": "x", "a_b.tsv": "a_b",
	} {
		if name := runName(file); name != want {
			t.Errorf("%q: %q, want %q", file, name, want)
		}
	}
}
