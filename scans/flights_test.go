package scans

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestFlights reads the departures of 2013 from New York, as they are built in: every flight is a measurement, a cancelled one is
// missing.
func TestFlights(t *testing.T) {
	source, err := OpenSet("flights", "")
	if err != nil {
		t.Fatal(err)
	}
	records, faults := all(t, source)
	flights, missing := 0, 0
	for k, r := range records {
		if r.Time != float64(k)*86400 {
			t.Errorf("day %d, %s, is at %v", k, r.Text, r.Time)
		}
		if n := r.Len() + r.Missing; n < 634 || n > 1014 {
			t.Errorf("%d flights on day %d", n, k)
		}
		flights, missing = flights+r.Len(), missing+r.Missing
	}
	if len(faults) > 0 || records[0].Values[3] != -1 {
		t.Errorf("%q; the fourth delay is %v", faults, records[0].Values[3])
	}
	s := Sets[0]
	if len(records) != s.Scans || flights+missing != s.Measurements || missing != 8_255 {
		t.Errorf("%d days, %d flights and %d cancelled", len(records), flights, missing)
	}
}

// TestFlightsAreThoseOfTheSource compares the built-in scans with the file that they are from, which has more columns.
func TestFlightsAreThoseOfTheSource(t *testing.T) {
	dir := os.Getenv("STARLING_DATA")
	if dir == "" {
		t.Skip("STARLING_DATA is not set")
	}
	file, err := os.Open(filepath.Join(dir, "flights", "departures-2013.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	want, _ := all(t, NewReader(file, Options{Columns: &Columns{Time: "date", Measurement: []string{"dep_delay"}}}))
	source, err := OpenSet("flights", "")
	if err != nil {
		t.Fatal(err)
	}
	have, _ := all(t, source)
	if !slices.EqualFunc(have, want, func(a, b *Record) bool { return a.Sum([32]byte{}) == b.Sum([32]byte{}) }) {
		t.Error("they differ")
	}
}

// Every set can be opened, at any origin, and an unknown name is refused by those that are known.
func TestSets(t *testing.T) {
	for _, s := range Sets {
		source, err := OpenSet(s.Name, "2000-01-01")
		if err != nil {
			t.Fatal(err)
		}
		if r, err := source.Next(); err != nil || r.Len() == 0 || r.Time <= 0 || s.About == "" || s.Licence == "" {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
	if _, err := OpenSet("flight", ""); err == nil || err.Error() != `no scans of the name "flight" are built in, but these: flights` {
		t.Error(err)
	}
}
