package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/numeral"
)

// header is the line that describes the data and the network.
func header(l *starling.Loaded) string {
	p := l.Data
	of := sizes{groups: len(p.Groups), foreign: len(p.Foreign)}
	for _, k := range []struct {
		set  *data.Set
		size *int
	}{{p.Train, &of.train}, {p.Validate, &of.validate}, {p.Test, &of.test}, {p.Calibrate, &of.calibrate}} {
		if k.set != nil {
			*k.size = k.set.Len()
		}
	}
	examples := of.String()
	if l.Spec.Method.Needs().Whole { // nothing is learnt
		examples = strings.Join(append([]string{numeral.Count(cmp.Or(of.test, of.train)) + " examples"}, of.toCalibrate()...), ", ")
	}
	return fmt.Sprintf("%s: %s · %s, %s", l.Spec.Name, examples, l.Net.Title(), l.Net.Size())
}

// sizes are the numbers of examples of the parts of a data set, of its groups of out-of-distribution inputs, and of those among them that
// are known beforehand.
type sizes struct{ train, validate, test, groups, calibrate, foreign int }

func (s sizes) String() string {
	parts := []string{numeral.Count(s.train) + " to train"}
	if s.validate > 0 {
		parts = append(parts, numeral.Count(s.validate)+" to validate")
	}
	if s.test > 0 {
		parts = append(parts, numeral.Count(s.test)+" to test")
	}
	if s.groups > 0 {
		parts = append(parts, numeral.Several(s.groups, "OOD group"))
	}
	return strings.Join(append(parts, s.toCalibrate()...), ", ")
}

// toCalibrate counts the examples for decisions; none: nil.
func (s sizes) toCalibrate() []string {
	switch {
	case s.calibrate == 0:
		return nil
	case s.foreign == 0:
		return []string{numeral.Count(s.calibrate) + " to calibrate"}
	}
	return []string{numeral.Count(s.calibrate) + " to calibrate with " + numeral.Several(s.foreign, "OOD group")}
}
