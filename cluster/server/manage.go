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

// sweepTime is how often old runs are looked for.
const sweepTime = time.Hour

// recordsShare is how many times larger the store is than the room for each of tasks, results and values.
const recordsShare = 50

// Info says how much is stored, and what was refused.
func (s *Server) Info() Info {
	i := Info{Name: s.nats.Name(), Limit: s.options.StoreBytes, Refused: s.refused.all()}
	if js, err := s.nats.Jsz(nil); err == nil {
		i.Stored = int64(js.Store)
	}
	return i
}

// manage makes the streams, unless they are there, and keeps the limit of runs until ctx ends. Of several servers the leader does so.
func (s *Server) manage(ctx context.Context, b *broker.Broker, there bool) {
	defer b.Close()
	looked, swept := time.Now(), time.Time{}
	for wait(ctx, 200*time.Millisecond) {
		if s.options.Peers != nil && !s.nats.JetStreamIsLeader() {
			there = false // another leader may have died before it was done
			continue
		}
		if !there {
			soon, stop := context.WithTimeout(ctx, 15*time.Second)
			err := b.Prepare(soon)
			stop()
			if there = err == nil; !there {
				s.tellUnlessEnded(ctx, "the streams are not there yet: %v", err)
			}
		}
		if there && s.options.RunBytes > 0 && time.Since(looked) > quotaTime {
			if err := s.endLarge(ctx, b, s.options.RunBytes); err != nil {
				s.tellUnlessEnded(ctx, "the runs' bytes are not known: %v", err)
			}
			looked = time.Now()
		}
		if there && s.options.ForgetAfter > 0 && time.Since(swept) > min(s.options.ForgetAfter, sweepTime) {
			if err := s.forgetOld(ctx, b, s.options.ForgetAfter); err != nil {
				s.tellUnlessEnded(ctx, "old runs are not removed: %v", err)
			}
			swept = time.Now()
		}
	}
}

// manageAmongPeers waits for the other servers before it manages. A request that is made before there is a leader is lost, and so waits in vain.
func (s *Server) manageAmongPeers(ctx context.Context, seed []byte) {
	for told := false; ctx.Err() == nil; {
		soon, stop := context.WithTimeout(ctx, 2*time.Second)
		b, err := s.connect(soon, seed)
		stop()
		if err == nil {
			s.manage(ctx, b, false)
			return
		}
		if !told {
			told = true
			s.tellUnlessEnded(ctx, "waits until most of the servers are there (%v)", err)
		}
		wait(ctx, 200*time.Millisecond)
	}
}

func (s *Server) tellUnlessEnded(ctx context.Context, format string, err error) {
	if ctx.Err() == nil {
		s.options.Log(fmt.Sprintf(format, err))
	}
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

// connect connects this process to its server, and answers who asks for the server.
func (s *Server) connect(ctx context.Context, seed []byte) (*broker.Broker, error) {
	o := broker.Options{Dial: s.Dial, Seed: seed, Name: "starling server", Once: true, Replicas: 1, Lease: s.options.Lease}
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
	if _, err = b.AnswerAsServer(s.describe); err != nil {
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

// endLarge ends the runs that have stored more bytes than a run may.
func (s *Server) endLarge(ctx context.Context, b *broker.Broker, most int64) error {
	runs, err := b.Runs(ctx)
	if err != nil {
		return err
	}
	for _, r := range runs {
		if r.Status != "open" || r.Bytes <= most {
			continue
		}
		why := fmt.Sprintf("the run has stored %d bytes on the server, and %d are the most for a run there: save less often or keep fewer states, or start the server with a larger limit", r.Bytes, most)
		if err := b.Cluster().Fail(ctx, r.Sum, why); err != nil {
			return err
		}
		s.options.Log(fmt.Sprintf("run %v was ended: %s", r.Sum, why))
	}
	return nil
}

// forgetOld removes runs that ended long ago.
func (s *Server) forgetOld(ctx context.Context, b *broker.Broker, after time.Duration) error {
	runs, err := b.Runs(ctx)
	if err != nil {
		return err
	}
	for _, r := range runs {
		if r.Status == "open" || r.Status == "" || time.Since(r.Changed) < after {
			continue
		}
		if err := b.Forget(ctx, r.Sum); err != nil {
			return err
		}
		s.options.Log(fmt.Sprintf("run %v is removed: it was %s %v ago, and had stored %d bytes", r.Sum, r.Status, time.Since(r.Changed).Round(time.Minute), r.Bytes))
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
