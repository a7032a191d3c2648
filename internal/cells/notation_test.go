package cells

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// TestPlainWithoutADecision: blanks of all kinds, other minus signs and Fortran's exponents are read as plain numbers.
func TestPlainWithoutADecision(t *testing.T) {
	for text, want := range map[string]float64{
		"\u00a01.5": 1.5, "1.5\u202f": 1.5, "\u2009-2\u3000": -2, "\ufeff7": 7, "\u22123.5": -3.5, "\u20133": -3, "1.5D+03": 1500, "5.410d+01": 54.1, "-1.D-2": -0.01, ".5D00": 0.5,
		"\u200e4.5\u200f": 4.5, "\u00ad8": 8, "'2.5'": 2.5, "\u2018-6\u2019": -6, "1e\u22123": 1e-3, "+5": 5, ".5": 0.5, "5.": 5, "1e3": 1000, "\u00a0\u00a0": math.NaN(), "\u00a0nan": math.NaN(),
	} {
		if v, err := Number([]byte(text)); err != nil || !(v == want || v != v && want != want) {
			t.Errorf("%q: %v, %v, want %v", text, v, err, want)
		}
	}
	for _, text := range []string{"12D3", "1.D", "3.0d1", "7.5D4", "12D+03", "D3", "1.5DD3", "a.ddd", "\u2212", "\u2212\u22121", "1 2", "٣", "1,5"} {
		if v, err := Number([]byte(text)); err != ErrText {
			t.Errorf("%q: %v, %v, want that it is no number", text, v, err)
		}
	}
}

// detect shows cells to a detector.
func detect(told Told, cells ...string) (Verdict, Notation, Notation, string) {
	d := NewDetector(told)
	for _, c := range cells {
		d.See([]byte(c))
	}
	return d.Verdict()
}

