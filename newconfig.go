package starling

import (
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
	faults := config.NewFaults()
	if table.Check(faults.In("data.csv")); len(faults.All()) > 0 {
		var none Spec
		return nil, none.Error(faults.All()...)
	}
	look, err := table.Look()
	if err != nil {
		return nil, readFault(err)
	}
	return tableConfig(table, look).Config(), nil
}

// tableConfig fills in the config of a table.
func tableConfig(table data.CSV, look *data.Look) presets.Table {
	name := runName(table.File)
	t := presets.Table{
		Name: config.Scalar(name), Folder: "runs/" + name, File: config.Scalar(table.File), Target: config.Scalar(table.Target),
		Size: numeral.Several(look.Rows, "row") + ", " + numeral.Several(look.Inputs, "input"), Kind: kind(look), Header: look.Header,
		Drop: list(table.Drop), Keep: list(table.Keep), Counted: list(look.Counted),
		Missing: listed(look.Missing), OneHot: listed(look.OneHot), Constant: listed(look.Constant),
	}
	network := ofNumbers
	switch {
	case look.Classes > 0:
		network, t.Outputs, t.Likelihood = ofClasses, look.Classes, "categorical"
	case look.Few: // a network that predicts its noise would put narrow spikes on them
		t.Outputs, t.Likelihood = 1, "{gaussian: {sd: learned}}"
	default:
		t.Outputs, t.Likelihood = 2, "{gaussian: {sd: predicted}}"
	}
	t.Layers, t.Prior, t.Chains, t.States, t.Batch = network.layers(), "{shape: 0.5, rate: 0.05}", tableChains, tableKept, 32
	t.Epochs = tableEpochs(look.Rows, network.parameters(look.Inputs, t.Outputs))
	return t
}

// tableNetwork is the network of a table that nobody has written a config for: hidden layers of so many units, with an activation after
// each.
type tableNetwork struct {
	hidden     []int
	activation string
}

// The networks, the prior and the chains were chosen on five tables, and looked at once on five others (docs/results/tables.md).
var (
	ofClasses = tableNetwork{[]int{16}, "relu"}
	ofNumbers = tableNetwork{[]int{30, 30}, "tanh"}
)

const (
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

// tableEpochs is the budget of a chain: what takes some 1e12 operations in all, but between 2,000 and 10,000 passes over the rows. A pass
// takes 6 operations for each parameter and row.
func tableEpochs(rows, parameters int) int {
	const operations, fewest, most, round = 1e12, 2000, 10000, 500
	epochs := operations / (6 * tableChains * float64(rows) * float64(parameters))
	return int(min(most, max(fewest, epochs))) / round * round
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
	switch {
	case look.Classes == 0:
		return "a number. If it is a class: likelihood categorical, and as many outputs as classes"
	case look.Words:
		return "words: " + of
	}
	return "whole numbers: " + of + ". If it is an amount: likelihood {gaussian: {sd: learned}}, dense: 1"
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
