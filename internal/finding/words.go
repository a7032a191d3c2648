package finding

import (
	"fmt"
	"math"
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
		`Of {{.Count "iterations"}} iterations{{template "together" .}}, {{.Count "single"}} had a single surviving ancestor and {{.Count "resampled"}} resampled. ` +
		`The median effective sample size was {{.Fixed "ess" 1}} of {{.Count "particles"}}. ` +
		`The median variance of the log-weights was {{.Fixed "log_weight_var" 1}} nats², where {{.Count "particles"}} particles carry about {{.Log "particles" 1}}`,
		"no estimate: the run behaved as an optimiser"},
	KindMerged: {warning, `all particles{{if .Several "islands"}} of an island{{end}} descend from one particle of the start in {{.Count "single"}} of {{.Count "iterations"}} iterations{{template "together" .}}. ` +
		`The log-weights differ by no more than {{.Count "particles"}} particles carry (median effective sample size {{.Fixed "ess" 1}}), ` +
		`but {{.Count "resampled"}} iterations resampled, and each resampling loses ancestors. ` +
		`The particles differ only by the moves since, so the run may understate uncertainty; more particles or more islands keep more ancestors`,
		"rests on one draw of the start"},
	"single-ancestor": {warning | page, `at the end all particles {{if not (.Several "islands")}}{{else if .Equal "single" "islands"}}of each island {{else}}of {{.Count "single"}} of {{.Count "islands"}} islands {{end}}` +
		`descend from one particle of the start: they differ only by the moves since, so ` +
		`{{if .Several "islands"}}an island alone understates uncertainty; the {{.Count "islands"}} islands together have as many independent ancestors` +
		`{{else}}the run understates uncertainty; more islands give independent ancestors{{end}}`, ""},

	"ancestors": {note | page, `of the {{.Count "particles"}} particles that an island started with, {{.Range "fewest" "most" 0}} still have descendants`, ""},
	"islands-end": {note | page, `{{if .Is "path" "batches"}}the path of batches took {{.Range "fewest" "most" 0}} iterations` +
		`{{else}}the path from the prior to the posterior took {{.Range "fewest" "most" 0}} steps{{end}}; ` +
		`{{if .Is "moves" "stand"}}an accept/reject step would have accepted {{.Percents "least" "highest"}} of the last moves, but these moves have none: their errors are in the weights` +
		`{{else}}at the end {{.Percents "least" "highest"}} of the moves were accepted{{end}}`, ""},

	"optimised-runs": {warning | page, `the {{if .Several "count"}}runs{{else}}run{{end}} {{.Name "runs"}} behaved as {{if .Several "count"}}optimisers, not as samplers{{else}}an optimiser, not as a sampler{{end}} of the posterior: ` +
		`the disagreement of {{if .Several "count"}}their networks says little about uncertainty, and their log evidences are no estimates{{else}}its networks says little about uncertainty, and its log evidence is no estimate{{end}}`, ""},
	"merged-runs":     {warning | page, `the log evidence of {{.Name "runs"}} rests on one draw of the start: all particles of an island descend from it`, ""},
	"ensemble-better": {warning, `the deep ensemble of the {{.Count "restarts"}} MAPs, which needs no sampling, is better: NLL {{.Name "ensemble"}} against {{.Name "posterior"}}`, ""},

	"no-evidence":        {note | ofEvidence, `no evidence: start {{.Name "start"}} leaves the weights of the first particles unknown`, ""},
	"literal-weights":    {note | ofEvidence, `no evidence: weight literal leaves out the change of target, so the weights follow no path of targets`, ""},
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

	"chains-end": {note, `chains end at log-likelihoods of {{.Fixed "lowest" 1}} to {{.Fixed "highest" 1}}; ` +
		`they accepted {{.Fixed "least" 2}} to {{.Fixed "most" 2}} of their moves in the second half`, ""},
	"chain-stuck": {warning, `chain {{.Count "chain"}} is stuck: it accepted {{.Fixed "acceptance" 2}} of its moves in the second half ` +
		`and ends at log-likelihood {{.Fixed "log_likelihood" 1}}, so its states are no draws of the posterior: take a smaller step ({{.Name "step"}})`, ""},
	"chains-still": {warning, `chain{{if .Several "count"}}s{{end}} {{.Name "chains"}} stood still: the moves of the second half carried ` +
		`{{if .Several "count"}}each{{else}}it{{end}} by less than {{.Fixed "bound" 3}} of its length, so {{if .Several "count"}}their{{else}}its{{end}} states are no draws of the posterior: ` +
		`take a larger step ({{.Name "step"}}) or more epochs`, ""},
	"chains-outlying": {warning, `{{if .Several "count"}}chains{{else}}chain{{end}} {{.Name "chains"}} ended at {{if .Several "count"}}log-likelihoods{{else}}a log-likelihood{{end}} far from {{if .Several "count"}}those{{else}}that{{end}} of the other chains`, ""},
	"chains-agree":    {note | page, `the chains' log-likelihoods agree (split R-hat {{.Fixed "r_hat" 2}})`, ""},
	"chains-disagree": {warning | page, `the chains' log-likelihoods do not agree yet (split R-hat {{.Fixed "r_hat" 2}}, where 1 is agreement): longer chains would show whether they do`, ""},
	KindStuck: {warning, `island{{if .Several "count"}}s{{end}} {{.Name "islands"}} {{if .Several "count"}}are{{else}}is{{end}} stuck: ` +
		`in the last quarter of the iterations less than {{.Percent "bound"}} of the moves were accepted, {{template "distrust" .}}: ` +
		`take a smaller step ({{.Name "step"}}) or more moves in an iteration`,
		"not to be trusted: moves were refused"},
	KindStill: {warning, `island{{if .Several "count"}}s{{end}} {{.Name "islands"}} stood still: the moves between two resamplings carried the particles ` +
		`by less than {{.Percent "bound"}} of their spread, {{template "distrust" .}}: take a larger step ({{.Name "step"}}) or more moves in an iteration`,
		"not to be trusted: the particles hardly moved"},
	"unmoved-runs": {warning | page, `the {{if .Several "count"}}runs{{else}}run{{end}} {{.Name "runs"}} had islands whose particles hardly moved: neither ` +
		`{{if .Several "count"}}their posteriors nor their log evidences are{{else}}its posterior nor its log evidence is{{end}} to be trusted`, ""},
	"stopped-early":     {warning, `island {{.Count "island"}} ended at the power {{.Fixed "temperature" 4}} of the likelihood, before the posterior`, ""},
	"divergent":         {warning, `{{.Count "moves"}} {{if .Several "moves"}}moves{{else}}move{{end}} had infinite or undefined energy and left no weight: the step may be too large`, ""},
	"divergent-refused": {warning | page, `{{.Count "moves"}} {{if .Several "moves"}}proposals{{else}}proposal{{end}} had infinite or undefined energy and {{if .Several "moves"}}were{{else}}was{{end}} refused: the step may be too large`, ""},

	"as-is": {note, `as-is: the posterior is the network of model.init alone, an ensemble of one; nothing was sampled`, ""},
	"point": {note, `s = 0: the posterior is the {{if .Is "at" "map"}}MAP{{else}}network of model.init{{end}} alone, an ensemble of one; nothing was sampled`, ""},

	"began-at-init": {note, `all particles began at model.init, not at draws of the prior`, ""},
	"began-at-init-tempering": {warning, `all particles began at model.init, not at draws of the prior: tempering is one step, and no evidence is estimated; ` +
		`chains (method: mcmc) or prior.anchor make better use of a trained network`, ""},
	"init-unused": {warning, `model.init was not used: from s = 0.5 on, the anchored prior has mean 0`, ""},

	"constant-columns": {note | ofData, `{{if .Several "count"}}columns {{.Name "columns"}} are constant over the training rows and were{{else}}column {{.Name "columns"}} is constant over the training rows and was{{end}} dropped`, ""},
	"zero-features": {note | ofData, `{{if .Several "count"}}{{.Count "count"}} features (from 0: {{.Name "features"}}) are constant over the training examples: the network sees them` +
		`{{else}}feature {{.Name "features"}} (from 0) is constant over the training examples: the network sees it{{end}} as 0 everywhere`, ""},
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
	`{{define "evidence"}}the log evidence{{if .Is "place" "trace"}} in the trace{{end}}{{end}}` +
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

// Several reports whether a count is not 1.
func (f filled) Several(key string) (bool, error) {
	v, err := f.number(key)
	return v != 1, err
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

// Is reports whether a name has a value.
func (f filled) Is(key, value string) (bool, error) {
	v, err := f.Name(key)
	return v == value, err
}
