package rng

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/lanes"
)

// Known answers of Random123 (kat_vectors, philox4x32 10).
func TestPhiloxKnownAnswers(t *testing.T) {
	for _, c := range []struct {
		ctr  [4]uint32
		key  [2]uint32
		want [4]uint32
	}{
		{[4]uint32{}, [2]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{math.MaxUint32, math.MaxUint32, math.MaxUint32, math.MaxUint32}, [2]uint32{math.MaxUint32, math.MaxUint32},
			[4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		want := [2]uint64{uint64(c.want[0]) | uint64(c.want[1])<<32, uint64(c.want[2]) | uint64(c.want[3])<<32}
		a, b := lanes.PhiloxPair([3]uint32(c.ctr[:3]), c.ctr[3], c.ctr[3], c.key)
		if a != want || b != want {
			t.Errorf("Philox(%x, %x) = %x, %x, want %x", c.ctr, c.key, a, b, want)
		}
	}
}

// The address of a number within the counter is the format of section "word 0 … word 3" of the package comment.
func TestStreamIsPhiloxOfItsAddress(t *testing.T) {
	k := Key{Seed: 0x0123456789abcdef, Purpose: Momentum, Island: 0xabcdef, Iteration: 0xfedcba98, Mutation: 0x765, Particle: 0x43210}
	s := k.Stream()
	for block := range uint32(37) {
		a, _ := lanes.PhiloxPair([3]uint32{3<<24 | 0xabcdef, 0xfedcba98, 0x765<<20 | 0x43210}, block, 0, [2]uint32{0x89abcdef, 0x01234567})
		if x, y := s.Uint64(), s.Uint64(); x != a[0] || y != a[1] {
			t.Fatalf("block %d: %x %x, want %x", block, x, y, a)
		}
	}
}

func TestKeyRefusesFieldsThatOverflow(t *testing.T) {
	for _, c := range []struct {
		key  Key
		name string
	}{
		{Key{Island: 1 << 24}, "island"}, {Key{Iteration: 1 << 32}, "iteration"}, {Key{Mutation: 1 << 12}, "mutation"},
		{Key{Particle: 1 << 20}, "particle"}, {Key{Particle: -1}, "particle"},
	} {
		if err := c.key.Check(); err == nil || !strings.Contains(err.Error(), c.name) {
			t.Errorf("%+v: error %v does not name %s", c.key, err, c.name)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v: Stream did not panic", c.key)
				}
			}()
			c.key.Stream()
		}()
	}
	last := Key{Island: 1<<24 - 1, Iteration: 1<<32 - 1, Mutation: 1<<12 - 1, Particle: 1<<20 - 1}
	if err := last.Check(); err != nil {
		t.Error(err)
	}
}

// Outputs are frozen: a change breaks every stored result. Do not edit the values without a new format version.
func TestStreamsAreFrozen(t *testing.T) {
	k := Key{Seed: 1, Purpose: Init, Island: 2, Iteration: 3, Mutation: 4, Particle: 5}
	s := k.Stream()
	ints := []uint64{s.Uint64(), s.Uint64(), s.Uint64()}
	s = k.Stream()
	uniform := []float64{s.Float64(), s.Float64()}
	normal := make([]float64, 4)
	k.Stream().Normals(normal)
	perm := make([]int32, 8)
	k.Stream().Perm(perm)
	var sum float64 // 300 000 normals pass every strip of the ziggurat and its tail
	many := make([]float64, 300000)
	k.Stream().Normals(many)
	for i, x := range many {
		sum += float64(x * float64(i%7+1))
	}
	if want := []uint64{0x77bd5a13faba5006, 0xb48bcd20104b86b3, 0x9c86d524a638a29f}; !slices.Equal(ints, want) {
		t.Errorf("integers %#v", ints)
	}
	if want := []float64{0.4677330302026601, 0.7052581980972672}; !slices.Equal(uniform, want) {
		t.Errorf("uniform %#v", uniform)
	}
	if want := []float64{2.8845340428609005, -0.7015594778145634, -1.0315448926830932, -0.6867589449735481}; !slices.Equal(normal, want) {
		t.Errorf("normal %#v", normal)
	}
	if want := []int32{2, 0, 5, 1, 6, 7, 4, 3}; !slices.Equal(perm, want) {
		t.Errorf("permutation %#v", perm)
	}
	if want := 4059.9448741767824; sum != want {
		t.Errorf("sum %v", sum)
	}
}

