package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"math"

	"github.com/starling-smc/starling/bayes"
)

//go:embed data/*.json
var files embed.FS

// dataset holds the columns and numbers of a data set.
type dataset struct {
	values map[string]json.RawMessage
	wide   float64 // standard deviation of the starts of flat parameters; 0: they know the units of the data
}

// flat is a flat prior that begins at a start, or where all starts are wide, at draws of N(0, wide²), in the support of that start.
func (d dataset) flat(start bayes.Prior) bayes.Prior {
	if d.wide > 0 {
		if lower, _ := start.Support(); math.IsInf(lower, -1) {
			start = bayes.Normal{SD: d.wide}
		} else {
			start = bayes.HalfNormal{SD: d.wide}
		}
	}
	return bayes.Flat{Start: start}
}

// read fills to with the JSON of a file in data/.
func read(name string, to any) error {
	raw, err := files.ReadFile("data/" + name + ".json")
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, to); err != nil {
		return fmt.Errorf("data/%s.json: %w", name, err)
	}
	return nil
}

// as is the column, matrix or number of a name. The files are part of the program, so an error is a programmer's.
func as[T any](d dataset, name string) (v T) {
	if err := json.Unmarshal(d.values[name], &v); err != nil {
		panic(fmt.Sprintf("posteriordb: %s: %v", name, err))
	}
	return v
}

func (d dataset) column(name string) []float64 { return as[[]float64](d, name) }
func (d dataset) number(name string) float64   { return as[float64](d, name) }
