// Package eval evaluates ensembles: an ensemble and data in; metrics, predictions and scores of out-of-distribution (OOD)
// groups out. It works for ensembles of any method.
//
// Evaluate returns an Assessment: the Metrics, which are metrics.json, and the predictions behind them. A Predictor writes
// the predictions for a file of inputs. ScoreFiles scores the class probabilities of any other program.
package eval

import (
	"encoding/json"
	"io"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/uq"
)

// Metrics are the scores of a run's ensembles: the posterior with islands weighted by the run's method, the point estimates,
// and the posterior under every weighting of islands. Its JSON is metrics.json.
type Metrics struct {
	Evaluation
	TrainedOn            int         `json:"trained_on,omitempty"`             // of the examples evaluated on, those that the run learnt from, in other data or in a file of test examples
	Untold               string      `json:"trained_on_unknown,omitempty"`     // why that number is not known; empty: it is
	ESS                  uq.Number   `json:"ess"`                              // 1/Σ W² of the weights of the posterior's particles as they are kept
	MAP                  *Evaluation `json:"map,omitempty"`                    // the best restart
	DeepEnsemble         *Evaluation `json:"deep_ensemble,omitempty"`          // all restarts
	ByClass              []ByClass   `json:"by_class,omitempty"`               // the posterior's scores for each class, in the order of the classes; nil for a regression
	GroupsByClass        uq.Groups   `json:"groups_by_class,omitempty"`        // the posterior's uncertainty about the examples of each class, likewise
	Decided              *Decided    `json:"decided,omitempty"`                // the posterior's scores by a threshold between two classes; nil: none was given
	Against              *uq.Against `json:"against,omitempty"`                // how far the posterior's probabilities are from those of a reference; nil: none was given
	Sets                 *SetScores  `json:"sets,omitempty"`                   // of the posterior's sets or intervals; nil: it makes none
	Abstention           *Abstention `json:"abstention,omitempty"`             // of the posterior's rule to abstain; nil: none
	Combined             Combined    `json:"combined,omitempty"`               // nil without comparable evidences
	LogEvidence          *uq.Number  `json:"log_evidence,omitempty"`           // of the model, log-mean-exp over the islands, in nats; nil if Combined is nil
	LogEvidenceSD        *uq.Number  `json:"log_evidence_sd,omitempty"`        // over the islands; nil: not known, as of one island
	LogEvidenceError     *uq.Number  `json:"log_evidence_error,omitempty"`     // standard error of LogEvidence: by the scatter over the islands; of one island by the families of its particles; nil: not known
	LadderBias           *uq.Number  `json:"ladder_bias,omitempty"`            // by how much the adaptation of the ladder has moved LogEvidence, an estimate, in nats; 0 on paths without adaptive steps
	LogEvidenceJackknife *uq.Number  `json:"log_evidence_jackknife,omitempty"` // standard error of LogEvidence by leaving out islands in turn; nil: not known, as of one island
	LogEvidenceSingleSD  *uq.Number  `json:"log_evidence_single_sd,omitempty"` // of one island's log evidence over runs, as the islands estimate it of themselves: to be compared with LogEvidenceSD; nil: not known
	EffectiveIslands     *uq.Number  `json:"effective_islands,omitempty"`      // 1/Σω² of the evidence weights
	AllClasses           *AllClasses `json:"all_classes,omitempty"`            // with examples of classes that the network does not have; nil without such
	Members              []Members   `json:"members,omitempty"`                // how the scores of classes grow with the number of members; nil for few
	Widths               []bnn.Width `json:"widths,omitempty"`                 // of the prior and of the posterior; nil unless the prior learns its widths
	Chains               *Chains     `json:"chains,omitempty"`                 // nil if the posterior was not drawn by chains
	Cost                 *Cost       `json:"cost,omitempty"`                   // of making the ensembles; nil for ensembles from elsewhere

	// Findings are the run's, as in manifest.json: whether the posterior and the log evidence can be trusted at all.
	Findings []finding.Finding `json:"findings,omitempty"`

	// Predicted are the findings about the predictions for the examples evaluated on (Assessment.Findings).
	Predicted []finding.Finding `json:"findings_on_predictions,omitempty"`
}

// Decided are the scores of a Threshold on test examples.
type Decided struct {
	Class string    `json:"class"`
	At    uq.Number `json:"threshold"`
	uq.AtThreshold
}

// WriteJSON writes the metrics in the format of metrics.json.
func (m *Metrics) WriteJSON(w io.Writer) error { return jsontext.Write(w, m) }

