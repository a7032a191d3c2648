package report

import (
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/chart"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/sbc"
	"github.com/starling-smc/starling/uq"
)

// WriteSBC writes the page of a check by simulation-based calibration.
func WriteSBC(w io.Writer, c *starling.SBCResult) error {
	p := page{
		Kind: onSBC, Title: c.Spec.Name + ": simulation-based calibration", Lead: c.Spec.Method.Title(), Made: made(c.Manifest.Version, c.Manifest.Revision),
		Cards: []card{
			{"p-value", PValue(c.P), verdictOfSBC(c)},
			{"fits", numeral.Count(c.Fits - c.Failed), ""},
			{"networks of a fit", numeral.Count(c.Networks), "at least"},
		},
	}
	t := topic{Title: "Ranks"}
	for i, text := range SBCWords(c) {
		if i == 0 && !c.Uniform {
			t.warn("%s", numeral.Capital(text)+".")
		} else {
			t.say("%s", numeral.Capital(text)+".")
		}
	}
	p.Summary = []topic{t}
	s := section{ID: "ranks", Title: "Ranks of each quantity", Text: []string{
		fmt.Sprintf("A line is the share of ranks below u, minus u: 0 where ranks are uniform. The grey band holds the whole line of a right sampler, in all but %s of all checks.",
			numeral.Percent(c.OwnLevel(), 2)),
	}}
	z, low, high := uq.NewUniform(c.Fits - c.Failed).Band(c.OwnLevel())
	for i := range z {
		low[i], high[i] = low[i]-z[i], high[i]-z[i]
	}
	for i, q := range c.Quantities {
		s.Figures = append(s.Figures, ranksFigure(i, q, z, low, high))
	}
	p.Sections = []section{s, {ID: "provenance", Title: "How to repeat the check", Code: string(c.Spec.YAML()), Facts: []card{
		{"method", c.Spec.Method.Title(), ""}, {"fits", numeral.Count(c.Fits), ""}, {"starling", c.Manifest.Version, ""},
	}}}
	return p.write(w)
}

func verdictOfSBC(c *starling.SBCResult) string {
	if c.Uniform {
		return "ranks are uniform"
	}
	return "ranks are not uniform"
}

// ranksFigure draws how the ranks of a quantity deviate from the uniform law.
func ranksFigure(i int, q sbc.Quantity, z, low, high []float64) figure {
	off := make([]float64, len(z))
	for k := range z {
		below := 0
		for _, r := range q.Ranks {
			if r <= z[k] {
				below++
			}
		}
		off[k] = float64(below)/float64(len(q.Ranks)) - z[k]
	}
	name := QuantityName(q.Name)
	c := chart.Chart{
		ID: fmt.Sprint("ranks-", i), Title: "Ranks of the " + name,
		Desc: fmt.Sprintf("The share of ranks of the %s that are below each number, minus this number: p is %s, and the mean rank %s.", name, PValue(q.P), numeral.Fixed(q.Mean, 3)),
		X:    chart.Axis{Label: "rank u", Min: 0, Max: 1}, Y: chart.Axis{Label: "share of ranks below u, minus u"},
		Marks: []chart.Mark{chart.Band{X: z, Low: low, High: high, Class: "s5"}, chart.Line{X: z, Y: off, Class: "s0"}},
	}
	return figure{
		Title: numeral.Capital(name), Charts: []template.HTML{c.SVG()}, Legend: []key{lineKey("s0", "ranks"), {chart.Sample("s5", true), "a right sampler"}},
		Caption: fmt.Sprintf("p = %s; the mean rank is %s, and the ranks are: %s.", PValue(q.P), numeral.Fixed(q.Mean, 3), q.Shape),
	}
}

// QuantityName is the name of a ranked quantity in words.
func QuantityName(name string) string {
	if n, ok := strings.CutPrefix(name, "prediction_"); ok {
		return "prediction at input " + n
	}
	return strings.ReplaceAll(name, "_", "-")
}

// PValue writes a p-value with two digits.
func PValue(p float64) string {
	if p < 1e-12 {
		return "below 1e-12"
	}
	return fmt.Sprintf("%.2g", p)
}

// SBCWords says what a check has found, as sentences without full stops.
func SBCWords(c *starling.SBCResult) (words []string) {
	fits := numeral.Several(c.Fits-c.Failed, "fit")
	if c.Uniform {
		words = append(words, fmt.Sprintf("the ranks of %s are uniform, as far as so many tell: p = %s", fits, PValue(c.P)))
	} else {
		words = append(words, fmt.Sprintf("the ranks of %s are not uniform: p = %s, so that the method does not draw from this posterior", fits, PValue(c.P)))
	}
	words = append(words, fmt.Sprintf("a method that does has p of at most %v in at most %s of all checks", c.Level, numeral.Percent(c.Level, 0)))
	ranked := fmt.Sprintf("each fit ranks among %s", numeral.Several(c.Networks, "network"))
	if c.IACT != nil {
		ranked = fmt.Sprintf("states are thinned by autocorrelation times of up to %.1f; %s or more", float64(*c.IACT), ranked)
	} else {
		ranked += " or more"
	}
	if c.Effective < float64(c.Networks)/2 {
		ranked += fmt.Sprintf(", by weights that leave %.1f of them effective in one", c.Effective)
	}
	words = append(words, ranked)
	if c.Failed > 0 {
		words = append(words, fmt.Sprintf("%s failed and has no ranks, which the p-value leaves out: %s", numeral.Several(c.Failed, "fit"), c.Why))
	}
	return words
}
