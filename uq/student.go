package uq

import (
	"math"

	"github.com/starling-smc/starling/internal/rng"
)

// A component of a mixture may be a Student-t in place of a normal: its SD is then the scale of the t, and its DF ν > 2. The mixture has
// moments, quantiles and a density as one of normals has. Its CRPS has no closed form, and is an integral.

// df is the number of degrees of freedom of component j; 0: it is normal.
func (n *Normals) df(j int) float64 {
	if n.DF == nil {
		return 0
	}
	return n.DF[j]
}

// tailed reports whether a component is a Student-t.
func (n *Normals) tailed() bool {
	for _, df := range n.DF {
		if df > 0 {
			return true
		}
	}
	return false
}

// stretch is the standard deviation of a component of scale 1.
func stretch(df float64) float64 {
	if df == 0 {
		return 1
	}
	return math.Sqrt(df / (df - 2))
}

// logStudent is the log density of a Student-t with df degrees of freedom and a scale, at x from its centre.
func logStudent(x, scale, df float64) float64 {
	if scale == 0 {
		return logNormal(x, 0)
	}
	z := x / scale
	half := float64(0.5 * df)
	return -logBeta(half, 0.5) - float64(0.5*rng.Log(df)) - rng.Log(scale) - float64((half+0.5)*rng.Log(1+float64(z*z)/df))
}

// logBeta is log B(a, b).
func logBeta(a, b float64) float64 {
	return rng.LogGamma(a) + rng.LogGamma(b) - rng.LogGamma(a+b)
}

// studentCDF is the probability of a Student-t at most x from its centre, where log B(ν/2, ½) is given. The tail beyond |z| is
// ½ I_{ν/(ν+z²)}(ν/2, ½).
func studentCDF(x, scale, df, logB float64) float64 {
	if scale == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return cdf(x, scale)
	}
	z := x / scale
	square := float64(z * z)
	if math.IsInf(square, 1) {
		square = math.MaxFloat64
	}
	tail := float64(0.5 * beta(0.5*df, 0.5, df/(df+square), square/(df+square), logB))
	if z > 0 {
		return 1 - tail
	}
	return tail
}

// beta is the regularised incomplete beta function I_x(a, b), where y = 1 − x and log B(a, b) are given: by the continued fraction of DiDonato and Morris
// (1992), or by 1 − I_y(b, a), whichever converges at once.
func beta(a, b, x, y, logB float64) float64 {
	if x <= 0 {
		return 0
	}
	if y <= 0 {
		return 1
	}
	if x > (a+1)/(a+b+2) {
		return 1 - beta(b, a, y, x, logB)
	}
	front := rng.Exp(float64(a*rng.Log(x))+float64(b*rng.Log(y))-logB) / a
	// 1/(1 + d₁/(1 + d₂/(1 + …))) by Lentz.
	const tiny = 1e-300
	f, c, d := 1.0, 1.0, 0.0
	for i := range 10000 {
		m := float64(i / 2)
		term := 1.0
		switch {
		case i == 0:
		case i%2 == 0:
			term = m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		default:
			term = -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		}
		if d = 1 + float64(term*d); math.Abs(d) < tiny {
			d = tiny
		}
		d = 1 / d
		if c = 1 + term/c; math.Abs(c) < tiny {
			c = tiny
		}
		f *= float64(c * d)
		if i > 0 && math.Abs(float64(c*d)-1) < 0x1p-51 {
			break
		}
	}
	return front * (f - 1)
}

// integrated is the CRPS by its definition, ∫ (F(x) − 1{x ≥ y})² dx, to 1e-5 of the mixture's standard deviation. Each side of y is mapped to
// [0, 1) by x = y ± s·u/(1 − u), where s is that standard deviation and the distance from y to the mean together.
func (n *Normals) integrated(y float64) float64 {
	mean, aleatoric, epistemic := n.Moments()
	s := both(aleatoric, epistemic)
	if s == 0 || math.IsNaN(s) || math.IsInf(s, 0) {
		return math.Abs(y-mean) + (s - s)
	}
	width := s + math.Abs(y-mean)
	logB := make([]float64, len(n.Weights))
	for j := range logB {
		if df := n.df(j); df > 0 {
			logB[j] = logBeta(0.5*df, 0.5)
		}
	}
	side := func(sign float64) float64 {
		return adaptive(func(u float64) float64 {
			rest := 1 - u
			x := width * u / rest
			p := 0.0
			for j, w := range n.Weights {
				p += float64(w * n.cdf(j, y+float64(sign*x), logB[j]))
			}
			if sign > 0 {
				p = 1 - p
			}
			return float64(p*p) * width / float64(rest*rest)
		}, 0, 1, 1e-5*s, 40)
	}
	return side(-1) + side(1)
}

// adaptive integrates f from a to b by Gauss' rule of 7 points within Kronrod's of 15, to a tolerance: an interval whose rules differ by more is
// halved, at most so many times.
func adaptive(f func(float64) float64, a, b, tolerance float64, halvings int) float64 {
	nodes := [...]float64{0.991455371120812639206854697526329, 0.949107912342758524526189684047851, 0.864864423359769072789712788640926, 0.741531185599394439863864773280788,
		0.586087235467691130294144691693132, 0.405845151377397166906606412076961, 0.207784955007898467600689403773245, 0}
	kronrod := [...]float64{0.022935322010529224963732008058970, 0.063092092629978553290700663189204, 0.104790010322250183839876322541518, 0.140653259715525918745189590510238,
		0.169004726639267902826583426598550, 0.190350578064785409913256402421014, 0.204432940075298892414161999234649, 0.209482141084727828012999174891714}
	gauss := [...]float64{0.129484966168869693270611432679082, 0.279705391489276667901467771423780, 0.381830050505118944950369775488975, 0.417959183673469387755102040816327}
	middle, half := float64(0.5*(a+b)), float64(0.5*(b-a))
	all, few := 0.0, 0.0
	for i, x := range nodes {
		at := float64(half * x)
		v := f(middle + at)
		if x > 0 {
			v += f(middle - at)
		}
		all += float64(kronrod[i] * v)
		if i%2 == 1 {
			few += float64(gauss[i/2] * v)
		}
	}
	all, few = float64(all*half), float64(few*half)
	if halvings == 0 || !(math.Abs(all-few) > tolerance) {
		return all
	}
	return adaptive(f, a, middle, tolerance/2, halvings-1) + adaptive(f, middle, b, tolerance/2, halvings-1)
}
