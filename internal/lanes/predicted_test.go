package lanes

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Every kernel has the bits of Go at the bounds of log σ and beside them, where e^x is 1 + x, where σ² is near a power of 2 or near the
// root of one half of it, at zeros, and for values that are not finite, with and without a floor. A wrong branch of Exp shows in one of
// two log σ near 2^-30.
func TestPredictedNormalEverywhere(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 18))
	edge := func(x float64) float32 { // within three neighbours
		v := float32(x)
		for range r.IntN(4) {
			v = math.Nextafter32(v, float32(1000*r.NormFloat64()))
		}
		return v
	}
	inf := math.Inf(1)
	odd := []float64{math.NaN(), inf, -inf, math.Copysign(0, -1), 0, 1e-45, -1e-45, math.MaxFloat32, -math.MaxFloat32}
	logSD := []func() float32{
		func() float32 { return float32(4 * r.NormFloat64()) },
		func() float32 { return edge([2]float64{LowestLogSD, HighestLogSD}[r.IntN(2)]) },
		func() float32 { return float32(math.Ldexp(r.NormFloat64(), -r.IntN(60))) },
		func() float32 { return float32(math.Ldexp(1+r.Float64(), -30) * float64(1-2*r.IntN(2))) },
		func() float32 { return edge(math.Ln2 / 4 * float64(r.IntN(161)-80)) },
		func() float32 { return float32(odd[r.IntN(len(odd))]) },
	}
	value := func() float32 {
		if r.IntN(20) == 0 {
			return float32(odd[r.IntN(len(odd))])
		}
		return float32(math.Ldexp(r.NormFloat64(), r.IntN(40)-20))
	}
	trials := 3000
	if testing.Short() {
		trials = 600
	}
	for _, floor := range []float64{0, 1e-6, .003, .8, 1, 1e6, 1e100} {
		for range trials {
			k := 1 + r.IntN(3)
			z, y := make([]float32, 2*k*Lanes), make([]float32, k*Lanes)
			for i := range y {
				z[i], y[i], z[len(y)+i] = value(), value(), logSD[r.IntN(len(logSD))]()
			}
			run := func(kernel string) (ll, dz []float32) {
				defer setKernel(t, kernel)()
				ll, dz = make([]float32, Lanes), make([]float32, len(z))
				PredictedNormal(z, y, floor, ll, dz)
				alone := make([]float32, Lanes)
				PredictedNormal(z, y, floor, alone, nil)
				sameBits(t, kernel+" without a gradient", alone, ll)
				return ll, dz
			}
			ll, dz := run("go")
			for _, kernel := range Kernels() {
				l, d := run(kernel)
				sameBits(t, kernel+", log-likelihood", l, ll)
				sameBits(t, kernel+", gradient", d, dz)
			}
		}
	}
}

func TestPredictedNormalPanics(t *testing.T) {
	floats := func(vectors int) []float32 { return make([]float32, vectors*Lanes) }
	for name, call := range map[string]func(){
		"outputs":   func() { PredictedNormal(floats(3), floats(1), 0, floats(1), nil) },
		"groups":    func() { PredictedNormal(floats(4), floats(2), 0, floats(2), nil) },
		"gradient":  func() { PredictedNormal(floats(4), floats(2), 0, floats(1), floats(2)) },
		"below":     func() { PredictedNormal(floats(4), floats(2), -1, floats(1), nil) },
		"no number": func() { PredictedNormal(floats(4), floats(2), math.NaN(), floats(1), nil) },
		"infinite":  func() { PredictedNormal(floats(4), floats(2), math.Inf(1), floats(1), nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			call()
		}()
	}
}
