package data

// Problem is a data set with its parts.
type Problem struct {
	Name     string
	Train    *Set
	Validate *Set    // nil: to be held out of Train, see Split
	Test     *Set    // nil: likewise
	Groups   []Group // out-of-distribution inputs, on which a network should be uncertain
	Whole    bool    // nothing is held out: the problem is about Train itself, such as its evidence
	Schema   *Schema // how files like those that Train came from become its inputs and targets; nil where no one has made it

	targets map[string]string // of arrays: where the targets of the parts that the settings name came from, for messages
}

// Group is a named set of out-of-distribution inputs: of none of the problem's classes, or distorted. Its labels, if it has
// any, are not used.
type Group struct {
	Name string
	Set  *Set
}
