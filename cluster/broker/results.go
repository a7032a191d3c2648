package broker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/starling-smc/starling/cluster"
)

func resultSubject(run, task string) string { return "starling.result." + run + "." + task }

// results is a cluster.Results. A result's number is that of its message in the stream.
type results struct{ *link }

// Write may return ErrExists for its own write, where the answer to the first try was lost. Package cluster compares the sums then.
func (r results) Write(ctx context.Context, run, task cluster.Sum, record []byte) error {
	subject := resultSubject(run.String(), task.String())
	_, err := r.publish(ctx, subject, nil, record)
	if coded := (*apiError)(nil); errors.As(err, &coded) && coded.perSubject() {
		if _, err := r.newer(ctx, ResultStream, subject, 0); err != nil { // who reads it now must find it
			return err
		}
		return cluster.ErrExists
	}
	return know(err)
}

func (r results) Read(ctx context.Context, run, task cluster.Sum) ([]byte, error) {
	m, err := r.direct(ctx, ResultStream, resultSubject(run.String(), task.String()))
	if err != nil {
		return nil, err
	}
	return m.data, nil
}

// Next asks the stream's leader, again and again. A result that is published passes by here as well, just before it is stored: that is when to ask
// at once, and no more.
func (r results) Next(ctx context.Context, run cluster.Sum, after uint64) (cluster.Entry, error) {
	all := resultSubject(run.String(), "*")
	passing := make(chan *nats.Msg, 1)
	sub, err := r.conn.ChanSubscribe(all, passing)
	if err != nil {
		return cluster.Entry{}, closed(err)
	}
	defer sub.Unsubscribe()
	for pause := time.Second; ; pause = min(2*pause, time.Second) {
		m, err := r.get(ctx, ResultStream, nextOf{after + 1, all})
		if err == nil {
			return entry(m)
		}
		if !errors.Is(err, cluster.ErrNone) {
			return cluster.Entry{}, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return cluster.Entry{}, context.Cause(ctx)
		case <-passing:
			pause = 500 * time.Microsecond // until it is stored
		case <-timer.C:
		}
		timer.Stop()
	}
}

// entry reads the message of a result.
func entry(m *stored) (cluster.Entry, error) {
	e := cluster.Entry{Number: m.seq, Record: m.data}
	if err := e.Task.UnmarshalText([]byte(m.subject[strings.LastIndexByte(m.subject, '.')+1:])); err != nil {
		return e, fmt.Errorf("result %d has the name %s, which is no task's: %w", m.seq, m.subject, err)
	}
	return e, nil
}

func (r results) Last(ctx context.Context, run cluster.Sum) (uint64, error) {
	m, err := r.get(ctx, ResultStream, lastOf{resultSubject(run.String(), "*")})
	if errors.Is(err, cluster.ErrNone) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return m.seq, nil
}
