package lanes

import "fmt"

// The bounds of a predicted log σ, ln 1e-6 and ln 1e6.
const (
	LowestLogSD  = -HighestLogSD
	HighestLogSD = 13.815510557964274104107948728106
)

const halfLog2Pi = 0.91893853320467274178032973640562

// BoundedLogSD is a predicted log σ within its bounds; NaN stays NaN.
func BoundedLogSD(s float32) float64 { return max(LowestLogSD, min(HighestLogSD, float64(s))) }

// PredictedScale is log σ and 1/σ² of an output s, and ∂ log σ/∂s: σ = e^s, or σ² = e^{2s} + floor² with a floor above 0. Only beyond
// its bounds has s a slope of 0.
func PredictedScale(s float32, floor float64) (logSD, prec, slope float64) {
	logSD, slope = BoundedLogSD(s), 1
	if floor == 0 {
		prec = Exp(-2 * logSD)
	} else {
		own := Exp(2 * logSD)
		square := own + float64(floor*floor)
		logSD, prec, slope = 0.5*Log(square), 1/square, own/square
	}
	if v := float64(s); v < LowestLogSD || v > HighestLogSD {
		slope = 0
	}
	return logSD, prec, slope
}

// PredictedNormal is the log-likelihood of targets y under independent normals whose means m and log σ are outputs, and its gradient,
// for one group of examples: z is [2K][16], the means before the outputs s of which [PredictedScale] makes log σ and 1/σ², y is
// [K][16], ll [16], dz as z, or nil. floor is from 0 to 1e100. In each lane
//
//	ll      = Σ_k (−½ (y[k] − m[k])²/σ[k]² − log σ[k] − ½ log 2π)
//	dz[k]   = (y[k] − m[k])/σ[k]²
//	dz[K+k] = ((y[k] − m[k])²/σ[k]² − 1) ∂ log σ[k]/∂s[k], or 0 where s[k] is beyond the bounds
//
// computed in float64, which has room for 1/σ². dz may be z.
func PredictedNormal(z, y []float32, floor float64, ll, dz []float32) {
	sameVectors("PredictedNormal", len(y))
	sameLen("PredictedNormal", len(z), 2*len(y))
	sameLen("PredictedNormal", len(ll), Lanes)
	sameOrNil("PredictedNormal", z, dz)
	if !(floor >= 0 && floor <= 1e100) {
		panic(fmt.Sprintf("lanes: PredictedNormal: floor %v", floor))
	}
	for l := predictedNormalAssembly(z, y, floor, ll, dz); l < Lanes; l++ {
		sum := 0.0
		for m := l; m < len(y); m += Lanes {
			s := m + len(y)
			logSD, prec, slope := PredictedScale(z[s], floor)
			r := float64(y[m]) - float64(z[m])
			square := float64(float64(r*r) * prec)
			sum += float64(-0.5*square) - logSD - halfLog2Pi
			if dz == nil {
				continue
			}
			dz[m], dz[s] = float32(r*prec), float32(float64(square-1)*slope)
			if slope == 0 { // even if the other factor is infinite
				dz[s] = 0
			}
		}
		ll[l] = float32(sum)
	}
}
