package eval

// Cost counts what it took to make an ensemble, in evaluations of the network: of one parameter vector on one example, with or
// without gradient. It depends on config, seed and data alone, not on the machine. The evaluation at the end is not counted.
type Cost struct {
	Work
	Phases []PhaseCost `json:"phases"` // in the order in which they were carried out
}

// PhaseCost is the cost of one phase: map (the search for point estimates), snapshots, pilot, islands or chains.
type PhaseCost struct {
	Name string `json:"name"`
	Work
}

// Work counts evaluations.
type Work struct {
	Gradients  int `json:"gradients"`  // of the log-likelihood of a training example, with its gradient
	Values     int `json:"values"`     // of the log-likelihood of a training example alone
	Validation int `json:"validation"` // of a validation example, while the work went on
}

// Add appends the work of a phase's parts.
func (c *Cost) Add(phase string, parts ...Work) {
	p := PhaseCost{Name: phase}
	for _, w := range parts {
		p.Work.add(w)
	}
	c.Work.add(p.Work)
	c.Phases = append(c.Phases, p)
}

func (w *Work) add(v Work) {
	w.Gradients += v.Gradients
	w.Values += v.Values
	w.Validation += v.Validation
}
