package data

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestLoadKnown: a name that is unknown, and files that are missing, are told.
func TestLoadKnown(t *testing.T) {
	if _, err := Load("mnst", ""); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "mnist7") {
		t.Errorf("unknown name: %v", err)
	}
	if _, err := Load("mnist", ""); err == nil || !strings.Contains(err.Error(), "mnist/train-images-idx3-ubyte.gz (--data-dir DIR or STARLING_DATA)") {
		t.Errorf("no directory: %v", err)
	}
	dir := t.TempDir()
	if _, err := Load("mnist", dir); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "the data directory "+dir+" (--data-dir") {
		t.Errorf("no file: %v", err)
	}
}

// The facts known of the full sets: sizes, counts of labels, mean and sd of pixels.
func TestMNISTFacts(t *testing.T) {
	dir := os.Getenv("STARLING_DATA")
	if dir == "" {
		t.Skip("STARLING_DATA is not set: skips the facts known of MNIST and FashionMNIST")
	}
	if testing.Short() {
		t.Skip("-short: skips the facts known of MNIST and FashionMNIST")
	}
	for _, c := range []struct {
		name     string
		mean, sd string
		counts   []int
	}{
		{"mnist", "0.1307", "0.3081", []int{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949}},
		{"fashion-mnist", "0.2860", "0.3530", []int{6000, 6000, 6000, 6000, 6000, 6000, 6000, 6000, 6000, 6000}},
	} {
		p, err := Load(c.name, dir)
		if err != nil {
			t.Fatal(err)
		}
		counts := make([]int, 10)
		for _, y := range p.Train.Labels {
			counts[y]++
		}
		if !slices.Equal(counts, c.counts) || p.Test.Len() != 10000 {
			t.Errorf("%s: label counts %v, %d to test", c.name, counts, p.Test.Len())
		}
		mean, sd := pixelMoments(p.Train.U8)
		if mean != c.mean || sd != c.sd {
			t.Errorf("%s: mean %s, sd %s of pixels; want %s, %s", c.name, mean, sd, c.mean, c.sd)
		}
	}
}

func pixelMoments(u []uint8) (mean, sd string) {
	var count [256]int
	for _, v := range u {
		count[v]++
	}
	var s, q float64
	for v, c := range count {
		x := float64(v) / 255
		s += float64(c) * x / float64(len(u))
		q += float64(c) * x * x / float64(len(u))
	}
	return fmt.Sprintf("%.4f", s), fmt.Sprintf("%.4f", math.Sqrt(q-s*s))
}

// The tables within the program are what they should be: rows, columns, target, and some facts known of them.
func TestTables(t *testing.T) {
	for _, c := range []struct {
		name             string
		rows, cols       int
		target           string
		low, high, total float64 // of the target
	}{
		{"concrete", 1030, 9, "compressive_strength", 2.33, 82.60, 36892.50},
		{"wine-red", 1599, 12, "quality", 3, 8, 9012},
		{"wine-white", 4898, 12, "quality", 3, 9, 28790},
		{"yacht", 308, 7, "residuary_resistance", 0.01, 62.42, 3232.57},
	} {
		if !Tabular(c.name) {
			t.Errorf("%s is not a table", c.name)
		}
		table, target, err := LoadTable(c.name, "")
		if err != nil {
			t.Fatal(err)
		}
		j, err := table.Column(target)
		if err != nil {
			t.Fatal(err)
		}
		var y []float64
		sum := 0.0
		for i := range table.Rows() {
			y = append(y, table.Values[i*table.Cols+j])
			sum += y[i]
		}
		if table.Name != c.name || table.Rows() != c.rows || table.Cols != c.cols || target != c.target || slices.Min(y) != c.low || slices.Max(y) != c.high || sum-c.total > 0.01 || c.total-sum > 0.01 {
			t.Errorf("%s: %s, %d × %d, target %s from %v to %v, in all %v", c.name, table.Name, table.Rows(), table.Cols, target, slices.Min(y), slices.Max(y), sum)
		}
		p, err := Load(c.name, "")
		if err != nil {
			t.Fatal(err)
		}
		if p.Train.Len() != c.rows || p.Train.Features() != c.cols-1 || p.Train.Outputs != 1 || p.Whole {
			t.Errorf("%s: Load gives %d × %d", c.name, p.Train.Len(), p.Train.Features())
		}
	}
	if Tabular("mnist7") || Tabular("pima") || Tabular("nothing") {
		t.Error("no tables are said to be tables")
	}
	if _, _, err := LoadTable("mnist7", ""); err == nil || !strings.Contains(err.Error(), "not a table") {
		t.Error(err)
	}
}

// The table of naval in STARLING_DATA is read without the column that is no input.
func TestNaval(t *testing.T) {
	dir := os.Getenv("STARLING_DATA")
	if dir == "" {
		t.Skip("STARLING_DATA is not set: skips the table of naval")
	}
	table, target, err := LoadTable("naval", dir)
	if err != nil {
		t.Fatal(err)
	}
	if table.Rows() != 11934 || table.Cols != 17 || target != "turbine_decay" || slices.Contains(table.Header, "compressor_decay") {
		t.Errorf("naval: %d × %d, %q", table.Rows(), table.Cols, table.Header)
	}
	if table.Values[0] != 1.138 || table.Values[16] != 0.975 || table.Values[17*11933+16] != 1 {
		t.Errorf("naval: first row %v, last %v", table.Values[:17], table.Values[17*11933:])
	}
}

// TestLoadScaled: a table that is not like a user's own, whose inputs come standardised, is whole.
func TestLoadScaled(t *testing.T) {
	dir := t.TempDir()
	putPima(t, dir)
	p, err := Load("pima", dir)
	if err != nil || !p.Whole || p.Schema == nil || !p.Schema.Intercept || p.Train.Classes != 2 && p.Train.Classes != 1 || p.Train.Name != "train" {
		t.Errorf("%+v, %v", p, err)
	}
}
