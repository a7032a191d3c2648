package finding

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/starling-smc/starling/internal/numeral"
)

// Words says for a terminal what was found and what to do about it, in plain text: without a capital letter at its start and without a
// full stop at its end, and with numbers as on a page. A finding of an unknown kind, or one that lacks a number, is shown as its kind and
// numbers.
func (f Finding) Words() string { return f.say(false, "says", "cure") }

// Sentence says the finding, what follows from it, and its cure for a page, in whole sentences.
func (f Finding) Sentence() string {
	return numeral.Capital(f.say(true, "says", "means", "cure")) + "."
}

// Brief says for a page, in a sentence, what was found: neither what follows from it, nor the cure.
func (f Finding) Brief() string { return numeral.Capital(f.say(true, "says")) + "." }

// Cure says for a page what to do about the finding; empty if there is nothing to do.
func (f Finding) Cure() string {
	if s := f.say(true, "cure"); s != "" && s != f.raw() {
		return numeral.Capital(s) + "."
	}
	return ""
}

// say joins parts of a finding's words: what it means follows after a colon, the cure as a sentence of its own.
func (f Finding) say(page bool, parts ...string) string {
	said := ""
	for _, part := range parts {
		var b strings.Builder
		if templates.Lookup(f.Kind+" "+part) == nil {
			return f.raw()
		}
		if err := templates.ExecuteTemplate(&b, f.Kind+" "+part, filled{f, page}); err != nil {
			return f.raw() // a number is missing
		}
		switch text := b.String(); {
		case said == "" || text == "":
			said += text
		case part == "cure":
			said += ". " + numeral.Capital(text)
		default:
			said += ": " + text
		}
	}
	return said
}

// filled gives the words of a kind a finding's numbers and names. A missing one is an error.
type filled struct {
	Finding
	page bool
}

func (f filled) number(key string) (float64, error) {
	v, ok := f.Numbers[key]
	if !ok {
		return 0, fmt.Errorf("%s has no number %s", f.Kind, key)
	}
	return float64(v), nil
}

// Fixed is a number with a given number of decimals.
func (f filled) Fixed(key string, decimals int) (string, error) {
	v, err := f.number(key)
	return numeral.Fixed(v, decimals), err
}

// Count is a whole number.
func (f filled) Count(key string) (string, error) { return f.Fixed(key, 0) }

// Setting is a whole number as a config has it.
func (f filled) Setting(key string) (string, error) {
	v, err := f.number(key)
	return strconv.FormatFloat(v, 'f', 0, 64), err
}

// Times is a factor with a given number of decimals; one that would read as 0 is less than the smallest that does not.
func (f filled) Times(key string, decimals int) (string, error) {
	v, err := f.number(key)
	text := numeral.Fixed(v, decimals)
	if text == numeral.Fixed(0, decimals) {
		text = "less than " + numeral.Fixed(math.Pow10(-decimals), decimals)
	}
	return text + " times", err
}

// Log is a number's natural logarithm.
func (f filled) Log(key string, decimals int) (string, error) {
	v, err := f.number(key)
	return numeral.Fixed(math.Log(v), decimals), err
}

// Short is a number with two significant digits.
func (f filled) Short(key string) (string, error) {
	v, err := f.number(key)
	return strconv.FormatFloat(v, 'g', 2, 64), err
}

// Range is two numbers with a given number of decimals, or one number if both read the same.
func (f filled) Range(low, high string, decimals int) (string, error) {
	a, err := f.Fixed(low, decimals)
	if err != nil {
		return "", err
	}
	b, err := f.Fixed(high, decimals)
	if a == b {
		return a, err
	}
	return a + " to " + b, err
}

// Percents is two shares in percent, or one if both read the same.
func (f filled) Percents(low, high string) (string, error) {
	a, err := f.number(low)
	if err != nil {
		return "", err
	}
	b, err := f.number(high)
	if err != nil {
		return "", err
	}
	text, err := f.Percent(high)
	if from := numeral.Fixed(100*a, 0); from != numeral.Fixed(100*b, 0) {
		text = from + " to " + text
	}
	return text, err
}

// Percent is a share in percent.
func (f filled) Percent(key string) (string, error) { return f.percent(key, 0) }

// Share is a share in percent with a decimal.
func (f filled) Share(key string) (string, error) { return f.percent(key, 1) }

func (f filled) percent(key string, decimals int) (string, error) {
	v, err := f.number(key)
	return numeral.Fixed(100*v, decimals) + f.Space() + "%", err
}

// Space stands between a number and its unit; on a page they stay together.
func (f filled) Space() string {
	if f.page {
		return "\u00a0"
	}
	return " "
}

// Has reports whether there is a number.
func (f filled) Has(key string) bool {
	_, ok := f.Numbers[key]
	return ok
}

// Several reports whether a count is not 1.
func (f filled) Several(key string) (bool, error) {
	v, err := f.number(key)
	return v != 1, err
}

// One reports whether a count is 1; findings of older versions may have no such count.
func (f filled) One(key string) bool { return f.Numbers[key] == 1 }

// Counted is a number of what Lines says.
func (f filled) Counted(key string) (string, error) {
	v, err := f.number(key)
	return numeral.Several(int(v), strings.TrimSuffix(f.Lines(), "s")), err
}

// Lines is what a population's finding counts: iterations, or what it says of the lines of the trace.
func (f filled) Lines() string {
	if name := f.Names["lines"]; name == Epochs || name == Lines {
		return name
	}
	return "iterations"
}

// WhatRHatIs defines R-hat for the number of chains.
func (f filled) WhatRHatIs() (string, error) {
	chains, err := f.number("chains")
	return WhatRHatIs(int(chains)), err
}

// MostRHat is the R-hat up to which chains agree.
func (f filled) MostRHat() string { return fmt.Sprint(MostRHat) }

// Disagrees reports whether a number is an R-hat at which chains do not agree.
func (f filled) Disagrees(key string) (bool, error) {
	v, err := f.number(key)
	return v > MostRHat, err
}

// Equal reports whether two numbers are equal.
func (f filled) Equal(a, b string) (bool, error) {
	x, err := f.number(a)
	if err != nil {
		return false, err
	}
	y, err := f.number(b)
	return x == y, err
}

// Same reports whether there are two numbers and they are equal; findings of older versions may lack one.
func (f filled) Same(a, b string) bool {
	x, ok := f.Numbers[a]
	return ok && x == f.Numbers[b]
}

// Name is a word.
func (f filled) Name(key string) (string, error) {
	v, ok := f.Names[key]
	if !ok {
		return "", fmt.Errorf("%s has no name %s", f.Kind, key)
	}
	return v, nil
}

// Said reports whether a name has a value; findings of older versions may have no such name.
func (f filled) Said(key, value string) bool { return f.Names[key] == value }

// Is reports whether a name has a value.
func (f filled) Is(key, value string) (bool, error) {
	v, err := f.Name(key)
	return v == value, err
}
