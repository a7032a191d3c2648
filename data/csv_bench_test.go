package data

import (
	"bytes"
	"encoding/csv"
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
