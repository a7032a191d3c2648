package starling

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/starling-smc/starling/data"
)

// TestBuiltInTable: a built-in table is nothing but a CSV that the program has: the same numbers in a file of the
// user's own give the same posterior and the same figures.
func TestBuiltInTable(t *testing.T) {
	few := []string{"map.restarts=2", "map.epochs=3", "model.layers.0.dense=5", "method={mcmc: {chains: 2, epochs: 12, keep: 4, move: {hmc: {steps: 3}}}}"}
	built := preset(t, "concrete", append(few, "data={set: yacht}")...)
	if built.Data.Standardise != "both" {
		t.Errorf("a table of numbers to predict has standardise: %s, want both", built.Data.Standardise)
	}
	table, target, err := data.LoadTable("yacht", "")
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	w.Write(table.Header)
	for i := range table.Rows() {
		var row []string
		for _, v := range table.Values[i*table.Cols : (i+1)*table.Cols] {
			row = append(row, strconv.FormatFloat(v, 'g', -1, 64))
		}
		w.Write(row)
	}
	w.Flush()
	file := filepath.Join(t.TempDir(), "mine.csv")
	if err := os.WriteFile(file, text.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	own := preset(t, "concrete", append(few, "data={csv: {file: '"+file+"', target: "+target+"}}")...)
	a, b := fitted(t, built, Options{}), fitted(t, own, Options{})
	if !slices.Equal(a.Posterior.Theta, b.Posterior.Theta) {
		t.Error("a built-in table and the same numbers in a CSV give different posteriors")
	}
	x, _ := json.Marshal(a.Metrics)
	y, _ := json.Marshal(b.Metrics)
	if !bytes.Equal(x, y) {
		t.Errorf("%s\n%s", x, y)
	}
	for name, n := range map[string][2]int{"train": {a.Data.Train.Len(), 248}, "validate": {a.Data.Validate.Len(), 30}, "test": {a.Data.Test.Len(), 30}} {
		if n[0] != n[1] {
			t.Errorf("%d examples to %s, want %d", n[0], name, n[1])
		}
	}
}

// TestConcrete: the preset, with fewer trajectories, predicts strengths as well as the literature's networks of one
// hidden layer of 50 do on random splits, RMSE 5.2 to 6.0 MPa (Hernández-Lobato and Adams 2015; Gal and Ghahramani 2016;
// Lakshminarayanan et al. 2017), and better than its point estimates. The seed is fixed: nothing here is left to chance.
func TestConcrete(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: skips the preset concrete")
	}
	r := fitted(t, preset(t, "concrete", "method.mcmc.epochs=800", "method.mcmc.keep=40"), Options{})
	rmse, nll := float64(*r.Metrics.RMSE), float64(r.Metrics.NLL)
	if !(math.Abs(rmse-5) <= 0.5) || !(math.Abs(nll-3) <= 0.1) {
		t.Errorf("RMSE %.3f, NLL %.3f, want about 5 and 3", rmse, nll)
	}
	if point := float64(*r.Metrics.MAP.RMSE); !(rmse < point) {
		t.Errorf("RMSE %.3f, of the best MAP %.3f", rmse, point)
	}
}
