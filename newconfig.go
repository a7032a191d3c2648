package starling

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/presets"
)

// NewConfig looks at a table and writes a commented config for it, which ParseSpec reads: what is predicted and from what, a network by
// the size of the table, a prior that learns its widths, and chains with a budget by its rows. table names the file, the column to
// predict, and columns to drop or to keep. The error is a *ConfigError for a column that the file lacks, and a *DataError for a file
// that is no table from which the column can be learnt.
func NewConfig(table data.CSV) ([]byte, error) {
	look, err := lookAt(table)
	if err != nil {
		return nil, err
	}
	return tableConfig(table, look, noiseByRule).Config(), nil
}

// lookAt looks at a table. The errors are those of NewConfig.
func lookAt(table data.CSV) (*data.Look, error) {
	faults := config.NewFaults()
	if table.Check(faults.In("data.csv")); len(faults.All()) > 0 {
		var none Spec
		return nil, none.Error(faults.All()...)
	}
	look, err := data.LookAt(table)
	if err != nil {
		return nil, readFault(err)
	}
	return look, nil
}

// tableConfig fills in the config of a table, for a kind of noise.
func tableConfig(table data.CSV, look *data.Look, of noiseKind) presets.Table {
	name := runName(table.File)
	t := presets.Table{
		Name: config.Scalar(name), Folder: "runs/" + name, File: config.Scalar(table.File), Target: config.Scalar(table.Target),
		Size: numeral.Several(look.Rows, "row") + ", " + numeral.Several(look.Inputs, "input"), Kind: kind(look),
		Delimiter: scalar(table.Delimiter), Header: header(table.Header, look.Header),
		Test: scalar(table.Test), Group: scalar(table.Group),
		Drop: list(table.Drop), Keep: list(table.Keep), Counted: list(look.Counted),
		Missing: listed(look.Missing), OneHot: listed(look.OneHot), Constant: listed(look.Constant),
		StandsFor: standsFor(look), Empty: listed(look.Empty), Numbered: listed(look.Numbered), Unlike: listed(look.Unlike), Units: listed(look.Units),
		Decimal: scalar(look.Numbers.Decimal), Thousands: scalar(look.Numbers.Thousands), Strip: scalar(cmp.Or(table.Units, look.Numbers.Units)), Written: phrases(look.Written),
		Differ: list(look.Differ), Mixed: phrases(look.Mixed), Inexact: list(look.Inexact), Dates: listed(look.Dates), Categories: list(table.Categories), Codes: list(look.Codes),
		Alike: phrases(look.Alike), Skip: skipped(table, look),
	}
	if table.Decimal != "" || table.Thousands != "" { // as they are given
		t.Decimal, t.Thousands = scalar(table.Decimal), scalar(table.Thousands)
	}
	if doubtful := slices.Concat(look.Numbered, look.Unlike, look.Units); doubtful != nil {
		t.Doubtful = list(slices.Concat(table.Drop, doubtful))
	}
	network := ofNumbers
	if look.Rows <= fewRows {
		network = ofFewNumbers
	}
	if look.Classes > 0 {
		network, t.Outputs, t.Likelihood = ofClasses, look.Classes, "categorical"
	} else {
		t.Outputs, t.Likelihood, t.Noise = of.likelihood(look)
		t.Proposals = proposals(look.Spread)
	}
	t.Layers, t.Prior, t.Chains, t.States, t.Batch = network.layers(), usualWidths, tableChains, tableKept, 32
	t.Epochs = network.epochs(look.Rows, network.parameters(look.Inputs, t.Outputs))
	t.Move, t.Descent = network.move(t.Epochs), network.descent
	return t
}

// tableNetwork is the network of a table that nobody has written a config for: hidden layers of so many units, with an activation after
// each. Its chains adapt to an acceptance, the usual one if it is 0, and make at most so many passes over the rows.
type tableNetwork struct {
	hidden     []int
	activation string
	accept     float64
	most       int
	descent    string // rate and optimiser of the restarts, in YAML
}

// The networks, the prior and the chains were chosen on five tables, and looked at once on five others (docs/results/tables.md). On few
// rows a second hidden layer predicts numbers no better, and its chains mix worse: their steps are so small that a budget has some twenty
// trajectories. One layer can afford smaller steps, and more of them.
var (
	ofClasses    = tableNetwork{[]int{16}, "relu", 0, 10000, "rate: 0.01"}
	ofNumbers    = tableNetwork{[]int{30, 30}, "tanh", 0, 10000, byAdam}
	ofFewNumbers = tableNetwork{[]int{30}, "tanh", 0.9, 15000, byAdam}
)

// usualWidths are the settings of the prior.
const usualWidths = "{shape: 0.5, rate: 0.05}"

// byAdam bounds the steps of restarts that predict their noise. Their gradients grow with 1/σ², so that those of plain SGD left the numbers on
// targets with little noise.
const byAdam = "optimiser: adam, rate: 0.003"

const (
	fewRows     = 500 // up to which ofFewNumbers predicts numbers
	tableChains = 4
	tableKept   = 400
)

