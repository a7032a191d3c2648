package numeral

import (
	"fmt"
	"strconv"
	"strings"
)

// Vector writes at most twelve numbers of x, with six digits, for messages: [1.5 -2 0.333333], or [1 2 … (500 in all)].
func Vector(x []float64) string {
	const most = 12
	var b strings.Builder
	for i, v := range x[:min(most, len(x))] {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strconv.FormatFloat(v, 'g', 6, 64))
	}
	if len(x) > most {
		fmt.Fprintf(&b, " … (%d in all)", len(x))
	}
	return "[" + b.String() + "]"
}
