package ssm

// examples are models with this number of measurements in a simulated scan, or of measurements of a sensor.
func examples(returns int) []Simulator {
	return []Simulator{
		LinearGaussian{A: [][]float64{{0.9}}, Q: [][]float64{{0.08}}, H: [][]float64{{1}}, R: [][]float64{{2}}, Returns: returns},
		LinearGaussian{Interval: 0.5, A: [][]float64{{0.7, 0.3, 0}, {-0.2, 0.6, 0.1}, {0, 0.4, 0.5}},
			Q: [][]float64{{1, 0.3, 0}, {0.3, 0.5, -0.1}, {0, -0.1, 0.4}}, H: [][]float64{{1, 0, 0.5}, {0, 2, -1}},
			R: [][]float64{{2, -0.6}, {-0.6, 0.5}}, Returns: returns},
		Student{Degrees: 3, Location: 0.5, LogScale: 0.1, Initial: Initial{Mean: []float64{5, 0.7}, SD: []float64{1, 0.2}}, Returns: returns},
		RangeBearing{Acceleration: 0.5, Sensors: [][2]float64{{0, 0}, {100, 20}}, SDRange: 2, SDBearing: 0.03,
			Initial: Initial{Mean: []float64{50, 60, 1, -2}, SD: []float64{5, 5, 1, 1}}, Returns: returns},
	}
}
