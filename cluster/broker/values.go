package broker

import (
	"context"
	"errors"
	"strconv"

	"github.com/nats-io/nats.go"

	"github.com/starling-smc/starling/cluster"
)

const (
	valuePrefix = "$KV.STARLING_VALUES."
	maxRecord   = 900 << 10 // a value or a result: the record of a task that keeps thousands of files beside its state
)

// values is a cluster.Values. A revision is the number of the key's last message in the stream.
type values struct{ *link }

func (s values) Value(ctx context.Context, key string) ([]byte, uint64, error) {
	m, err := s.direct(ctx, ValueStream, valuePrefix+key)
	if errors.Is(err, cluster.ErrNone) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	return m.data, m.seq, nil
}

// Swap may return ErrConflict for its own write, where the answer to the first try was lost. Package cluster reads the value then.
func (s values) Swap(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	header := nats.Header{"Nats-Expected-Last-Subject-Sequence": {strconv.FormatUint(revision, 10)}}
	seq, err := s.publish(ctx, valuePrefix+key, header, value)
	if err = know(err); errors.Is(err, cluster.ErrConflict) { // who reads the value now must find the other one
		if _, err := s.newer(ctx, ValueStream, valuePrefix+key, revision); err != nil && !errors.Is(err, cluster.ErrNone) {
			return 0, err
		}
	}
	return seq, err
}
