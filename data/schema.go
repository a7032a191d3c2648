package data

// Schema is what a network's inputs and targets mean: how a file becomes them, and how predictions come back to the
// target's units. It is made of the training examples alone and kept with a run, as data.json.
type Schema struct {
	// Of a table: its columns in their order, by name or, without a header, by number from 1; which of them is the
	// target, and which are no inputs because they are constant over the training rows. Nil for arrays.
	Columns []string `json:"columns,omitempty"`
	Target  string   `json:"target,omitempty"`
	Dropped []string `json:"dropped,omitempty"`

	Delimiter string `json:"delimiter,omitempty"` // as the config says; empty: guessed
	Header    *bool  `json:"header,omitempty"`    // likewise

	Shape   []int    `json:"shape"`             // of an example's inputs: those that a network takes
	Outputs int      `json:"outputs,omitempty"` // of a regression: target values of an example
	Classes int      `json:"classes,omitempty"`
	Names   []string `json:"names,omitempty"` // of classes; nil if they are their numbers

	Inputs  *Standard `json:"inputs,omitempty"`  // nil: inputs stay as they are
	Targets *Standard `json:"targets,omitempty"` // likewise
}
