package filter

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
)

// TestGoldenBernstein: V and c of values computed elsewhere.
func TestGoldenBernstein(t *testing.T) {
	seen := 0
	for _, c := range golden.Read(t, "subsampling.json") {
		if c.Kind != "bernstein" {
			continue
		}
		seen++
		var in struct {
			Values       []float64
			Range, Delta float64
		}
		var want struct {
			V float64 `json:"V_ddof0"`
			C float64 `json:"c_ddof0"`
		}
		decode(t, c.Inputs, &in)
		decode(t, c.Expected, &want)
		var all tally
		all.add(in.Values[:1])
		all.add(in.Values[1:])
		_, v := all.moments()
		width := round{len(in.Values), rng.Log(3 / in.Delta)}.width(v, in.Range)
		if !golden.Near(v, want.V, 1e-9, 1e-11) || !golden.Near(width, want.C, 1e-9, 1e-11) {
			t.Errorf("%s: V = %v and c = %v, want %v and %v", c.Name, v, width, want.V, want.C)
		}
	}
	if seen < 2 {
		t.Errorf("%d cases", seen)
	}
}

// listed draws the numbers of a list in their order.
type listed struct {
	list []float64
	used int
}

func (l *listed) next(n int) []float64 {
	l.used += n
	return l.list[l.used-n : l.used]
}

// TestGoldenSubsampling: the rounds of Algorithm 3, what each of them knows, and how it ends, against a run of it that was made elsewhere.
func TestGoldenSubsampling(t *testing.T) {
	seen := 0
	for _, c := range golden.Read(t, "subsampling.json") {
		if c.Kind != "alg3" {
			continue
		}
		seen++
		var in struct {
			Ratio  []float64 `json:"log_ratio_in_draw_order"`
			Proxy  []float64 `json:"proxy_in_draw_order"`
			Spread float64   `json:"R_B"`
			Psi    float64
			Growth float64 `json:"gamma_s"`
			Delta  float64 `json:"delta_s"`
			Power  float64 `json:"p_s"`
		}
		var want struct {
			S      []int
			Delta  []float64 `json:"delta_w"`
			C, Gap []float64
			Accept bool
		}
		decode(t, c.Inputs, &in)
		decode(t, c.Expected, &want)
		m := len(in.Ratio)
		proxy, d := 0.0, make([]float64, m)
		for i, v := range in.Proxy {
			proxy += v / float64(m)
			d[i] = in.Ratio[i] - v
		}
		psi := in.Psi - proxy
		rule := bernstein{delta: in.Delta, power: in.Power, growth: in.Growth}
		var all tally
		for w, s := range want.S {
			n := rule.round(w)
			if n.size = min(n.size, m); n.size != s || !golden.Near(3*math.Exp(-n.log), want.Delta[w], 1e-9, 0) {
				t.Errorf("%s: round %d looks at %d with δ = %v, want %d and %v", c.Name, w+1, n.size, 3*math.Exp(-n.log), s, want.Delta[w])
			}
			all.add(d[all.n:s])
			mean, v := all.moments()
			if width, gap := n.width(v, in.Spread), math.Abs(mean-psi); !golden.Near(width, want.C[w], 1e-9, 1e-11) || !golden.Near(gap, want.Gap[w], 1e-9, 1e-11) {
				t.Errorf("%s: round %d has c = %v and the gap %v, want %v and %v", c.Name, w+1, width, gap, want.C[w], want.Gap[w])
			}
		}
		mean, used, decided := rule.above(&listed{list: d}, m-1, in.Spread, psi)
		if !decided { // all of them decide
			used, mean = m, 0
			for _, v := range d {
				mean += v / float64(m)
			}
		}
		if last := want.S[len(want.S)-1]; used != last || (mean > psi) != want.Accept {
			t.Errorf("%s: %d numbers accept: %v, want %d and %v", c.Name, used, mean > psi, last, want.Accept)
		}
	}
	if seen < 3 {
		t.Errorf("%d cases", seen)
	}
}

