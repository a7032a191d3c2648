package ssm

// chunk is the number of measurements whose terms are added in float32. Chunks are added in float64.
const chunk = 256

// sumSquares is Σ_i |y_i − m|², where y holds coordinate c of measurement i at y[c][i].
func sumSquares(y [][]float32, m []float32) float64 {
	total := 0.0
	for from := 0; from < len(y[0]); from += chunk {
		to := min(from+chunk, len(y[0]))
		sum := float32(0)
		for c, mean := range m {
			for _, v := range y[c][from:to] {
				d := v - mean
				sum += float32(d * d)
			}
		}
		total += float64(sum)
	}
	return total
}
