package numeral

// ByteUnits are the units in which people count bytes, the largest first.
var ByteUnits = []struct {
	Name  string
	Bytes float64
}{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}}
