package cells

import (
	"bytes"
	"encoding/csv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestCellsAsEncodingCSV: text that encoding/csv writes is cut into the same cells as encoding/csv reads, through windows
// of any size, whose ends fall on quotes, delimiters and line ends.
func TestCellsAsEncodingCSV(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	const letters = "ab1.,;\"\n\" -é"
	for trial := range 500 {
		var raw bytes.Buffer
		w := csv.NewWriter(&raw)
		w.Comma, w.UseCRLF = []rune{',', ';', '\t'}[trial%3], trial%2 == 1
		cols := 2 + r.IntN(4)
		for range 1 + r.IntN(6) {
			record := make([]string, cols)
			for j := range record {
				var cell strings.Builder
				for range r.IntN(5) {
					cell.WriteRune([]rune(letters)[r.IntN(12)])
				}
				record[j] = strings.Trim(cell.String(), " ") // blanks around a cell do not count here
			}
			record[0] = "x" + record[0] // no blank lines, which encoding/csv reads otherwise
			if err := w.Write(record); err != nil {
				t.Fatal(err)
			}
		}
		if w.Flush(); w.Error() != nil {
			t.Fatal(w.Error())
		}
		text := raw.Bytes()
		reader := csv.NewReader(bytes.NewReader(text))
		reader.Comma = w.Comma
		want, err := reader.ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, window := range []int{1, 2, 3, 7, 1 << 10} {
			c := NewReader(bytes.NewReader(text), string(w.Comma), MaxRecord, window)
			var got [][]string
			for {
				rec, ok, err := c.Record()
				if err != nil {
					t.Fatalf("%q: %v", text, err)
				}
				if !ok {
					break
				}
				record := make([]string, len(rec))
				for j, cell := range rec {
					record[j] = strings.ReplaceAll(string(cell.Text), "\r\n", "\n") // as encoding/csv has line ends within quotes
				}
				got = append(got, record)
			}
			if !slices.EqualFunc(got, want, slices.Equal) {
				t.Fatalf("%q through windows of %d: %q, want %q", text, window, got, want)
			}
		}
	}
}

// TestHint: a number that is not plain is told by its readings.
func TestHint(t *testing.T) {
	for text, want := range map[string]string{
		"2,5":     " (with a decimal comma it is 2.5)",
		"-2,5e3":  " (with a decimal comma it is -2500)",
		"1,005":   " (with a decimal comma it is 1.005, with commas between thousands 1005)",
		"5 kg":    " (with kg behind them it is 5)",
		"green":   "",
		"1,2,3":   "",
		"2024-01": "",
	} {
		if got := Hint([]byte(text)); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
