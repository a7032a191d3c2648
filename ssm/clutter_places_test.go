package ssm

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
)

// finder is the likelihood of a scan with three groups of returns, at (3, 1), (−7, 2) and (100, 100), outside the region, and of clutter.
func finder(t *testing.T, shuffle bool) (Finder, [][]float64) {
	t.Helper()
	m := Clutter{Acceleration: 1, Returns: Returns{Rate: 40, SD: 0.2}, Background: Background{Rate: 100, Region: [4]float64{-20, 20, -20, 20}},
		Initial: []Initial{{Mean: make([]float64, 4), SD: make([]float64, 4)}, {Mean: make([]float64, 4), SD: make([]float64, 4)}}}
	s := rng.Key{Seed: 4}.Stream()
	var rows [][]float64
	for _, g := range []struct{ x, y, n float64 }{{3, 1, 60}, {-7, 2, 30}, {100, 100, 10}} {
		for range int(g.n) {
			rows = append(rows, []float64{g.x + 0.2*s.Normal(), g.y + 0.2*s.Normal()})
		}
	}
	for range 100 {
		rows = append(rows, []float64{40*s.Float64() - 20, 40*s.Float64() - 20})
	}
	if shuffle {
		slices.Reverse(rows)
	}
	like, err := m.Bind(&Scan{Width: 2, Values: slices.Concat(rows...)})
	if err != nil {
		t.Fatal(err)
	}
	return like.(Finder), rows
}

// Places are where returns are densest, the densest first, within a standard error of a few hundredths, whatever the order of the returns.
func TestPlaces(t *testing.T) {
	f, _ := finder(t, false)
	other, _ := finder(t, true)
	places := f.Places(5)
	if len(places) != 5 || !slices.EqualFunc(places, other.Places(5), slices.Equal) {
		t.Fatalf("%v; in another order %v", places, other.Places(5))
	}
	for i, want := range [][]float64{{3, 1}, {-7, 2}, {100, 100}} {
		if !(math.Hypot(places[i][0]-want[0], places[i][1]-want[1]) < 0.2) {
			t.Errorf("place %d is %v, want near %v", i+1, places[i], want)
		}
	}
	if got := f.Places(1); len(got) != 1 || !slices.Equal(got[0], places[0]) {
		t.Errorf("the densest place is %v, want %v", got, places[0])
	}
}

// A target explains of each return the share that its density has in that of clutter and all targets, to the same bits for another order.
func TestExplained(t *testing.T) {
	f, rows := finder(t, false)
	other, _ := finder(t, true)
	for _, x := range [][]float64{{3, 1, 0, 0, -7.1, 2.2, 0, 0}, {3.1, 1, 0, 0, 2.8, 1.1, 0, 0}, {50, 50, 0, 0, 100, 100, 0, 0}} {
		want, got := make([]float64, 2), make([]float64, 2)
		for _, z := range rows {
			all, of := 0.0, [2]float64{}
			if math.Abs(z[0]) <= 20 && math.Abs(z[1]) <= 20 {
				all = 100.0 / 1600
			}
			for r := range of {
				dx, dy := (z[0]-x[4*r])/0.2, (z[1]-x[4*r+1])/0.2
				of[r] = 40 / (2 * math.Pi * 0.04) * math.Exp(-0.5*(dx*dx+dy*dy))
				all += of[r]
			}
			for r := range of {
				if all > 0 {
					want[r] += of[r] / all
				}
			}
		}
		f.Explained(x, got)
		permuted := make([]float64, 2)
		if other.Explained(x, permuted); !slices.Equal(got, permuted) {
			t.Errorf("at %v targets explain %v, in another order %v", x, got, permuted)
		}
		for r := range want {
			if !(math.Abs(got[r]-want[r]) < 1e-7) {
				t.Errorf("at %v target %d explains %v, want %v", x, r+1, got[r], want[r])
			}
		}
	}
}
