package finding

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/starling-smc/starling/internal/numeral"
)

// Kind is a struct of a finding, such as FewStates, which a run keeps as few-states.
type Kind interface{ words() words }

// failing is a Kind that may say that the run failed. What is allowed says the same, but not that.
type failing interface{ allowed() Kind }

// words say a finding, without a capital letter and a full stop, which are added. A warning has a cure and a help. A note may have a cure,
// too: then it is one of the things to do first.
type words struct {
	look   look
	says   string // what was found, in a clause
	means  string // what follows from it; empty: says is all
	cure   string // what to do about it, in the imperative
	help   help   // where more is told of it
	beside string // a few words that stand beside a log evidence
}

// look is how and where a finding is shown.
type look int

const (
	note          look = 0         // a reader may want to know
	warning       look = 1 << iota // a reader must know before the results are used
	page                           // for pages alone: it holds for many healthy runs, or a terminal shows it in a table
	ofData                         // it is about the data, not about what was sampled
	ofPredictions                  // it is about what the ensemble predicts for the examples evaluated on
	ofEvidence                     // it says what a log evidence is an estimate of
	early                          // it is told before the work begins, too
	failure                        // the run's results are there, but the run failed
	ofDecision                     // it is about how the run learnt to decide, and holds until that is learnt anew
)

// joined is what was found, after a colon what it means, and the cure as a sentence of its own.
func (w words) joined() string {
	text := w.says
	if w.means != "" {
		text += ": " + w.means
	}
	if w.cure != "" {
		text += ". " + numeral.Capital(w.cure)
	}
	return text
}

// help is a section of the docs that tells more of a finding. The sections are in the order in which to act: what comes first may be
// the cause of what comes after it.
type help int

const (
	noHelp             help = iota
	helpData                // the network learns something else than was meant
	helpDescents            // a point estimate is not yet at its best
	helpMoves               // the states are no draws of the posterior
	helpWeights             // few of the particles count
	helpTimes               // the times of scans are not those that were meant
	helpFilters             // few of the particles of a filter count
	helpSurprise            // scans that the filter did not expect
	helpTargets             // several targets
	helpErrors              // the errors of a filter's means are not known
	helpNodes               // the nodes of ep and their sites
	helpSubsampling         // subsampling saves nothing
	helpMixing              // chains or islands are no draws of one posterior
	helpApproximations      // a Gaussian or a chosen state stands for the posterior
	helpScores              // something simpler predicts better
	helpCalibration         // the probabilities or intervals are not right
	helpEvidence            // the log evidence is rough
)

const choosing, filters, scanning = "docs/choosing.md", "docs/filtering.md", "docs/scans.md"

// helps are the pages and titles of the sections.
var helps = [...]struct{ page, section string }{
	helpData:           {choosing, "The data or the config"},
	helpDescents:       {choosing, "Descents that end too early"},
	helpMoves:          {choosing, "Moves that do not move"},
	helpWeights:        {choosing, "Weights that collapse"},
	helpTimes:          {scanning, "Times"},
	helpFilters:        {filters, "Which method"},
	helpSurprise:       {filters, "Scans that surprise"},
	helpTargets:        {filters, "Several targets"},
	helpErrors:         {filters, "How large is the Monte Carlo error?"},
	helpNodes:          {filters, "Measurements on several nodes"},
	helpSubsampling:    {filters, "Subsampling"},
	helpMixing:         {choosing, "Chains that do not mix"},
	helpApproximations: {choosing, "Approximations of the posterior"},
	helpScores:         {choosing, "Something simpler is better"},
	helpCalibration:    {choosing, "Over- and under-confidence"},
	helpEvidence:       {choosing, "Log evidence and validation NLL"},
}

// unit follows a number of percents. On a page they stay together; a terminal has a plain space.
const unit = "\u00a0%"

// say is fmt.Sprintf for readers: a whole number (%v) has commas between its thousands, a decimal one (%.2f, %.2g) also a true minus sign.
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

// Format writes %.2f for readers, and %.2g as strconv does, with a true minus sign.
func (d decimal) Format(to fmt.State, verb rune) {
	digits, _ := to.Precision()
	text := numeral.Fixed(float64(d), digits)
	if verb == 'g' {
		text = strings.ReplaceAll(strconv.FormatFloat(float64(d), 'g', digits, 64), "-", "−")
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

// Some are things that a finding names in a list, and how many there are. The number is kept as count.
type Some struct {
	Count int
	Names string
}

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
func FirstOf(names []string) Some { return first(10, names) }

// FewOf is FirstOf of things that need many words.
func FewOf(names []string) Some { return first(2, names) }

func first(few int, names []string) Some {
	told := names[:min(len(names), few)]
	if more := len(names) - few; more > 0 {
		told = append(slices.Clone(told), numeral.Count(more)+" more")
	}
	return Some{len(names), numeral.List(told)}
}
