package filter

import (
	"context"
	"encoding"
	"errors"
	"fmt"
)

// Exchanger takes what the nodes of an EP have made to each other. It is the only way in which nodes hear of each other in a scan.
type Exchanger interface {
	// Exchange is given what the nodes of this process have made in a pass over a scan, both numbered from 0, and returns what all nodes have made,
	// in the order of the nodes. Nodes that are elsewhere have sent theirs, too, when it returns: sites or, in the last pass, particles. An
	// error ends the scan; the filter's state stays as it was.
	Exchange(ctx context.Context, scan, pass int, own []Contribution) (all []Contribution, err error)
}

// Contribution is what a node of an EP has made in a pass over a scan. It is plain data that packs to bytes, so that nodes may be on other machines;
// ReadContribution is the inverse.
type Contribution interface{ encoding.BinaryMarshaler }

// Here is the Exchanger of nodes that are all in this process.
type Here struct{}

// Exchange implements Exchanger.
func (Here) Exchange(_ context.Context, _, _ int, own []Contribution) ([]Contribution, error) {
	return own, nil
}

// Hosted says which nodes of an EP are in this process: From to To−1, perhaps none. The others are in processes that take the same scans through the
// same filter. Each process has the whole state after every scan, with the same bits as if one had all nodes. The zero value is a process
// that has them all.
type Hosted struct {
	From, To int
	By       Exchanger // takes them to each other; nil: all nodes are here
}

// of returns the nodes here of so many, and their exchanger.
func (h Hosted) of(nodes int) (Hosted, error) {
	switch {
	case h.By == nil && h != Hosted{}:
		return h, errors.New("some of the nodes are elsewhere, and nothing says how to hear of them: give Job.Hosted.By")
	case h.By == nil:
		return Hosted{0, nodes, Here{}}, nil
	case h.From < 0 || h.From > h.To || h.To > nodes:
		return h, fmt.Errorf("nodes %d to %d are said to be here, and there are %d", h.From, h.To-1, nodes)
	}
	return h, nil
}
