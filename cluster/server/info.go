package server

import (
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// InfoSubject is the subject on which every server answers with its Info.
const InfoSubject = "starling.server"

// Info is what a server says of itself.
type Info struct {
	Name    string         `json:"name"`
	Stored  int64          `json:"stored"`  // bytes
	Limit   int64          `json:"limit"`   // of them
	Refused map[kind]int64 `json:"refused"` // clients and messages since the start
}

// informer answers with the Info over a connection of this process.
type informer struct{ conn *nats.Conn }

func (s *Server) inform(inside nkeys.KeyPair) (*informer, error) {
	options := []nats.Option{nats.InProcessServer(s), nats.Name("starling server"), nats.MaxReconnects(0)}
	if inside != nil {
		public, err := inside.PublicKey()
		if err != nil {
			return nil, err
		}
		options = append(options, nats.Nkey(public, inside.Sign))
	}
	conn, err := nats.Connect("", options...)
	if err != nil {
		return nil, fmt.Errorf("the server does not answer its own process: %w", err)
	}
	if _, err := conn.Subscribe(InfoSubject, func(m *nats.Msg) {
		if text, err := json.Marshal(s.Info()); err == nil {
			m.Respond(text)
		}
	}); err != nil {
		conn.Close()
		return nil, err
	}
	return &informer{conn}, nil
}

func (i *informer) close() { i.conn.Close() }

// Info says how much is stored, and what was refused.
func (s *Server) Info() Info {
	i := Info{Name: s.nats.Name(), Refused: s.refused.all()}
	if js, err := s.nats.Jsz(nil); err == nil {
		i.Stored, i.Limit = int64(js.Store), js.Config.MaxStore
	}
	return i
}
