package rng

import (
	"math"

	"github.com/starling-smc/starling/internal/lanes"
)

// Exp, Log, Erf and Erfc replace the functions of package math wherever bits must agree between machines. The standard
// library has assembly for some processors, and the compiler may fuse x*y + z. So every product that is added is rounded
// by an explicit conversion. Erf and Erfc follow FreeBSD's s_erf.c (Sun Microsystems 1993, freely granted), as the Go library
// does. Errors of Exp and Log are below 1 ulp, and below 2 ulp for Erf and Erfc.

// Exp returns e^x.
func Exp(x float64) float64 { return lanes.Exp(x) }

// Log returns the natural logarithm of x: −Inf at 0, NaN below.
func Log(x float64) float64 { return lanes.Log(x) }

// The rational approximations of FreeBSD's s_erf.c, by ascending powers: of erf(x)/x − 1 in x² for |x| < 0.84375, of
// erf(x) − erfOne in |x| − 1 for |x| < 1.25, and of ln(x erfc x) + x² + 0.5625 in 1/x² below and above 1/0.35.
const erfOne = 8.45062911510467529297e-01

var (
	erfNear = [2][]float64{{
		1.28379167095512558561e-01, -3.25042107247001499370e-01, -2.84817495755985104766e-02,
		-5.77027029648944159157e-03, -2.37630166566501626084e-05,
	}, {
		1, 3.97917223959155352819e-01, 6.50222499887672944485e-02, 5.08130628187576562776e-03,
		1.32494738004321644526e-04, -3.96022827877536812320e-06,
	}}
	erfMiddle = [2][]float64{{
		-2.36211856075265944077e-03, 4.14856118683748331666e-01, -3.72207876035701323847e-01, 3.18346619901161753674e-01,
		-1.10894694282396677476e-01, 3.54783043256182359371e-02, -2.16637559486879084300e-03,
	}, {
		1, 1.06420880400844228286e-01, 5.40397917702171048937e-01, 7.18286544141962662868e-02,
		1.26171219808761642112e-01, 1.36370839120290507362e-02, 1.19844998467991074170e-02,
	}}
	erfFar = [2][]float64{{
		-9.86494403484714822705e-03, -6.93858572707181764372e-01, -1.05586262253232909814e+01, -6.23753324503260060396e+01,
		-1.62396669462573470355e+02, -1.84605092906711035994e+02, -8.12874355063065934246e+01, -9.81432934416914548592e+00,
	}, {
		1, 1.96512716674392571292e+01, 1.37657754143519042600e+02, 4.34565877475229228821e+02, 6.45387271733267880336e+02,
		4.29008140027567833386e+02, 1.08635005541779435134e+02, 6.57024977031928170135e+00, -6.04244152148580987438e-02,
	}}
	erfTail = [2][]float64{{
		-9.86494292470009928597e-03, -7.99283237680523006574e-01, -1.77579549177547519889e+01, -1.60636384855821916062e+02,
		-6.37566443368389627722e+02, -1.02509513161107724954e+03, -4.83519191608651397019e+02,
	}, {
		1, 3.03380607434824582924e+01, 3.25792512996573918826e+02, 1.53672958608443695994e+03, 3.19985821950859553908e+03,
		2.55305040643316442583e+03, 4.74528541206955367215e+02, -2.24409524465858183362e+01,
	}}
)

// quotient is the quotient of two polynomials.
func quotient(f *[2][]float64, x float64) float64 {
	var v [2]float64
	for i, c := range f {
		p := c[len(c)-1]
		for k := len(c) - 2; k >= 0; k-- {
			p = float64(p*x) + c[k]
		}
		v[i] = p
	}
	return v[0] / v[1]
}

// Erf returns the error function 2/√π ∫_0^x e^{−t²} dt.
func Erf(x float64) float64 {
	a := math.Abs(x)
	var y float64
	switch {
	case math.IsNaN(x):
		return x
	case a < 0.84375:
		return x + float64(x*quotient(&erfNear, float64(x*x)))
	case a < 1.25:
		y = erfOne + quotient(&erfMiddle, a-1)
	case a < 6:
		y = 1 - erfcFar(a)
	default:
		y = 1
	}
	return math.Copysign(y, x)
}

// Erfc returns 1 − Erf(x), to full precision where that is small.
func Erfc(x float64) float64 {
	a := math.Abs(x)
	switch {
	case math.IsNaN(x):
		return x
	case x < 0.25 && a < 0.84375:
		return 1 - Erf(x)
	case a < 0.84375:
		return 0.5 - (float64(x*quotient(&erfNear, float64(x*x))) + (x - 0.5))
	case a < 1.25 && x > 0:
		return 1 - erfOne - quotient(&erfMiddle, a-1)
	case x < 0:
		return 1 + Erf(a)
	case a < 28:
		return erfcFar(a)
	}
	return 0
}

// erfcFar is Erfc(x) for x ≥ 1.25. The square of x's leading bits is exact, so its exponential loses no precision.
func erfcFar(x float64) float64 {
	f := &erfFar
	if x >= 1/0.35 {
		f = &erfTail
	}
	lead := math.Float64frombits(math.Float64bits(x) &^ 0xffffffff)
	low := float64((lead - x) * (lead + x))
	return float64(Exp(float64(-lead*lead)-0.5625)*Exp(low+quotient(f, 1/float64(x*x)))) / x
}
