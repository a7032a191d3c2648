package scans

import (
	"bytes"
	"embed"
	"fmt"
	"strings"
)

// Set is a set of real scans that the program holds. data/LICENSES.md says where each is from.
type Set struct {
	Name         string
	About        string
	Licence      string
	Scans        int
	Measurements int // in all scans, the missing ones too

	file string // CSV, compressed with gzip: the time, then the measurement
}

// Sets lists the built-in sets in the order of their names.
var Sets = []Set{{
	Name: "flights", About: "delays of the departures from New York's three airports in 2013, in minutes; a scan a day, missing where cancelled",
	Licence: "CC0, nycflights13", Scans: 365, Measurements: 336_776,
	file: "sets/departures-2013.csv.gz",
}}

//go:embed sets
var files embed.FS

// OpenSet returns the scans of a built-in set. origin is as in Options. The error lists the sets.
func OpenSet(name, origin string) (*Reader, error) {
	for _, s := range Sets {
		if s.Name == name {
			text, err := files.ReadFile(s.file)
			if err != nil {
				return nil, err
			}
			return NewReader(bytes.NewReader(text), Options{Origin: origin}), nil
		}
	}
	return nil, fmt.Errorf("no scans of the name %q are built in, but these: %s", name, strings.Join(setNames(), ", "))
}

func setNames() (names []string) {
	for _, s := range Sets {
		names = append(names, s.Name)
	}
	return names
}
