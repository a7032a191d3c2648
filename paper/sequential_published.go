package paper

// What De Freitas, Septier and Mihaylova published. Acceptance is in percent: the least, the median, the mean and the largest of 20
// scans, each the mean of 50 runs. Tables II and III do not say for which M; the text's default is M = 500.
//
// Times are in seconds a scan for Example 1. Table IV prints minutes a scan for Example 2, which would be 351 days for its 50 runs
// (sequential-mcmc-massive-data, section 5, A9). So times are compared as ratios alone.

// accepts are the acceptances of one algorithm: of Example 1 in Tables II and III, of Example 2 in Tables V and VI.
type accepts struct{ first, refine Spread }

var (
	// publishedGaussian are Tables II (the previous state) and III (the current state) by the name of the algorithm: a row for each pass.
	publishedGaussian = map[string][]accepts{
		"smcmc": {{Spread{30.93, 94.35, 89.72, 96.57}, Spread{8.82, 23.44, 21.26, 25.78}}},
		"as":    {{Spread{30.90, 94.43, 89.70, 96.54}, Spread{9.04, 24.24, 21.95, 26.75}}},
		"ep": {
			{Spread{34.15, 93.99, 89.47, 94.86}, Spread{19.76, 42.07, 38.46, 45.01}},
			{Spread{30.86, 94.54, 89.77, 96.59}, Spread{72.11, 76.24, 75.86, 77.69}},
		},
	}

	// publishedClutter are Tables V (the joint draw) and VI (the refinement).
	publishedClutter = map[string][]accepts{
		"smcmc": {{Spread{0, 0, 0, 0}, Spread{28.92, 29.45, 29.45, 30.08}}},
		"as":    {{Spread{0, 0, 0, 0}, Spread{28.94, 29.31, 29.43, 30.25}}},
		"ep": {
			{Spread{0, 0, .002, .01}, Spread{62.37, 63.60, 63.65, 65.43}},
			{Spread{.04, 1.35, 1.35, 3.09}, Spread{25.78, 26.76, 26.92, 28.77}},
		},
	}

	// Tables I and IV: times, and the printed gains over SMCMC in percent.
	publishedTimes500     = publishedTimes{"I, M = 500", "s", []publishedTime{{"smcmc", 114.75, 0}, {"as", 69.54, 39.4}, {"ep", 9.89, 91.38}}}
	publishedTimes5000    = publishedTimes{"I, M = 5,000", "s", []publishedTime{{"smcmc", 1087.93, 0}, {"as", 274.60, 74.76}, {"ep", 96.40, 91.14}}}
	publishedTimesClutter = publishedTimes{"IV", "min", []publishedTime{{"smcmc", 505.42, 0}, {"as", 388.82, 23.07}, {"ep", 59.06, 88.31}}}
)

// publishedTimes is a table of times a scan, in a unit.
type publishedTimes struct {
	table, unit string
	rows        []publishedTime
}

// publishedTime is a time a scan, and what it gains.
type publishedTime struct {
	algorithm  string
	time, gain float64
}