// TestDetector has columns as people write them, with the notation and the value of the first cell.
func TestDetector(t *testing.T) {
	for _, c := range []struct {
		cells string // with | between them
		told  Told
		want  Verdict
		n     Notation
		first float64
	}{
		{"1|2.5|3e4", Told{}, Plain, Notation{}, 1},
		{"27.200,45|3,5|100", Told{}, Written, Notation{Decimal: ",", Thousands: "."}, 27200.45},
		{"0,25|0,5|1", Told{}, Written, Notation{Decimal: ","}, 0.25},
		{"0,250|0,500", Told{}, Written, Notation{Decimal: ","}, 0.25},
		{"12345,678|1,005", Told{}, Written, Notation{Decimal: ","}, 12345.678},
		{"1,234,567|1,005", Told{}, Written, Notation{Thousands: ","}, 1234567},
		{"1.234.567|1.005", Told{}, Written, Notation{Decimal: ",", Thousands: "."}, 1234567},
		{"1,234.5|1,005", Told{}, Written, Notation{Thousands: ","}, 1234.5},
		{"12,34,567|1", Told{}, Written, Notation{Thousands: ","}, 1234567},
		{"27'200|27\u2019200.5", Told{}, Written, Notation{Thousands: "'"}, 27200},
		{"27\u00a0200|1\u202f234,5", Told{}, Written, Notation{Decimal: ",", Thousands: " "}, 27200},
		{"27\u2009200|5", Told{}, Written, Notation{Thousands: " "}, 27200},
		{"1 234,5 €|7,25 €|8 €", Told{}, Written, Notation{Decimal: ",", Thousands: " ", After: "€"}, 1234.5},
		{"$27,200|$24,988|$1,000", Told{}, Written, Notation{Thousands: ",", Before: "$"}, 27200},
		{"US$1,005|US$2,500|US$7", Told{}, Written, Notation{Thousands: ",", Before: "US$"}, 1005},
		{"CHF 1'200.50|CHF 3|CHF 4", Told{}, Written, Notation{Thousands: "'", Before: "CHF"}, 1200.5},
		{"12 %|13%|14,5%", Told{}, Written, Notation{Decimal: ",", After: "%"}, 12},
		{"155.857 cm|175.276 cm|173.094 cm", Told{}, Written, Notation{After: "cm"}, 155.857},
		{"61 kg|58 Kg|55 KG", Told{}, Written, Notation{After: "kg"}, 61},
		{"'27,5'|'3'|'4,25'", Told{}, Written, Notation{Decimal: ","}, 27.5},
		{"\u200e12,5\u200e|\u00ad3|4", Told{}, Written, Notation{Decimal: ","}, 12.5},
		{"3 790.5|41|1 200.25", Told{}, Written, Notation{Thousands: " "}, 3790.5},
		{"5 m2|6 m2|7 m2", Told{}, Written, Notation{After: "m2"}, 5},
		{"(1,234)|500|(7)|1,000,000", Told{}, Written, Notation{Thousands: ",", Books: true, Turned: 2}, -1234},
		{"$(1,234.50)|$3.00|-$4.25", Told{}, Written, Notation{Thousands: ",", Before: "$", Books: true, Turned: 1}, -1234.5},
		{"12-|3|4,5-", Told{}, Written, Notation{Decimal: ",", Books: true, Turned: 2}, -12},
		{"1,5E+03|2,5", Told{}, Written, Notation{Decimal: ","}, 1500},
		{"1,5D+03|2,5", Told{}, Written, Notation{Decimal: ",", Fortran: true}, 1500},
		{"1.5D+03|2.5", Told{}, Written, Notation{Fortran: true}, 1500},
		{"1.5d0|2.3d1|9.4d3", Told{}, Texts, Notation{}, 0}, // codes

		{"283.-|91.50|7.-", Told{}, Written, Notation{Dash: true}, 283},
		{"2917,-|12,\u2013|9,--", Told{}, Written, Notation{Decimal: ",", Dash: true}, 2917},
		{"1'283.\u2014|2.-|3.5", Told{}, Written, Notation{Thousands: "'", Dash: true}, 1283},
		{"281,- €|19,- €|7,50 €", Told{}, Written, Notation{Decimal: ",", After: "€", Dash: true}, 281},
		{"-5,-|3,5", Told{}, Written, Notation{Decimal: ",", Dash: true}, -5},
		{"5,-|(3,5)|2", Told{}, Written, Notation{Decimal: ",", Books: true, Turned: 1, Dash: true}, 5},
		{"281,-|19-|7,50", Told{}, Texts, Notation{}, 0}, // 19 without cents, or negative
		{"2810-|19|7", Told{}, Texts, Notation{}, 0},
		{"2810-|19|7", Told{Strip: true}, Written, Notation{Books: true, Turned: 1}, -2810},
		{"2810-|19-|7-|4|3", Told{}, Written, Notation{Books: true, Turned: 3}, -2810},
		{"2810-|19.25-|7", Told{}, Written, Notation{Books: true, Turned: 2}, -2810},

		// settings that do not fit the column
		{"€ 1.748,50|€ 2,5|€ 3", Told{Thousands: ","}, Written, Notation{Decimal: ",", Thousands: ".", Before: "€"}, 1748.5},
		{"7,25|3,5", Told{Decimal: "."}, Written, Notation{Decimal: ","}, 7.25},
		{"1,005|500", Told{Decimal: ".", Thousands: "'"}, Written, Notation{Thousands: ","}, 1005},
		{"\u22121,5|2,5", Told{}, Written, Notation{Decimal: ","}, -1.5},

		{"1,005|500|2,000", Told{}, Ambiguous, Notation{Decimal: ","}, 1.005},
		{"1,005 €|500 €|2,000 €", Told{}, Ambiguous, Notation{Decimal: ",", After: "€"}, 1.005},
		{"€ 1.005|€ 2.500|€ 500", Told{}, Ambiguous, Notation{Before: "€"}, 1.005},
		{"1.300|4.862|716|9", Told{}, Ambiguous, Notation{}, 1.3},
		{"12.345|-4.861|7.333|16|9|-540", Told{}, Ambiguous, Notation{}, 12.345},
		{"1.300|716", Told{Thousands: "."}, Written, Notation{Decimal: ",", Thousands: "."}, 1300},
		{"1.300|716", Told{Decimal: "."}, Plain, Notation{}, 1.3},
		{"1.234|2.861|2.100", Told{}, Plain, Notation{}, 1.234},             // all with a point
		{"1.234|2.861|7|8|9", Told{}, Plain, Notation{}, 1.234},             // two with a point, none of which ends in 0
		{"1.234|2.861|3.222|7|8|9|0.571", Told{}, Plain, Notation{}, 1.234}, // a 0 before a point
		{"1.300|2.861|3.222|7|8|9|1.5", Told{}, Plain, Notation{}, 1.3},
		{"1.300|2.861|3.222|7|8|9|1500", Told{}, Plain, Notation{}, 1.3},
		{"1.300|2.861|3.222|7|8|9|1e2", Told{}, Plain, Notation{}, 1.3},
		{"1.234|2.861|3.222|8|8|8", Told{}, Plain, Notation{}, 1.234},
		{"1.300|2.860|0|0", Told{}, Plain, Notation{}, 1.3},
		{"1,005|500", Told{Decimal: ","}, Written, Notation{Decimal: ","}, 1.005},
		{"1,005|500", Told{Decimal: "."}, Written, Notation{Thousands: ","}, 1005},
		{"1,005|500", Told{Thousands: ","}, Written, Notation{Thousands: ","}, 1005},
		{"1.005|500", Told{Decimal: ",", Thousands: "."}, Written, Notation{Decimal: ",", Thousands: "."}, 1005},
		{"1.005|500", Told{Thousands: "."}, Written, Notation{Decimal: ",", Thousands: "."}, 1005},
		{"3.76|1.005", Told{Decimal: ",", Thousands: "."}, Plain, Notation{}, 3.76},
		{"2dr|4dr", Told{}, Texts, Notation{}, 0},
		{"2dr|4dr", Told{Strip: true}, Written, Notation{After: "dr"}, 2},
		{"(1)|(2)|(3)", Told{}, Texts, Notation{}, 0},

		{"V625877|V1|V2", Told{}, Texts, Notation{}, 0},
		{"p12|p13|p14", Told{}, Texts, Notation{}, 0},
		{"room 12|room 13|room 14", Told{}, Texts, Notation{}, 0},
		{"18-24|25-34|35-44", Told{}, Texts, Notation{}, 0},
		{"5 kg|6 lb|7 kg", Told{}, Texts, Notation{}, 0},
		{"$5|€6|$7", Told{}, Texts, Notation{}, 0},
		{"1 Jan 2015|2 Jan 2015|3 Jan 2015", Told{}, Texts, Notation{}, 0},
		{"12:30|13:30|14:30", Told{}, Texts, Notation{}, 0},
		{"2015-01-01|2015-01-02|2015-01-03", Told{}, Texts, Notation{}, 0},
		{"192.168.1.1|192.168.1.2", Told{}, Texts, Notation{}, 0},
		{"1,2,3|4,5,6", Told{}, Texts, Notation{}, 0},
		{"0171 123|0172 456", Told{}, Texts, Notation{}, 0},
		{"1,23|4.5", Told{}, Texts, Notation{}, 0},
		{"green|red", Told{}, Texts, Notation{}, 0},
	} {
		cells := strings.Split(c.cells, "|")
		v, n, or, example := detect(c.told, cells...)
		if v != c.want || n != c.n {
			t.Errorf("%s: %v %+v (or %+v, %q), want %v %+v", c.cells, v, n, or, example, c.want, c.n)
			continue
		}
		if v == Texts {
			continue
		}
		if got, err := n.Number([]byte(cells[0])); err != nil || got != c.first {
			t.Errorf("%s: %v %v, want %v", c.cells, got, err, c.first)
		}
		if v == Ambiguous {
			a, err := n.Number([]byte(example))
			b, errOr := or.Number([]byte(example))
			if err != nil || errOr != nil || a == b {
				t.Errorf("%s: the two readings of %s are %v and %v (%v, %v)", c.cells, example, a, b, err, errOr)
			}
			continue
		}
		for _, cell := range cells {
			if _, err := n.Number([]byte(cell)); err != nil {
				t.Errorf("%s: %+v does not read %s: %v", c.cells, n, cell, err)
			}
		}
	}
}