// TestBernsteinCovers: of means of numbers that are drawn without replacement, the rule is wrong with a probability of at most δ = .1, for
// numbers of three kinds and distances of ψ from their mean that let it end early or late. Of 1,500 decisions of each a rule that is
// right is wrong in 220 at most, but for a probability of 1e-8. One without the term in R takes the first few zeros for all of the second kind.
func TestBernsteinCovers(t *testing.T) {
	const m, made = 3000, 1500
	s := rng.Key{Seed: 17, Purpose: rng.Synthetic}.Stream()
	kinds := map[string]func(i int) float64{
		"even":   func(i int) float64 { return 2*float64(i)/(m-1) - 1 },
		"rare":   func(i int) float64 { return map[bool]float64{true: 1, false: 0}[i < 120] },
		"halves": func(i int) float64 { return float64(1 - 2*(i%2)) },
	}
	for name, kind := range kinds {
		d, mean := make([]float64, m), 0.0
		for i := range d {
			d[i] = kind(i)
			mean += d[i] / m
		}
		rule, wrong, ended := bernstein{delta: 0.1, power: 2, growth: 1.2}, 0, 0
		for i := range made {
			rng.Shuffle(s, d)
			psi := mean + []float64{-0.03, 0.1, 0.2, -0.3}[i%4]
			if found, _, decided := rule.above(&listed{list: d}, m-1, 2, psi); decided {
				ended++
				if (found > psi) != (mean > psi) {
					wrong++
				}
			}
		}
		if wrong > 220 || ended < made/2 {
			t.Errorf("%s: %d of %d decisions ended, %d are wrong", name, ended, made, wrong)
		}
	}
}

// TestBernsteinBatches: rounds that cannot be the last are looked at together with the next, and change nothing: the rule ends where one does
// that looks at every round.
func TestBernsteinBatches(t *testing.T) {
	s := rng.Key{Seed: 18, Purpose: rng.Synthetic}.Stream()
	rule := bernstein{delta: 0.1, power: 2, growth: 1.2}
	d := make([]float64, 5000)
	for i := range 300 {
		for k := range d {
			d[k] = 0.3*s.Float64() - 0.1
		}
		psi, spread := []float64{0, 0.04, 0.2, -1, 3}[i%5], []float64{0.4, 3}[i%2]
		var all tally
		want, ends := 0, false
		for w := 0; rule.round(w).size <= 4000 && !ends; w++ {
			all.add(d[all.n:rule.round(w).size])
			mean, v := all.moments()
			want, ends = all.n, math.Abs(mean-psi) >= rule.round(w).width(v, spread)
		}
		from := &listed{list: d}
		if _, used, decided := rule.above(from, 4000, spread, psi); decided != ends || ends && used != want {
			t.Errorf("case %d ends after %d: %v, want after %d: %v", i, used, decided, want, ends)
		}
	}
}

// TestShuffle: numbers without replacement are those of the first steps of a shuffle of all of them, by the same random numbers, one sequence
// after another; few of many need little memory.
func TestShuffle(t *testing.T) {
	var s shuffle
	for i, c := range []struct{ n, draws int }{{1, 1}, {2, 2}, {5, 3}, {64, 64}, {1000, 1000}, {1000, 10}, {100_000, 700}, {7, 7}} {
		key := rng.Key{Seed: 5, Purpose: rng.Synthetic, Iteration: i}
		want := key.Stream().Subset(nil, c.n, c.draws)
		stream := key.Stream()
		s.begin(c.n)
		have := make([]int32, c.draws)
		for k := range have {
			have[k] = s.next(stream)
		}
		if !slices.Equal(have, want) {
			t.Errorf("%d of %d: %v, want %v", c.draws, c.n, have, want)
		}
	}
	var few shuffle
	few.begin(1 << 30)
	stream := rng.Key{Seed: 6, Purpose: rng.Synthetic}.Stream()
	seen := map[int32]bool{}
	for range 1000 {
		seen[few.next(stream)] = true
	}
	if len(seen) != 1000 || len(few.places) > 1<<13 {
		t.Errorf("%d different numbers of 1000, and %d places", len(seen), len(few.places))
	}
	few.now = math.MaxUint32 // the generations begin again
	few.begin(3)
	have := fmt.Sprint(slices.Sorted(slices.Values([]int32{few.next(stream), few.next(stream), few.next(stream)})))
	if have != "[0 1 2]" {
		t.Errorf("three numbers are %s", have)
	}
}
