package nn

import (
	"fmt"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/rng"
)

// halfLog2Pi is ½ log 2π.
const halfLog2Pi = 0.91893853320467274178032973640562

// checkTargets reports whether a set has the targets that the likelihood needs.
func checkTargets(net *Net, set *data.Set) error {
	k := net.Outputs()
	switch net.lik.(type) {
	case Categorical:
		if set.Labels == nil {
			return fmt.Errorf("data set %q has no class labels, which a categorical likelihood needs", set.Name)
		}
		if set.Classes > k {
			return fmt.Errorf("data set %q has %d classes, the network %d outputs", set.Name, set.Classes, k)
		}
	case Bernoulli:
		if set.Labels == nil || set.Classes > 2 {
			return fmt.Errorf("data set %q must have labels of 2 classes for a bernoulli likelihood, has %d", set.Name, set.Classes)
		}
	case Gaussian:
		if set.Values == nil || set.Outputs != k {
			return fmt.Errorf("data set %q has %d target values an example, the network %d outputs", set.Name, set.Outputs, k)
		}
	}
	return nil
}

// loadTargets puts the targets of the tile's examples into its lanes.
func (m *Model) loadTargets(t *tape, rows []int32, first, n int) {
	k := m.net.Outputs()
	for lane := range t.groups * lanes.Lanes {
		i := exampleAt(rows, first+min(lane, n-1))
		switch m.net.lik.(type) {
		case Categorical:
			t.labels[lane] = m.set.Labels[i]
		case Bernoulli:
			t.target[lane] = float32(m.set.Labels[i])
		case Gaussian:
			for o := range k {
				t.target[(lane/lanes.Lanes*k+o)*lanes.Lanes+lane%lanes.Lanes] = m.set.Values[i*k+o]
			}
		}
	}
}

// loss sets the log-likelihood of every lane and, if grad, the gradient of the outputs.
func (m *Model) loss(t *tape, grad bool) {
	p, k := t.prog, m.net.Outputs()
	for g := range t.groups {
		z := t.from(p.out, g, 0)[:t.batch*k*lanes.Lanes]
		ll := t.ll[g*p.batch*lanes.Lanes:][:t.batch*lanes.Lanes]
		var dz []float32
		if grad {
			dz = t.dyFrom(p.out, g, 0)[:len(z)]
		}
		switch lik := m.net.lik.(type) {
		case Categorical:
			lanes.Categorical(z, t.labels[g*lanes.Lanes:][:lanes.Lanes], k, ll, dz)
		case Bernoulli:
			lanes.Bernoulli(z, t.target[g*lanes.Lanes:][:lanes.Lanes], ll, dz)
		case Gaussian:
			for b := range t.batch {
				prec, norm := m.precision(t, lik, b)
				n := k * lanes.Lanes
				var d []float32
				if grad {
					d = dz[b*n:][:n]
				}
				lanes.Gaussian(z[b*n:][:n], t.target[g*n:][:n], k, prec, norm, ll[b*lanes.Lanes:][:lanes.Lanes], d)
			}
		}
		if grad && p.out.relu {
			lanes.ReLUBackward(z, dz, dz)
		}
		if grad && g == t.groups-1 && t.valid < lanes.Lanes {
			lanes.MaskLanes(dz, t.valid)
		}
	}
}

// precision is 1/σ² and the log of the normal density's factor of particle b of the pass.
func (m *Model) precision(t *tape, lik Gaussian, b int) (prec, norm float32) {
	if !lik.Learned {
		return float32(1 / (lik.SD * lik.SD)), float32(-halfLog2Pi - rng.Log(lik.SD))
	}
	logSD := float64(t.weights(m.net.dim-1, b)[0])
	return float32(rng.Exp(-2 * logSD)), float32(-halfLog2Pi - logSD)
}

// scaleGradient is ∂/∂log σ of the log-likelihood of n examples of k outputs: Σ r²/σ² − n k, where the sum of squares
// is read off the log-likelihood itself.
func scaleGradient(ll, logSD float64, n, k int) float64 {
	values := float64(n * k)
	norm := float64(float32(-halfLog2Pi - float64(float32(logSD))))
	return -2*(ll-float64(values*norm)) - values
}
