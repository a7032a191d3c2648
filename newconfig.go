package starling

import (
	"path/filepath"
	"strings"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/presets"
)

// NewConfig looks at a table and writes a commented config for it, which ParseSpec reads: what is predicted and from what, a network by
// the size of the table, a prior that learns its widths, and chains with a budget by its rows. table names the file and the column to
// predict, and how the file is read. The error is a *ConfigError for a column that the file lacks, and a *DataError for a file that is no
// such table.
func NewConfig(table data.CSV) ([]byte, error) {
	look, err := table.Look()
	if err != nil {
		return nil, readFault(err)
	}
	return tableConfig(table, look).Config(), nil
}

// tableConfig fills in the config of a table.
func tableConfig(table data.CSV, look *data.Look) presets.Table {
	t := presets.Table{
		Name: runName(table.File), File: config.Scalar(table.File), Target: config.Scalar(table.Target),
		Rows: look.Rows, Inputs: look.Inputs, Classes: look.Classes, Why: "whole numbers",
		Missing: listed(look.Missing), OneHot: listed(look.OneHot), Counted: strings.Join(scalars(look.Counted), ", "),
	}
	if look.Words {
		t.Why = "words"
	}
	t.Outputs, t.Likelihood = look.Classes, "categorical"
	if look.Classes == 0 {
		t.Outputs, t.Likelihood = 2, "{gaussian: {sd: predicted}}"
	}
	t.Activation, t.Hidden, t.Chains, t.Keep, t.Batch = "tanh", tableHidden, tableChains, tableKept, 32
	t.Epochs = tableEpochs(look.Rows, t.Hidden*(look.Inputs+1)+t.Outputs*(t.Hidden+1))
	return t
}

// The network of a table that nobody has written a config for, and its chains. They were chosen on five tables, and tried on five others
// (docs/results/tables.md).
const (
	tableHidden = 50
	tableChains = 4
	tableKept   = 400
)

// tableEpochs is the budget of a chain: what takes some 1e12 operations in all, but between 2,000 and 10,000 passes over the rows. A pass
// takes 6 operations for each parameter and row.
func tableEpochs(rows, parameters int) int {
	const operations, fewest, most, round = 1e12, 2000, 10000, 500
	epochs := operations / (6 * tableChains * float64(rows) * float64(parameters))
	return int(min(most, max(fewest, epochs))) / round * round
}

// runName is a name for a run on a file: its own without folder and endings, and without characters that a name cannot have.
func runName(file string) string {
	name, _, _ := strings.Cut(strings.TrimLeft(filepath.Base(file), "."), ".")
	name = strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r < ' ' || r == 0x7f {
			return '-'
		}
		return r
	}, name)
	if name == "" || !config.Printable(name) {
		return "table"
	}
	return config.Scalar(name)
}

// scalars writes names as YAML.
func scalars(names []string) (all []string) {
	for _, name := range names {
		all = append(all, config.Scalar(name))
	}
	return all
}

// listed lists names in a comment, the first ten of them.
func listed(names []string) string {
	const most = 10
	all := scalars(names)
	if len(all) > most {
		all = append(all[:most:most], "others")
	}
	return numeral.List(all)
}
