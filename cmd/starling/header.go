package main

import (
	"fmt"
	"strings"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/numeral"
)

// header is the line that describes the data and the network.
func header(l *starling.Loaded) string {
	p := l.Data
	validate, test := 0, 0
	if p.Validate != nil {
		validate = p.Validate.Len()
	}
	if p.Test != nil {
		test = p.Test.Len()
	}
	examples := sizes(p.Train.Len(), validate, test, len(p.Groups))
	if l.Spec.Method.Needs().Whole { // nothing is learnt
		evaluated := p.Train.Len()
		if test > 0 {
			evaluated = test
		}
		examples = numeral.Count(evaluated) + " examples"
	}
	return fmt.Sprintf("%s: %s · %s, %s", l.Spec.Name, examples, l.Net.Title(), l.Net.Size())
}

// sizes counts the examples of each part of a data set.
func sizes(train, validate, test, groups int) string {
	parts := []string{numeral.Count(train) + " to train"}
	if validate > 0 {
		parts = append(parts, numeral.Count(validate)+" to validate")
	}
	if test > 0 {
		parts = append(parts, numeral.Count(test)+" to test")
	}
	if groups > 0 {
		parts = append(parts, numeral.Several(groups, "OOD group"))
	}
	return strings.Join(parts, ", ")
}
