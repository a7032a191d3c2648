package finding

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"text/template"
	"unicode"
	"unicode/utf8"

	"github.com/starling-smc/starling/internal/numeral"
)

// look is how and where a finding is shown.
type look int

const (
	note       look = 0         // a reader may want to know
	warning    look = 1 << iota // a reader must know before the results are used
	page                        // for pages alone: it holds for many healthy runs, or a terminal shows it in a table
	ofData                      // it is about the data, not about what was sampled
	ofEvidence                  // it says what a log evidence is an estimate of
	failure                     // the run's results are there, but the run failed
)

// kinds is the only list of kinds: look, words, and for some a few words that stand beside a log evidence. Words have no
// capital letter and no full stop, which Sentence adds.
var kinds = map[string]struct {
	look   look
	words  string
	beside string
}{
	KindOptimiser: {warning, `the run behaved as an optimiser, not as a sampler of the posterior: ` +
		`it kept little more than the best of {{.Count "particles"}} noisy optimisation runs{{if .Several "islands"}} on each island{{end}}, ` +
		`so the disagreement of its particles says little about uncertainty. ` +
		`Of {{.Count "iterations"}} {{.Lines}}{{template "together" .}}, {{.Count "single"}} had a single surviving ancestor and {{.Count "resampled"}} resampled. ` +
		`The median effective sample size was {{.Fixed "ess" 1}} of {{.Count "particles"}}. ` +
		`The median variance of the log-weights was {{.Fixed "log_weight_var" 1}} nats², where {{.Count "particles"}} particles carry about {{.Log "particles" 1}}`,
		"no estimate: the run behaved as an optimiser"},
	KindMerged: {warning, `all particles{{if .Several "islands"}} of an island{{end}} descend from one particle of the start in {{.Count "single"}} of {{.Count "iterations"}} {{.Lines}}{{template "together" .}}. ` +
		`The log-weights differ by no more than {{.Count "particles"}} particles carry (median effective sample size {{.Fixed "ess" 1}}), ` +
		`but {{.Count "resampled"}} {{.Lines}} resampled, and each resampling loses ancestors. ` +
		`The particles differ only by the moves since, so the run may understate uncertainty; more particles or more islands keep more ancestors`,
		"rests on one draw of the start"},
	"single-ancestor": {warning | page, `at the end all particles {{if not (.Several "islands")}}{{else if .Equal "single" "islands"}}of each island {{else}}of {{.Count "single"}} of {{.Count "islands"}} islands {{end}}` +
		`descend from one particle of the start: they differ only by the moves since, so ` +
		`{{if .Several "islands"}}an island alone understates uncertainty; the {{.Count "islands"}} islands together have as many independent ancestors` +
		`{{else}}the run understates uncertainty; more islands give independent ancestors{{end}}`, ""},

	"ancestors": {note | page, `of the {{.Count "particles"}} particles that an island started with, {{.Range "fewest" "most" 0}} still have descendants`, ""},
	"islands-end": {note | page, `{{if .Is "path" "batches"}}the path of batches took {{.Range "fewest" "most" 0}} iterations` +
		`{{else}}the path from the prior to the posterior took {{.Range "fewest" "most" 0}} steps{{end}}` +
		`{{if .Is "moves" "alone"}}, of moves without an accept step` +
		`{{else if .Is "moves" "stand"}}; an accept/reject step would have accepted {{.Percents "least" "highest"}} of the last moves, but these moves have none: their errors are in the weights` +
		`{{else}}; at the end {{.Percents "least" "highest"}} of the moves were accepted{{end}}`, ""},

	"few-draws": {warning, `in {{.Count "some"}} of {{.Count "scans"}} scans the samples are worth fewer than {{.Count "enough"}} independent draws ({{.Fixed "least" 1}} in the worst): ` +
		`there the means and spreads are rough. More particles help, or for smcmc a longer burn-in with refine: {walk: {sd: adapted}}`, ""},
	"lone-ancestor": {warning, `in {{.Count "some"}} of {{.Count "scans"}} scans all samples come from one particle of the scan before: ` +
		`the spread of what the measurements do not show, such as velocities, is too small. For smcmc, index: exact or uniform mends it; for particle filters, more particles`, ""},
	"scans-left-out": {warning, `{{.Count "count"}} {{if .Several "count"}}scans{{else}}scan{{end}} could not be used and {{if .Several "count"}}were{{else}}was{{end}} left out`, ""},

	"optimised-runs": {warning | page, `the {{if .Several "count"}}runs{{else}}run{{end}} {{.Name "runs"}} behaved as {{if .Several "count"}}optimisers, not as samplers{{else}}an optimiser, not as a sampler{{end}} of the posterior: ` +
		`the disagreement of {{if .Several "count"}}their networks says little about uncertainty, and their log evidences are no estimates{{else}}its networks says little about uncertainty, and its log evidence is no estimate{{end}}`, ""},
	"merged-runs":     {warning | page, `the log evidence of {{.Name "runs"}} rests on one draw of the start: all particles of an island descend from it`, ""},
	"swag-spread":     {note | page, `the draws differ as the states of SGD did at this rate, mini-batch and momentum. That is no draw from the posterior: choose the rate by the validation NLL`, ""},
	"ensemble-better": {warning, `{{if .Several "restarts"}}the deep ensemble of the {{.Count "restarts"}} MAPs{{else}}the best MAP alone{{end}}, which needs no sampling, is better: NLL {{.Name "ensemble"}} against {{.Name "posterior"}}`, ""},

	"no-evidence":        {note | ofEvidence, `no evidence: start {{.Name "start"}} leaves the weights of the first particles unknown`, ""},
	"no-path-of-targets": {note | ofEvidence, `no evidence: weight {{.Name "weight"}} leaves out the change of target, so the weights follow no path of targets`, ""},
	"no-weights":         {note | ofEvidence, `no evidence: {{.Name "move"}} gives its particles no weights`, ""},
	"no-fixed-model":     {note | ofEvidence, `no evidence: the layers that are not random change while the particles move, so the weights are of no one model`, ""},
	"evidence":           {note | ofEvidence, `{{template "evidence" .}} is an estimate of {{template "target" .}}`, ""},
	"evidence-merged":    {warning | ofEvidence, `{{template "evidence" .}} rests on one draw of the start; it is an estimate of {{template "target" .}}`, ""},
	"evidence-unmoved":   {warning | ofEvidence, `{{template "evidence" .}} is not to be trusted, as the particles hardly moved; it would be an estimate of {{template "target" .}}`, ""},
	"evidence-optimised": {warning | ofEvidence, `{{template "evidence" .}} is no estimate, as the run behaved as an optimiser; a sampler's would be an estimate of {{template "target" .}}`, ""},

	"evidence-agrees": {note | page, `the log evidence is {{.Fixed "log_evidence" 1}}, with a standard deviation of {{.Fixed "sd" 1}} over the islands`, ""},
	"evidence-scatters": {warning | page, `the log evidence is {{.Fixed "log_evidence" 1}}, with a standard deviation of {{.Fixed "sd" 1}} over the islands: ` +
		`it decides between two models only if they differ by much more, and weighing the islands by it would leave {{.Fixed "effective" 1}} of {{.Count "islands"}} effective`, ""},
	"evidence-of-one": {note | page, `the log evidence is {{.Fixed "log_evidence" 1}}; a single island cannot say how far that scatters`, ""},

	"uneven-weights": {warning, `the weights are uneven: the {{.Count "networks"}} networks are worth {{.Fixed "effective" 1}} equally weighted ones`, ""},
	"dead-networks":  {warning, `{{.Count "dead"}} {{if .Several "dead"}}networks have{{else}}network has{{end}} no weight at all`, ""},

	"chains-end": {note, `{{if .One "chains"}}the chain ends at log-likelihood {{.Fixed "lowest" 1}}{{if .Has "least"}}; it accepted {{.Fixed "least" 2}} of its moves in the second half{{end}}` +
		`{{else}}chains end at log-likelihoods of {{.Range "lowest" "highest" 1}}{{if .Has "least"}}; they accepted {{.Range "least" "most" 2}} of their moves in the second half{{end}}{{end}}`, ""},
	"svgd": {note, `SVGD has no weights and no accept step: where parameters are many and particles few, its particles are closer together than draws of the posterior. ` +
		`Compare its spread with that of chains before you rely on it`, ""},
	"biased": {warning, `{{.Name "move"}} has no accept step: its draws are biased by the step and by the noise of the mini-batches; ` +
		`a smaller step ({{.Name "step"}}) or larger batches make the bias smaller`, ""},
	"chain-stuck": {warning, `chain {{.Count "chain"}} is stuck: it accepted {{.Fixed "acceptance" 2}} of its moves in the second half ` +
		`and ends at log-likelihood {{.Fixed "log_likelihood" 1}}, so its states are no draws of the posterior: ` +
		`take {{if .Said "size" "adapted"}}more epochs, or write a smaller step ({{.Name "step"}}){{else}}a smaller step ({{.Name "step"}}), or leave it out{{end}}`, ""},
	"chains-still": {warning, `chain{{if .Several "count"}}s{{end}} {{.Name "chains"}} stood still: the moves of the second half carried ` +
		`{{if .Several "count"}}each{{else}}it{{end}} by less than {{.Fixed "bound" 3}} of its length, so {{if .Several "count"}}their{{else}}its{{end}} states are no draws of the posterior: ` +
		`take a larger step ({{.Name "step"}}) or more epochs`, ""},
	"chains-diverged": {warning, `{{.Count "trajectories"}} {{if .Several "trajectories"}}trajectories{{else}}trajectory{{end}} of the second half diverged: ` +
		`parts of the posterior are too narrow for this step size, and the chains may miss them: take a higher accept or a smaller step ({{.Name "step"}})`, ""},
	"chains-outlying": {warning, `{{if .Several "count"}}chains{{else}}chain{{end}} {{.Name "chains"}} ended at {{if .Several "count"}}log-likelihoods{{else}}a log-likelihood{{end}} far from {{if .Several "count"}}those{{else}}that{{end}} of the other chains`, ""},
	"chains-agree":    {note, `{{if .Several "chains"}}the {{.Count "chains"}} chains agree{{else}}the two halves of the chain agree{{end}}. {{template "r-hat" .}}`, ""},
	"chains-apart": {note, `{{if not (.Several "chains")}}the chain has not mixed, as its two halves differ. {{template "r-hat" .}}. More epochs would show whether it does` +
		`{{else if .Has "low"}}the {{.Count "chains"}} chains are not one mixed posterior. {{template "r-hat" .}}. ` +
		`Each chain explores a part of its own: a mode or, as the chains are short, its way from the start` +
		`{{else}}the {{.Count "chains"}} chains are in different modes. {{template "r-hat" .}}. ` +
		`Each chain explores its own mode: together they are {{.Count "chains"}} modes, and not one mixed posterior{{end}}`, ""},
	"chains-unsure": {note, `it is not certain whether {{if .Several "chains"}}the {{.Count "chains"}} chains explore one mixed posterior` +
		`{{else}}the chain has mixed{{end}}. {{template "r-hat" .}}. More epochs would tell`, ""},
	"chains-untold": {note | page, `it is not known whether {{if .Several "chains"}}the {{.Count "chains"}} chains explore one posterior{{else}}the chain has mixed{{end}}, as {{.Name "why"}}`, ""},
	KindStuck: {warning, `island{{if .Several "count"}}s{{end}} {{.Name "islands"}} {{if .Several "count"}}are{{else}}is{{end}} stuck: ` +
		`in the last quarter of the iterations less than {{.Percent "bound"}} of the moves were accepted, {{template "distrust" .}}: ` +
		`take {{if .Said "size" "adapted"}}more moves in an iteration, or write a smaller step ({{.Name "step"}})` +
		`{{else}}a smaller step ({{.Name "step"}}) or more moves in an iteration, or leave the step out{{end}}`,
		"not to be trusted: moves were refused"},
	KindStill: {warning, `island{{if .Several "count"}}s{{end}} {{.Name "islands"}} stood still: the moves between two resamplings carried the particles ` +
		`by less than {{.Percent "bound"}} of their spread, {{template "distrust" .}}: take a larger step ({{.Name "step"}}) or more moves in an iteration`,
		"not to be trusted: the particles hardly moved"},
	KindUnmoved: {warning, `{{template "stuck" .}}: log Z and the posterior cannot be trusted; take {{template "mend" .}}`,
		"not to be trusted: the particles did not move in some stages"},
	KindFailed: {warning | failure, `the run failed: {{template "stuck" .}}: log Z and the posterior cannot be trusted; take {{template "mend" .}}`,
		"not to be trusted: the particles did not move"},
	"scale-kept": {note | page, `in {{.Count "kept"}} of {{.Count "stages"}} stages{{template "together" .}} the moves kept their last scale of the coordinates, ` +
		`as too few particles of different descent were left to learn it from`, ""},
	"unmoved-runs": {warning | page, `the {{if .Several "count"}}runs{{else}}run{{end}} {{.Name "runs"}} had islands whose particles hardly moved: neither ` +
		`{{if .Several "count"}}their posteriors nor their log evidences are{{else}}its posterior nor its log evidence is{{end}} to be trusted`, ""},
	"stopped-early": {warning, `island {{.Count "island"}} ended at the power {{.Fixed "temperature" 4}} of the likelihood, before the posterior`, ""},
	"divergent":     {warning, `{{.Count "moves"}} {{if .Several "moves"}}moves{{else}}move{{end}} had infinite or undefined energy and left no weight: the step may be too large`, ""},
	"exploded": {warning, `the steps are too long: the particles{{if .Several "islands"}} of {{.Count "exploded"}} of {{.Count "islands"}} islands{{end}} ended with a training NLL of {{.Fixed "end" 2}} on average, ` +
		`above {{.Fixed "start" 2}} at the start and {{.Fixed "guess" 2}} of a guess that does not look at the inputs, so their networks are no draws of the posterior: ` +
		`take a smaller step ({{.Name "step"}})`, ""},
	"divergent-refused": {warning | page, `{{.Count "moves"}} {{if .Several "moves"}}proposals{{else}}proposal{{end}} had infinite or undefined energy and {{if .Several "moves"}}were{{else}}was{{end}} refused: the step may be too large`, ""},

	"as-is": {note, `as-is: the posterior is the network of model.init alone, an ensemble of one; nothing was sampled`, ""},
	"point": {note, `s = 0: the posterior is the {{if .Is "at" "map"}}MAP{{else}}network of model.init{{end}} alone, an ensemble of one; nothing was sampled`, ""},

	"one-batch":      {note, `a mini-batch has all {{.Count "examples"}} training examples, so an epoch is one leapfrog`, ""},
	"prior-of-decay": {note, `a weight decay of {{.Name "decay"}} on {{.Count "examples"}} examples is the prior N(0, {{.Name "variance"}}) of each parameter`, ""},
	"began-at-init":  {note, `all particles began at model.init, not at draws of the prior`, ""},
	"began-at-init-tempering": {warning, `all particles began at model.init, not at draws of the prior: tempering is one step, and no evidence is estimated; ` +
		`chains (method: mcmc) or prior.anchor make better use of a trained network`, ""},
	"stopped": {note, `{{if .Several "islands"}}{{.Count "stopped"}} of {{.Count "islands"}} islands{{else}}the island{{end}} stopped after iteration {{.Range "first" "last" 0}} of {{.Count "all"}}: ` +
		`in {{if .Several "patience"}}{{.Count "patience"}} iterations{{else}}an iteration{{end}} the validation NLL of the states kept so far had not fallen by more than its standard error (stop: {patience: {{.Count "patience"}}})`, ""},
	"init-unused": {warning, `model.init was not used: from s = 0.5 on, the anchored prior has mean 0`, ""},

	"constant-columns": {note | ofData, `{{if .Several "count"}}columns {{.Name "columns"}} are constant over the training rows and were{{else}}column {{.Name "columns"}} is constant over the training rows and was{{end}} dropped`, ""},
	"zero-features": {note | ofData, `{{if .Several "count"}}{{.Count "count"}} features (from 0: {{.Name "features"}}) are constant over the training examples: the network sees them` +
		`{{else}}feature {{.Name "features"}} (from 0) is constant over the training examples: the network sees it{{end}} as 0 everywhere`, ""},
	"unseen-classes": {warning | ofData, `no training example has {{if .Several "count"}}the classes{{else}}class{{end}} {{.Name "classes"}}, which {{.Count "examples"}} validation and test ` +
		`{{if .Several "examples"}}examples have{{else}}example has{{end}}: a network cannot learn {{if .Several "count"}}them{{else}}it{{end}}; take another division (seed, data.split) or more examples`, ""},
	"no-threshold": {warning, `no threshold declares inputs out of distribution: {{.Count "count"}} of {{.Count "examples"}} validation examples {{if .Several "count"}}have energies that are{{else}}has an energy that is{{end}} not finite, ` +
		`because members of the posterior overflow there; check the scale of these inputs, or take a smaller step`, ""},
	"channels-last": {warning | ofData, `{{with .Name "file"}}{{.}}: {{end}}taken as {{.Count "channels"}} channels of {{.Count "height"}}×{{.Count "width"}}; images with channels last need np.moveaxis(x, -1, 1)`, ""},
}

