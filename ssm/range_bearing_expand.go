package ssm

import (
	"math"

	"github.com/starling-smc/starling/internal/rng"
)

// rangeBearingSeries is the Taylor series of the terms of RangeBearing about x⁺. A sensor sees a position at the distance D and the angle φ. With
// the unit vectors e, from the sensor to the position, and t, e turned by 90°, their derivatives are
//
//	∇D = e,   ∇²D = t tᵀ/D,   ∇φ = t/D,   ∇²φ = −(e tᵀ + t eᵀ)/D².
//
// A term is −v²/(2 sd_range²) − w²/(2 sd_bearing²) and a constant, with v = range − D and w = bearing − φ, wrapped. So its Hessian is
//
//	−(e eᵀ − v t tᵀ/D)/sd_range² − (t tᵀ/D² + w (e tᵀ + t eᵀ)/D²)/sd_bearing².
type rangeBearingSeries struct {
	order   int
	at      [2]float64 // the position of x⁺
	sensors []sensorSeries
}

// sensorSeries is what all measurements of a sensor have in common.
type sensorSeries struct {
	count           int
	distance, angle float64    // at x⁺
	e               [2]float64 // and t = (−e₂, e₁)
	sumV, sumW      float64
	least, most     float64 // range
	widest          float64 // |w|

	from, fromAngle     float64 // of a call of Residuals: the distance, and the angle, of from
	step, turn          float64 // and what they change by
	alongStep, overStep float64 // e·step, t·step of the state
	alongBoth, overBoth float64 // e·b, t·b with b = (to − x⁺) + (from − x⁺)
}

// along returns e·d and t·d.
func (s *sensorSeries) along(dx, dy float64) (e, t float64) {
	return float64(s.e[0]*dx) + float64(s.e[1]*dy), float64(s.e[0]*dy) - float64(s.e[1]*dx)
}

// Informed implements Informed: the position.
func (t *rangeBearingTerms) Informed() []int { return []int{0, 1} }

// Expand implements Expandable.
func (t *rangeBearingTerms) Expand(x []float64, order int) (e Expansion, ok bool) {
	s := &t.series
	s.order, s.at, s.sensors = order, [2]float64{x[0], x[1]}, make([]sensorSeries, len(t.model.Sensors))
	for i, sensor := range t.model.Sensors {
		d, a := see(sensor, x)
		s.sensors[i] = sensorSeries{distance: d, angle: a, e: [2]float64{(x[0] - sensor[0]) / d, (x[1] - sensor[1]) / d}, least: math.Inf(1)}
	}
	for i := range t.Len() {
		z := t.scan.Row(i)
		c := &s.sensors[int(z[0])]
		w := wrap(z[2] - c.angle)
		c.count++
		c.sumV += z[1] - c.distance
		c.sumW += w
		c.least, c.most, c.widest = min(c.least, z[1]), max(c.most, z[1]), max(c.widest, math.Abs(w))
	}
	var g [2]float64
	var h [3]float64 // xx, xy, yy
	vr, vb := float64(t.model.SDRange*t.model.SDRange), float64(t.model.SDBearing*t.model.SDBearing)
	for i := range s.sensors {
		c := &s.sensors[i]
		if c.count == 0 {
			continue
		}
		ex, ey, d, n := c.e[0], c.e[1], c.distance, float64(c.count)
		tx, ty := -ey, ex
		v, w := c.sumV/vr, c.sumW/(d*vb)
		g[0] += float64(v*ex) + float64(w*tx)
		g[1] += float64(v*ey) + float64(w*ty)
		ee, tt, et := -n/vr, v/d-n/(d*d*vb), -w/d
		h[0] += float64(ee*ex*ex) + float64(tt*tx*tx) + float64(2*et*ex*tx)
		h[1] += float64(ee*ex*ey) + float64(tt*tx*ty) + float64(et*(float64(ex*ty)+float64(tx*ey)))
		h[2] += float64(ee*ey*ey) + float64(tt*ty*ty) + float64(2*et*ey*ty)
	}
	e = Expansion{Value: t.LogLik(x, nil), Gradient: []float64{g[0], g[1], 0, 0}, Bounded: t.Len(), Terms: int64(2 * t.Len())}
	if order == 2 {
		e.Hessian = make([]float64, 16)
		e.Hessian[0], e.Hessian[1], e.Hessian[4], e.Hessian[5] = h[0], h[1], h[1], h[2]
	}
	ok = isFinite(e.Value)
	for _, v := range [5]float64{g[0], g[1], h[0], h[1], h[2]} {
		ok = ok && isFinite(v)
	}
	return e, ok
}

