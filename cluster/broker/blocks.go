package broker

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/starling-smc/starling/cluster"
)

// Headers of the first piece of a block, and of the messages that are written over a block that was dropped.
const (
	headPieces  = "Starling-Pieces"
	headDropped = "Starling-Dropped"
)

const (
	pieceSize  = 512 << 10 // servers take messages of 1 MiB unless they are told otherwise
	headers    = 4 << 10   // room for the headers of a message
	maxPieces  = cluster.MaxBlock / pieceSize
	atATime    = 4           // pieces that are under way
	droppedFor = time.Minute // until the server removes what was written over a dropped block
)

func blockSubject(space, sum string) string { return "starling.block." + space + "." + sum + "." }

// blocks is a cluster.Blocks. All pieces but the last have pieceSize bytes. The first is written last: where it is, the others are.
type blocks struct{ *link }

func (s blocks) Put(ctx context.Context, space string, sum cluster.Sum, block []byte) error {
	if len(block) > cluster.MaxBlock {
		return fmt.Errorf("%w for a block of %d bytes: %d are the most", cluster.ErrFull, len(block), cluster.MaxBlock)
	}
	subject := blockSubject(space, sum.String())
	n := max(1, (len(block)+pieceSize-1)/pieceSize)
	piece := func(ctx context.Context, i int, header nats.Header) error {
		_, err := s.publish(ctx, subject+strconv.Itoa(i), header, block[i*pieceSize:min(len(block), (i+1)*pieceSize)])
		return know(err)
	}
	if err := several(ctx, 1, n, func(ctx context.Context, i int) error { return piece(ctx, i, nil) }); err != nil {
		return err
	}
	return piece(ctx, 0, nats.Header{headPieces: {strconv.Itoa(n)}})
}

func (s blocks) Get(ctx context.Context, space string, sum cluster.Sum) ([]byte, error) {
	subject := blockSubject(space, sum.String())
	first, n, err := s.first(ctx, subject)
	if err != nil || n == 1 {
		return first, err
	}
	pieces := make([][]byte, n)
	pieces[0] = first
	err = several(ctx, 1, n, func(ctx context.Context, i int) error {
		m, err := s.newer(ctx, BlockStream, subject+strconv.Itoa(i), 0)
		if err == nil {
			pieces[i] = m.data
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	block := make([]byte, 0, n*pieceSize)
	for _, p := range pieces {
		block = append(block, p...)
	}
	return block, nil
}

// first returns the first piece of a block, and how many there are.
func (s blocks) first(ctx context.Context, subject string) ([]byte, int, error) {
	m, err := s.newer(ctx, BlockStream, subject+"0", 0)
	if err != nil {
		return nil, 0, err
	}
	if m.header.Get(headDropped) != "" {
		return nil, 0, cluster.ErrNone
	}
	n, err := strconv.Atoi(m.header.Get(headPieces))
	if err != nil || n < 1 || n > maxPieces {
		err = errors.New("it is no block")
		s.refuse(m.subject, err)
		return nil, 0, fmt.Errorf("%w: %w", cluster.ErrNone, err)
	}
	return m.data, n, nil
}

// Drop writes an empty message over each piece, the first one first, so that it takes no right but that to write.
func (s blocks) Drop(ctx context.Context, space string, sum cluster.Sum) error {
	subject := blockSubject(space, sum.String())
	_, n, err := s.first(ctx, subject)
	if errors.Is(err, cluster.ErrNone) {
		return nil
	}
	if err != nil {
		return err
	}
	drop := func(ctx context.Context, i int) error {
		_, err := s.publish(ctx, subject+strconv.Itoa(i), nats.Header{headDropped: {"1"}, "Nats-TTL": {droppedFor.String()}}, nil)
		return know(err)
	}
	if err := drop(ctx, 0); err != nil {
		return err
	}
	return several(ctx, 1, n, drop)
}

// several carries out one call for each number from first to before end, a few at a time. The first error ends the others.
func several(ctx context.Context, first, end int, one func(context.Context, int) error) error {
	if first >= end {
		return nil
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	numbers := make(chan int)
	var all sync.WaitGroup
	for range min(atATime, end-first) {
		all.Go(func() {
			for i := range numbers {
				if err := one(ctx, i); err != nil {
					stop(err)
				}
			}
		})
	}
	for i := first; i < end && ctx.Err() == nil; i++ {
		select {
		case numbers <- i:
		case <-ctx.Done():
		}
	}
	close(numbers)
	all.Wait()
	return context.Cause(ctx)
}
