package ssm

import (
	"math"

	"github.com/starling-smc/starling/internal/rng"
)

// velocity is the transition of independent targets with nearly constant velocity (spec 3.2; Bar-Shalom, Li and Kirubarajan 2001,
// section 6.2.2). A target's state is [x, y, vx, vy]. Over T seconds each of its two axes moves by
//
//	A = [1 T; 0 1],   Q = s² [T³/3 T²/2; T²/2 T] = L Lᵀ,   L = s √T [T/√3 0; √3/2 1/2]
//
// s is the sd of white noise in the acceleration, in m s^−1.5 for positions in m. The factor L is written out, because samplers
// call Sample and LogDensity very often.
type velocity struct {
	targets       int
	dt            float64
	l11, l21, l22 float64 // L
	most          float64 // log density at the mode, of all targets together
}

// newVelocity returns the transition over dt > 0 seconds; sd > 0 is s.
func newVelocity(targets int, sd, dt float64) *velocity {
	root := float64(sd * math.Sqrt(dt))
	t := &velocity{targets: targets, dt: dt, l11: root * dt / math.Sqrt(3), l21: root * (math.Sqrt(3) / 2), l22: root / 2}
	t.most = float64(2*targets) * -(log2Pi + rng.Log(t.l11) + rng.Log(t.l22))
	return t
}

// log2Pi is log 2π.
const log2Pi = 1.83787706640934548356065947281

// Sample implements Transition.
func (t *velocity) Sample(s *Stream, from, x []float64) {
	for o := 0; o < 4*t.targets; o += 4 {
		for i := o; i < o+2; i++ {
			a, b := s.Normal(), s.Normal()
			x[i] = from[i] + float64(t.dt*from[i+2]) + float64(t.l11*a)
			x[i+2] = from[i+2] + float64(t.l21*a) + float64(t.l22*b)
		}
	}
}

// LogDensity implements Transition.
func (t *velocity) LogDensity(from, x []float64) float64 {
	sum := 0.0
	for o := 0; o < 4*t.targets; o += 4 {
		for i := o; i < o+2; i++ {
			a := (x[i] - (from[i] + float64(t.dt*from[i+2]))) / t.l11
			b := ((x[i+2] - from[i+2]) - float64(t.l21*a)) / t.l22
			sum += float64(a*a) + float64(b*b)
		}
	}
	return t.most - float64(0.5*sum)
}

// MaxLogDensity implements Bounded.
func (t *velocity) MaxLogDensity() float64 { return t.most }

// Gaussian implements Gaussian.
func (t *velocity) Gaussian() (a, q []float64) {
	d := 4 * t.targets
	a, q = make([]float64, d*d), make([]float64, d*d)
	cross := float64(t.l11 * t.l21)
	for o := 0; o < d; o += 4 {
		for i := o; i < o+2; i++ {
			j := i + 2
			a[i*d+i], a[i*d+j], a[j*d+j] = 1, t.dt, 1
			q[i*d+i], q[i*d+j], q[j*d+i] = float64(t.l11*t.l11), cross, cross
			q[j*d+j] = float64(t.l21*t.l21) + float64(t.l22*t.l22)
		}
	}
	return a, q
}