// inNotation writes a number in a notation: what a program would export.
func inNotation(v float64, n Notation, blank string) string {
	text := strconv.FormatFloat(math.Abs(v), 'f', -1, 64)
	whole, fraction, _ := strings.Cut(text, ".")
	if n.Thousands != "" {
		var groups []string
		for len(whole) > 3 {
			groups, whole = append([]string{whole[len(whole)-3:]}, groups...), whole[:len(whole)-3]
		}
		mark := n.Thousands
		if mark == " " {
			mark = blank
		}
		whole = strings.Join(append([]string{whole}, groups...), mark)
	}
	if fraction != "" {
		whole += n.decimal() + fraction
	}
	if n.Before != "" {
		whole = n.Before + whole
	}
	if n.After != "" {
		whole += blank + n.After
	}
	if v < 0 && n.Books {
		return "(" + whole + ")"
	}
	if v < 0 {
		return "\u2212" + whole
	}
	return whole
}

// TestWrittenNumbersAreReadExactly writes random numbers of all sizes in every notation, and reads them back: bit for bit, by the notation
// that wrote them and by the one that the detector finds, unless it says that there are two.
func TestWrittenNumbersAreReadExactly(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	found := 0
	for _, decimal := range []string{"", ","} {
		for _, thousands := range append([]string{""}, ThousandsMarks...) {
			for _, around := range [][2]string{{"", ""}, {"$", ""}, {"", "€"}, {"", "%"}, {"CHF", ""}, {"", "km/h"}} {
				for _, books := range []bool{false, true} {
					n := Notation{Decimal: decimal, Thousands: thousands, Before: around[0], After: around[1], Books: books}
					if n.Check() != nil {
						continue
					}
					var values []float64
					var cells []string
					for k := range 60 {
						v := math.Ldexp(r.Float64(), r.IntN(60)-20)
						if k%3 == 0 {
							v = -v
						}
						if k%7 == 0 {
							v = float64(r.IntN(5_000_000))
						}
						values = append(values, v)
						cells = append(cells, inNotation(v, n, []string{" ", "\u00a0", "\u202f", "\u2009"}[k%4]))
					}
					verdict, got, _, _ := detect(Told{}, cells...)
					for k, v := range values {
						if x, err := n.Number([]byte(cells[k])); err != nil || math.Float64bits(x) != math.Float64bits(v) {
							t.Fatalf("%+v: %s is read as %v, %v, want %v", n, cells[k], x, err, v)
						}
						if verdict == Plain || verdict == Written {
							if x, err := got.Number([]byte(cells[k])); err != nil || math.Float64bits(x) != math.Float64bits(v) {
								t.Fatalf("%+v: %s is read as %v, %v by %+v, want %v", n, cells[k], x, err, got, v)
							}
						}
					}
					if verdict == Texts {
						t.Errorf("%+v: %q are no numbers", n, cells[:5])
					}
					if verdict == Written || verdict == Plain {
						found++
					}
				}
			}
		}
	}
	if found < 90 {
		t.Errorf("%d notations of 96 were found", found)
	}
}

