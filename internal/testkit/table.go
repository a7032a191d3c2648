// Package testkit has what the tests of several packages use: a table to learn, and comparisons of runs' folders. Only tests
// and tools import it.
package testkit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
)

// Table is a CSV table of n rows: the inputs a and b, a constant, and the target y. The target is one of names by turns, or a
// number if there are none.
func Table(n int, names ...string) string {
	var out strings.Builder
	out.WriteString("a,same,b,y\n")
	for i := range n {
		a, b := math.Sin(float64(i)), math.Cos(float64(3*i))
		y := strconv.FormatFloat(100+float64(20*a*b), 'g', 6, 64)
		if names != nil {
			y = names[i%len(names)]
		}
		fmt.Fprintf(&out, "%.4f,7,%.4f,%s\n", 50+a, b/1000, y)
	}
	return out.String()
}

// Number reads a cell of a table.
func Number(t testing.TB, cell string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
