package uq

import "math"

// How many examples a score rests on decides how it is told: of fewer than Few it says nothing, and of fewer than Small it is shown with its
// interval.
const (
	Few   = 5
	Small = 30
)

// z95 is the two-sided 95 % quantile of the standard normal law.
const z95 = 1.959963984540054

// MeanSE returns the mean of numbers and its standard error, which is NaN for a single number.
func MeanSE(x []float64) (mean, se float64) {
	n, sum := float64(len(x)), 0.0
	mean = Mean(x)
	for _, v := range x {
		sum += float64((v - mean) * (v - mean))
	}
	return mean, math.Sqrt(sum / (n - 1) / n)
}

// MeanInterval returns the 95 % interval of a mean, by Student's t of its standard error; infinite for a single value, and NaN for none.
func MeanInterval(x []float64) (low, high float64) {
	mean, se := MeanSE(x)
	half := student(float64(len(x)-1)) * se
	if len(x) == 1 {
		half = math.Inf(1)
	}
	return mean - half, mean + half
}

// student is the two-sided 95 % quantile of Student's t with so many degrees of freedom, by the series of Cornish and Fisher around the
// normal quantile (Abramowitz and Stegun 26.7.5), and exactly for 1 and 2. It is right to 1 % from 3 degrees on.
func student(df float64) float64 {
	switch {
	case df <= 1:
		return 12.706204736174698
	case df == 2:
		return 4.302652729749464
	}
	z2 := float64(z95 * z95)
	g1 := (z2 + 1) * z95 / 4
	g2 := (float64((float64(5*z2)+16)*z2) + 3) * z95 / 96
	g3 := (float64((float64((float64(3*z2)+19)*z2)+17)*z2) - 15) * z95 / 384
	g4 := (float64((float64((float64((float64(79*z2)+776)*z2)+1482)*z2)-1920)*z2) - 945) * z95 / 92160
	return z95 + (g1+(g2+(g3+g4/df)/df)/df)/df
}

// AUROCInterval returns the 95 % interval of an AUROC of so many negative and positive scores, by Newcombe (2006), method 5: all θ from which
// the area is at most z95 standard errors away, where the standard error is that of Hanley and McNeil (1982) at θ. Both ends are NaN for an area
// that is none.
func AUROCInterval(area float64, negative, positive int) (low, high float64) {
	if math.IsNaN(area) {
		return area, area
	}
	m, n := float64(negative), float64(positive)
	more := float64((m+n)/2) - 1
	beyond := func(t float64) bool {
		v := t * (1 - t) / (m * n) * (1 + float64(more*(1-t)/(2-t)) + float64(more*t/(1+t)))
		return float64((area-t)*(area-t)) > float64(z95*z95)*v
	}
	end := func(far float64) float64 {
		if !beyond(far) {
			return far
		}
		near := area
		for range 60 {
			if middle := float64((near + far) / 2); beyond(middle) {
				far = middle
			} else {
				near = middle
			}
		}
		return near
	}
	return end(0), end(1)
}
