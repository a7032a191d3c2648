package filter

import (
	"math"

	"github.com/starling-smc/starling/internal/rng"
)

// bernstein is the stopping rule of adaptive subsampling (sequential-mcmc-massive-data, section 2.2, Algorithm 3 with its misprints corrected; A1,
// A2). Whether the mean of M numbers d_i is above ψ is decided by some of them, which are drawn without replacement. Round w = 1, 2, … has
// looked at S of them, with the mean m and V = Σ (d − m)²/S. It is the last if
//
//	|m − ψ| ≥ c,   c = √(2 V log(3/δ_w)/S) + 3 R log(3/δ_w)/S   (10)
//
// where no two d differ by more than R, and δ_w = δ (p − 1)/(p w^p). By the inequality of Bernstein with the observed variance (Audibert, Munos and
// Szepesvári 2009), which drawing without replacement makes no weaker, m − c < mean < m + c but for a probability of δ_w, and Σ_w δ_w ≤ δ. The
// next round looks at ⌈γ S − 10⁻⁹⌉.
type bernstein struct {
	delta, power, growth float64
	rounds               []round // as far as they were needed
}

// round is what a round does not owe to the numbers.
type round struct {
	size int     // S
	log  float64 // log(3/δ_w)
}

// round returns round w + 1.
func (r *bernstein) round(w int) round {
	for n := len(r.rounds); n <= w; n++ {
		next := round{1, rng.Log(3*r.power/(r.delta*(r.power-1))) + float64(r.power*rng.Log(float64(n+1)))}
		if n > 0 {
			next.size = int(min(math.Ceil(float64(r.growth*float64(r.rounds[n-1].size))-1e-9), 1<<40))
		}
		r.rounds = append(r.rounds, next)
	}
	return r.rounds[w]
}

// least is what c is at least in a round, divided by R.
func (n round) least() float64 { return 3 * n.log / float64(n.size) }

// width is c of a round.
func (n round) width(v, spread float64) float64 {
	return math.Sqrt(2*v*n.log/float64(n.size)) + float64(n.least()*spread)
}

// closest is the least of the last round that looks at no more than most numbers.
func (r *bernstein) closest(most int) float64 {
	w := 0
	for r.round(w+1).size <= most {
		w++
	}
	return r.round(w).least()
}

// tally sums up numbers by their differences from the first, so that numbers that are all the same have no variance.
type tally struct {
	n                   int
	first, sum, squares float64
}

func (t *tally) add(d []float64) {
	if t.n == 0 {
		t.first = d[0]
	}
	for _, v := range d {
		u := v - t.first
		t.sum += u
		t.squares += float64(u * u)
	}
	t.n += len(d)
}

// moments are the mean and V.
func (t *tally) moments() (mean, v float64) {
	share := 1 / float64(t.n)
	off := float64(t.sum * share)
	return t.first + off, max(0, float64(t.squares*share)-float64(off*off))
}

// drawn are the numbers of a decision.
type drawn interface {
	// next draws n more of them. It returns nil if the decision must not be made by them.
	next(n int) []float64
}

// above decides whether the mean of the numbers is above psi, by at most so many of them. Their absolute value is at most spread/2. It returns
// their number, and the mean of those that it has seen; decided is false if the rule did not stop. Rounds that could not be the last
// whatever the numbers are look at them together with the next.
func (r *bernstein) above(from drawn, most int, spread, psi float64) (mean float64, seen int, decided bool) {
	var all tally
	far := math.Abs(psi) + float64(0.5*spread)
	for w := 0; ; w++ {
		n := r.round(w)
		if n.size > most {
			return mean, all.n, false
		}
		if float64(n.least()*spread) > far {
			continue
		}
		d := from.next(n.size - all.n)
		if d == nil {
			return mean, all.n, false
		}
		all.add(d)
		var v float64
		if mean, v = all.moments(); math.Abs(mean-psi) >= n.width(v, spread) {
			return mean, all.n, true
		}
	}
}
