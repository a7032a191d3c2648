package filtering

import (
	"math"
	"strconv"
	"strings"

	"github.com/starling-smc/starling/internal/numeral"
)

// shown bounds the targets, and the numbers of a state, that a short line has.
const shown = 6

// Short is a line for people, of a run of so many filters: the time, the number of measurements, and each target's position, or the state, ± its standard deviation. A
// question mark stands after a target that explains too few returns, and before what makes the whole scan doubtful:
//
//	12.5  34 returns  1 (−3.21 ± 0.12, 4.10 ± 0.15)  2 (50.3 ± 2.1, 8.8 ± 1.9)?  ? 3 ancestors
func (l *Line) Short(filters int) string {
	var text strings.Builder
	text.WriteString(string(l.Time) + "  " + numeral.Several(l.Returns, "return"))
	for i, t := range l.Tracks {
		if i == shown {
			text.WriteString("  and " + numeral.Several(len(l.Tracks)-shown, "more target"))
			break
		}
		text.WriteString("  " + t.ID + " " + t.short(len(t.Mean)/2))
		if t.Lost {
			text.WriteByte('?')
		}
	}
	if l.Estimate != nil {
		text.WriteString("  " + l.Estimate.short(len(l.Mean)))
	}
	if doubts := l.doubtful(filters); doubts != nil {
		text.WriteString("  ? " + strings.Join(doubts, ", "))
	}
	return text.String()
}

// short writes the first n coordinates.
func (e *Estimate) short(n int) string {
	var list []string
	for c := range min(n, shown) {
		list = append(list, plusMinus(float64(e.Mean[c]), math.Sqrt(float64(e.Cov[c][c]))))
	}
	if n > shown {
		list = append(list, "…")
	}
	return "(" + strings.Join(list, ", ") + ")"
}

// plusMinus writes a mean with as many decimals as the standard deviation has at two digits.
func plusMinus(mean, sd float64) string {
	if !(sd > 0) || math.IsInf(sd, 0) {
		return numeral.Significant(mean) + " ± " + numeral.Significant(sd)
	}
	decimals := min(12, max(0, 1-int(math.Floor(math.Log10(sd)))))
	return numeral.Fixed(mean, decimals) + " ± " + numeral.Fixed(sd, decimals)
}

// doubtful says in few words what makes a scan doubtful; nil: nothing does.
func (l *Line) doubtful(filters int) (why []string) {
	if l.Ancestors > 0 && l.Ancestors*filters < fewAncestors {
		why = append(why, numeral.Several(l.Ancestors, "ancestor"))
	}
	if l.ESS != nil && *l.ESS < fewDraws {
		why = append(why, "ESS "+numeral.Fixed(float64(*l.ESS), 0))
	}
	if l.RHat != nil && *l.RHat > apart {
		why = append(why, "R-hat "+numeral.Fixed(float64(*l.RHat), 1))
	}
	if l.Surprise != nil && *l.Surprise <= surprising {
		why = append(why, "surprise "+strconv.FormatFloat(float64(*l.Surprise), 'g', 2, 64))
	}
	return why
}
