package filtering

import "github.com/starling-smc/starling/internal/finding"

// NodesSum sums up the nodes of ep over scans.
type NodesSum struct {
	Nodes    int         `json:"nodes"`
	Passes   []PassShare `json:"passes"`   // acceptance in each pass
	Terms    []int64     `json:"terms"`    // that each node has evaluated
	Critical int64       `json:"critical"` // the most that one node has evaluated in a pass, summed over passes and scans
	Sites    int         `json:"sites"`
	Repaired int         `json:"repaired"`
	Empty    int         `json:"empty"`
	Without  int         `json:"without"` // scans with fewer measurements than nodes
}

// PassShare is the acceptance of each kind of decision in a pass, over scans; nil: there is no such decision.
type PassShare struct {
	Joint  *Spread `json:"joint,omitempty"`
	Index  *Spread `json:"index,omitempty"`
	Refine *Spread `json:"refine,omitempty"`
}

// nodesSum makes a NodesSum, scan by scan.
type nodesSum struct {
	sum                  *NodesSum // nil: there was none
	joint, index, refine []spreading
}

// add takes the next scan into account.
func (u *nodesSum) add(n *Nodes) {
	if n == nil {
		return
	}
	if u.sum == nil {
		u.sum = &NodesSum{Nodes: len(n.Terms), Terms: make([]int64, len(n.Terms))}
		passes := len(n.Accept)
		u.joint, u.index, u.refine = make([]spreading, passes), make([]spreading, passes), make([]spreading, passes)
	}
	s := u.sum
	for d, terms := range n.Terms {
		s.Terms[d] += terms
	}
	s.Critical += n.Critical
	s.Sites, s.Repaired, s.Empty = s.Sites+n.Sites, s.Repaired+n.Repaired, s.Empty+n.Empty
	if n.Without > 0 {
		s.Without++
	}
	for l, a := range n.Accept {
		u.joint[l].addSome(a.Joint)
		u.index[l].addSome(a.Index)
		u.refine[l].addSome(a.Refine)
	}
}

// nodes sums up the scans so far; nil if they have none.
func (u *nodesSum) nodes() *NodesSum {
	if u.sum == nil {
		return nil
	}
	out := *u.sum
	for l := range u.joint {
		out.Passes = append(out.Passes, PassShare{u.joint[l].spread(), u.index[l].spread(), u.refine[l].spread()})
	}
	return &out
}

// mostEmpty is the share of the sites above which those that say nothing are told: a run as it should be has none.
const mostEmpty = 0.05

// findings are those about the nodes of a run of so many scans.
func (s *NodesSum) findings(scans int) (list []finding.Finding) {
	if s == nil {
		return nil
	}
	if float64(s.Empty) > mostEmpty*float64(s.Sites) {
		list = append(list, finding.Of(finding.EmptySites{Some: s.Empty, Sites: s.Sites}))
	}
	if kept := s.Sites - s.Repaired - s.Empty; s.Repaired > kept {
		list = append(list, finding.Of(finding.RepairedSites{Some: s.Repaired, Kept: kept}))
	}
	if s.Without > 0 {
		list = append(list, finding.Of(finding.MoreNodesThanMeasurements{Some: s.Without, Scans: scans, Nodes: s.Nodes}))
	}
	return list
}
