package uq

import (
	"bytes"
	"encoding/json"
	"math"
)

// Evaluation is what is reported of a prediction. Its JSON has the keys accuracy, nll, brier, ece and groups.
type Evaluation struct {
	Accuracy Number `json:"accuracy"` // 0 to 1
	NLL      Number `json:"nll"`      // nats
	Brier    Number `json:"brier"`    // summed over classes
	ECE      Number `json:"ece"`      // Bins bins
	Groups   Groups `json:"groups"`
}

// Group is the mean doubt about a group of examples.
type Group struct {
	Name      string  `json:"-"`
	N         int     `json:"n"`
	Total     Number  `json:"entropy_total"` // means over the group, in nats; NaN if it is empty
	Aleatoric Number  `json:"entropy_aleatoric"`
	Epistemic Number  `json:"entropy_epistemic"`
	AUROC     *Number `json:"auroc,omitempty"` // of epistemic entropy; nil for the group correct
}

// Groups are listed as they were given; in JSON they are one object with their names as keys, in this order.
type Groups []Group

// Number is a float64 that JSON can hold: a number that is not finite becomes the string "NaN", "Infinity" or
// "-Infinity".
type Number float64

// Foreign is the prediction for a group of examples that are not of the test set.
type Foreign struct {
	Name string
	*Predictive
}

// Evaluate scores a prediction for the test examples. Its groups are correct and incorrect, the test examples that
// the most probable class gets right and wrong, then the foreign ones. The AUROC of incorrect is against correct, that
// of a foreign group against all test examples; in both the group named is the positive one.
func Evaluate(test *Predictive, labels []int32, foreign []Foreign) *Evaluation {
	e := &Evaluation{
		Accuracy: Number(Accuracy(test.Probs, test.Classes, labels)),
		NLL:      Number(NLL(test.Probs, test.Classes, labels)),
		Brier:    Number(Brier(test.Probs, test.Classes, labels)),
		ECE:      Number(ECE(Reliability(test.Probs, test.Classes, labels, Bins))),
	}
	var right, wrong []int
	for i, y := range labels {
		if Argmax(test.Probs[i*test.Classes:(i+1)*test.Classes]) == int(y) {
			right = append(right, i)
		} else {
			wrong = append(wrong, i)
		}
	}
	correct, incorrect := test.rows(right), test.rows(wrong)
	e.Groups = Groups{group("correct", correct, nil), group("incorrect", incorrect, correct)}
	for _, f := range foreign {
		e.Groups = append(e.Groups, group(f.Name, f.Predictive, test))
	}
	return e
}

// group describes p, with the AUROC against other unless that is nil.
func group(name string, p, other *Predictive) Group {
	g := Group{
		Name: name, N: p.Len(),
		Total: Number(mean(p.Total)), Aleatoric: Number(mean(p.Aleatoric)), Epistemic: Number(mean(p.Epistemic)),
	}
	if other != nil {
		a := Number(AUROC(other.Epistemic, p.Epistemic))
		g.AUROC = &a
	}
	return g
}

// rows is the prediction for some of the examples; the probabilities are left out.
func (p *Predictive) rows(rows []int) *Predictive {
	q := &Predictive{Classes: p.Classes}
	for _, i := range rows {
		q.Total = append(q.Total, p.Total[i])
		q.Aleatoric = append(q.Aleatoric, p.Aleatoric[i])
		q.Epistemic = append(q.Epistemic, p.Epistemic[i])
	}
	return q
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// MarshalJSON writes the shortest text that reads back exactly, or a string.
func (x Number) MarshalJSON() ([]byte, error) {
	switch v := float64(x); {
	case math.IsNaN(v):
		return []byte(`"NaN"`), nil
	case math.IsInf(v, 1):
		return []byte(`"Infinity"`), nil
	case math.IsInf(v, -1):
		return []byte(`"-Infinity"`), nil
	default:
		return json.Marshal(v)
	}
}

// MarshalJSON writes the groups as one object.
func (g Groups) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i := range g {
		name, err := json.Marshal(g[i].Name)
		if err != nil {
			return nil, err
		}
		body, err := json.Marshal(g[i])
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(body)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
