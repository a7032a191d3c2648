package broker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/starling-smc/starling/cluster"
)

// Run is what the server has of a run.
type Run struct {
	Sum     cluster.Sum
	Status  string // open, cancelled or failed; "": the run's record is missing
	Reason  string // why it failed
	Queued  int    // tasks, taken or not
	Results int
	Bytes   int64     // of the contents that its tasks and results name, and of its saved states
	Changed time.Time // when its status changed last
}

// record is what package cluster keeps of a run.
type record struct {
	Status    string           `json:"status"`
	Reason    string           `json:"reason"`
	Differing []cluster.Result `json:"differing"`
}

// Runs returns all runs that the server knows, in the order of their sums.
func (b *Broker) Runs(ctx context.Context) ([]Run, error) {
	runs := map[string]*Run{}
	for _, one := range []struct {
		stream, prefix string
		count          func(*Run)
	}{
		{ValueStream, valuePrefix + "run.", func(*Run) {}},
		{TaskStream, "starling.task.", func(r *Run) { r.Queued++ }},
		{ResultStream, "starling.result.", func(r *Run) { r.Results++ }},
	} {
		subjects, err := b.subjects(ctx, one.stream, one.prefix+">")
		if err != nil {
			return nil, err
		}
		for subject := range subjects {
			name, _, _ := strings.Cut(strings.TrimPrefix(subject, one.prefix), ".")
			if runs[name] == nil {
				r := &Run{}
				if r.Sum.UnmarshalText([]byte(name)) != nil {
					b.refused.Add(1)
					continue
				}
				runs[name] = r
			}
			one.count(runs[name])
		}
	}
	var all []Run
	for _, name := range slices.Sorted(maps.Keys(runs)) {
		r := runs[name]
		at, m, forgotten, err := b.record(ctx, r.Sum)
		if err != nil {
			return nil, err
		}
		if forgotten && r.Queued == 0 && r.Results == 0 {
			continue
		}
		r.Status, r.Reason = at.Status, at.Reason
		if m != nil {
			r.Changed = m.at
		}
		if r.Bytes, err = b.size(ctx, r.Sum); err != nil {
			return nil, err
		}
		all = append(all, *r)
	}
	return all, nil
}

// record reads the record of a run: as it is stored, too, or nil where there is none.
func (b *Broker) record(ctx context.Context, run cluster.Sum) (r record, at *stored, forgotten bool, err error) {
	m, err := b.get(ctx, ValueStream, lastOf{valuePrefix + "run." + run.String()})
	if errors.Is(err, cluster.ErrNone) {
		return record{}, nil, false, nil
	}
	if err != nil {
		return record{}, nil, false, err
	}
	if err := json.Unmarshal(m.data, &r); err != nil {
		return record{}, nil, false, fmt.Errorf("the record of run %v is not one that this program wrote: %w", run, err)
	}
	return r, m, m.header.Get("Nats-TTL") != "", nil
}

// each reads all messages of a stream whose subjects fit a filter, in their order.
func (b *Broker) each(ctx context.Context, stream, filter string, one func(*stored) error) error {
	for seq := uint64(1); ; {
		m, err := b.get(ctx, stream, nextOf{seq, filter})
		if errors.Is(err, cluster.ErrNone) {
			return nil
		}
		if err == nil {
			err = one(m)
		}
		if err != nil {
			return err
		}
		seq = m.seq + 1
	}
}

// named is a block of the space Shared: its bytes, and when it was last named.
type named struct {
	bytes int64
	at    time.Time
}

// naming is a kind of record that names contents: where it is, and which it names.
type naming struct {
	stream, filter string
	contents       func(data []byte) ([]cluster.Content, error)
}

// picks reads a record and picks the contents from it.
func picks[T any](pick func(T) []cluster.Content) func([]byte) ([]cluster.Content, error) {
	return func(data []byte) ([]cluster.Content, error) {
		var record T
		err := json.Unmarshal(data, &record)
		return pick(record), err
	}
}

