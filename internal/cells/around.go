package cells

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What stands around numbers: blanks, signs, currencies and units.

func decode(b []byte) (rune, int) { return utf8.DecodeRune(b) }

// IsBlank reports whether a character is a blank of any kind: also those that do not break a line, that are thin, or that are not seen, such
// as marks of the direction of writing.
func IsBlank(r rune) bool {
	return unicode.IsSpace(r) || r >= utf8.RuneSelf && (unicode.Is(unicode.Zs, r) || unicode.Is(unicode.Cf, r))
}

func trimBlanks(b []byte) []byte { return bytes.TrimFunc(b, IsBlank) }

// unquoted is a text without single quotes around it.
func unquoted(b []byte) []byte {
	first, size := decode(b)
	last, end := utf8.DecodeLastRune(b)
	if len(b) > size+end && isApostrophe(first) && isApostrophe(last) {
		return trimBlanks(b[size : len(b)-end])
	}
	return b
}

// isMinus reports whether a character is a minus, a hyphen that stands for one, or a dash that a program wrote in its place.
func isMinus(r rune) bool {
	switch r {
	case '-', '\u2212', '\u2010', '\u2011', '\u2013', '\ufe63', '\uff0d':
		return true
	}
	return false
}

// isApostrophe reports whether a character is an apostrophe, as Swiss writers have between thousands.
func isApostrophe(r rune) bool { return r == '\'' || r == '\u2019' || r == '\u2018' || r == '\u02bc' }

// currencies are texts of letters alone that stand before or behind amounts.
var currencies = strings.Fields("USD EUR GBP JPY CHF CNY RMB AUD CAD NZD SEK NOK DKK ISK PLN CZK HUF RON BGN TRY RUB UAH INR PKR BRL MXN ARS CLP COP PEN ZAR " +
	"KRW SGD HKD TWD THB MYR IDR PHP VND ILS AED SAR EGP NGN KES Rs Rs. Fr Fr. kr kr. Kč zł")

// isCurrency reports whether a text names a currency: a sign with at most three letters beside it, as US$, or one of the known names.
func isCurrency(b []byte) bool {
	signs, letters := 0, 0
	for _, r := range string(b) {
		switch {
		case unicode.Is(unicode.Sc, r):
			signs++
		case unicode.IsLetter(r):
			letters++
		default:
			return slices.Contains(currencies, string(b))
		}
	}
	return signs == 1 && letters <= 3 || slices.Contains(currencies, string(b))
}

func isAmount(text string) bool { return text != "" && isCurrency([]byte(text)) }

// isEnglish reports whether a text before amounts is a currency of countries that write commas between thousands, and whose amounts do not
// have three decimals.
func isEnglish(before string) bool {
	if before == "R$" {
		return false
	}
	return strings.ContainsAny(before, "$£¥₹₩") || slices.Contains([]string{"USD", "GBP", "JPY", "AUD", "CAD", "NZD", "HKD", "SGD", "INR", "CNY", "KRW"}, before)
}

// isBefore reports whether a text may stand before a number: none, or a currency. Other letters before digits make a name, as in p12.
func isBefore(b []byte) bool { return len(b) == 0 || isCurrency(b) }

// isUnit reports whether a text may stand behind a number: none, or a unit such as %, °C, km/h, m² or m2. A digit in it stands alone behind
// a letter, ^ or -, so that a date is no number with a unit.
func isUnit(b []byte) bool {
	const longest = 24
	if len(b) > longest {
		return false
	}
	last := rune(0)
	for _, r := range string(b) {
		switch {
		case unicode.IsLetter(r) || strings.ContainsRune("%‰°′″'\"", r) || unicode.Is(unicode.Sc, r):
		case last == 0:
			return false
		case strings.ContainsRune("/·*^-.²³⁻¹ ", r) || r == '\u00a0':
		case r >= '0' && r <= '9' && (unicode.IsLetter(last) || last == '^' || last == '-'):
		default:
			return false
		}
		last = r
	}
	return true
}

// odd reads a number that is written with other characters than plain ones but needs no decision: with blanks of all kinds or single quotes around it, a
// minus that is no hyphen, or an exponent of Fortran's, as in 1.5D+03. That has a sign or two digits: 1.0d0 may be a code.
func odd(b []byte) (float64, error) {
	if t := unquoted(trimBlanks(b)); len(t) < len(b) {
		return Number(t)
	}
	t := b
	if r, size := decode(t); size > 1 && isMinus(r) {
		t = append([]byte{'-'}, t[size:]...)
	}
	k := bytes.IndexAny(t, "eEdD")
	if k > 0 && (t[k]|0x20 == 'e' || bytes.IndexByte(t[:k], '.') >= 0 && len(t) > k+2) {
		rest := t[k+1:]
		t = append(bytes.Clone(t[:k]), 'e')
		if r, size := decode(rest); size > 1 && isMinus(r) {
			t, rest = append(t, '-'), rest[size:]
		}
		t = append(t, rest...)
	}
	for _, c := range t {
		if !IsNumberByte(c) {
			return 0, ErrText
		}
	}
	return parse(t)
}

// OtherDigits reports whether a cell would be a number if its digits were 0 to 9: they are those of another script.
func OtherDigits(b []byte) bool {
	found := false
	plain := bytes.Map(func(r rune) rune {
		if r < utf8.RuneSelf || !unicode.Is(unicode.Nd, r) {
			return r
		}
		found = true
		zero := r // digits of a script stand one after another, from its 0
		for unicode.Is(unicode.Nd, zero-1) && r-zero < 9 {
			zero--
		}
		return '0' + (r-zero)%10
	}, b)
	if !found {
		return false
	}
	_, err := Number([]byte(strings.NewReplacer("٫", ".", "．", ".", "٬", "", "－", "-").Replace(string(plain)))) // marks of Arabic, and wide ones
	return err == nil
}
