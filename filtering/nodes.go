package filtering

import "github.com/starling-smc/starling/filter"

// Nodes is what the nodes of ep tell of a scan.
type Nodes struct {
	Accept   []Accept `json:"accept"`             // of all nodes, in each pass
	Terms    []int64  `json:"terms"`              // that each node has evaluated
	Critical int64    `json:"critical"`           // the most that one node has evaluated in a pass, summed over passes
	Sites    int      `json:"sites"`              // that nodes with measurements have made
	Repaired int      `json:"repaired,omitempty"` // of these, those whose precision was not positive semidefinite
	Empty    int      `json:"empty,omitempty"`    // and those that say nothing of the state
	Without  int      `json:"without,omitempty"`  // nodes that have no measurements
}

// newNodes describes the nodes of a scan; nil if there are none.
func newNodes(n *filter.Nodes) *Nodes {
	if n == nil {
		return nil
	}
	out := &Nodes{Terms: n.Terms, Critical: n.Critical, Sites: n.Sites, Repaired: n.Repaired, Empty: n.Empty, Without: n.Without}
	for _, a := range n.Passes {
		out.Accept = append(out.Accept, Accept{known(a.Joint), known(a.Index), known(a.Refine)})
	}
	return out
}

// Info is what the line was made of.
func (n *Nodes) Info() *filter.Nodes {
	if n == nil {
		return nil
	}
	out := &filter.Nodes{Terms: n.Terms, Critical: n.Critical, Sites: n.Sites, Repaired: n.Repaired, Empty: n.Empty, Without: n.Without}
	for i := range n.Accept {
		out.Passes = append(out.Passes, *n.Accept[i].ByKind())
	}
	return out
}
