package filtering

import "github.com/starling-smc/starling/internal/finding"

// NodesSum sums up the nodes of ep over scans.
type NodesSum struct {
	Nodes    int        `json:"nodes"`
	Passes   []*Spreads `json:"passes"`   // acceptance in each pass
	Terms    []int64    `json:"terms"`    // that each node has evaluated
	Critical int64      `json:"critical"` // the most that one node has evaluated in a pass, summed over passes and scans
	Sites    int        `json:"sites"`
	Repaired int        `json:"repaired"`
	Empty    int        `json:"empty"`
	Without  int        `json:"without"` // scans with fewer measurements than nodes
}

// nodesSum makes a NodesSum, scan by scan.
type nodesSum struct {
	sum    *NodesSum // nil: there was none
	accept []kinds   // in each pass
}

// add takes the next scan into account.
func (u *nodesSum) add(n *Nodes) {
	if n == nil {
		return
	}
	if u.sum == nil {
		u.sum = &NodesSum{Nodes: len(n.Terms), Terms: make([]int64, len(n.Terms))}
		u.accept = make([]kinds, len(n.Accept))
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
	for l := range n.Accept {
		u.accept[l].add(&n.Accept[l])
	}
}

// nodes sums up the scans so far; nil if they have none.
func (u *nodesSum) nodes() *NodesSum {
	if u.sum == nil {
		return nil
	}
	out := *u.sum
	for l := range u.accept {
		out.Passes = append(out.Passes, u.accept[l].spreads())
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