// Normals gives the numbers of Normal, and leaves the stream where Normal does: with any kernel, for any lengths, and with other draws
// between them.
func TestNormalsEqualsNormal(t *testing.T) {
	for _, kernel := range lanes.Kernels() {
		restore, err := lanes.SetKernel(kernel)
		if err != nil {
			t.Fatal(err)
		}
		defer restore()
		k := Key{Seed: 9, Purpose: Synthetic}
		s, alone, lengths := k.Stream(), k.Stream(), Key{Seed: 10, Purpose: Synthetic}.Stream()
		for call := range 3000 {
			all := make([]float64, lengths.IntN(150))
			if call%50 == 0 {
				all = make([]float64, 200+lengths.IntN(2000))
			}
			s.Normals(all)
			for i, got := range all {
				if want := alone.Normal(); got != want {
					t.Fatalf("%s, call %d: number %d of %d is %v, want %v", kernel, call, i, len(all), got, want)
				}
			}
			for i := range lengths.IntN(4) {
				if got, want := s.Uint64(), alone.Uint64(); got != want {
					t.Fatalf("%s, call %d: number %d after %d normals is %#x, want %#x", kernel, call, i, len(all), got, want)
				}
			}
		}
	}
}

// A stream has 2³³ numbers: Normals gives the last of them and panics behind, as Normal does.
func TestStreamEnds(t *testing.T) {
	panics := func(f func()) (yes bool) {
		defer func() { yes = recover() != nil }()
		f()
		return false
	}
	for seed := range uint64(20) { // with and without edge cases among the last numbers
		for _, before := range []uint64{0, 2, 16, 30, 64, 200} {
			s := Key{Seed: seed, Purpose: Synthetic}.Stream()
			s.next = lastBlock - before
			alone, again, n := *s, *s, 0
			panics(func() {
				for ; ; n++ {
					alone.Normal()
				}
			})
			if s.Normals(make([]float64, n)); s.next != lastBlock {
				t.Errorf("%d blocks before the end: %d normals lead to block %d", before, n, s.next)
			}
			if len := max(n+1, 64); !panics(func() { again.Normals(make([]float64, len)) }) {
				t.Errorf("%d blocks before the end: no panic in %d normals", before, len)
			}
		}
	}
}

// kolmogorov returns √n times the largest distance between the empirical and the true distribution function; it
// exceeds 2.69 with probability 2 exp(−2·2.69²) = 1e-6.
func kolmogorov(x []float64, cdf func(float64) float64) float64 {
	slices.Sort(x)
	n, d := float64(len(x)), 0.0
	for i, v := range x {
		f := cdf(v)
		d = max(d, f-float64(i)/n, float64(i+1)/n-f)
	}
	return d * math.Sqrt(n)
}

const kolmogorovBound = 2.69

// With 10⁶ numbers an error of .0027 in the distribution function is found. In the tail, where 260 of a million lie, a
// relative error of .08 is found.
func TestNormalDistribution(t *testing.T) {
	n := 1000000
	if testing.Short() {
		n = 100000
	}
	cdf := func(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }
	x := make([]float64, n)
	Key{Seed: 4, Purpose: Synthetic}.Stream().Normals(x)
	var m [5]float64
	for _, v := range x {
		for p, f := 1, v; p <= 4; p, f = p+1, f*v {
			m[p] += f / float64(n)
		}
	}
	// Means of x, x², x³, x⁴ have variances 1, 2, 15, 96 over n; 4.9 sd is passed with probability 1e-6.
	for p, want := range []float64{1: 0, 2: 1, 3: 0, 4: 3} {
		sd := math.Sqrt([]float64{1, 1, 2, 15, 96}[p] / float64(n))
		if p > 0 && !(math.Abs(m[p]-want) <= 4.9*sd) {
			t.Errorf("moment %d is %v, want %v ± %v", p, m[p], want, sd)
		}
	}
	if k := kolmogorov(x, cdf); !(k <= kolmogorovBound) {
		t.Errorf("Kolmogorov statistic %v", k)
	}
	var tail []float64
	s := Key{Seed: 5, Purpose: Synthetic}.Stream()
	for range n {
		tail = append(tail, s.edge(0, 1))
	}
	at := cdf(-zigguratR)
	if k := kolmogorov(tail, func(x float64) float64 { return 1 - cdf(-x)/at }); !(k <= kolmogorovBound) {
		t.Errorf("Kolmogorov statistic of the tail %v", k)
	}
}

