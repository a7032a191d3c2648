package finding

import (
	"strings"
	"text/template"
)

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
)

// kind is how a finding is shown. Its texts are templates without a capital letter and a full stop, which are added. A warning has a
// cure and a help. A note may have a cure, too: then it is one of the things to do first.
type kind struct {
	look   look
	says   string // what was found, in a clause
	means  string // what follows from it; empty: says is all
	cure   string // what to do about it, in the imperative
	help   help   // where more is told of it
	beside string // a few words that stand beside a log evidence
}

// kinds is the only list of kinds.
var kinds = map[string]kind{
	KindOptimiser: {
		look: warning, says: `the run behaved as an optimiser, not as a sampler of the posterior`,
		means: `it kept about the best of {{.Count "particles"}} noisy optimisation runs{{if .Several "islands"}} on each island{{end}}, ` +
			`so the disagreement of its particles says little about uncertainty. ` +
			`Of {{.Count "iterations"}} {{.Lines}}{{template "together" .}}, {{.Count "single"}} had a single surviving ancestor and {{.Count "resampled"}} resampled. ` +
			`The median effective sample size was {{.Fixed "ess" 1}} of {{.Count "particles"}}. ` +
			`The median variance of the log-weights was {{.Fixed "log_weight_var" 1}} nats², where {{.Count "particles"}} particles carry about {{.Log "particles" 1}}`,
		cure: `for uncertainty take method: mcmc, tempering, smaller steps or a smaller network`, help: helpWeights,
		beside: "no estimate: the run behaved as an optimiser",
	},
	KindMerged: {
		look: warning, says: `all particles{{if .Several "islands"}} of an island{{end}} descend from one particle of the start in {{.Count "single"}} of {{.Count "iterations"}} {{.Lines}}{{template "together" .}}`,
		means: `the log-weights differ by no more than {{.Count "particles"}} particles carry (median effective sample size {{.Fixed "ess" 1}}), ` +
			`but {{.Counted "resampled"}} resampled, and each resampling loses ancestors. ` +
			`The particles differ only by the moves since, so the run may understate uncertainty`,
		cure: `take more particles or more islands`, help: helpWeights, beside: "rests on one draw of the start",
	},
	"single-ancestor": {
		look: warning | page, says: `at the end all particles {{if not (.Several "islands")}}{{else if .Equal "single" "islands"}}of each island {{else}}of {{.Count "single"}} of {{.Count "islands"}} islands {{end}}` +
			`descend from one particle of the start`,
		means: `they differ only by the moves since, so ` +
			`{{if .Several "islands"}}an island alone understates uncertainty; the {{.Count "islands"}} islands together have as many independent ancestors` +
			`{{else}}the run understates uncertainty{{end}}`,
		cure: `take more islands, which give independent ancestors, or more particles`, help: helpWeights,
	},

	"ancestors": {look: note | page, says: `of the {{.Count "particles"}} particles that an island started with, {{.Range "fewest" "most" 0}} still have descendants`},
	"islands-end": {look: note | page, says: `{{if .Is "path" "batches"}}the path of batches took {{.Range "fewest" "most" 0}} iterations` +
		`{{else}}the path from the prior to the posterior took {{.Range "fewest" "most" 0}} steps{{end}}` +
		`{{if .Is "moves" "alone"}}, of moves without an accept step` +
		`{{else if .Is "moves" "stand"}}; an accept/reject step would have accepted {{.Percents "least" "highest"}} of the last moves, but these moves have none: their errors are in the weights` +
		`{{else if .Is "moves" "uncorrected"}}; an accept/reject step would have accepted {{.Percents "least" "highest"}} of the last moves, but these moves have none, and nothing corrects their errors` +
		`{{else}}; at the end {{.Percents "least" "highest"}} of the moves were accepted{{end}}`},

	KindFewDraws: {
		look: warning, says: `in {{.Count "some"}} of {{.Count "scans"}} scans the samples are worth fewer than {{.Count "enough"}} independent draws ({{.Fixed "least" 1}} in the worst)`,
		means: `there the means and spreads are rough`,
		cure:  `take more particles or, for smcmc, a longer burn and refine: walk`, help: helpFilters,
	},
	"lone-ancestor": {
		look: warning, says: `in {{.Count "some"}} of {{.Count "scans"}} scans all samples come from one particle of the scan before`,
		means: `coordinates that the measurements do not show, such as velocities, then seem too certain`,
		cure:  `for smcmc take index: exact or uniform; for particle filters, more particles`, help: helpFilters,
	},
	"filters-apart": {
		look: warning, says: `in {{.Count "some"}} of {{.Count "scans"}} scans the chains end in different places (R-hat {{.Fixed "worst" 1}}, want at most {{.Count "limit"}})`,
		means: `each stays in one of several modes, has not left its start, or has too few particles (fewer filters, method.smcmc.repeat, have more), so that the shares of the modes are unknown`,
		cure:  `take joint: prior, more particles, a longer burn, or method: bootstrap`, help: helpFilters,
	},
	"small-filters": {
		look: warning, says: `each of the {{.Count "filters"}} filters of smcmc has {{.Count "each"}} {{if .Several "each"}}particles{{else}}particle{{end}}, fewer than {{.Count "enough"}}`,
		means: `errors that all filters share are then larger than mcse shows`,
		cure:  `take fewer filters (method.smcmc.repeat) or more particles (method.smcmc.particles)`, help: helpErrors,
	},
	"errors-unknown": {
		look: note, says: `in {{.Count "some"}} of {{.Count "scans"}} scans the Monte Carlo error of a mean is unknown (mcse: NaN)`,
		means: `a coordinate never moved, or four particles or fewer carry the error`,
		cure:  `take more particles`, help: helpErrors,
	},
	"scans-left-out": {
		look: warning, says: `{{.Count "count"}} {{if .Several "count"}}scans{{else}}scan{{end}} could not be used and {{if .Several "count"}}were{{else}}was{{end}} left out`,
		cure: `look for {{if .Several "count"}}their errors{{else}}its error{{end}} in what the command wrote while it ran`, help: helpFilters,
	},

	"optimised-runs": {
		look: warning | page, says: `the {{if .Several "count"}}runs{{else}}run{{end}} {{.Name "runs"}} behaved as {{if .Several "count"}}optimisers, not as samplers{{else}}an optimiser, not as a sampler{{end}} of the posterior`,
		means: `the disagreement of {{if .Several "count"}}their networks says little about uncertainty, and their log evidences are no estimates{{else}}its networks says little about uncertainty, and its log evidence is no estimate{{end}}`,
		cure:  `compare the scores alone, or sample by chains or by tempering`, help: helpWeights,
	},
	"merged-runs": {
		look: warning | page, says: `the log evidence of {{.Name "runs"}} rests on one draw of the start`, means: `all particles of an island descend from it`,
		cure: `take more islands before you compare log evidences`, help: helpWeights,
	},
	"swag-spread": {
		look: note, says: `the draws of SWAG {{if .Has "width"}}are {{.Times "width" 2}} as wide as the posterior around their mean{{else}}follow SGD, not the posterior{{end}}`,
		means: `{{template "sgd" .}}`,
		cure:  `compare their spread with chains (method: mcmc)`, help: helpApproximations,
	},
	"swag-narrow": {
		look: warning, says: `the draws of SWAG are {{.Times "width" 2}} as wide as the posterior`,
		means: `{{template "sgd" .}}, so the run understates uncertainty`,
		cure:  `take a higher rate (method.swag.rate), a smaller map.batch, or method: mcmc`, help: helpApproximations,
	},
	"swag-wide": {
		look: warning, says: `the draws of SWAG are {{.Times "width" 1}} as wide as the posterior`,
		means: `{{template "sgd" .}}, so the run overstates uncertainty`,
		cure:  `take a lower rate (method.swag.rate), a larger map.batch, or method: mcmc`, help: helpApproximations,
	},
	"mean-field": {
		look: note, says: `VI draws each parameter independently, so its draws can be too close together: compare their spread with that of chains`,
	},
	"elbo-unsettled": {
		look: warning, says: `the ELBO still {{.Name "way"}} when VI ended, by {{.Fixed "by" 1}} ± {{.Fixed "se" 1}} nats from the third quarter of the {{.Count "epochs"}} epochs to the last`,
		means: `the means and spreads of the draws are not yet those of the best approximation`,
		cure:  `{{if .Is "way" "rose"}}take {{.Count "twice"}} epochs (method.vi.epochs){{else}}take a lower rate (method.vi.rate){{end}}`,
		help:  helpApproximations,
	},
	"chosen-by-validation": {
		look: note, says: `validation chose the posterior ({{.Name "field"}}: {{.Name "value"}})`,
		means: `it is the state of lowest validation NLL. This is early stopping: it looks for good predictions, and the spread of such a state can differ from the posterior's`,
		cure:  `leave {{.Name "field"}} out if you need the uncertainty`, help: helpApproximations,
	},
	KindUnscored: {
		look: warning | ofPredictions, says: `the NLL of {{.Count "count"}} of {{.Count "examples"}} examples is not finite`,
		means: `the posterior gives their targets the probability 0, or its networks overflow, so the NLL cannot be compared`,
		cure:  `look at their inputs and targets; if parameters are very large, take a smaller step or a narrower prior`, help: helpCalibration,
	},
	"ensemble-better": {
		look: warning | ofPredictions, says: `{{if .Several "restarts"}}the deep ensemble of the {{.Count "restarts"}} MAPs{{else}}the best MAP alone{{end}} is better than the posterior (NLL {{.Name "ensemble"}} against {{.Name "posterior"}})`,
		means: `it needs no sampling. On the {{.Count "examples"}} test examples the difference is {{.Short "by"}} ± {{.Short "se"}}; {{template "chance" .}}. ` +
			`More epochs or particles may help too`,
		cure: `try {{if .Said "prior" "learned"}}more units{{else}}prior: {normal: {variance: learned}}{{end}}, or take method: ensemble{{if not (.Several "restarts")}} or map{{end}}`, help: helpScores,
	},
	"no-skill": {
		look: warning | ofPredictions, says: `the posterior is not clearly better than always {{if .Is "guess" "class"}}answering the most frequent class{{else}}predicting the mean{{end}}`,
		means: `either the inputs do not tell the target, or the network did not learn. If method: map learns, the prior or the sampler is at fault`,
		cure:  `look at the columns with starling data show, and compare with method: map`, help: helpData,
	},
	KindUnderconfident: {
		look: warning | ofPredictions, says: `the posterior is under-confident ({{template "confidence" .}})`,
		means: `on {{.Count "examples"}} examples {{template "chance" .}}. ` +
			`{{if .Said "prior" "learned"}}With a prior that learns its widths this happens if classes are easily told apart. ` +
			`On the tables that were measured, more units, layers or epochs did not help` +
			`{{else}}A narrow prior keeps a network from being sure{{end}}`,
		cure: `{{if .Said "prior" "learned"}}take method: ensemble if its NLL is better` +
			`{{else}}take prior: {normal: {variance: learned}}{{end}}`,
		help: helpCalibration,
	},
	KindOverconfident: {
		look: warning | ofPredictions, says: `the posterior is over-confident ({{template "confidence" .}})`,
		means: `on {{.Count "examples"}} examples {{template "chance" .}}`,
		cure: `take {{if .Has "single"}}an ensemble in place of one network: method: mcmc or method: smc` +
			`{{else}}more chains or islands{{if not (.Said "prior" "learned")}}, or prior: {normal: {variance: learned}}{{end}}{{end}}`,
		help: helpCalibration,
	},
	KindMiscalibrated: {
		look: warning | ofPredictions, says: `the posterior is over-confident for some inputs and under-confident for others`,
		means: `its calibration error is {{.Fixed "ece" 3}}. A calibrated network has at most {{.Fixed "chance" 3}} on as many examples, in all of {{.Count "draws"}} simulations`,
		cure:  `look at the reliability diagram, and compare with another prior or network`, help: helpCalibration,
	},
	KindNarrow: {
		look: warning | ofPredictions, says: `the intervals are too narrow ({{template "coverage" .}})`, means: `{{template "targets" .}}`,
		cure: `{{if .Said "noise" "predicted"}}take more chains or islands, and compare with sd: learned` +
			`{{else}}take {{if not (.Said "noise" "learned")}}sd: learned or {{end}}sd: predicted for the noise, and more chains or islands{{end}}`,
		help: helpCalibration,
	},
	KindWide: {
		look: warning | ofPredictions, says: `the intervals are too wide ({{template "coverage" .}})`, means: `{{template "targets" .}}`,
		cure: `{{if not (.Said "prior" "learned")}}take prior: {normal: {variance: learned}}{{if .Said "noise" "given"}}, and sd: learned for the noise{{end}}` +
			`{{else if .Said "noise" "given"}}take sd: learned for the noise` +
			`{{else}}compare with {{if .Said "noise" "predicted"}}sd: learned{{else}}sd: predicted{{end}} by the validation NLL{{end}}`,
		help: helpCalibration,
	},

	"no-evidence":        {look: note | ofEvidence, says: `no evidence: start {{.Name "start"}} leaves the weights of the first particles unknown`},
	"no-path-of-targets": {look: note | ofEvidence, says: `no evidence: weight {{.Name "weight"}} leaves out the change of target, so the weights follow no path of targets`},
	"no-evidence-by-fresh": {look: note | ofEvidence, says: `no evidence: path {{.Name "path"}} takes fresh batches, which make log Z far too low` +
		`{{with .Names.others}}. Paths {{.}} have one{{end}}`},
	"no-weights":     {look: note | ofEvidence, says: `no evidence: {{.Name "move"}} gives its particles no weights`},
	"no-fixed-model": {look: note | ofEvidence, says: `no evidence: the layers that are not random change while the particles move, so the weights are of no one model`},
	"evidence":       {look: note | ofEvidence, says: `{{template "evidence" .}} is an estimate of {{template "target" .}}`},
	"evidence-merged": {
		look: warning | ofEvidence, says: `{{template "evidence" .}} rests on one draw of the start`, means: `it is an estimate of {{template "target" .}}`,
		cure: `take more islands before you compare log evidences`, help: helpEvidence,
	},
	"evidence-unmoved": {
		look: warning | ofEvidence, says: `{{template "evidence" .}} is not to be trusted, as the particles hardly moved`, means: `it would be an estimate of {{template "target" .}}`,
		cure: `mend the moves first`, help: helpEvidence,
	},
	"evidence-optimised": {
		look: warning | ofEvidence, says: `{{template "evidence" .}} is no estimate, as the run behaved as an optimiser`, means: `a sampler's would be an estimate of {{template "target" .}}`,
		cure: `do not compare it with others`, help: helpEvidence,
	},

	"evidence-agrees": {look: note | page, says: `the log evidence is {{.Fixed "log_evidence" 1}}; those of the islands have a standard deviation of {{.Fixed "sd" 1}}`},
	"evidence-scatters": {
		look: warning | page, says: `the islands disagree about the log evidence, which is {{.Fixed "log_evidence" 1}} with a standard deviation of {{.Fixed "sd" 1}} over the islands`,
		means: `it decides between two models only if they differ by much more, and weighing the islands by it would leave {{.Fixed "effective" 1}} of {{.Count "islands"}} effective`,
		cure:  `take more particles or more moves in an iteration, or compare models by the validation NLL`, help: helpEvidence,
	},
	"evidence-of-one": {
		look: note | page, says: `the log evidence is {{.Fixed "log_evidence" 1}}; this one island cannot tell its error`,
		cure: `take several islands: their scatter is the error`, help: helpEvidence,
	},
	"evidence-within": {look: note | page, says: `the log evidence is {{.Fixed "log_evidence" 1}} ± {{.Fixed "sd" 1}}, an error that is estimated within the one island`},
	"evidence-rough": {
		look: warning | page, says: `the log evidence is {{.Fixed "log_evidence" 1}} ± {{.Fixed "sd" 1}}, an error that is estimated within the one island`,
		means: `it decides between two models only if they differ by much more`,
		cure:  `take more particles, or several islands, or compare models by the validation NLL`, help: helpEvidence,
	},
	KindLadder: {
		look: note | page, says: `the ladder adapts to the particles, which {{.Name "side"}} the log evidence by about {{.Fixed "by" 1}}`,
		cure: `take more particles, or pilot: true (method.smc.pilot), which lets a separate run choose the temperatures`, help: helpEvidence,
	},

	"uneven-weights": {
		look: warning, says: `the weights are uneven, so the {{.Count "networks"}} networks are worth {{.Fixed "effective" 1}}`,
		cure: `take more particles, more moves in an iteration, or combine: equal`, help: helpWeights,
	},
	"dead-networks": {
		look: warning, says: `{{.Count "dead"}} {{if .Several "dead"}}networks have{{else}}network has{{end}} weight 0`, means: `{{if .Several "dead"}}their{{else}}its{{end}} energy was not finite, or far above that of the others`,
		cure: `take a smaller step or more moves in an iteration`, help: helpWeights,
	},

	"chains-end": {look: note, says: `{{if .One "chains"}}the chain ends at log-likelihood {{.Fixed "lowest" 1}}{{if .Has "least"}}; it accepted {{.Fixed "least" 2}} of its moves in the second half{{end}}` +
		`{{else}}chains end at log-likelihoods of {{.Range "lowest" "highest" 1}}{{if .Has "least"}}; they accepted {{.Range "least" "most" 2}} of their moves in the second half{{end}}{{end}}`},
	"svgd": {look: note, says: `SVGD has no weights and no accept step, so with many parameters its particles are too close together: compare their spread with that of chains`},
	"biased": {
		look: warning, says: `{{.Name "move"}} has no accept step, so its draws are biased`, means: `the step and the noise of the mini-batches make the bias`,
		cure: `take a smaller step ({{.Name "step"}}) or larger batches`, help: helpMoves,
	},
	KindChainsStuck: {
		look: warning, says: `{{if .Several "count"}}chains{{else}}chain{{end}} {{.Name "chains"}} {{if .Several "count"}}are{{else}}is{{end}} stuck`,
		means: `{{if .Several "count"}}they{{else}}it{{end}} accepted {{if .Several "count"}}at most {{end}}{{.Fixed "acceptance" 2}} of {{if .Several "count"}}their{{else}}its{{end}} moves in the second half, ` +
			`so {{if .Several "count"}}their{{else}}its{{end}} states are not draws of the posterior`,
		cure: `take {{if .Said "size" "adapted"}}more epochs, or write a smaller step ({{.Name "step"}}){{else}}a smaller step ({{.Name "step"}}), or leave it out{{end}}`, help: helpMoves,
	},
	KindChainsStill: {
		look: warning, says: `chain{{if .Several "count"}}s{{end}} {{.Name "chains"}} stood still`,
		means: `the moves of the second half carried ` +
			`{{if .Several "count"}}each{{else}}it{{end}} by less than {{.Fixed "bound" 3}} of its length, so {{if .Several "count"}}their{{else}}its{{end}} states are not draws of the posterior`,
		cure: `take a larger step ({{.Name "step"}}) or more epochs`, help: helpMoves,
	},
	"chains-diverged": {
		look: warning, says: `{{.Count "moves"}} of {{.Count "of"}} {{if .Several "of"}}trajectories{{else}}trajectory{{end}} of the second half diverged`,
		means: `{{if .Is "budget" "short"}}so few trajectories find no step size that suits` +
			`{{else}}parts of the posterior are too narrow for this step size, and the chains may miss them{{end}}`,
		cure: `{{if .Is "budget" "short"}}take more epochs first{{else}}take {{template "shorter" .}}{{end}}`, help: helpMoves,
	},
	"chains-diverged-few": {
		look: note | page, says: `{{.Count "moves"}} of {{.Count "of"}} trajectories of the second half diverged`,
		means: `so few say little against the chains. From one in a hundred on, the chains may miss narrow parts of the posterior`,
	},
	"chains-outlying": {
		look: warning, says: `{{if .Several "count"}}chains{{else}}chain{{end}} {{.Name "chains"}} ended at {{if .Several "count"}}log-likelihoods{{else}}a log-likelihood{{end}} far from {{if .Several "count"}}those{{else}}that{{end}} of the other chains`,
		means: `{{if .Several "count"}}they are{{else}}it is{{end}} in another mode, or still on {{if .Several "count"}}their{{else}}its{{end}} way`,
		cure:  `take more epochs to see whether {{if .Several "count"}}they join{{else}}it joins{{end}} the others, or more chains`, help: helpMixing,
	},
	KindFew: {
		look: warning, says: `{{if .Is "leapfrogs" "least"}}the budget is too small ({{.Count "epochs"}} epochs make at most {{.Count "trajectories"}} trajectories)` +
			`{{else}}{{if not (.Several "chains")}}the chain makes{{else if .Equal "few" "chains"}}each chain makes{{else}}{{.Count "few"}} of {{.Count "chains"}} chains make{{end}} too few moves (` +
			`{{.Count "epochs"}} epochs are {{.Count "trajectories"}}{{if .Several "leapfrogs"}} {{if .Several "trajectories"}}trajectories{{else}}trajectory{{end}} of {{.Count "leapfrogs"}} leapfrogs{{else}} moves{{end}}){{end}}`,
		means: `{{if .Is "leapfrogs" "least"}}on a model of this size a trajectory takes about {{.Count "leapfrogs"}} leapfrogs or more, and a{{else}}a{{end}} chain of fewer than {{.Count "enough"}} stays near its start`,
		cure:  `take at least {{.Count "need"}} epochs ({{.Name "field"}}){{if .Several "leapfrogs"}} or shorter trajectories{{end}}`, help: helpMixing,
	},
	"chains-agree": {look: note, says: `{{if .Several "chains"}}the {{.Count "chains"}} chains agree{{else}}the two halves of the chain agree{{end}} {{template "mixing" .}}`, means: `{{template "r-hat" .}}`},
	KindApart: {
		look: warning, says: `{{if not (.Several "chains")}}the chain has not mixed, as its two halves differ` +
			`{{else if .Has "ess"}}the {{.Count "chains"}} chains are in different modes` +
			`{{else}}the {{.Count "chains"}} chains are not one mixed posterior{{end}} {{template "mixing" .}}`,
		means: `{{template "r-hat" .}}{{if not (.Several "chains")}}` +
			`{{else if .Has "ess"}}. Each chain explores its own mode: together they are {{.Count "chains"}} modes` +
			`{{else}}. Each chain explores a part of its own: a mode or, as the chains are short, its way from the start{{end}}`,
		cure: `take more epochs{{if .Several "chains"}}; more chains find more modes{{else}} and several chains{{end}}`, help: helpMixing,
	},
	"chains-unsure": {
		look: note, says: `{{if .Several "chains"}}the {{.Count "chains"}} chains{{else}}the chain{{end}} may not have mixed {{template "mixing" .}}`,
		means: `{{template "r-hat" .}}`, cure: `take twice the epochs`, help: helpMixing,
	},
	"chains-untold": {
		look: note | page, says: `it is not known whether {{if .Several "chains"}}the {{.Count "chains"}} chains explore one posterior{{else}}the chain has mixed{{end}}, as {{.Name "why"}}`,
		cure: `{{if .Said "because" "few"}}take more epochs and keep more states (keep): from 50 a chain there is also an effective sample size{{end}}`, help: helpMixing,
	},
	KindUncompared: {
		look: warning, says: `{{if .Several "chains"}}the {{.Count "chains"}} chains cannot be compared{{else}}the two halves of the chain cannot be compared{{end}}, as {{.Name "why"}}`,
		means: `{{if .Has "log_likelihood"}}{{if .Several "chains"}}their log-likelihoods have{{else}}its log-likelihood has{{end}} an R-hat of {{.Fixed "log_likelihood" 2}}, and up to {{.MostRHat}} counts as agreement` +
			`{{else}}nothing else says whether {{if .Several "chains"}}they explore one posterior{{else}}it has mixed{{end}}{{end}}`,
		cure: `{{if .Said "because" "few"}}take more epochs, so that each chain keeps at least 8 states (keep)` +
			`{{else}}mend the moves and the scale of the inputs{{end}}`, help: helpMixing,
	},
	"few-states": {
		look: warning, says: `all states together are worth {{.Count "ess"}} independent ones`,
		means: `that is fewer than {{.Count "enough"}}, so probabilities and uncertainties are rough`,
		cure:  `take more epochs, and keep more states (keep)`, help: helpMixing,
	},
	KindStuck: {
		look: warning, says: `island{{if .Several "count"}}s{{end}} {{.Name "islands"}} {{if .Several "count"}}are{{else}}is{{end}} stuck`,
		means: `in the last quarter of the iterations less than {{.Percent "bound"}} of the moves were accepted, and they carried the particles by less than half of their spread between two resamplings, {{template "distrust" .}}`,
		cure: `take {{if .Said "size" "adapted"}}more moves in an iteration, or write a smaller step ({{.Name "step"}})` +
			`{{else}}a smaller step ({{.Name "step"}}) or more moves in an iteration, or leave the step out{{end}}`,
		help: helpMoves, beside: "not to be trusted: moves were refused",
	},
	KindStill: {
		look: warning, says: `island{{if .Several "count"}}s{{end}} {{.Name "islands"}} stood still`,
		means: `the moves between two resamplings carried the particles by less than {{.Percent "bound"}} of their spread, {{template "distrust" .}}`,
		cure:  `take a larger step ({{.Name "step"}}) or more moves in an iteration`, help: helpMoves, beside: "not to be trusted: the particles hardly moved",
	},
	KindUnmoved: {
		look: warning, says: `{{template "stuck" .}}`, means: `{{template "first" .}}, so log Z and the posterior cannot be trusted`, cure: `take {{template "mend" .}}`,
		help: helpMoves, beside: "not to be trusted: the particles did not move in some stages",
	},
	KindFailed: {
		look: warning | failure, says: `the run failed, as {{template "stuck" .}}`, means: `{{template "first" .}}, so log Z and the posterior cannot be trusted`, cure: `take {{template "mend" .}}`,
		help: helpMoves, beside: "not to be trusted: the particles did not move",
	},
	"scale-kept": {look: note | page, says: `in {{.Count "kept"}} of {{.Count "stages"}} stages{{template "together" .}} the moves kept their last scale of the coordinates, ` +
		`as too few particles of different descent were left to learn it from`},
	"unmoved-runs": {
		look: warning | page, says: `the {{if .Several "count"}}runs{{else}}run{{end}} {{.Name "runs"}} had islands whose particles hardly moved`,
		means: `neither {{if .Several "count"}}their posteriors nor their log evidences are{{else}}its posterior nor its log evidence is{{end}} to be trusted`,
		cure:  `look at the warnings of {{if .Several "count"}}these runs{{else}}this run{{end}} first`, help: helpMoves,
	},
	"stopped-early": {
		look: warning, says: `island {{.Count "island"}} ended at the power {{.Fixed "temperature" 4}} of the likelihood, before the posterior`,
		means: `its particles have not taken in the data in full, and are too uncertain`,
		cure:  `let the path go on to the power 1 (path)`, help: helpWeights,
	},
	"divergent": {
		look: warning, says: `{{.Count "moves"}} {{if .Several "moves"}}moves{{else}}move{{end}} had infinite or undefined energy and left no weight`,
		means: `the step may be too large`, cure: `take a smaller step ({{.Name "step"}})`, help: helpMoves,
	},
	"exploded": {
		look: warning, says: `the steps are too long (training NLL {{.Fixed "end" 2}} at the end, {{.Fixed "start" 2}} at the start)`,
		means: `the particles{{if .Several "islands"}} of {{.Count "exploded"}} of {{.Count "islands"}} islands{{end}} ended above the {{.Fixed "guess" 2}} of a guess without the inputs, ` +
			`so their networks are not draws of the posterior`, cure: `take a smaller step ({{.Name "step"}})`, help: helpMoves,
	},
	"divergent-refused": {
		look: warning | page, says: `{{.Count "moves"}} of {{.Count "of"}} proposals had infinite or undefined energy and {{if .Several "moves"}}were{{else}}was{{end}} refused`,
		means: `the step may be too large`, cure: `take {{template "shorter" .}}`, help: helpMoves,
	},
	"divergent-refused-few": {
		look: note | page, says: `{{.Count "moves"}} of {{.Count "of"}} proposals had infinite or undefined energy and {{if .Several "moves"}}were{{else}}was{{end}} refused`,
		means: `so few cost next to nothing`,
	},

	"as-is": {look: note, says: `as-is: the posterior is the network of model.init alone, an ensemble of one; nothing was sampled`},
	"point": {look: note, says: `s = 0: the posterior is the {{if .Is "at" "map"}}MAP{{else}}network of model.init{{end}} alone, an ensemble of one; nothing was sampled`},

	"one-batch":      {look: note, says: `a mini-batch has all {{.Count "examples"}} examples of an iteration, so an epoch is one leapfrog`},
	"prior-of-decay": {look: note, says: `a weight decay of {{.Name "decay"}} on {{.Count "examples"}} examples is the prior N(0, {{.Name "variance"}}) of each parameter`},
	"began-at-init":  {look: note, says: `all particles began at model.init, not at draws of the prior`},
	"began-at-init-tempering": {
		look: warning, says: `all particles began at model.init, so tempering is one step and no evidence is estimated`,
		cure: `take chains (method: mcmc) or prior.anchor`, help: helpMixing,
	},
	"stopped": {look: note, says: `{{if .Several "islands"}}{{.Count "stopped"}} of {{.Count "islands"}} islands{{else}}the island{{end}} stopped after iteration {{.Range "first" "last" 0}} of {{.Count "all"}}, as ` +
		`the validation NLL no longer fell (stop: {patience: {{.Setting "patience"}}})`,
		means: `in {{if .Several "patience"}}{{.Count "patience"}} iterations{{else}}an iteration{{end}} that of the states kept so far had not fallen by more than its standard error`},
	"init-unused": {
		look: warning, says: `model.init was not used`, means: `from s = 0.5 on, the anchored prior has mean 0`,
		cure: `take a smaller s, or leave model.init out`, help: helpData,
	},

	"constant-columns": {look: note | ofData, says: `{{if .Several "count"}}columns {{.Name "columns"}} are constant over the training rows and were{{else}}column {{.Name "columns"}} is constant over the training rows and was{{end}} dropped`},
	"empty-columns":    {look: note | ofData, says: `{{if .Several "count"}}columns {{.Name "columns"}} have no value in any training row and were{{else}}column {{.Name "columns"}} has no value in any training row and was{{end}} dropped`},
	"row-counters":     {look: note | ofData, says: `{{if .Several "count"}}columns {{.Name "columns"}} count the rows and were{{else}}column {{.Name "columns"}} counts the rows and was{{end}} left out (data.csv.keep: {{.Name "keep"}} keeps {{if .Several "count"}}them{{else}}it{{end}})`},
	"row-numbers": {
		look: warning | ofData | early, says: `{{if .Several "count"}}columns {{.Name "columns"}} seem{{else}}column {{.Name "columns"}} seems{{end}} to number the rows`,
		means: `{{if .Several "count"}}they have{{else}}it has{{end}} a different whole number in every row, and a number that says nothing of a new row misleads the network`, cure: `leave {{if .Several "count"}}them{{else}}it{{end}} out (data.csv.drop: {{.Name "drop"}}) or ` +
			`keep {{if .Several "count"}}them{{else}}it{{end}} (data.csv.keep: {{.Name "keep"}})`, help: helpData,
	},
	"ignored-columns": {look: note | ofData, says: `{{if .Several "count"}}columns {{.Name "columns"}} of {{.Name "file"}} are ignored: the run's table had no such columns` +
		`{{else}}column {{.Name "columns"}} of {{.Name "file"}} is ignored: the run's table had no such column{{end}}`},
	"columns-by-place":   {look: note | ofData, says: `the columns of {{.Name "file"}} are taken in the order of the run's table, since it has no header`},
	"unknown-words":      {look: note | ofData, says: `words of {{.Name "file"}} that no training row had are taken for no category: {{.Name "columns"}}`},
	"no-longer-constant": {look: note | ofData, says: `the network cannot use values of {{.Name "file"}} in columns that were constant over the training rows: {{.Name "columns"}}`},
	"word-columns": {look: note | ofData, says: `{{if .Several "count"}}columns {{.Name "columns"}} hold words, whose{{else}}column {{.Name "columns"}} holds words, whose{{end}} categories became {{.Count "inputs"}} ` +
		`{{if .Several "inputs"}}inputs{{else}}input{{end}} of 0 and 1`},
	"unlike-words": {
		look: warning | ofData | early, says: `the words of {{if .Several "count"}}columns {{.Name "columns"}}{{else}}column {{.Name "columns"}}{{end}} are nearly all different ` +
			`({{.Count "inputs"}} inputs for {{.Count "rows"}} rows)`,
		means: `a network learns little from a word that it hardly ever sees again`, cure: `leave {{if .Several "count"}}them{{else}}it{{end}} out (data.csv.drop: {{.Name "drop"}}) or write fewer categories`, help: helpData,
	},
	"unit-words": {
		look: warning | ofData | early, says: `the words of {{if .Several "count"}}columns {{.Name "columns"}}{{else}}column {{.Name "columns"}}{{end}} are numbers with a sign or a unit`,
		means: `each is an input of 0 and 1, and their order is lost`, cure: `write the numbers alone, or leave {{if .Several "count"}}them{{else}}it{{end}} out (data.csv.drop: {{.Name "drop"}})`, help: helpData,
	},
	"whole-amounts": {look: note | ofData | early, says: `{{.Name "target"}} takes {{.Count "values"}} whole numbers, which are predicted as amounts. If they are classes, set ` +
		`model.likelihood=categorical and {{.Name "layer"}}.dense={{.Setting "values"}}`},
	"missing-values": {look: note | ofData, says: `missing values of {{if .Several "count"}}columns{{else}}column{{end}} {{.Name "columns"}} are filled with the training mean, or with no category; an extra 0/1 input marks them`},
	"missing-elsewhere": {look: note | ofData, says: `{{if .Several "count"}}columns {{.Name "columns"}} lack{{else}}column {{.Name "columns"}} lacks{{end}} values only in rows that do not train: ` +
		`they are filled with the training mean, or with no category`},
	"zero-features": {look: note | ofData, says: `{{if .Several "count"}}{{.Count "count"}} features (from 0: {{.Name "features"}}) are constant over the training examples: the network sees them` +
		`{{else}}feature {{.Name "features"}} (from 0) is constant over the training examples: the network sees it{{end}} as 0 everywhere`},
	"unseen-classes": {
		look: warning | ofData | early, says: `no training example has {{if .Several "count"}}the classes{{else}}class{{end}} {{.Name "classes"}}, which {{.Count "examples"}} validation and test ` +
			`{{if .Several "examples"}}examples have{{else}}example has{{end}}`,
		means: `a network cannot learn {{if .Several "count"}}them{{else}}it{{end}}`, cure: `take another division (seed, data.split) or more examples`, help: helpData,
	},
	"rare-classes": {
		look: warning | ofData | early, says: `{{if .Several "count"}}the classes {{.Name "classes"}} have{{else}}the class {{.Name "classes"}} has{{end}} fewer than {{.Count "enough"}} training examples`,
		means: `a network learns little of {{if .Several "count"}}them{{else}}it{{end}}, and the scores of {{if .Several "count"}}these classes{{else}}this class{{end}} rest on even fewer`,
		cure:  `take more examples, or join rare classes`, help: helpData,
	},
	"no-threshold": {
		look: warning, says: `no threshold of the energy was kept, as it is not finite for {{.Count "count"}} of {{.Count "examples"}} validation examples`,
		means: `members of the posterior overflow there`,
		cure:  `check the scale of the inputs, or take a smaller step`, help: helpData,
	},
	"channels-last": {
		look: warning | ofData, says: `{{with .Name "file"}}{{.}}: {{end}}taken as {{.Count "channels"}} channels of {{.Count "height"}}×{{.Count "width"}}`,
		cure: `if the channels are last, move them before you save the array: np.moveaxis(x, -1, 1)`, help: helpData,
	},
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
	`{{define "sgd"}}they differ as the states of SGD did at this rate, mini-batch and momentum{{end}}` +
	`{{define "stuck"}}in {{.Count "stuck"}} of {{.Count "stages"}} stages{{template "together" .}} {{if .Same "copies" "stuck"}}all particles began as copies of one, and may not have parted` +
	`{{else}}the particles did not move far enough{{end}}{{end}}` +
	`{{define "first"}}the first such stage was at λ {{.Short "temperature"}} (acceptance {{.Fixed "acceptance" 2}}, {{.Count "moves"}} move{{if .Several "moves"}}s{{end}}` +
	`{{if .Has "displacement"}}, by {{.Fixed "displacement" 2}} of their spread{{else if and (.Has "copies") (not (.Same "copies" "stuck"))}}, from copies of one particle{{end}}){{end}}` +
	`{{define "shorter"}}{{if .Has "higher"}}a higher accept ({{.Fixed "higher" 2}}; it was {{.Fixed "aim" 2}}) or {{end}}a smaller step ({{.Name "step"}}){{end}}` +
	`{{define "mend"}}{{if .Is "why" "refused"}}{{if .Is "size" "written"}}a smaller step ({{.Name "step"}}) or leave it out` +
	`{{else}}more moves in a stage ({{.Name "mutations"}}) or more particles{{end}}` +
	`{{else if .Is "size" "written"}}a larger step ({{.Name "step"}}) or leave it out, or more moves` +
	`{{else}}more or longer moves ({{.Name "mutations"}}), or more particles{{end}}{{end}}` +
	`{{define "chance"}}chance gives such a gap in fewer than 1 of {{.Count "once"}} runs{{end}}` +
	`{{define "confidence"}}mean confidence {{.Share "confidence"}}, accuracy {{.Share "accuracy"}}{{end}}` +
	`{{define "coverage"}}90{{.Space}}% intervals hold {{.Share "inside"}} of the targets{{end}}` +
	`{{define "targets"}}on {{.Count "targets"}} targets {{template "chance" .}}{{end}}` +
	`{{define "evidence"}}the log evidence{{if .Is "place" "trace"}} in the trace{{end}}{{end}}` +
	`{{define "mixing"}}(R-hat: median {{.Fixed "median" 2}}, 95th percentile {{.Fixed "q95" 2}}; want at most {{.MostRHat}}){{end}}` +
	`{{define "r-hat"}}the predictions have these R-hats{{if .Has "low"}}, a median of {{.Range "low" "high" 2}} within two standard errors{{end}}` +
	`{{if .Has "log_likelihood"}}. The log-likelihood has {{.Fixed "log_likelihood" 2}}{{if .Disagrees "log_likelihood"}}, which is above {{.MostRHat}}{{end}}{{end}}` +
	`{{if .Has "ess"}}. All states together are worth {{.Count "ess"}} independent ones{{end}}. {{.WhatRHatIs}}{{end}}` +
	`{{define "target"}}{{if .Is "target" "every-target"}}the model's evidence, as every target is the posterior, with all examples` +
	`{{else if .Is "target" "last-target"}}the model's evidence, as the last target is the posterior, with all examples in full` +
	`{{else if .Is "target" "partial-target"}}the evidence of a last target that has not taken in all examples in full` +
	`{{else}}the evidence of {{.Name "target"}}{{end}}{{end}}`

var templates = parse()

func parse() *template.Template {
	all := template.Must(template.New("").Parse(shared))
	for name, k := range kinds {
		for part, text := range map[string]string{"says": k.says, "means": k.means, "cure": k.cure} {
			template.Must(all.New(name + " " + part).Parse(text))
		}
	}
	return all
}

// Warning reports whether a reader must know of the finding before the results are used.
func (f Finding) Warning() bool { return kinds[f.Kind].look&warning != 0 }

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

// Early reports whether it is told before the work begins, too, when a user can still change the config.
func (f Finding) Early() bool { return kinds[f.Kind].look&early != 0 }

// OfPredictions reports whether a finding is about what the ensemble predicts for the examples evaluated on.
func (f Finding) OfPredictions() bool { return kinds[f.Kind].look&ofPredictions != 0 }

// OfEvidence reports whether a finding says what a log evidence is an estimate of, or that there is no estimate.
func (f Finding) OfEvidence() bool { return kinds[f.Kind].look&ofEvidence != 0 }
