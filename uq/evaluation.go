package uq

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Evaluation is what is reported of a prediction.
type Evaluation struct {
	Accuracy      Number  `json:"accuracy"`                 // 0 to 1
	NLL           Number  `json:"nll"`                      // nats
	Brier         Number  `json:"brier"`                    // summed over classes
	ECE           Number  `json:"ece"`                      // Bins bins
	AURC          Number  `json:"aurc"`                     // in the order of the largest probability
	AURCEpistemic *Number `json:"aurc_epistemic,omitempty"` // of epistemic entropy
	Groups        Groups  `json:"groups,omitempty"`
}

// Group is the mean doubt about a group of examples, and how well each kind of doubt tells it from others: nil where
// there are no others, or no energies.
type Group struct {
	Name      string `json:"-"`
	N         int    `json:"n"`
	Total     Number `json:"entropy_total"` // means over the group, in nats; NaN if it is empty
	Aleatoric Number `json:"entropy_aleatoric"`
	Epistemic Number `json:"entropy_epistemic"`

	AUROC        *Number `json:"auroc,omitempty"` // of epistemic entropy
	FPR95        *Number `json:"fpr95,omitempty"`
	AUROCMaxProb *Number `json:"auroc_max_probability,omitempty"` // low where in doubt
	FPR95MaxProb *Number `json:"fpr95_max_probability,omitempty"`
	AUROCEnergy  *Number `json:"auroc_energy,omitempty"` // high where in doubt
	FPR95Energy  *Number `json:"fpr95_energy,omitempty"`
}

// Spread is the mean doubt about the values of a group of examples, in their unit, and how well the standard deviation of
// the particles' means tells the group from others: nil where there are no others.
type Spread struct {
	Name      string  `json:"-"`
	N         int     `json:"n"`
	Aleatoric Number  `json:"sd_aleatoric"` // NaN if the group is empty
	Epistemic Number  `json:"sd_epistemic"`
	AUROC     *Number `json:"auroc,omitempty"`
	FPR95     *Number `json:"fpr95,omitempty"`
}

// Groups and Spreads are listed as they were given; in JSON they are one object with their names as keys, in this order.
type (
	Groups  []Group
	Spreads []Spread
)

// Foreign is the prediction for a group of examples that are not of the test set.
type Foreign struct {
	Name string
	*Predictive
}

// Evaluate scores a prediction for the test examples. Its groups are correct and incorrect, the test examples that
// the most probable class gets right and wrong, then the foreign ones. AUROC and FPR95 of incorrect are against correct,
// those of a foreign group against all test examples; in both the group named is the positive one.
func Evaluate(test *Predictive, labels []int32, foreign []Foreign) *Evaluation {
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
	for _, f := range foreign {
		e.Groups = append(e.Groups, group(f.Name, f.Predictive, test))
	}
	return e
}

// Score scores probabilities [n, classes] alone, of which nobody knows where they come from.
func Score(probs []float64, classes int, labels []int32) *Evaluation {
	doubt := negated(Confidence(probs, classes))
	return &Evaluation{
		Accuracy: Number(Accuracy(probs, classes, labels)),
		NLL:      Number(NLL(probs, classes, labels)),
		Brier:    Number(Brier(probs, classes, labels)),
		ECE:      Number(ECE(Reliability(probs, classes, labels, Bins))),
		AURC:     Number(AURC(RiskCoverage(doubt, mistakes(probs, classes, labels)))),
	}
}

// mistakes says of which examples the most probable class is not the label.
func mistakes(probs []float64, classes int, labels []int32) []bool {
	wrong := make([]bool, len(labels))
	for i, y := range labels {
		wrong[i] = Argmax(probs[i*classes:(i+1)*classes]) != int(y)
	}
	return wrong
}

// group describes p, with what tells it from other unless that is nil.
func group(name string, p, other *Predictive) Group {
	g := Group{
		Name: name, N: p.Len(),
		Total: Number(Mean(p.Total)), Aleatoric: Number(Mean(p.Aleatoric)), Epistemic: Number(Mean(p.Epistemic)),
	}
	if other == nil {
		return g
	}
	g.AUROC, g.FPR95 = Tell(other.Epistemic, p.Epistemic)
	g.AUROCMaxProb, g.FPR95MaxProb = Tell(negated(Confidence(other.Probs, other.Classes)), negated(Confidence(p.Probs, p.Classes)))
	if other.Energy != nil && p.Energy != nil {
		g.AUROCEnergy, g.FPR95Energy = Tell(other.Energy, p.Energy)
	}
	return g
}

// Tell is how well a doubt tells positive examples from negative ones: AUROC and FPR95.
func Tell(negative, positive []float64) (auroc, fpr95 *Number) {
	a, f := Number(AUROC(negative, positive)), Number(FPR95(negative, positive))
	return &a, &f
}

func negated(x []float64) []float64 {
	for i, v := range x {
		x[i] = -v
	}
	return x
}

// Mean is that of values in their order; NaN of none.
func Mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// MarshalJSON writes the groups as one object.
func (g Groups) MarshalJSON() ([]byte, error) {
	return object(len(g), func(i int) (string, any) { return g[i].Name, g[i] })
}

// MarshalJSON writes the groups as one object.
func (s Spreads) MarshalJSON() ([]byte, error) {
	return object(len(s), func(i int) (string, any) { return s[i].Name, s[i] })
}

// UnmarshalJSON reads what MarshalJSON writes.
func (g *Groups) UnmarshalJSON(b []byte) error {
	*g = nil
	return members(b, func(name string, value *json.Decoder) error {
		group := Group{Name: name}
		err := value.Decode(&group)
		*g = append(*g, group)
		return err
	})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Spreads) UnmarshalJSON(b []byte) error {
	*s = nil
	return members(b, func(name string, value *json.Decoder) error {
		spread := Spread{Name: name}
		err := value.Decode(&spread)
		*s = append(*s, spread)
		return err
	})
}

// members hands over those of a JSON object in their order, with a decoder that stands before the value.
func members(b []byte, read func(name string, value *json.Decoder) error) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return errors.Join(fmt.Errorf("%.20s is no object of groups", b), err)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		if err := read(name.(string), d); err != nil { // the key of an object is a string
			return err
		}
	}
	return nil
}

// object is a JSON object of n members in their order.
func object(n int, member func(i int) (string, any)) ([]byte, error) {
	var b bytes.Buffer
	for i := range n {
		name, value := member(i)
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		body, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		b.WriteByte("{,"[min(i, 1)])
		b.Write(key)
		b.WriteByte(':')
		b.Write(body)
	}
	if n == 0 {
		b.WriteByte('{')
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
