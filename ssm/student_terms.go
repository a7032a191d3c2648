package ssm

import (
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/rng"
)

// studentTerms is the likelihood of a scan of Student. The term of a measurement z is
//
//	log Γ((ν+1)/2) − log Γ(ν/2) − log(νπ)/2 − log s − (ν+1)/2 · log(1 + q),   q = (z − μ)²/(ν s²)
//
// A logarithm costs ten times as much as the rest of a term. So terms are multiplied before they are logarithms:
// Σ log(1+q) = log Π (1+q). Each factor's binary exponent is taken off first, so that nothing overflows. The sum's relative error
// is a few units of float64, plus 3e-16 a term.
type studentTerms struct {
	z                       []float64
	degrees, half, constant float64 // ν, (ν+1)/2, and of one term what depends on ν alone
	series                  studentSeries
}

// Bind implements Model.
func (m Student) Bind(scan *Scan) (Likelihood, error) {
	if err := config.Check(m); err != nil {
		return nil, fmt.Errorf("Student model: %w", err)
	}
	if err := checkScan(scan, 1); err != nil {
		return nil, err
	}
	const logPi = 1.14472988584940017414342735135
	v := m.degrees()
	return &studentTerms{z: scan.Values, degrees: v, half: (v + 1) / 2,
		constant: rng.LogGamma((v+1)/2) - rng.LogGamma(v/2) - float64(0.5*(rng.Log(v)+logPi))}, nil
}

// Len implements Likelihood.
func (t *studentTerms) Len() int { return len(t.z) }

// LogLik implements Likelihood.
func (t *studentTerms) LogLik(x []float64, rows []int32) float64 {
	mean, width := x[0], t.width(x[1])
	if !isFinite(mean) || !isFinite(width) || width == 0 {
		return math.Inf(-1)
	}
	var p product
	n := len(t.z)
	if rows == nil {
		p.terms(t.z, mean, width)
	} else {
		n = len(rows)
		var some [chunk]float64
		for from := 0; from < n; from += chunk {
			to := min(from+chunk, n)
			for i, row := range rows[from:to] {
				some[i] = t.z[row]
			}
			p.terms(some[:to-from], mean, width)
		}
	}
	return float64(float64(n)*(t.constant-x[1])) - float64(t.half*p.log())
}

// product is the product 2^exponent · e^logs of factors that are at least 1.
type product struct {
	exponent uint64
	logs     float64
}

// terms multiplies by 1 + ((z − mean)·width)² for each z. Four products are independent, so that the processor need not wait for
// one. After 256 factors below 2 each is below 2^64.
func (p *product) terms(z []float64, mean, width float64) {
	for len(z) > 0 {
		now := z[:min(chunk, len(z))]
		z = z[len(now):]
		a, b, c, d, exponent := 1.0, 1.0, 1.0, 1.0, uint64(0)
		for ; len(now) >= 4; now = now[4:] {
			v := (*[4]float64)(now)
			fa, ea := split((v[0] - mean) * width)
			fb, eb := split((v[1] - mean) * width)
			fc, ec := split((v[2] - mean) * width)
			fd, ed := split((v[3] - mean) * width)
			a, b, c, d = a*fa, b*fb, c*fc, d*fd
			exponent += (ea + eb) + (ec + ed)
		}
		for _, v := range now {
			f, e := split((v - mean) * width)
			a *= f
			exponent += e
		}
		p.exponent += exponent
		p.logs += rng.Log(float64(a*b) * float64(c*d))
	}
}

// split returns 1 + u² as f·2^exponent with 1 ≤ f < 2. For |u| above 1e154 it is 2^1024.
func split(u float64) (f float64, exponent uint64) {
	const mantissa, one = 1<<52 - 1, 1023 << 52
	bits := math.Float64bits(1 + float64(u*u))
	return math.Float64frombits(bits&mantissa | one), bits>>52 - 1023
}

// log is the logarithm of the product.
func (p *product) log() float64 { return float64(float64(p.exponent)*math.Ln2) + p.logs }
