package eval

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/nn"
)

// problem makes a problem of a table with the target y: a tenth of the rows each to validate and to test, inputs
// standardised. Targets are classes, or numbers that are standardised, too, if standardise says so.
func problem(t *testing.T, text string, classes, standardise bool) *data.Problem {
	t.Helper()
	table, err := data.DecodeCSV("train.csv", []byte(text), data.CSV{Target: "y"})
	if err != nil {
		t.Fatal(err)
	}
	train, held, err := data.Split(table.Rows(), 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	sets, schema, err := data.Columns{Target: "y", Classes: classes, SD: 1, Standardise: standardise}.Sets(table, train, held[0], held[1])
	if err != nil {
		t.Fatal(err)
	}
	return &data.Problem{Name: "table", Train: sets[0], Test: sets[1], Validate: sets[2], Schema: schema}
}

// network has two inputs and a hidden layer of four.
func network(t *testing.T, outputs int, lik nn.Likelihood) *nn.Net {
	t.Helper()
	net, err := nn.New([]int{2}, []nn.Layer{nn.Dense{Units: 4}, nn.Tanh, nn.Dense{Units: outputs}}, lik)
	if err != nil {
		t.Fatal(err)
	}
	return net
}

// ensemble is islands of random particles, with weights and evidences of their own.
func ensemble(t *testing.T, net *nn.Net, islands, particles int, by bnn.Combination) *bnn.Ensemble {
	t.Helper()
	s := rng.Key{Seed: 5, Purpose: rng.Synthetic}.Stream()
	all := make([]bnn.Island, islands)
	for i := range all {
		all[i] = bnn.Island{Theta: make([]float64, particles*net.Dim()), LogWeights: make([]float64, particles), LogEvidence: -300 + 1.5*float64(i)}
		s.Normals(all[i].Theta)
		s.Normals(all[i].LogWeights)
	}
	e, err := bnn.Combine(net, all, by)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// member is particle j alone.
func member(e *bnn.Ensemble, j int) *bnn.Ensemble {
	d := e.Net.Dim()
	return &bnn.Ensemble{
		Net: e.Net, Theta: e.Theta[j*d : (j+1)*d],
		LogWeights: []float64{0}, Island: []int32{0}, LogEvidence: []float64{0},
	}
}

// decided is the decision of an ensemble.
func decided(t *testing.T, e *bnn.Ensemble, validate *data.Set) *Decision {
	t.Helper()
	lessons := (&data.Problem{Validate: validate}).Lessons()
	d, _, err := Decide(t.Context(), &Ensembles{Posterior: e}, lessons, nil, nil, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// evaluated is Evaluate of a posterior alone.
func evaluated(t *testing.T, e *bnn.Ensemble, p *data.Problem) *Assessment {
	t.Helper()
	a, err := Evaluate(t.Context(), &Ensembles{Posterior: e}, p, nil, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// saved writes a file of a temporary folder.
func saved(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	save(t, file, text)
	return file
}

func save(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// npy is the bytes of an array of float64.
func npy(t *testing.T, shape []int, values ...float64) string {
	t.Helper()
	var b bytes.Buffer
	if err := data.WriteNPY(&b, shape, values); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// integers is the bytes of an array of uint8, as IDX.
func integers(values ...byte) string {
	return string(append([]byte{0, 0, 8, 1, 0, 0, 0, byte(len(values))}, values...))
}

// predicted is the CSV of predictions for a file.
func predicted(t *testing.T, p *Predictor, in string) [][]string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.csv")
	rows, err := p.File(t.Context(), in, out)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	table, err := csv.NewReader(file).ReadAll()
	if err != nil || len(table) != rows+1 {
		t.Fatalf("%d rows predicted, %d lines: %v", rows, len(table), err)
	}
	return table
}
