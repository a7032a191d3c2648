package main

import (
	"embed"
	"encoding/json"
	"fmt"
)

//go:embed data/*.json
var files embed.FS

// dataset holds the columns and numbers of a data set.
type dataset map[string]json.RawMessage

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
	if err := json.Unmarshal(d[name], &v); err != nil {
		panic(fmt.Sprintf("posteriordb: %s: %v", name, err))
	}
	return v
}

func (d dataset) column(name string) []float64 { return as[[]float64](d, name) }
func (d dataset) number(name string) float64   { return as[float64](d, name) }
