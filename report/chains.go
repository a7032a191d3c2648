package report

import (
	"fmt"
	"html/template"
	"math"

	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/chart"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/uq"
)

// agreement shows the R-hat of the chains, and what their states are worth; nil if there are no chains, or no R-hat.
func (v *view) agreement() *figure {
	c := v.a.Metrics.Chains
	if c == nil || c.RHatLogLikelihood == nil && c.RHatPredictions == nil {
		return nil
	}
	d := chart.Dots{ID: "rhat", Title: "R-hat of the chains", X: chart.Axis{Label: "R-hat; 1 is agreement"}, Rule: finding.MostRHat}
	data := &table{Caption: d.Title, Head: []string{"of", "R-hat", "interval"}}
	worth := c.ESSPredictions != nil || c.ESSLogLikelihood != nil
	if worth {
		data.Head = append(data.Head, "ESS")
	}
	add := func(name string, at float64, between *[2]uq.Number, ess *uq.Number) {
		dot, interval := chart.Dot{Name: name, Value: at, Note: fixed(at, 2), Class: "s0"}, "–"
		if between != nil {
			dot.Low, dot.High = float64(between[0]), float64(between[1])
			interval = fixed(dot.Low, 2) + " to " + fixed(dot.High, 2)
		}
		cells := []string{fixed(at, 2), interval}
		if worth {
			cells = append(cells, fixed(number(ess), 0))
		}
		data.add(name, cells...)
		d.Desc += fmt.Sprintf("%s: %s. ", name, fixed(at, 2))
		if !math.IsInf(at, 0) {
			d.Rows = append(d.Rows, dot)
		}
	}
	if p := c.RHatPredictions; p != nil {
		add("predictions, median", float64(p.Median), p.MedianInterval, c.ESSPredictions)
		add("predictions, 95\u00a0% below", float64(p.Q95), p.Q95Interval, nil)
	}
	if c.RHatLogLikelihood != nil {
		add("log-likelihood", float64(*c.RHatLogLikelihood), c.RHatLogLikelihoodInterval, c.ESSLogLikelihood)
	}
	f := &figure{Title: "Agreement of the chains", Caption: whatIsCompared(c), Data: data}
	if d.Rows != nil {
		f.Charts = []template.HTML{d.SVG()}
		f.Legend = []key{lineKey("rule", fmt.Sprintf("up to %v: agreement", finding.MostRHat))}
	}
	return f
}

// whatIsCompared defines R-hat, and says what was compared, and how many draws the states are worth.
func whatIsCompared(c *eval.Chains) string {
	inputs := map[string]string{"validation": "validation input", "train": "training input"}[c.On]
	text := finding.WhatRHatIs(c.Chains) + "."
	text += fmt.Sprintf(" Compared are the second halves: the predictions of %s a chain for %s, and the log-likelihood after each of %s.",
		several(c.States, "kept state"), several(c.N, inputs), several(c.Moves, "move"))
	if p := c.RHatPredictions; p != nil && p.MedianInterval != nil || c.RHatLogLikelihoodInterval != nil {
		text += " Lines are two standard errors over the chains to either side."
	}
	if c.ESSLogLikelihood != nil {
		text += fmt.Sprintf(" The log-likelihoods are worth %s independent ones.", fixed(*c.ESSLogLikelihood, 0))
	}
	switch {
	case c.ESSPredictions == nil:
		text += fmt.Sprintf(" There is no effective sample size (ESS), because %s.", c.Reason)
	case c.ESSPerGradient == nil:
		text += fmt.Sprintf(" The states are worth %s independent ones (median of the predictions).", fixed(*c.ESSPredictions, 0))
	default:
		text += fmt.Sprintf(" The states are worth %s independent ones (median of the predictions), %s for each gradient over all training examples.",
			fixed(*c.ESSPredictions, 0), significant(*c.ESSPerGradient))
	}
	return text
}
