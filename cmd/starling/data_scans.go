package main

import (
	"fmt"
	"io"

	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/scans"
)

// scanSet is a set of scans in JSON.
type scanSet struct {
	Name         string `json:"name"`
	About        string `json:"about"`
	Licence      string `json:"licence"`
	Scans        int    `json:"scans"`
	Measurements int    `json:"measurements"`
}

func scanSets() (sets []scanSet) {
	for _, s := range scans.Sets {
		sets = append(sets, scanSet{s.Name, s.About, s.Licence, s.Scans, s.Measurements})
	}
	return sets
}

// listScans lists the sets of scans, all of which are built in.
func listScans(out io.Writer) {
	fmt.Fprintln(out, "\nscans, for starling filter:")
	for _, s := range scans.Sets {
		left := fmt.Sprintf("%-14s %-9s", s.Name, "built in")
		left = beside(out, left, s.About)
		beside(out, left, fmt.Sprintf("%s scans, %s measurements · %s", numeral.Count(s.Scans), numeral.Count(s.Measurements), s.Licence))
	}
}
