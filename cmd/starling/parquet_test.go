package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"reflect"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/rogpeppe/go-internal/testscript"
)

// toParquet CSV FILE: writes a CSV with a header as Parquet: columns of float64 where every cell is a
// number or empty, which is null, and else of strings.
func toParquet(ts *testscript.TestScript, neg bool, args []string) {
	in, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer in.Close()
	records, err := csv.NewReader(in).ReadAll()
	ts.Check(err)
	header, records := records[0], records[1:]
	var columns []reflect.StructField // a struct keeps the order of the columns
	for j, name := range header {
		column := reflect.StructField{Name: fmt.Sprint("C", j), Type: reflect.TypeFor[*float64](), Tag: reflect.StructTag(fmt.Sprintf(`parquet:"%s"`, name))}
		for _, record := range records {
			if _, err := strconv.ParseFloat(record[j], 64); err != nil && record[j] != "" {
				column.Type = reflect.TypeFor[*string]()
			}
		}
		columns = append(columns, column)
	}
	out, err := os.Create(ts.MkAbs(args[1]))
	ts.Check(err)
	w := parquet.NewWriter(out, parquet.SchemaOf(reflect.New(reflect.StructOf(columns)).Interface()))
	for i, record := range records {
		var row parquet.Row
		for at, cell := range record {
			var v parquet.Value
			if number, err := strconv.ParseFloat(cell, 64); err == nil && columns[at].Type == reflect.TypeFor[*float64]() {
				v = parquet.ValueOf(number).Level(0, 1, at)
			} else if cell != "" {
				v = parquet.ValueOf(cell).Level(0, 1, at)
			} else {
				v = parquet.NullValue().Level(0, 0, at)
			}
			row = append(row, v)
		}
		_, err := w.WriteRows([]parquet.Row{row})
		ts.Check(err)
		if i%40 == 39 { // several row groups
			ts.Check(w.Flush())
		}
	}
	ts.Check(w.Close())
	ts.Check(out.Close())
}