// TestAmbiguousIsNeverRead: numbers that are all below a million, with three digits behind one comma, have two readings, whatever their
// number and whatever stands around them but a currency that settles it.
func TestAmbiguousIsNeverRead(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		var cells []string
		around := []string{"", " €", "%", " kg"}[r.IntN(4)]
		for range 3 + r.IntN(10) {
			cells = append(cells, strconv.Itoa(1+r.IntN(999))+","+strconv.Itoa(1000 + r.IntN(1000))[1:]+around)
		}
		if v, n, or, _ := detect(Told{}, cells...); v != Ambiguous || n.Decimal != "," || or.Thousands != "," {
			t.Fatalf("%q: %v %+v %+v", cells, v, n, or)
		}
	}
}

// TestTextsAroundNumbers: numbers with different texts around them are told from words.
func TestTextsAroundNumbers(t *testing.T) {
	for cells, want := range map[string]string{
		"61 kg|148 lb|55 kg|131 lb":        "numbers in kg and lb: bring them to one unit",
		"€7.50|$3|$4.25|€8":                "numbers in € and $: bring them to one unit",
		"8 USD|9 EUR|7 USD|6 EUR":          "numbers in USD and EUR: bring them to one unit",
		"5 km|6 m|7 mi|8 km|9 m|3 mi":      "numbers in km, m and mi: bring them to one unit",
		"5 km|6|7 km|8":                    "numbers with and without km: write all in one way",
		"~812|~77|~9":                      "numbers with ~: write the numbers alone",
		"<5|6|7|<8":                        "numbers with <: write the numbers alone",
		"1_463|2_811|912":                  "numbers with _: write the numbers alone",
		"5 mW|6 MW|7 mW|8 MW":              "numbers in mW and MW: bring them to one unit",
		"12a|13b|14a|15b":                  "",
		"12 Main St|13 Elm St|7 Oak Av":    "",
		"5 kg|6 lb|7 kg":                   "", // one of pounds: a slip
		"p1|p2|p3":                         "",
		"18-24|25-34|35-44":                "",
		"a|b|c|d|5 kg|6 lb|7 kg|8 lb":      "",
		"1 Jan 2015|2 Jan 2015|3 Jan 2015": "",
	} {
		d := NewDetector(Told{})
		for _, c := range strings.Split(cells, "|") {
			d.See([]byte(c))
		}
		if v, _, _, _ := d.Verdict(); v != Texts || d.Around() != want {
			t.Errorf("%s: %v, %q, want %q", cells, v, d.Around(), want)
		}
	}
}

