package uq

import "math"

// Tops are how far the particles of an ensemble agree about their answers: for each row the weighted mean over the particles, and the
// variance, of p_max, a particle's largest probability, and of the gap between its largest and its second largest (Liang et al.,
// Scalable Bayesian Monte Carlo, section 3.8). Particles that agree have a variance of exactly 0.
type Tops struct {
	MeanTop, MeanGap, VarTop, VarGap []float64
}

// tops sums the moments as particles are added (West 1979): of each row the mean so far, and Σ_j W_j (x_j − mean)².
type tops struct {
	classes int
	mean    [2][]float64 // of p_max and of the gap
	square  [2][]float64
}

func newTops(n, classes int) *tops {
	t := &tops{classes: classes}
	for k := range t.mean {
		t.mean[k], t.square[k] = make([]float64, n), make([]float64, n)
	}
	return t
}

// add adds a particle: its weight, its share of the weight of all particles so far, and its probabilities.
func (t *tops) add(weight, share float64, probs []float64) {
	for i := range t.mean[0] {
		top, gap := topAndGap(probs[i*t.classes : (i+1)*t.classes])
		for k, x := range [...]float64{top, gap} {
			d := x - t.mean[k][i]
			t.mean[k][i] += float64(share * d)
			t.square[k][i] += float64(float64(weight*d) * (x - t.mean[k][i]))
		}
	}
}

// topAndGap are the largest probability and its distance from the second largest; NaN if one is NaN.
func topAndGap(p []float64) (top, gap float64) {
	second := 0.0
	for _, v := range p {
		switch {
		case v != v:
			return math.NaN(), math.NaN()
		case v > top:
			top, second = v, top
		default:
			second = max(second, v)
		}
	}
	return top, top - second
}

// tops are the moments for a sum of weights.
func (t *tops) moments(weight float64) *Tops {
	m := &Tops{MeanTop: t.mean[0], MeanGap: t.mean[1]}
	for k, into := range [...]*[]float64{&m.VarTop, &m.VarGap} {
		for _, s := range t.square[k] {
			*into = append(*into, s/weight)
		}
	}
	return m
}

// some are the moments of some of the rows; nil stays nil.
func (t *Tops) some(rows []int) *Tops {
	if t == nil {
		return nil
	}
	return &Tops{some(t.MeanTop, rows), some(t.MeanGap, rows), some(t.VarTop, rows), some(t.VarGap, rows)}
}

// Append adds the rows of other moments after those of t.
func (t *Tops) Append(other *Tops) {
	t.MeanTop, t.MeanGap = append(t.MeanTop, other.MeanTop...), append(t.MeanGap, other.MeanGap...)
	t.VarTop, t.VarGap = append(t.VarTop, other.VarTop...), append(t.VarGap, other.VarGap...)
}
