package smc

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/mcmc"
)

// wide is a Bayesian linear regression of d coordinates and 2d rows with noise 1 and the prior N(0, I), whose evidence is known.
func wide(t *testing.T, d int) problem {
	t.Helper()
	stream := rng.Key{Seed: 1, Purpose: rng.Synthetic, Particle: d}.Stream()
	theta, x := make([]float64, d), make([][]float64, 2*d)
	y := make([]float64, len(x))
	stream.Normals(theta)
	for r := range x {
		x[r] = make([]float64, d)
		stream.Normals(x[r])
		y[r] = stream.Normal()
		for i, v := range x[r] {
			y[r] += v * theta[i]
		}
	}
	// log Z = −½ y'y − n/2 log 2π − ½ log det A + ½ |L⁻¹x'y|², A = I + x'x = LL'
	a, z, logZ := make([]float64, d*d), make([]float64, d), -0.5*float64(len(x))*log2Pi
	for r, row := range x {
		logZ -= y[r] * y[r] / 2
		for i, v := range row {
			z[i] += v * y[r]
			for k, u := range row {
				a[i*d+k] += v * u
			}
		}
	}
	for i := range d {
		a[i*d+i]++
	}
	if !dense.Cholesky(a, d) {
		t.Fatal("no positive definite matrix")
	}
	dense.Forward(a, z)
	logZ -= dense.LogDet(a, d) / 2
	for _, v := range z {
		logZ += v * v / 2
	}
	return problem{name: "wide", model: regression(x, y, 1, 1), prior: normal{d: d, sd: 1}, logZ: logZ}
}

// A move must not use what the particles that it moves have taught: else log Z is low, though variances are right. On a fixed ladder the
// mean of Z over exact is 1, with the defaults of HMC and with each scale that it can learn. log Z is nearly normal, of standard
// deviation s, so that the mean is tested by mean log Z + s²/2, whose standard error is s √((1 + s²/2)/n), .05 nats here. Without folds the
// default is off by .4, and the diagonal scale by .3. A correct sampler fails once in 10⁶ seeds; the test finds an error of .55 nats for
// sure, and one of .4 in 95 of 100 seeds. The usual test has the default scale alone.
func TestScalesDoNotBiasTheEvidence(t *testing.T) {
	testkit.Statistics(t)
	p := wide(t, 20)
	scales := []mcmc.Scaling{""}
	if testkit.Long(t, 1) {
		scales = append(scales, mcmc.Diagonal, mcmc.Tensor)
	}
	ladder := Ladder{[]float64{0.0011, 0.003, 0.0058, 0.0097, 0.015, 0.023, 0.034, 0.049, 0.072, 0.105, 0.16, 0.245, 0.39, 0.65, 1}}
	for _, scale := range scales {
		t.Run("scale "+string(scale), func(t *testing.T) {
			const runs = 400
			logZ := make([]float64, runs)
			pool.New(0).Run(runs, func(i int) {
				s := &Sampler{Model: p.model, Prior: p.prior, Path: ladder, Particles: 50, Seed: 5, Island: i,
					Move: mcmc.HMC{Scale: scale}.ForPopulation(mcmc.UntilTravelled, false)}
				st, err := s.Init(context.Background())
				if err == nil {
					err = s.Run(context.Background(), st, nil)
				}
				if err != nil {
					t.Error(err)
					return
				}
				logZ[i] = st.LogZ - p.logZ
			})
			var mean, square float64
			for _, l := range logZ {
				mean += l / runs
			}
			for _, l := range logZ {
				square += (l - mean) * (l - mean) / (runs - 1)
			}
			off, se := mean+square/2, math.Sqrt(square*(1+square/2)/runs)
			if bound := quantile6(runs-1, 3) * se; !(math.Abs(off) <= bound) {
				t.Errorf("the logarithm of the mean of Z is off by %v, more than %v", off, bound)
			}
			t.Logf("log Z %.3f, variance %.3f; the mean of Z is off by %.3f ± %.3f nats", mean, square, off, se)
		})
	}
}

// A state that is read back has the folds by which its particles move, and knows whether they have parted. One with folds that
// there are not is refused.
func TestFoldsAreSaved(t *testing.T) {
	st, _ := step(t, &Sampler{Model: narrow(), Prior: normal{d: 3, sd: 1}, Path: Tempering{}, Move: mcmc.HMC{}, Particles: 20})
	packed, err := st.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var again State
	if err := again.UnmarshalBinary(packed); err != nil {
		t.Fatal(err)
	}
	if slices.Max(st.Fold) < 2 || !slices.Equal(again.Fold, st.Fold) || st.Parted != 1 || again.Parted != 1 {
		t.Errorf("folds %v are %v when they are read, parted %d is %d", st.Fold, again.Fold, st.Parted, again.Parted)
	}
	st.Fold[3] = 8
	packed, _ = st.MarshalBinary()
	if err := again.UnmarshalBinary(packed); err == nil || !strings.Contains(err.Error(), "fold 8, of 8") {
		t.Errorf("a fold beyond the last one: %v", err)
	}
}
