package broker

import (
	"strconv"

	"github.com/nats-io/nats.go"

	"github.com/starling-smc/starling/cluster"
)

// wire takes the frames of a cluster.Exchange from node to node. They are messages of no stream:
//
//	starling.exchange.RUN.all     to all nodes
//	starling.exchange.RUN.NODE    to one of them
//
// Epoch and round are in the frame itself, since a node must hear of a later epoch than its own.
type wire struct{ *link }

// most is the most bytes of a frame, so that no frame holds up others for long.
const most = pieceSize

func (w wire) Most() int { return min(most, int(w.conn.MaxPayload())) }

func (w wire) Send(run cluster.Sum, to int, frame []byte) error {
	return w.conn.Publish(exchangeSubject(run, to), frame)
}

func (w wire) Listen(run cluster.Sum, node int, hear func([]byte)) (stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, s := range stops {
			s()
		}
	}
	for _, to := range []int{cluster.All, node} {
		s, err := w.conn.Subscribe(exchangeSubject(run, to), func(m *nats.Msg) { hear(m.Data) })
		if err != nil {
			stop()
			return nil, closed(err)
		}
		stops = append(stops, func() { s.Unsubscribe() })
	}
	return stop, nil
}

func exchangeSubject(run cluster.Sum, to int) string {
	name := "all"
	if to != cluster.All {
		name = strconv.Itoa(to)
	}
	return "starling.exchange." + run.String() + "." + name
}
