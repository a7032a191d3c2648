package filter

import (
	"fmt"
	"math"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/ssm"
)

// shared is two, whose measurements are of the sum of both targets: all returns are shared.
type shared struct{ two }

func (m shared) Bind(scan *ssm.Scan) (ssm.Likelihood, error) {
	return total{m.scalar, scan.Values}, nil
}

type total struct {
	m scalar
	z []float64
}

func (l total) Len() int { return len(l.z) }

func (l total) LogLik(x []float64, _ []int32) (sum float64) {
	for _, z := range l.z {
		d := z - l.m.h*(x[0]+x[1])
		sum -= 0.5 * (log2Pi + rng.Log(l.m.r) + d*d/l.m.r)
	}
	return sum
}

// The chain of a scan leaves the posterior under the product of the targets' predictions invariant, with all kinds of decision. Of two
// targets of four particles each, whose measurement is of their sum, the 16 pairs of particles have the shares N(z; H A (f_1(a_1) + f_2(a_2)),
// 2 H² Q + R), and the first target the mean A f_1(a_1) + Q H d/(2 H² Q + R), where d is what the pair leaves of z. Errors are in Monte
// Carlo standard errors: one of 256 comparisons above 6.5 has probability 2e-8. A share that is off by .02 is found.
func TestInvariantLawOfTargets(t *testing.T) {
	testkit.Statistics(t)
	m := shared{two{scalar{a: 0.9, q: 0.08, h: 1, r: 0.3, m0: 0, p0: 1}}}
	from, z := []float64{-0.6, 0.7, -0.1, 0.2, 0.3, -0.5, 0.9, -0.4}, 0.35 // 4 × 2
	n := len(from) / 2
	p, mean := make([]float64, n*n), make([]float64, n*n)
	for i := range p {
		first := m.a * from[2*(i/n)]
		d := z - first - m.a*from[2*(i%n)+1]
		p[i] = math.Exp(-0.5 * d * d / (2*m.q + m.r))
		mean[i] = first + m.q*d/(2*m.q+m.r)
	}
	for name, way := range ways {
		const steps = 20000
		f, err := SMCMC{Particles: steps, Burn: 2000, Joint: way.Joint, Index: way.Index, Refine: way.Refine}.On(Job{Model: m, Seed: 8})
		if err != nil {
			t.Fatal(err)
		}
		s := f.(*smcmc)
		c, err := newChain(s.plan(1), 0, &State{K: 1, Dim: 2, X: from}, &ssm.Scan{Time: 1, Width: 1, Values: []float64{z}})
		if err != nil {
			t.Fatal(err)
		}
		hasLaw(t, name, s, c, steps, 6.5, p, mean, func() int { return int(c.a[0])*n + int(c.a[1]) })
	}
}

// Where targets share returns, ancestors: target is the filter that forgets the covariance of the two after each scan, exactly, and
// ancestors: joint is the filter that does not. Where they share none both are the two Kalman filters of one target each. Measurements of the sum
// alone never tell how far the two are from each other: the exact variance of a target grows with the walk, and the product of predictions
// takes it down to a fifth of that in six scans. Means are within 9 MCSE, of seven degrees of freedom, in 36 comparisons: a false failure has
// probability 1e-3 over all seeds, and the seed is fixed. Variances are within a quarter.
func TestWhatAncestorsForget(t *testing.T) {
	testkit.Statistics(t)
	m := scalar{a: 1, q: 0.05, h: 1, r: 0.2, p0: 1}
	for _, c := range []struct {
		model     ssm.Model
		h         [][2]float64 // of the measurements of a scan
		ancestors Ancestors
		forgets   bool
	}{
		{shared{two{m}}, [][2]float64{{1, 1}}, "", true},
		{shared{two{m}}, [][2]float64{{1, 1}}, Together, false},
		{two{m}, [][2]float64{{1, 0}, {0, 1}}, "", false},
	} {
		way := SMCMC{Particles: 12000, Repeat: 8, Burn: 300, Ancestors: c.ancestors, Joint: PriorJoint{}, Index: ExactIndex{}, Refine: Walk{SD: Adapted}}
		var scans []*ssm.Scan
		for k := range 6 {
			scan := &ssm.Scan{Time: float64(k + 1), Width: 1}
			for i := range c.h {
				scan.Values = append(scan.Values, 0.3*float64(k)-0.5*float64(i)+0.2)
			}
			scans = append(scans, scan)
		}
		mean, p11, p22, p12 := [2]float64{}, m.p0, m.p0, 0.0
		filtered(t, way, Job{Model: c.model, Seed: 5}, scans, func(k int, st *State, info Info) {
			if c.forgets {
				p12 = 0
			}
			p11, p22 = p11+m.q, p22+m.q
			for i, h := range c.h {
				g1, g2 := p11*h[0]+p12*h[1], p12*h[0]+p22*h[1]
				s := h[0]*g1 + h[1]*g2 + m.r
				d := scans[k].Values[i] - h[0]*mean[0] - h[1]*mean[1]
				mean[0], mean[1] = mean[0]+g1/s*d, mean[1]+g2/s*d
				p11, p22, p12 = p11-g1*g1/s, p22-g2*g2/s, p12-g1*g2/s
			}
			got, cov := st.Moments()
			name := fmt.Sprintf("%T, ancestors: %q, forgets: %v, scan %d", c.model, c.ancestors, c.forgets, k+1)
			for i, want := range []float64{p11, p22} {
				if z := (got[i] - mean[i]) / info.MCSE[i]; !(math.Abs(z) < 9) {
					t.Errorf("%s: the mean of target %d is %.4f, want %.4f: %.1f MCSE", name, i+1, got[i], mean[i], z)
				}
				if !(math.Abs(cov[i*2+i]/want-1) < 0.25) {
					t.Errorf("%s: the variance of target %d is %.4f, want %.4f", name, i+1, cov[i*2+i], want)
				}
			}
			if k == 5 {
				t.Logf("%s: variances %.3f and %.3f, exact %.3f; covariance %.3f, exact %.3f", name, cov[0], cov[3], p11, cov[1], p12)
			}
		})
	}
}