// Beside returns the few words that stand beside a run's log evidence; empty if its findings say nothing of it.
func Beside(found []Finding) string {
	var words []string
	for _, f := range found {
		if beside := kinds[f.Kind].beside; beside != "" {
			words = append(words, beside)
		}
	}
	return strings.Join(words, ", ")
}

// shared are the templates that several kinds use.
const shared = `{{define "together"}}{{if .Several "islands"}} of {{.Count "islands"}} islands together{{end}}{{end}}` +
	`{{define "distrust"}}so neither the posterior nor a log evidence is to be trusted{{end}}` +
	`{{define "stuck"}}in {{.Count "stuck"}} of {{.Count "stages"}} stages{{template "together" .}} the particles did not move ` +
	`(first at λ {{.Short "temperature"}}: acceptance {{.Fixed "acceptance" 2}}, {{.Count "moves"}} move{{if .Several "moves"}}s{{end}}){{end}}` +
	`{{define "mend"}}{{if .Is "why" "refused"}}{{if .Is "size" "written"}}a smaller step ({{.Name "step"}}) or leave it out` +
	`{{else}}more moves in a stage ({{.Name "mutations"}}) or more particles{{end}}` +
	`{{else}}{{if .Is "size" "written"}}a larger step ({{.Name "step"}}), or leave it out, {{end}}more moves in a stage ({{.Name "mutations"}}), ` +
	`longer moves or more particles{{end}}{{end}}` +
	`{{define "evidence"}}the log evidence{{if .Is "place" "trace"}} in the trace{{end}}{{end}}` +
	`{{define "r-hat"}}{{.WhatRHatIs}}. ` +
	`The predictions have a median R-hat of {{.Fixed "median" 2}}{{if .Has "low"}} ({{.Range "low" "high" 2}} within two standard errors){{end}}, ` +
	`and 95 % of them have at most {{.Fixed "q95" 2}}` +
	`{{if .Has "log_likelihood"}}. The log-likelihood has {{.Fixed "log_likelihood" 2}}{{if .Disagrees "log_likelihood"}}, which is above {{.MostRHat}}{{end}}{{end}}` +
	`{{if .Has "ess"}}. All states together are worth {{.Count "ess"}} independent ones{{end}}{{end}}` +
	`{{define "target"}}{{if .Is "target" "every-target"}}the model's evidence: every target is the posterior, with all examples` +
	`{{else if .Is "target" "last-target"}}the model's evidence: the last target is the posterior, with all examples in full` +
	`{{else if .Is "target" "last-batch"}}the last batch's evidence, its likelihood scaled to all examples, and not the model's` +
	`{{else if .Is "target" "partial-target"}}the evidence of a last target that has not taken in all examples in full, and not the model's` +
	`{{else}}the evidence of {{.Name "target"}}{{end}}{{end}}`

