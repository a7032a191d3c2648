package finding

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/starling-smc/starling/internal/numeral"
)

// unit follows a number of percents. On a page they stay together; a terminal has a plain space.
const unit = "\u00a0%"

// say is fmt.Sprintf for readers: a whole number (%v) has commas between its thousands, a decimal one (%.2f) also a true minus sign.
func say(format string, args ...any) string {
	for i, a := range args {
		switch a := a.(type) {
		case int:
			args[i] = numeral.Fixed(float64(a), 0)
		case float64:
			args[i] = decimal(a)
		case numeral.Number:
			args[i] = decimal(a)
		}
	}
	return fmt.Sprintf(format, args...)
}

type decimal float64

// Format writes %.2f for readers, and %.2g as strconv does.
func (d decimal) Format(to fmt.State, verb rune) {
	digits, _ := to.Precision()
	text := numeral.Fixed(float64(d), digits)
	if verb == 'g' {
		text = strconv.FormatFloat(float64(d), 'g', digits, 64)
	}
	io.WriteString(to, text)
}

func either(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

func plural(n int, one, several string) string { return either(n == 1, one, several) }

// percent is a share in percent.
func percent(share float64, decimals int) string { return numeral.Fixed(100*share, decimals) + unit }

// between is two numbers, or one number if both read the same.
func between(low, high float64, decimals int) string {
	a, b := numeral.Fixed(low, decimals), numeral.Fixed(high, decimals)
	return either(a == b, a, a+" to "+b)
}

// Known is a number that a finding may lack; nil if it is NaN.
func Known(x float64) *numeral.Number {
	if math.IsNaN(x) {
		return nil
	}
	return new(numeral.Number(x))
}

// together says that a number is of several islands.
func together(islands int) string {
	return plural(islands, "", say(" of %v islands together", islands))
}

// chance says how rare a difference is by chance.
func chance(once int) string { return say("chance gives such a gap in fewer than 1 of %v runs", once) }

// plural is the words for one thing, or those for several.
func (s Some) plural(one, several string) string { return plural(s.Count, one, several) }

// List names things as a sentence does: a, b and c.
func List(names []string) Some { return Some{len(names), numeral.List(names)} }

// Numbered names islands or chains.
func Numbered(parts []int) Some {
	names := make([]string, len(parts))
	for i, n := range parts {
		names[i] = strconv.Itoa(n)
	}
	return List(names)
}

// FirstOf names the first of things, and says how many more there are.
func FirstOf(names []string) Some {
	const few = 10
	told := names[:min(len(names), few)]
	if more := len(names) - few; more > 0 {
		told = append(slices.Clone(told), numeral.Count(more)+" more")
	}
	return Some{len(names), numeral.List(told)}
}