// layers writes the hidden layers as items of a YAML list, each with a comma behind it.
func (n tableNetwork) layers() string {
	var b strings.Builder
	for _, units := range n.hidden {
		fmt.Fprintf(&b, "{dense: %d}, %s, ", units, n.activation)
	}
	return b.String()
}

// parameters counts the weights and biases between inputs and outputs.
func (n tableNetwork) parameters(inputs, outputs int) (all int) {
	for _, units := range append(slices.Clone(n.hidden), outputs) {
		all += (inputs + 1) * units
		inputs = units
	}
	return all
}

// epochs is the budget of a chain: what takes some 1e12 operations in all, but at least 2,000 passes over the rows, and at most as many
// as are worth their time. A pass takes 6 operations for each parameter and row.
func (n tableNetwork) epochs(rows, parameters int) int {
	const operations, fewest, round = 1e12, 2000, 500
	epochs := operations / (6 * tableChains * float64(rows) * float64(parameters))
	return int(min(float64(n.most), max(fewest, epochs))) / round * round
}

// move is the move, in YAML, of chains of so many epochs. Targets without noise, and those that often have the same value, make the posterior
// so narrow that trajectories of the usual length would have hundreds of leapfrogs, and their step would not be adapted when states begin
// to count. So a chain makes a hundred of them, or trajectories of at most 64 leapfrogs.
func (n tableNetwork) move(epochs int) string {
	accept := ""
	if n.accept > 0 {
		accept = fmt.Sprintf(", accept: %v", n.accept)
	}
	return fmt.Sprintf("{hmc: {length: auto, most: %d%s}}", max(64, epochs/100), accept)
}

// runName is a name for a run on a file: its own without folder and endings, with hyphens for all but letters, digits and underscores, so
// that neither a shell nor YAML takes a part of it for anything else.
func runName(file string) string {
	name, _, _ := strings.Cut(strings.TrimLeft(filepath.Base(file), "."), ".")
	name = strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }), "-")
	if name == "" || !config.Printable(name) {
		return "table"
	}
	return name
}

// kind says what the target is and, where a guess was made, how to change it.
func kind(look *data.Look) string {
	of := fmt.Sprintf("one of %d classes", look.Classes)
	if look.Names != nil {
		of += ", " + listed(look.Names)
	}
	if look.Rows < 5*look.Classes {
		of += ", each with fewer than five rows on average"
	}
	switch {
	case look.Classes == 0:
		return "a number. If it is a class: likelihood categorical, and as many outputs as classes"
	case look.Words:
		return "words: " + of + slip(look.Names)
	}
	return "whole numbers: " + of + ". If it is an amount: likelihood {gaussian: {sd: learned}}, dense: 1"
}

// slip asks whether the only name among numbers is one that was mistyped.
func slip(names []string) string {
	words := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, err := cells.Number([]byte(name))
		return err == nil
	})
	if len(words) == 1 && len(names) > 2 {
		return fmt.Sprintf(". Only %s is no number: is it a slip?", cells.Quote([]byte(words[0])))
	}
	return ""
}

// scalar writes a setting as YAML; empty: it is not given.
func scalar(text string) string {
	if text == "" {
		return ""
	}
	return config.Scalar(text)
}

// skipped says how many rows without a target are left out; empty: that is not asked for.
func skipped(table data.CSV, look *data.Look) string {
	if table.MissingTarget != "skip" {
		return ""
	}
	return numeral.Several(look.Skipped, "row") + " without a target"
}

// phrases lists phrases in a comment, the first few of them.
func phrases(all []string) string {
	const few = 5
	if len(all) > few {
		all = append(slices.Clone(all[:few]), "…")
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.Join(all, "; "))
}

// header writes whether there is a header, with a comment; empty: it is guessed. named: it cannot be guessed that there is one.
func header(given *bool, named bool) string {
	switch {
	case named:
		return "true\t# the first line, although a name in it is a number"
	case given == nil:
		return ""
	case *given:
		return "true\t# the first line"
	}
	return "false\t# columns have numbers, from 1"
}

// standsFor says what stands for the missing values of a table's columns.
func standsFor(look *data.Look) string {
	words := 0
	for _, name := range look.Missing {
		if slices.Contains(look.OneHot, name) {
			words++
		}
	}
	switch words {
	case 0:
		return "the mean"
	case len(look.Missing):
		return "no category"
	}
	return "the mean, or no category,"
}

// list writes names as a list of YAML; empty if there are none.
func list(names []string) string {
	if len(names) == 0 {
		return ""
	}
	var all []string
	for _, name := range names {
		all = append(all, config.Scalar(name))
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// listed lists names in a comment, the first few of them.
func listed(names []string) string {
	const few = 5
	var all []string
	for i, name := range names {
		if i == few-1 && len(names) > few {
			all = append(all, fmt.Sprintf("%d others", len(names)-i))
			break
		}
		all = append(all, config.Scalar(cells.Clip(name)))
	}
	return numeral.List(all)
}
