package data

// Problem is a data set divided into parts.
type Problem struct {
	Name     string
	Train    *Set
	Validate *Set      // nil: Split holds it out of Train
	Test     *Set      // nil: likewise
	Unshared *Unshared // of a set with other classes, those that the network does not have; nil: none
	Groups   []Group   // out-of-distribution inputs, on which a network should be uncertain
	Whole    bool      // nothing is held out: the task is about Train itself, such as its evidence
	Schema   *Schema   // how files become inputs and targets; nil if there is none

	targets map[string]string // of arrays: the files of the parts' targets, for messages
}

// Group is a named set of out-of-distribution inputs: of none of the problem's classes, or distorted. Its labels, if it has
// any, are not used.
type Group struct {
	Name string
	Set  *Set
}

// Unshared are test examples of classes that the network does not have.
type Unshared struct {
	Set *Set

	// Class stands for theirs where a score needs the probability of their class: the network's first class that is none of the
	// data's. It is NoClass if there is none: then their class has probability 0.
	Class int32
}
