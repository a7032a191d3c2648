package lanes

import (
	"fmt"
	"math"
)

// repeats is the number of particles in a buffer of n elements, of which one particle has per. ll has one vector for each
// group of a particle.
func repeats(name string, n, per, ll, groups int) int {
	if per == 0 {
		if n != 0 || ll != 0 {
			panic(fmt.Sprintf("lanes: %s: values without targets", name))
		}
		return 0
	}
	if n%per != 0 || ll != n/per*groups*Lanes {
		panic(fmt.Sprintf("lanes: %s: %d values and %d log-likelihoods for %d groups of targets", name, n, ll, groups))
	}
	return n / per
}

// sameOrNil panics unless dz is nil or as long as z.
func sameOrNil(name string, z, dz []float32) {
	if dz != nil && len(dz) != len(z) {
		panic(fmt.Sprintf("lanes: %s: lengths %d and %d differ", name, len(z), len(dz)))
	}
}

// Categorical is the log-likelihood of labels under softmax, and its gradient, for r particles and g groups of
// examples: z is [r][g][classes][16], label [g][16], ll [r][g][16], dz as z, or nil. In each lane
//
//	ll    = z[label] - log Σ_c e^z[c]
//	dz[c] = (c == label ? 1 : 0) - e^z[c] / Σ_k e^z[k]
//
// computed from the differences to the largest logit: dz within 4e-7, ll within 1e-6 |ll| + 2e-7 + 1.2e-7 |max z − z[label]|.
// A label outside 0 … classes−1 gives ll = NaN. dz may be z.
func Categorical(z []float32, label []int32, classes int, ll, dz []float32) {
	sameVectors("Categorical", len(label))
	groups := len(label) / Lanes
	r := repeats("Categorical", len(z), len(label)*classes, len(ll), groups)
	sameOrNil("Categorical", z, dz)
	for i := categoricalAssembly(z, label, classes, ll, dz); i < r*groups; i++ {
		zi, y := z[i*classes*Lanes:][:classes*Lanes], label[i%groups*Lanes:]
		for l := range Lanes {
			top, picked := zi[l], float32(math.NaN())
			for c := range classes {
				v := zi[c*Lanes+l]
				top = max32(v, top)
				if int32(c) == y[l] {
					picked = v
				}
			}
			var sum float32
			for c := range classes {
				e := expNeg(zi[c*Lanes+l] - top)
				sum += e
				if dz != nil {
					dz[i*classes*Lanes+c*Lanes+l] = e
				}
			}
			// The last term is 0, or NaN if the sum is.
			ll[i*Lanes+l] = fma32(sum, 0, picked-top-logUp(sum))
			if dz == nil {
				continue
			}
			scale := 1 / sum
			for c := range classes {
				d := &dz[i*classes*Lanes+c*Lanes+l]
				var hot float32
				if int32(c) == y[l] {
					hot = 1
				}
				*d = fma32(-*d, scale, hot)
			}
		}
	}
}

// Bernoulli is the log-likelihood of targets y ∈ {0, 1} with logits z, and its gradient, for r particles and g groups
// of examples: z is [r][g][16], y [g][16], ll as z, dz as z, or nil. In each lane, with a = (2y−1) z,
//
//	ll = min(a, 0) - log(1 + e^-|z|)
//	dz = (2y-1) σ(-a) = y - σ(z)
//
// both within 3 ulp. dz may be z.
func Bernoulli(z, y, ll, dz []float32) {
	sameVectors("Bernoulli", len(y))
	repeats("Bernoulli", len(z), len(y), len(ll), len(y)/Lanes)
	sameOrNil("Bernoulli", z, dz)
	for i := bernoulliAssembly(z, y, ll, dz); i < len(z); i++ {
		sign := fma32(2, y[i%len(y)], -1)
		a := float32(sign * z[i])
		u := expNeg(-abs32(z[i]))
		p := horner(u, 1, log1pCoeffs[:])
		ll[i] = fma32(-p, u, min32(0, a))
		if dz != nil {
			top := float32(1)
			if a >= 0 {
				top = u
			}
			dz[i] = float32(sign * (top / (1 + u)))
		}
	}
}

// Gaussian is the log-likelihood of targets y under independent normals of mean z and precision prec, and its
// gradient, for r particles and g groups of examples: z is [r][g][outputs][16], y [g][outputs][16], ll [r][g][16],
// dz as z, or nil. logNorm is ½ log(prec/2π). In each lane
//
//	ll    = Σ_k (logNorm - prec/2 (y[k] - z[k])²)
//	dz[k] = prec (y[k] - z[k])
//
// dz may be z.
func Gaussian(z, y []float32, outputs int, prec, logNorm float32, ll, dz []float32) {
	if outputs < 1 || len(y)%(outputs*Lanes) != 0 {
		panic(fmt.Sprintf("lanes: Gaussian: %d targets for %d outputs", len(y), outputs))
	}
	groups := len(y) / (outputs * Lanes)
	r := repeats("Gaussian", len(z), len(y), len(ll), groups)
	sameOrNil("Gaussian", z, dz)
	half := -prec / 2
	for i := gaussianAssembly(z, y, outputs, prec, logNorm, ll, dz); i < r*groups; i++ {
		yi := y[i%groups*outputs*Lanes:]
		for l := range Lanes {
			var sum float32
			for k := range outputs {
				o := k*Lanes + l
				d := yi[o] - z[i*outputs*Lanes+o]
				sum += fma32(float32(half*d), d, logNorm)
				if dz != nil {
					dz[i*outputs*Lanes+o] = float32(prec * d)
				}
			}
			ll[i*Lanes+l] = sum
		}
	}
}
