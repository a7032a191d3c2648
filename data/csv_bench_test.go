package data

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/starling-smc/starling/internal/cells"
)

// BenchmarkTokenise cuts the same numeric text into cells by this package's tokeniser and by encoding/csv. Parsing numbers,
// which costs the same for both, is left out. docs/adr/0008-own-csv-reader.md says what was measured.
func BenchmarkTokenise(b *testing.B) {
	raw := numericCSV(100_000, 13)
	b.Run("own", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		b.ReportAllocs()
		for range b.N {
			c := cells.NewReader(bytes.NewReader(raw), ",", cells.MaxRecord, cells.Window)
			for {
				_, ok, err := c.Record()
				if err != nil {
					b.Fatal(err)
				}
				if !ok {
					break
				}
			}
		}
	})
	b.Run("encoding-csv", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		b.ReportAllocs()
		for range b.N {
			r := csv.NewReader(bytes.NewReader(raw))
			r.ReuseRecord, r.TrimLeadingSpace = true, true
			for {
				if _, err := r.Read(); err == io.EOF {
					break
				} else if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// BenchmarkReadCSV reads the same text as a table.
func BenchmarkReadCSV(b *testing.B) {
	raw := numericCSV(100_000, 13)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for range b.N {
		if _, err := DecodeCSV("f", raw, CSV{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPredictCSV makes inputs of a table of 100,000 rows with two columns of words, as predict does, by blocks.
func BenchmarkPredictCSV(b *testing.B) {
	const rows = 100_000
	r := rand.New(rand.NewPCG(1, 2))
	colours, sizes := []string{"blue", "dark yellow", "green", "red", "white"}, []string{"L", "M", "S", "XL"}
	raw := []byte("id,age,colour,size,income,y\n")
	for i := range rows {
		raw = fmt.Appendf(raw, "p-%d,%d,%s,%s,%.2f,%d\n", i, 18+r.IntN(80), colours[r.IntN(5)], sizes[r.IntN(4)], r.ExpFloat64()*1000, r.IntN(2))
	}
	t, err := DecodeCSV("f", raw, CSV{Words: true, Target: "y"})
	if err != nil {
		b.Fatal(err)
	}
	s, err := Columns{Target: "y", Classes: true, SD: 1}.Schema(t, t.All())
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		err := scanCSV("f", bytes.NewReader(raw), len(raw), s.CSVToPredict(""), 1024, func(block *Table) error {
			_, err := s.Set("f", block, nil, false)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// numericCSV is a text of random numbers with a header.
func numericCSV(rows, cols int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b []byte
	for j := range cols {
		b = append(strconv.AppendInt(append(b, 'c'), int64(j), 10), ',')
	}
	b[len(b)-1] = '\n'
	for range rows {
		for range cols {
			b = append(strconv.AppendFloat(b, r.NormFloat64(), 'g', 8, 64), ',')
		}
		b[len(b)-1] = '\n'
	}
	return b
}
