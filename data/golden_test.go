package data

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
)

type number = golden.Number

// same: equal values, NaN with NaN, infinities by sign.
func same(got, want float64) bool {
	return got == want || math.IsNaN(got) && math.IsNaN(want)
}

func TestGoldenFiles(t *testing.T) {
	raw, err := os.ReadFile("testdata/files.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Cases []struct {
			Name, Kind string
			Inputs     struct {
				File, Delimiter string
				HasHeader       bool `json:"has_header"`
			}
			Expected struct {
				OK     bool
				DType  string
				Shape  []int
				Values []number
				Header []string
				Rows   [][]number
			}
		}
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	var later []string
	defer func() { t.Logf("formats without a reader yet: %s", strings.Join(later, ", ")) }()
	for _, c := range all.Cases {
		if c.Kind == "npy" || c.Kind == "safetensors" {
			later = append(later, c.Name)
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			switch c.Kind {
			case "idx":
				a, err := ReadIDX(filepath.Join("testdata", c.Inputs.File))
				if verdict(t, c.Expected.OK, err) {
					return
				}
				if a.DType() != c.Expected.DType || !slices.Equal(a.Shape, c.Expected.Shape) {
					t.Fatalf("%s %v, want %s %v", a.DType(), a.Shape, c.Expected.DType, c.Expected.Shape)
				}
				got := floats(a)
				if len(got) != len(c.Expected.Values) {
					t.Fatalf("%d values, want %d", len(got), len(c.Expected.Values))
				}
				for i, want := range c.Expected.Values {
					if !same(got[i], float64(want)) {
						t.Errorf("value %d is %v, want %v", i, got[i], want)
					}
				}
			case "csv":
				path := filepath.Join("testdata", c.Inputs.File)
				told := CSV{Delimiter: c.Inputs.Delimiter, Header: NoHeader}
				if c.Inputs.HasHeader {
					told.Header = WithHeader
				}
				for _, o := range []CSV{told, {}} { // told, and guessed
					table, err := ReadCSV(path, o)
					if verdict(t, c.Expected.OK, err) {
						continue
					}
					if table.Delimiter != c.Inputs.Delimiter || !slices.Equal(table.Header, c.Expected.Header) || table.Rows() != len(c.Expected.Rows) {
						t.Fatalf("delimiter %q, header %q, %d rows; want %q, %q, %d", table.Delimiter, table.Header, table.Rows(),
							c.Inputs.Delimiter, c.Expected.Header, len(c.Expected.Rows))
					}
					for i, row := range c.Expected.Rows {
						for j, want := range row {
							if got := table.Values[i*table.Cols+j]; !same(got, float64(want)) {
								t.Errorf("row %d, column %d is %v, want %v", i, j, got, want)
							}
						}
					}
				}
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

func floats(a *Array) []float64 {
	switch v := a.Values.(type) {
	case []uint8:
		return asFloats(v)
	case []int8:
		return asFloats(v)
	case []int16:
		return asFloats(v)
	case []int32:
		return asFloats(v)
	case []float32:
		return asFloats(v)
	}
	return a.Values.([]float64)
}

func asFloats[T uint8 | int8 | int16 | int32 | float32](v []T) []float64 {
	f := make([]float64, len(v))
	for i, x := range v {
		f[i] = float64(x)
	}
	return f
}
