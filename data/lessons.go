package data

// Lessons are the examples that a decision about predictions may be learnt from: a temperature, sets, a rule to abstain. The test
// examples are never among them: only Problem.Lessons makes them, of the other parts.
type Lessons struct {
	train, validate, calibrate *Set
	foreign                    []Group
}

// Lessons are the problem's parts that a decision may be learnt from.
func (p *Problem) Lessons() Lessons {
	return Lessons{train: p.Train, validate: p.Validate, calibrate: p.Calibrate, foreign: p.Foreign}
}

// Train are the examples that the network was trained on.
func (l Lessons) Train() *Set { return l.train }

// Validate are the validation examples; nil: none.
func (l Lessons) Validate() *Set { return l.validate }

// Calibrate are labelled examples that nothing has learnt from; nil: none.
func (l Lessons) Calibrate() *Set { return l.calibrate }

// Foreign are out-of-distribution inputs that are known beforehand; none: nil.
func (l Lessons) Foreign() []Group { return l.foreign }
