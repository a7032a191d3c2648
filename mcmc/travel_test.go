package mcmc

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
)

// walk moves particles by an autoregression of correlation rho from their start, whose coordinates have the given standard
// deviations, and returns the number of moves until they have travelled; 51 if 50 are not enough. parents of the particles are
// distinct at the start: the others are copies.
func walk(particles, parents int, sd []float64, rho float64, seed uint64) int {
	d := len(sd)
	stream := rng.Key{Seed: seed, Purpose: rng.Synthetic}.Stream()
	start, noise := make([]float64, particles*d), make([]float64, particles*d)
	stream.Normals(start)
	for k := parents * d; k < len(start); k++ {
		start[k] = start[k%(parents*d)]
	}
	variances, now := make([]float64, d), make([]float64, len(start))
	for i := range sd {
		m, s := 0.0, 0.0
		for j := range particles {
			start[j*d+i] *= sd[i]
			m += start[j*d+i] / float64(particles)
		}
		for j := range particles {
			s += (start[j*d+i] - m) * (start[j*d+i] - m) / float64(particles)
		}
		variances[i] = s
	}
	copy(now, start)
	travel, away := NewTravel(particles, variances), make([]float64, d)
	for m := 1; m <= 50; m++ {
		stream.Normals(noise)
		for k := range now {
			now[k] = rho*now[k] + math.Sqrt(1-rho*rho)*sd[k%d]*noise[k]
		}
		travel.Moved(particles, func(j int) []float64 {
			for i := range away {
				away[i] = now[j*d+i] - start[j*d+i]
			}
			return away
		})
		if travel.Arrived() {
			return m
		}
	}
	return 51
}

// The squared displacement of an autoregression is 2(1 − ρ^m) in units of the variance, so it grows by 1 + ρ^{m/2} over the last
// half of m moves: to 1.2 at m = 2 ln .2/ln ρ. Of 2,000 particles the growth has a standard deviation below .06, so a correct
// rule errs by more than a third of m with a probability far below 1e-6; coordinates differ by factors of 1,000.
func TestTravelOfAnAutoregression(t *testing.T) {
	for _, rho := range []float64{0, 0.5, 0.7, 0.85} {
		want := 4.0
		if rho > 0 {
			want = max(4, 2*math.Log(0.2)/math.Log(rho))
		}
		for seed := range uint64(5) {
			if got := walk(2000, 2000, []float64{1, 0.001, 5}, rho, seed); math.Abs(float64(got)-want) > 1+want/3 {
				t.Errorf("correlation %v: travelled after %d moves, want about %.1f", rho, got, want)
			}
		}
	}
	if got := walk(2000, 2000, []float64{1, 1, 1}, 0.999, 1); got != 51 {
		t.Errorf("moves of a correlation of .999 have travelled after %d", got)
	}
}

// Ten particles, most of them copies, that draw every position anew have travelled at once: their noise must not hide it.
func TestTravelOfFewParticles(t *testing.T) {
	sd := make([]float64, 4000)
	for i := range sd {
		sd[i] = 1 + 0.2*float64(i%3)
	}
	for seed := range uint64(10) {
		if got := walk(10, 3, sd, 0, seed); got > 6 {
			t.Errorf("seed %d: independent draws have travelled after %d moves", seed, got)
		}
	}
}

// Particles that come back to their start have not travelled.
func TestTravelComesBack(t *testing.T) {
	travel := NewTravel(600, []float64{1})
	for m, distance := range []float64{1, 2, 1.5, 0.5} {
		travel.Moved(600, func(int) []float64 { return []float64{distance} })
		if travel.Arrived() {
			t.Errorf("arrived after %d moves", m+1)
		}
	}
}

// Far compares the last distance with the spread in nine tenths of the groups: in ten groups of fifty coordinates, one that stays is
// allowed and two are not. Coordinates without a spread say nothing, and where none has one nothing was carried.
func TestTravelFar(t *testing.T) {
	const particles, d = 10, 500
	for _, c := range []struct {
		what   string
		stay   int     // groups that do not move
		moved  float64 // by the others, in their spreads
		spread float64
		want   bool
	}{
		{"all", 0, 0.5, 3, true}, {"all too little", 0, 0.4999, 3, false}, {"all but one", 1, 0.5, 3, true}, {"all but two", 2, 9, 3, false},
		{"copies of one", 0, 1, 0, false},
	} {
		variances := slices.Repeat([]float64{c.spread * c.spread}, d)
		travel := NewTravel(particles, variances)
		if len(travel.ends) != 10 {
			t.Fatalf("%d groups", len(travel.ends))
		}
		away := make([]float64, d)
		travel.Moved(particles, func(int) []float64 { // an earlier move does not count
			for i := range away {
				away[i] = 100
			}
			return away
		})
		travel.Moved(particles, func(int) []float64 {
			for i := range away {
				away[i] = 0
				if i >= 50*c.stay {
					away[i] = c.moved * c.spread * (1 + 1e-12)
				}
			}
			return away
		})
		if got := travel.Far(particles, 0.5); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}
