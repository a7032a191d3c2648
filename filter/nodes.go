package filter

// Nodes is what the nodes of an EP tell of a scan.
type Nodes struct {
	Passes   []ByKind // acceptance of the decisions of all nodes, in each pass
	Terms    []int64  // of the likelihood, that each node has evaluated
	Critical int64    // the most that one node has evaluated in a pass, summed over passes: as many as one has to wait for
	Without  int      // nodes that have no measurements of the scan
	Sites    int      // that nodes with measurements have made, in all passes but the last
	Repaired int      // of these, those whose precision was not positive semidefinite, and that say something all the same
	Empty    int      // and those that say nothing
}