// Residuals implements Expandable. Steps of D and φ are found from the step of the state, so that small ones lose no digits.
func (t *rangeBearingTerms) Residuals(from, to []float64, rows []int32, d []float64) {
	s := &t.series
	dx, dy := to[0]-from[0], to[1]-from[1]
	bx, by := (to[0]-s.at[0])+(from[0]-s.at[0]), (to[1]-s.at[1])+(from[1]-s.at[1])
	for i, sensor := range t.model.Sensors {
		c := &s.sensors[i]
		fx, fy, tx, ty := from[0]-sensor[0], from[1]-sensor[1], to[0]-sensor[0], to[1]-sensor[1]
		c.from, c.fromAngle = see(sensor, from)
		reached, _ := see(sensor, to)
		c.step = 0
		if sum := c.from + reached; sum > 0 {
			c.step = (float64(dx*(fx+tx)) + float64(dy*(fy+ty))) / sum
		}
		c.turn = rng.Atan2(float64(fx*dy)-float64(fy*dx), float64(fx*tx)+float64(fy*ty))
		c.alongStep, c.overStep = c.along(dx, dy)
		c.alongBoth, c.overBoth = c.along(bx, by)
	}
	vr, vb := float64(t.model.SDRange*t.model.SDRange), float64(t.model.SDBearing*t.model.SDBearing)
	for j, i := range rows {
		z := t.scan.Row(int(i))
		c := &s.sensors[int(z[0])]
		v := z[1] - c.from
		w := wrap(z[2] - c.fromAngle)
		next := wrap(w - c.turn)
		turned := c.turn
		if math.Abs(w-c.turn) > math.Pi {
			turned = w - next // past the wrap
		}
		v0, w0 := z[1]-c.distance, wrap(z[2]-c.angle)
		ranges := float64(c.step*(v-float64(0.5*c.step))) - float64(v0*c.alongStep)
		bearings := float64(0.5*turned*(w+next)) - w0*c.overStep/c.distance
		if s.order == 2 {
			over := c.overStep * c.overBoth / c.distance
			ranges += float64(0.5 * (float64(c.alongStep*c.alongBoth) - float64(v0*over)))
			mixed := float64(c.alongStep*c.overBoth) + float64(c.overStep*c.alongBoth)
			bearings += float64(0.5 * (over/c.distance + w0*mixed/c.distance/c.distance))
		}
		d[j] = ranges/vr + bearings/vb
	}
}

// Curvature implements Expandable. Along a unit vector at the angle θ to e, the derivatives of a term are
//
//	second: −(cos²θ − v sin²θ/D)/sd_range² − (sin²θ + w sin 2θ)/(D² sd_bearing²),
//	third:  −3 cos θ sin²θ range/(D² sd_range²) + (3 sin θ sin 2θ + 2 w sin 3θ)/(D³ sd_bearing²),
//
// of which each part has a bound, by the least and the largest D and |w| in the ball. There is none if the ball holds a sensor, or a position
// from which a bearing is opposite to the one measured.
func (t *rangeBearingTerms) Curvature(order int, radius float64) float64 {
	vr, vb := float64(t.model.SDRange*t.model.SDRange), float64(t.model.SDBearing*t.model.SDBearing)
	bound := 0.0
	for i := range t.series.sensors {
		c := &t.series.sensors[i]
		if c.count == 0 {
			continue
		}
		near, far := c.distance-radius, c.distance+radius
		if !(near > 0) {
			return math.Inf(1)
		}
		w := c.widest + rng.Atan2(radius, math.Sqrt(float64(near*far)))
		if !(w < math.Pi) {
			return math.Inf(1)
		}
		var here float64
		if order == 1 {
			here = max(1, math.Abs(c.most/near-1), math.Abs(c.least/far-1))/vr + (0.5+math.Sqrt(0.25+float64(w*w)))/(near*near*vb)
		} else {
			root := math.Sqrt(3) // sin²θ cos θ is at most 2/√27
			here = 2/root*c.most/(near*near*vr) + (4/root+2*w)/(near*near*near*vb)
		}
		bound = max(bound, here)
	}
	return bound
}