var templates = parse()

func parse() *template.Template {
	all := template.Must(template.New("").Parse(shared))
	for kind, k := range kinds {
		template.Must(all.New("kind " + kind).Parse(k.words))
	}
	return all
}

// Warning reports whether a reader must know of the finding before the results are used.
func (f Finding) Warning() bool { return kinds[f.Kind].look&warning != 0 }

// Failure reports whether the finding says that the run failed, although its results are there.
func (f Finding) Failure() bool { return kinds[f.Kind].look&failure != 0 }

// Allowed is the finding where its failure is accepted: it says the same, but not that the run failed.
func (f Finding) Allowed() Finding {
	if f.Kind == KindFailed {
		f.Kind = KindUnmoved
	}
	return f
}

// PageOnly reports whether a finding is for pages, and terminals leave it out.
func (f Finding) PageOnly() bool { return kinds[f.Kind].look&page != 0 }

// OfData reports whether a finding is about the data, not about what was sampled.
func (f Finding) OfData() bool { return kinds[f.Kind].look&ofData != 0 }

// Words says the finding in plain text: without a capital letter at its start and without a full stop at its end, and with
// numbers as programs write them. A finding of an unknown kind, or one that lacks a number, is shown as its kind and numbers.
func (f Finding) Words() string { return f.say(false) }

