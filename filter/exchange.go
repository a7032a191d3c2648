package filter

import "context"

// Exchanger takes the sites of nodes to each other. It is the only way in which nodes hear of each other in a scan.
type Exchanger interface {
	// Exchange is given the sites that nodes have made in a pass over a scan, both numbered from 0, and returns those of all nodes, in the order
	// of the nodes. Nodes that are elsewhere have sent theirs, too, when it returns. An error ends the scan; the filter's state stays as it was.
	Exchange(ctx context.Context, scan, pass int, sites []Site) ([]Site, error)
}

// Here is the Exchanger of nodes that are all in this process.
type Here struct{}

// Exchange implements Exchanger.
func (Here) Exchange(_ context.Context, _, _ int, sites []Site) ([]Site, error) { return sites, nil }