func TestZigguratStripsHaveEqualAreas(t *testing.T) {
	for i := 1; i < 256; i++ {
		area := ziggurat.x[i] * (ziggurat.y[i+1] - ziggurat.y[i])
		if !(math.Abs(area-zigguratV) <= 1e-12) {
			t.Errorf("strip %d has area %v, want %v", i, area, zigguratV)
		}
	}
	tail := math.Sqrt(math.Pi/2) * math.Erfc(zigguratR/math.Sqrt2)
	if got := zigguratR*ziggurat.y[1] + tail; !(math.Abs(got-zigguratV) <= 1e-15) {
		t.Errorf("lowest strip has area %v, want %v", got, zigguratV)
	}
}

// Neighbouring addresses give uncorrelated numbers: correlations of 10⁵ pairs beyond 4.9/√10⁵ = .0155 have probability
// 1e-6.
func TestNeighbouringStreamsAreUncorrelated(t *testing.T) {
	const n = 100000
	base := Key{Seed: 77, Purpose: Momentum, Island: 1, Iteration: 1, Mutation: 1, Particle: 1}
	draw := func(k Key) []float64 {
		x := make([]float64, n)
		k.Stream().Normals(x)
		return x
	}
	x := draw(base)
	for name, change := range map[string]func(*Key){
		"seed": func(k *Key) { k.Seed++ }, "purpose": func(k *Key) { k.Purpose++ }, "island": func(k *Key) { k.Island++ },
		"iteration": func(k *Key) { k.Iteration++ }, "mutation": func(k *Key) { k.Mutation++ }, "particle": func(k *Key) { k.Particle++ },
	} {
		k := base
		change(&k)
		y := draw(k)
		var r float64
		for i := range x {
			r += x[i] * y[i] / n
		}
		if !(math.Abs(r) <= 0.0155) {
			t.Errorf("streams that differ in %s have correlation %v", name, r)
		}
	}
}

// Chi-squared over the 24 orders of 4 things (23 degrees: 74 has probability 3e-7) and over IntN(7) (6 degrees: 38).
func TestOrdersAndIntegersAreUniform(t *testing.T) {
	const n = 48000
	s := Key{Seed: 8, Purpose: Synthetic}.Stream()
	orders, ints := map[[4]int32]float64{}, [7]float64{}
	var p [4]int32
	for range n {
		s.Perm(p[:])
		orders[p]++
		ints[s.IntN(7)]++
	}
	var chi float64
	for _, c := range orders {
		chi += (c - n/24) * (c - n/24) / (n / 24)
	}
	if len(orders) != 24 || !(chi <= 74) {
		t.Errorf("%d orders, χ² %v", len(orders), chi)
	}
	chi = 0
	for _, c := range ints {
		chi += (c - n/7.) * (c - n/7.) / (n / 7.)
	}
	if !(chi <= 38) {
		t.Errorf("IntN: χ² %v", chi)
	}
	u := make([]float64, 100000)
	for i := range u {
		u[i] = s.Float64()
	}
	if k := kolmogorov(u, func(x float64) float64 { return x }); !(k <= kolmogorovBound) || u[0] < 0 || u[len(u)-1] >= 1 {
		t.Errorf("uniform: Kolmogorov statistic %v, range %v…%v", k, u[0], u[len(u)-1])
	}
}
