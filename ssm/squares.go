package ssm

import "github.com/starling-smc/starling/internal/lanes"

// chunk is the number of measurements whose terms are added in float32. Chunks are added in float64.
const chunk = lanes.MaxDensities

// column returns an empty column for n numbers. It has room for whole vectors, which sumSquares reads.
func column(n int) []float32 {
	return lanes.Make((n + lanes.Lanes - 1) / lanes.Lanes * lanes.Lanes)[:0]
}

// sumSquares is Σ_i |y_i − m|², where the column y[c] holds coordinate c of measurement i at y[c][i]. The terms of a coordinate
// are added chunk by chunk.
func sumSquares(y [][]float32, m []float64) float64 {
	total := 0.0
	for from := 0; from < len(y[0]); from += chunk {
		n := min(chunk, len(y[0])-from)
		whole := (n + lanes.Lanes - 1) / lanes.Lanes * lanes.Lanes
		for c := range m {
			total += float64(lanes.SquareSum(y[c][from:from+whole], n, m[c:c+1]))
		}
	}
	return total
}