// Sentence says the finding for a page: a whole sentence, with numbers as people write them.
func (f Finding) Sentence() string {
	s := f.say(true)
	word, _, _ := strings.Cut(s, " ")
	// Names of files, keys and symbols stay as they are.
	if len(word) > 1 && !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) {
		first, size := utf8.DecodeRuneInString(s)
		s = string(unicode.ToUpper(first)) + s[size:]
	}
	return s + "."
}

// OfEvidence reports whether a finding says what a log evidence is an estimate of, or that there is no estimate.
func (f Finding) OfEvidence() bool { return kinds[f.Kind].look&ofEvidence != 0 }

func (f Finding) say(page bool) string {
	var b strings.Builder
	if templates.Lookup("kind "+f.Kind) == nil {
		return f.raw()
	}
	if err := templates.ExecuteTemplate(&b, "kind "+f.Kind, filled{f, page}); err != nil {
		return f.raw() // a number is missing
	}
	return b.String()
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
	return f.written(v, decimals), err
}

func (f filled) written(v float64, decimals int) string {
	if f.page {
		return numeral.Fixed(v, decimals)
	}
	return fmt.Sprintf("%.*f", decimals, v)
}

// Count is a whole number.
func (f filled) Count(key string) (string, error) { return f.Fixed(key, 0) }

// Log is a number's natural logarithm.
func (f filled) Log(key string, decimals int) (string, error) {
	v, err := f.number(key)
	return f.written(math.Log(v), decimals), err
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
	if from := f.written(100*a, 0); from != f.written(100*b, 0) {
		text = from + " to " + text
	}
	return text, err
}

// Percent is a share in percent.
func (f filled) Percent(key string) (string, error) {
	v, err := f.number(key)
	space := " "
	if f.page {
		space = "\u00a0"
	}
	return f.written(100*v, 0) + space + "%", err
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
