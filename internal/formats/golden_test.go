package formats

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/tables"
	"github.com/starling-smc/starling/internal/testkit"
)

// What CSV.Header points at: whether a header is there.
var yes, no = true, false

// as reads arrays of one format.
func as(header arrays.Header) func(string) (*arrays.Array, error) {
	return func(path string) (*arrays.Array, error) { return ReadArrayAs(path, header) }
}

func TestGoldenFiles(t *testing.T) {
	for _, c := range golden.Read(t, "files.json") {
		var in struct {
			File, Delimiter string
			HasHeader       bool `json:"has_header"`
		}
		var want struct {
			OK     bool
			DType  string
			Shape  []int
			Values []numeral.Number
			Header []string
			Rows   [][]numeral.Number
		}
		if err := json.Unmarshal(c.Inputs, &in); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(c.Expected, &want); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", in.File)
		t.Run(c.Name, func(t *testing.T) {
			switch c.Kind {
			case "idx", "npy":
				read := as(map[string]arrays.Header{"idx": arrays.IDX, "npy": arrays.NPY}[c.Kind])
				for _, read := range []func(string) (*arrays.Array, error){read, ReadArray} {
					a, err := read(path)
					if verdict(t, want.OK, err) {
						continue
					}
					if a.DType() != want.DType || !slices.Equal(a.Shape, want.Shape) {
						t.Fatalf("%s %v, want %s %v", a.DType(), a.Shape, want.DType, want.Shape)
					}
					got := a.Float64s()
					if len(got) != len(want.Values) {
						t.Fatalf("%d values, want %d", len(got), len(want.Values))
					}
					for i, want := range want.Values {
						if !testkit.Same(got[i], float64(want)) {
							t.Errorf("value %d is %v, want %v", i, got[i], want)
						}
					}
				}
			case "csv":
				told := tables.CSV{Delimiter: in.Delimiter, Header: &no}
				if in.HasHeader {
					told.Header = &yes
				}
				for _, o := range []tables.CSV{told, {}} { // told, and guessed
					table, err := ReadCSV(path, o)
					if verdict(t, want.OK, err) {
						continue
					}
					if table.Delimiter != in.Delimiter || !slices.Equal(table.Header, want.Header) || table.Rows() != len(want.Rows) {
						t.Fatalf("delimiter %q, header %q, %d rows; want %q, %q, %d", table.Delimiter, table.Header, table.Rows(),
							in.Delimiter, want.Header, len(want.Rows))
					}
					for i, row := range want.Rows {
						for j, want := range row {
							if got := table.Values[i*table.Cols+j]; !testkit.Same(got, float64(want)) {
								t.Errorf("row %d, column %d is %v, want %v", i, j, got, want)
							}
						}
					}
				}
			case "safetensors": // read by internal/safetensors, and shown by Show
			default:
				t.Fatalf("unknown kind %q", c.Kind)
			}
		})
	}
}

// verdict compares whether a file was read with whether it should be; done means that there are no values to compare.
func verdict(t *testing.T, ok bool, err error) (done bool) {
	t.Helper()
	if ok != (err == nil) {
		t.Fatalf("ok = %v, want %v (error: %v)", err == nil, ok, err)
	}
	if err != nil {
		t.Log(err)
	}
	return err != nil
}