// namings returns the records of a run that name contents of the space Shared: what its tasks name, its results, what tasks keep beside their
// states, and two results that differ.
func namings(run string) []naming {
	type kept struct {
		Kept []cluster.Content `json:"kept"`
	}
	result := func(r cluster.Result) []cluster.Content { return append(r.Kept, r.Content, r.Beside) }
	return []naming{
		{ValueStream, valuePrefix + "holds." + run + ".*", picks(func(c cluster.Content) []cluster.Content { return []cluster.Content{c} })},
		{ResultStream, resultSubject(run, "*"), picks(result)},
		{ValueStream, valuePrefix + "state." + run + ".*", picks(func(s kept) []cluster.Content { return s.Kept })},
		{ValueStream, valuePrefix + "run." + run, picks(func(r record) (all []cluster.Content) {
			for _, d := range r.Differing {
				all = append(all, result(d)...)
			}
			return all
		})},
	}
}

// named returns the blocks that a run names, or all runs for "*". Records that this program did not write name nothing.
func (b *Broker) named(ctx context.Context, run string) (map[cluster.Sum]named, error) {
	all := map[cluster.Sum]named{}
	for _, n := range namings(run) {
		err := b.each(ctx, n.stream, n.filter, func(m *stored) error {
			contents, err := n.contents(m.data)
			if err != nil {
				b.refuse(m.subject, err)
				return nil
			}
			for _, c := range contents {
				for i, sum := range c.Blocks {
					at := m.at
					if before := all[sum].at; before.After(at) {
						at = before
					}
					all[sum] = named{min(cluster.MaxBlock, max(0, c.Bytes-int64(i)*cluster.MaxBlock)), at}
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// size returns the bytes of all that a run names, and of the states of tasks that have no result yet: those of others were dropped.
func (b *Broker) size(ctx context.Context, run cluster.Sum) (int64, error) {
	var bytes int64
	done, err := b.subjects(ctx, ResultStream, resultSubject(run.String(), "*"))
	if err != nil {
		return 0, err
	}
	all, err := b.named(ctx, run.String())
	if err != nil {
		return 0, err
	}
	for _, n := range all {
		bytes += n.bytes
	}
	states := valuePrefix + "state." + run.String() + "."
	err = b.each(ctx, ValueStream, states+"*", func(m *stored) error {
		if done[resultSubject(run.String(), strings.TrimPrefix(m.subject, states))] > 0 {
			return nil
		}
		var s struct {
			Saved []cluster.Content `json:"saved"`
		}
		if err := json.Unmarshal(m.data, &s); err != nil {
			b.refuse(m.subject, err)
			return nil
		}
		for _, c := range s.Saved {
			bytes += c.Bytes
		}
		return nil
	})
	return bytes, err
}

const forgottenFor = 10 * time.Minute // for workers that are still at the run

// AtWorkError says that a run cannot be forgotten yet.
type AtWorkError struct {
	Run cluster.Sum
	Why string
}

func (e *AtWorkError) Error() string {
	return fmt.Sprintf("run %v is at work (%s): cancel it first", e.Run, e.Why)
}

// Forget removes a run: its tasks, states, values and results, and the blocks of contents that its tasks and results named and no other run
// names. A block that was stored again after the run named it stays: somebody is about to name it. Blocks that nobody names and
// that are a day old go as well. A run at work is an *AtWorkError, unless it was cancelled; one that nobody knows is ErrNone.
//
// For ten minutes the run counts as cancelled, so that workers that are still at it stop.
func (b *Broker) Forget(ctx context.Context, run cluster.Sum) error {
	if err := b.forgettable(ctx, run); err != nil {
		return err
	}
	name := run.String()
	own, err := b.named(ctx, name)
	if err != nil {
		return err
	}
	for _, p := range []struct{ stream, filter string }{
		{TaskStream, taskSubject(name, "*")},
		{ResultStream, resultSubject(name, "*")},
		{ValueStream, valuePrefix + "state." + name + ".*"},
		{BlockStream, "starling.block.state." + name + ".>"},
		{ValueStream, valuePrefix + "holds." + name + ".*"},
	} {
		if err := b.purge(ctx, p.stream, p.filter, 0); err != nil {
			return err
		}
	}
	b.turn.Lock()
	maps.DeleteFunc(b.held, func(h held, _ struct{}) bool { return h.run == run })
	b.turn.Unlock()
	others, err := b.named(ctx, "*")
	if err != nil {
		return err
	}
	subjects, err := b.subjects(ctx, BlockStream, blockSubject(cluster.Shared, "*")+"0")
	if err != nil {
		return err
	}
	for subject := range subjects {
		var sum cluster.Sum
		prefix, _ := strings.CutSuffix(subject, ".0")
		if sum.UnmarshalText([]byte(prefix[strings.LastIndexByte(prefix, '.')+1:])) != nil {
			continue
		}
		if _, needed := others[sum]; needed {
			continue
		}
		m, err := b.get(ctx, BlockStream, lastOf{subject})
		if errors.Is(err, cluster.ErrNone) {
			continue
		}
		if err != nil {
			return err
		}
		if n, mine := own[sum]; mine && !m.at.After(n.at) || time.Since(m.at) > b.unnamed {
			if err := b.purge(ctx, BlockStream, prefix+".*", m.seq+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// forgettable says whether a run can be forgotten, and makes it a cancelled one for a while.
func (b *Broker) forgettable(ctx context.Context, run cluster.Sum) error {
	r, at, _, err := b.record(ctx, run)
	if err != nil {
		return err
	}
	revision := uint64(0)
	if at != nil {
		revision = at.seq
	}
	queued, err := b.subjects(ctx, TaskStream, taskSubject(run.String(), "*"))
	if err != nil {
		return err
	}
	done, err := b.subjects(ctx, ResultStream, resultSubject(run.String(), "*"))
	if err != nil {
		return err
	}
	left := 0 // a task that has its result may wait for its acknowledgement
	for subject := range queued {
		if done["starling.result."+strings.TrimPrefix(subject, "starling.task.")] == 0 {
			left++
		}
	}
	switch {
	case revision == 0 && len(queued)+len(done) == 0:
		return fmt.Errorf("run %v: %w", run, cluster.ErrNone)
	case r.Status == "open" && left > 0:
		return &AtWorkError{run, fmt.Sprintf("%d tasks are queued or computed", left)}
	}
	// The news of a run is heard by who has submitted it, also between two phases, when nothing is queued.
	_, err = b.once(ctx, &nats.Msg{Subject: newsSubject(run)}, 200*time.Millisecond)
	if r.Status == "open" && !errors.Is(err, nats.ErrNoResponders) {
		return &AtWorkError{run, "the process that submitted it lives"}
	}
	header := nats.Header{"Nats-Expected-Last-Subject-Sequence": {strconv.FormatUint(revision, 10)}, "Nats-TTL": {forgottenFor.String()}}
	_, err = b.publish(ctx, valuePrefix+"run."+run.String(), header, encode(record{Status: "cancelled"}))
	if err = know(err); errors.Is(err, cluster.ErrConflict) {
		return &AtWorkError{run, "it has changed just now"}
	}
	return err
}

// purge removes the messages of a stream whose subjects fit a filter, and whose numbers are below before: 0 is all.
func (b *Broker) purge(ctx context.Context, stream, filter string, before uint64) error {
	request := struct {
		Filter string `json:"filter"`
		Before uint64 `json:"seq,omitempty"`
	}{filter, before}
	if _, err := b.api(ctx, "STREAM.PURGE."+stream, request, nil); err != nil {
		return fmt.Errorf("removing %s: %w", filter, know(err))
	}
	return nil
}
