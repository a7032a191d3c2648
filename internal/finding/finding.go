// Package finding holds findings about a run: diagnoses and warnings. A kind of finding is a struct of numbers and names, with its words
// beside it. A run keeps the struct's name and fields, and the words are made when they are shown, on a terminal or a page.
package finding

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/starling-smc/starling/internal/numeral"
)

// say is the words of a finding. One of an unknown kind, or that lacks a number, says its kind and numbers.
func (f Finding) say() words {
	k, whole := f.read()
	if k == nil {
		return words{says: f.raw()}
	}
	w := k.words()
	if !whole {
		w.says, w.means, w.cure = f.raw(), "", ""
	}
	return w
}

// raw shows a finding for which there are no words: its kind, numbers and names.
func (f Finding) raw() string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(f.Numbers)) {
		parts = append(parts, fmt.Sprintf("%s %g", k, float64(f.Numbers[k])))
	}
	for _, k := range slices.Sorted(maps.Keys(f.Names)) {
		parts = append(parts, k+" "+f.Names[k])
	}
	if parts == nil {
		return f.Kind
	}
	return f.Kind + ": " + strings.Join(parts, ", ")
}

// Words says for a terminal what was found and what to do about it, in plain text: without a capital letter at its start and without a
// full stop at its end, and with numbers as on a page. A finding of an unknown kind, or one that lacks a number, is shown as its kind and
// numbers.
func (f Finding) Words() string {
	w := f.say()
	w.means = ""
	return strings.ReplaceAll(w.joined(), unit, " %")
}

// Sentence says the finding, what follows from it, and its cure for a page, in whole sentences.
func (f Finding) Sentence() string { return numeral.Capital(f.say().joined()) + "." }

// Brief says for a page, in a sentence, what was found: neither what follows from it, nor the cure.
func (f Finding) Brief() string { return numeral.Capital(f.say().says) + "." }

// Cure says for a page what to do about the finding; empty if there is nothing to do.
func (f Finding) Cure() string {
	if cure := f.say().cure; cure != "" {
		return numeral.Capital(cure) + "."
	}
	return ""
}

// Beside returns the few words that stand beside a run's log evidence; empty if its findings say nothing of it.
func Beside(found []Finding) string {
	var list []string
	for _, f := range found {
		if beside := f.say().beside; beside != "" {
			list = append(list, beside)
		}
	}
	return strings.Join(list, ", ")
}

// Is reports whether a finding is of one of some kinds, which are given by structs without numbers.
func Is(f Finding, kinds ...Kind) bool {
	return slices.ContainsFunc(kinds, func(k Kind) bool { return nameOf(k) == f.Kind })
}

// Has reports whether there is a finding of one of some kinds, which are given by structs without numbers.
func Has(found []Finding, kinds ...Kind) bool {
	return slices.ContainsFunc(found, func(f Finding) bool { return Is(f, kinds...) })
}

// Equal reports whether two findings say the same.
func (f Finding) Equal(g Finding) bool { return reflect.DeepEqual(f, g) }

// Warning reports whether a reader must know of the finding before the results are used.
func (f Finding) Warning() bool { return f.say().look&warning != 0 }

// Warnings counts the findings that a reader must know of.
func Warnings(found []Finding) (n int) {
	for _, f := range found {
		if f.Warning() {
			n++
		}
	}
	return n
}

// Failure reports whether the finding says that the run failed, although its results are there.
func (f Finding) Failure() bool { return f.say().look&failure != 0 }

// Allowed is the finding where its failure is accepted: it says the same, but not that the run failed.
func (f Finding) Allowed() Finding {
	k, whole := f.read()
	if k, fails := k.(failing); fails && whole {
		return Of(k.allowed())
	}
	return f
}

// PageOnly reports whether a finding is for pages, and terminals leave it out.
func (f Finding) PageOnly() bool { return f.say().look&page != 0 }

// OfData reports whether a finding is about the data, not about what was sampled.
func (f Finding) OfData() bool { return f.say().look&ofData != 0 }

// Early reports whether it is told before the work begins, too, when a user can still change the config.
func (f Finding) Early() bool { return f.say().look&early != 0 }

// OfPredictions reports whether a finding is about what the ensemble predicts for the examples evaluated on.
func (f Finding) OfPredictions() bool { return f.say().look&ofPredictions != 0 }

// OfDecision reports whether a finding is about how a run learnt to decide: it holds until the decision is learnt anew.
func (f Finding) OfDecision() bool { return f.say().look&ofDecision != 0 }

// OfEvidence reports whether a finding says what a log evidence is an estimate of, or that there is no estimate.
func (f Finding) OfEvidence() bool { return f.say().look&ofEvidence != 0 }