// TestOtherDigits: digits of other scripts are told from words.
func TestOtherDigits(t *testing.T) {
	for text, want := range map[string]bool{"٣": true, "١٢٫٥": true, "１２": true, "３．７": true, "－４": true, "४२": true, "𝟗": true, "a٣": false, "x": false, "12": false, "": false} {
		if OtherDigits([]byte(text)) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

// FuzzNotation: whatever is in two cells, the detector does not panic, and what it reads unasked, its notation reads as finite numbers or
// plain ones.
func FuzzNotation(f *testing.F) {
	for _, c := range [][2]string{{"27.200,45", "3,5"}, {"$1,005", "(7)"}, {"1 234,5 €", "5 €"}, {"1.5D+03", "12 %"}, {"٣", "\u22121"}, {"1,2,3", "1.2.3"}, {"-$4-", "((5))"}} {
		f.Add(c[0], c[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		d := NewDetector(Told{Strip: true})
		d.See([]byte(a))
		d.See([]byte(b))
		v, n, or, _ := d.Verdict()
		for _, cell := range []string{a, b} {
			OtherDigits([]byte(cell))
			x, err := n.Number([]byte(cell))
			if v == Written && (err != nil || math.IsInf(x, 0)) && !strings.Contains(errorText(err), "too large") {
				t.Fatalf("%q, %q: %+v reads %q as %v, %v", a, b, n, cell, x, err)
			}
			if y, errOr := or.Number([]byte(cell)); v == Ambiguous && (err != nil || errOr != nil) && !strings.Contains(errorText(err)+errorText(errOr), "too large") {
				t.Fatalf("%q, %q: %v and %v (%v, %v)", a, b, x, y, err, errOr)
			}
			plain, errPlain := Number([]byte(cell))
			if v == Written && err == nil && errPlain == nil && plain == plain && plain != x && or == (Notation{}) && !strings.ContainsAny(cell, ".") {
				t.Fatalf("%q is %v, and %v by %+v", cell, plain, x, n)
			}
		}
		if n.Check() != nil {
			t.Fatalf("%+v", n)
		}
	})
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
