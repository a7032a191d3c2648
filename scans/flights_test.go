package scans

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFlights reads the departures of 2013 from New York: every flight is a measurement, a cancelled one is missing.
func TestFlights(t *testing.T) {
	dir := os.Getenv("STARLING_DATA")
	if dir == "" {
		t.Skip("STARLING_DATA is not set")
	}
	file, err := os.Open(filepath.Join(dir, "flights", "departures-2013.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	records, faults := all(t, NewReader(file, Options{Columns: &Columns{Time: "date", Measurement: []string{"dep_delay"}}}))
	flights, missing := 0, 0
	for k, r := range records {
		if r.Time != float64(k)*86400 {
			t.Errorf("day %d, %s, is at %v", k, r.Text, r.Time)
		}
		flights, missing = flights+r.Len(), missing+r.Missing
	}
	if len(records) != 365 || len(faults) > 0 || flights+missing != 336_776 || missing != 8_255 || records[0].Values[3] != -1 {
		t.Errorf("%d days, %d flights and %d cancelled, %q", len(records), flights, missing, faults)
	}
}
