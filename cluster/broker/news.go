package broker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/starling-smc/starling/cluster"
)

// Subjects on which workers and servers say who they are.
const (
	hello     = "starling.hello"
	ofServers = "starling.server"
)

func newsSubject(run cluster.Sum) string { return "starling.news." + run.String() }

// Tell tells those who hear a run's news. Messages may be lost, and nobody waits for them.
func (b *Broker) Tell(run cluster.Sum, message []byte) error {
	if len(message) == 0 || int64(len(message)) > b.conn.MaxPayload() {
		return fmt.Errorf("news of %d bytes: 1 to %d can be told", len(message), b.conn.MaxPayload())
	}
	err := b.conn.Publish(newsSubject(run), message)
	if errors.Is(err, nats.ErrReconnectBufExceeded) { // the connection is lost, and so is the message
		return nil
	}
	return err
}

// Hear calls heard with each message of a run's news, one at a time.
func (b *Broker) Hear(run cluster.Sum, heard func(message []byte)) (stop func(), err error) {
	return b.subscribe(newsSubject(run), func(m *nats.Msg) {
		if len(m.Data) > 0 { // empty ones ask whether anybody is there
			heard(m.Data)
		}
	})
}

// Answer answers those who ask which workers there are, with what describe returns at that time.
func (b *Broker) Answer(describe func() []byte) (stop func(), err error) {
	return b.answer(hello, describe)
}

// AnswerAsServer answers those who ask which servers of starling there are.
func (b *Broker) AnswerAsServer(describe func() []byte) (stop func(), err error) {
	return b.answer(ofServers, describe)
}

func (b *Broker) answer(subject string, describe func() []byte) (stop func(), err error) {
	return b.subscribe(subject, func(m *nats.Msg) {
		if m.Reply != "" {
			m.Respond(describe())
		}
	})
}

func (b *Broker) subscribe(subject string, each func(*nats.Msg)) (stop func(), err error) {
	sub, err := b.conn.Subscribe(subject, each)
	if err != nil {
		return nil, closed(err)
	}
	return func() { sub.Unsubscribe() }, nil
}

// Workers asks which workers there are, and returns the answers that come within a time.
func (b *Broker) Workers(ctx context.Context, wait time.Duration) ([][]byte, error) {
	return b.all(ctx, hello, wait)
}

// Servers asks which servers of starling there are, and returns the answers that come within a time. Other NATS servers do not answer.
func (b *Broker) Servers(ctx context.Context, wait time.Duration) ([][]byte, error) {
	return b.all(ctx, ofServers, wait)
}

func (b *Broker) all(ctx context.Context, subject string, wait time.Duration) ([][]byte, error) {
	ctx, stop := context.WithTimeout(ctx, wait)
	defer stop()
	inbox := b.conn.NewInbox()
	answers := make(chan *nats.Msg, 1024)
	sub, err := b.conn.ChanSubscribe(inbox, answers)
	if err != nil {
		return nil, closed(err)
	}
	defer sub.Unsubscribe()
	if err := b.conn.PublishRequest(subject, inbox, nil); err != nil {
		return nil, err
	}
	var all [][]byte
	for {
		select {
		case m := <-answers:
			if m.Header.Get("Status") == "503" { // nobody listens
				return nil, nil
			}
			all = append(all, m.Data)
		case <-ctx.Done():
			return all, nil
		}
	}
}
