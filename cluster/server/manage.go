package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/starling-smc/starling/cluster/broker"
	"github.com/starling-smc/starling/internal/regular"
)

// quotaTime is how often the runs' bytes are compared with their limit.
const quotaTime = 30 * time.Second

// recordsShare is how many times larger the store is than the room for each of tasks, results and values.
const recordsShare = 50

// Info is what a server says of itself.
type Info struct {
	Name    string         `json:"name"`
	Stored  int64          `json:"stored"`  // bytes
	Limit   int64          `json:"limit"`   // of them
	Refused map[kind]int64 `json:"refused"` // clients and messages since the start
}

// Info says how much is stored, and what was refused.
func (s *Server) Info() Info {
	i := Info{Name: s.nats.Name(), Limit: s.options.StoreBytes, Refused: s.refused.all()}
	if js, err := s.nats.Jsz(nil); err == nil {
		i.Stored = int64(js.Store)
	}
	return i
}

// manage makes the streams, and then answers who asks for the server until ctx ends. It is a client of its own server. One of several servers
// repeats the beginning until most of them are there.
func (s *Server) manage(ctx context.Context, seed []byte, begun chan<- error) {
	var b *broker.Broker
	err := context.Canceled
	for first := true; ctx.Err() == nil && err != nil; first = false {
		if !first {
			wait(ctx, time.Second)
		}
		if b, err = s.begin(ctx, seed); err == nil || s.options.Peers == nil {
			break
		}
		if first {
			s.options.Log("waits for most of the servers")
			close(begun)
			begun = nil
		}
	}
	if begun != nil {
		begun <- err
		close(begun)
	}
	if err != nil {
		return
	}
	defer b.Close()
	for s.options.RunBytes > 0 && wait(ctx, quotaTime) {
		if err := s.endLarge(ctx, b); err != nil && ctx.Err() == nil {
			s.options.Log(fmt.Sprintf("the runs' bytes are not known: %v", err))
		}
	}
	<-ctx.Done()
}

// wait returns false when ctx ends before the time is over.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// begin connects to the server, and makes its streams.
func (s *Server) begin(ctx context.Context, seed []byte) (*broker.Broker, error) {
	o := broker.Options{Dial: s.Dial, Seed: seed, Name: "starling server", Once: true, Replicas: 1}
	// Where blocks have filled the store, there is room for the records that say so.
	o.QuotaRecords = s.options.StoreBytes / recordsShare
	o.QuotaBytes = s.options.StoreBytes - 3*o.QuotaRecords
	if s.options.Peers != nil {
		o.Replicas = 3
	}
	b, err := broker.Connect(ctx, o)
	if err != nil {
		return nil, err
	}
	if _, err = b.AnswerAsServer(s.describe); err == nil {
		err = b.Prepare(ctx)
	}
	if err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

func (s *Server) describe() []byte {
	text, err := json.Marshal(s.Info())
	if err != nil {
		panic(err) // plain data
	}
	return text
}

// endLarge ends the runs that have stored more than a run may.
func (s *Server) endLarge(ctx context.Context, b *broker.Broker) error {
	runs, err := b.Runs(ctx)
	if err != nil {
		return err
	}
	for _, r := range runs {
		if r.Status != "open" || r.Bytes <= s.options.RunBytes {
			continue
		}
		why := fmt.Sprintf("the run has stored %d bytes on the server, and %d are the most for a run there: save less often or keep fewer states, or start the server with a larger limit", r.Bytes, s.options.RunBytes)
		if err := b.Cluster().Fail(ctx, r.Sum, why); err != nil {
			return err
		}
		s.options.Log(fmt.Sprintf("run %v was ended: %s", r.Sum, why))
	}
	return nil
}

// limitOf is the limit of a store that has none: three quarters of what it has and what is free on its disk.
func limitOf(dir string) (int64, error) {
	free, ok := regular.DiskFree(dir)
	if !ok {
		return 0, fmt.Errorf("the free bytes of %s are not known on this system: give the limit of the store", dir)
	}
	used := int64(0)
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			used += info.Size()
		}
		return err
	})
	return (used + free) / 4 * 3, err
}