// Combined evaluates the posterior under each weighting of islands, in the order of bnn.Combinations. In JSON it is an object
// whose keys are the weightings' names.
type Combined []CombinedBy

// CombinedBy is the evaluation of the posterior under the weighting of islands with that name.
type CombinedBy struct {
	Name string `json:"-"`
	Evaluation
}

// By returns the evaluation under the weighting of that name; nil if there is none.
func (c Combined) By(name string) *Evaluation {
	for i := range c {
		if c[i].Name == name {
			return &c[i].Evaluation
		}
	}
	return nil
}

// MarshalJSON writes one object.
func (c Combined) MarshalJSON() ([]byte, error) {
	return jsontext.Object(len(c), func(i int) (string, any) { return c[i].Name, c[i].Evaluation })
}

// UnmarshalJSON reads what MarshalJSON writes.
func (c *Combined) UnmarshalJSON(b []byte) error {
	*c = nil
	return jsontext.Members(b, func(name string, value *json.Decoder) error {
		by := CombinedBy{Name: name}
		err := value.Decode(&by.Evaluation)
		*c = append(*c, by)
		return err
	})
}

// Evaluation holds the scores of an ensemble's predictions. For classes: accuracy, nll, brier, ece, aurc and groups as in
// package uq. For a regression, in the target's units: errors of the mixture's mean; nll and crps of the mixture itself,
// Σ_j W_j N(y; μ_j, σ_j²); the share of targets in its central intervals. With several outputs, nll is of all outputs
// jointly, r2 is the mean over the outputs, and the other scores are over all targets.
type Evaluation struct {
	On            string     `json:"on"` // the part of the data: test, or train if nothing was held out
	N             int        `json:"n"`
	Accuracy      *uq.Number `json:"accuracy,omitempty"`
	NLL           uq.Number  `json:"nll"`
	Brier         *uq.Number `json:"brier,omitempty"`
	ECE           *uq.Number `json:"ece,omitempty"`
	AURC          *uq.Number `json:"aurc,omitempty"`
	AURCEpistemic *uq.Number `json:"aurc_epistemic,omitempty"`
	RMSE          *uq.Number `json:"rmse,omitempty"`
	MAE           *uq.Number `json:"mae,omitempty"`
	Bias          *uq.Number `json:"bias,omitempty"` // mean of prediction − target
	R2            *uq.Number `json:"r2,omitempty"`
	CRPS          *uq.Number `json:"crps,omitempty"`
	Coverage      *Coverage  `json:"coverage,omitempty"`
	Groups        uq.Groups  `json:"groups,omitempty"`   // of classes
	Tempered      *Tempered  `json:"tempered,omitempty"` // nil without a temperature
	Spread        uq.Spreads `json:"spread,omitempty"`   // of a regression: first the part evaluated on, then OOD groups
}

// Coverage is the share of targets in the central intervals of 50, 90 and 95 %.
type Coverage struct {
	In50 uq.Number `json:"50"`
	In90 uq.Number `json:"90"`
	In95 uq.Number `json:"95"`
}

// classification copies the scores of class probabilities.
func (e *Evaluation) classification(u *uq.Evaluation) {
	e.Accuracy, e.NLL, e.Brier, e.ECE, e.AURC, e.AURCEpistemic = &u.Accuracy, u.NLL, &u.Brier, &u.ECE, &u.AURC, u.AURCEpistemic
	e.Groups = u.Groups
}

// regression scores predictions in the target's units.
func (e *Evaluation) regression(v *bnn.EvaluatedRegression, truth []float64) {
	e.RMSE, e.MAE, e.Bias = number(uq.RMSE(v.Mean, truth)), number(uq.MAE(v.Mean, truth)), number(uq.Bias(v.Mean, truth))
	r2 := 0.0
	for k := range v.Outputs {
		r2 += uq.R2(every(v.Mean, k, v.Outputs), every(truth, k, v.Outputs))
	}
	e.R2 = number(r2 / float64(v.Outputs))
	e.CRPS = number(uq.Mean(v.CRPS))
	e.NLL = -uq.Number(uq.Mean(v.LogDensity))
	e.Coverage = &Coverage{
		In50: uq.Number(uq.Coverage(v.PIT, 0.5)), In90: uq.Number(uq.Coverage(v.PIT, 0.9)), In95: uq.Number(uq.Coverage(v.PIT, 0.95)),
	}
}

// every returns x[k], x[k+n], …
func every(x []float64, k, n int) []float64 {
	var y []float64
	for ; k < len(x); k += n {
		y = append(y, x[k])
	}
	return y
}
