package uq

import (
	"encoding/json"

	"github.com/starling-smc/starling/internal/jsontext"
)

// Evaluation holds the scores of a prediction.
type Evaluation struct {
	Accuracy      Number  `json:"accuracy"`                 // 0 to 1
	NLL           Number  `json:"nll"`                      // nats
	Brier         Number  `json:"brier"`                    // summed over classes
	ECE           Number  `json:"ece"`                      // Bins bins
	AURC          Number  `json:"aurc"`                     // in the order of the largest probability
	AURCEpistemic *Number `json:"aurc_epistemic,omitempty"` // of epistemic entropy
	Groups        Groups  `json:"groups,omitempty"`
}

// Group is the mean uncertainty over a group of examples, and how well each measure of uncertainty separates the group
// from other examples: nil where there are none to compare with, or no energies.
type Group struct {
	Name      string `json:"-"`
	N         int    `json:"n"`
	Total     Number `json:"entropy_total"` // means over the group, in nats; NaN if it is empty
	Aleatoric Number `json:"entropy_aleatoric"`
	Epistemic Number `json:"entropy_epistemic"`

	AUROC        *Number `json:"auroc,omitempty"` // of epistemic entropy
	FPR95        *Number `json:"fpr95,omitempty"`
	AUROCMaxProb *Number `json:"auroc_max_probability,omitempty"` // low where uncertain
	FPR95MaxProb *Number `json:"fpr95_max_probability,omitempty"`
	AUROCEnergy  *Number `json:"auroc_energy,omitempty"` // high where uncertain
	FPR95Energy  *Number `json:"fpr95_energy,omitempty"`

	ByEnergy     *Detection `json:"by_energy,omitempty"`      // of OOD inputs at a run's threshold; nil without one
	ByMeanLogits *Detection `json:"by_mean_logits,omitempty"` // the same by the energy of the mean logits
}

// Spread is the mean uncertainty of a regression over a group of examples, in the target's unit, and how well the standard
// deviation of the particles' means separates the group from other examples: nil where there are none to compare with.
type Spread struct {
	Name      string  `json:"-"`
	N         int     `json:"n"`
	Aleatoric Number  `json:"sd_aleatoric"` // NaN if the group is empty
	Epistemic Number  `json:"sd_epistemic"`
	AUROC     *Number `json:"auroc,omitempty"`
	FPR95     *Number `json:"fpr95,omitempty"`
}

// Groups and Spreads are lists in the order given. In JSON each is one object, with the names as keys in that order.
type (
	Groups  []Group
	Spreads []Spread
)

// OOD is the prediction for a named group of out-of-distribution inputs.
type OOD struct {
	Name string
	*Predictive
}

// Evaluate scores a prediction for the test examples. Its groups are correct and incorrect, the test examples whose most
// probable class is right or wrong, and then the OOD groups. AUROC and FPR95 compare incorrect with correct, and an OOD group
// with all test examples. The named group is the positive class.
func Evaluate(test *Predictive, labels []int32, ood []OOD) *Evaluation {
	e := Score(test.Probs, test.Classes, labels)
	wrong := mistakes(test.Probs, test.Classes, labels)
	aurc := Number(AURC(RiskCoverage(test.Epistemic, wrong)))
	e.AURCEpistemic = &aurc
	var rows [2][]int
	for i, w := range wrong {
		if w {
			rows[1] = append(rows[1], i)
		} else {
			rows[0] = append(rows[0], i)
		}
	}
	correct, incorrect := test.Rows(rows[0]), test.Rows(rows[1])
	e.Groups = Groups{group("correct", correct, nil), group("incorrect", incorrect, correct)}
	for _, o := range ood {
		e.Groups = append(e.Groups, group(o.Name, o.Predictive, test))
	}
	return e
}

// GroupsByClass are groups of the examples of each class, with the classes' names. They are compared with no others.
func GroupsByClass(test *Predictive, labels []int32, names []string) (groups Groups) {
	rows := make([][]int, len(names))
	for i, y := range labels {
		rows[y] = append(rows[y], i)
	}
	for c, name := range names {
		groups = append(groups, group(name, test.Rows(rows[c]), nil))
	}
	return groups
}

// Score scores probabilities [n, classes] alone, without the particles behind them.
func Score(probs []float64, classes int, labels []int32) *Evaluation {
	uncertainty := negated(Confidence(probs, classes))
	return &Evaluation{
		Accuracy: Number(Accuracy(probs, classes, labels)),
		NLL:      Number(NLL(probs, classes, labels)),
		Brier:    Number(Brier(probs, classes, labels)),
		ECE:      Number(ECE(Reliability(probs, classes, labels, Bins))),
		AURC:     Number(AURC(RiskCoverage(uncertainty, mistakes(probs, classes, labels)))),
	}
}

// mistakes reports for each example whether the most probable class is not the label.
func mistakes(probs []float64, classes int, labels []int32) []bool {
	wrong := make([]bool, len(labels))
	for i, y := range labels {
		wrong[i] = Argmax(probs[i*classes:(i+1)*classes]) != int(y)
	}
	return wrong
}

// group describes p and, unless other is nil, how well p is separated from other.
func group(name string, p, other *Predictive) Group {
	g := Group{
		Name: name, N: p.Len(),
		Total: Number(Mean(p.Total)), Aleatoric: Number(Mean(p.Aleatoric)), Epistemic: Number(Mean(p.Epistemic)),
	}
	if other == nil {
		return g
	}
	g.AUROC, g.FPR95 = Separation(other.Epistemic, p.Epistemic)
	g.AUROCMaxProb, g.FPR95MaxProb = Separation(negated(Confidence(other.Probs, other.Classes)), negated(Confidence(p.Probs, p.Classes)))
	if other.Energy != nil && p.Energy != nil {
		g.AUROCEnergy, g.FPR95Energy = Separation(other.Energy, p.Energy)
	}
	return g
}

// Separation is how well an uncertainty separates positive examples from negative ones: AUROC and FPR95.
func Separation(negative, positive []float64) (auroc, fpr95 *Number) {
	a, f := Number(AUROC(negative, positive)), Number(FPR95(negative, positive))
	return &a, &f
}

func negated(x []float64) []float64 {
	for i, v := range x {
		x[i] = -v
	}
	return x
}

// Mean is the mean of values, summed in their order; NaN without any.
func Mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// MarshalJSON writes the groups as one object.
func (g Groups) MarshalJSON() ([]byte, error) {
	return jsontext.Object(len(g), func(i int) (string, any) { return g[i].Name, g[i] })
}

// MarshalJSON writes the groups as one object.
func (s Spreads) MarshalJSON() ([]byte, error) {
	return jsontext.Object(len(s), func(i int) (string, any) { return s[i].Name, s[i] })
}

// UnmarshalJSON reads what MarshalJSON writes.
func (g *Groups) UnmarshalJSON(b []byte) error {
	*g = nil
	return jsontext.Members(b, func(name string, value *json.Decoder) error {
		group := Group{Name: name}
		err := value.Decode(&group)
		*g = append(*g, group)
		return err
	})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Spreads) UnmarshalJSON(b []byte) error {
	*s = nil
	return jsontext.Members(b, func(name string, value *json.Decoder) error {
		spread := Spread{Name: name}
		err := value.Decode(&spread)
		*s = append(*s, spread)
		return err
	})
}
