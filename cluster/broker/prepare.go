package broker

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// streamConfig is what is set of a stream. Everything else keeps the server's default.
type streamConfig struct {
	Name          string   `json:"name"`
	Description   string   `json:"description"`
	Subjects      []string `json:"subjects"`
	Retention     string   `json:"retention"`
	Storage       string   `json:"storage"`
	Replicas      int      `json:"num_replicas"`
	Discard       string   `json:"discard"`
	DiscardNewPer bool     `json:"discard_new_per_subject"`
	PerSubject    int64    `json:"max_msgs_per_subject"`
	MaxMsgs       int64    `json:"max_msgs"`
	MaxBytes      int64    `json:"max_bytes"`
	MaxMsgSize    int32    `json:"max_msg_size"`
	MaxConsumers  int      `json:"max_consumers"`
	MaxAge        int64    `json:"max_age"`
	Duplicates    int64    `json:"duplicate_window"`
	DenyDelete    bool     `json:"deny_delete"`
	DenyPurge     bool     `json:"deny_purge"`
	AllowRollup   bool     `json:"allow_rollup_hdrs"`
	AllowDirect   bool     `json:"allow_direct"`
	AllowTTL      bool     `json:"allow_msg_ttl"`
}

// streams are those that Prepare makes.
func (o Options) streams() []streamConfig {
	replicas := max(1, o.Replicas)
	most := func(n, otherwise int64) int64 {
		if n == 0 {
			return otherwise
		}
		return n
	}
	s := streamConfig{Retention: "limits", Storage: "file", Replicas: replicas, Discard: "new", PerSubject: 1, MaxMsgs: -1, MaxBytes: most(o.QuotaRecords, -1),
		MaxMsgSize: -1, MaxConsumers: -1, Duplicates: int64(100 * time.Millisecond), AllowDirect: true}
	tasks, results, values, blocks := s, s, s, s
	tasks.Name, tasks.Description, tasks.Subjects = TaskStream, "tasks of starling's runs", []string{"starling.task.*.*"}
	tasks.Retention, tasks.DiscardNewPer, tasks.AllowDirect = "workqueue", true, false
	tasks.MaxMsgs, tasks.MaxMsgSize = most(o.QuotaTasks, 1e6), maxTask
	results.Name, results.Description, results.Subjects = ResultStream, "results of starling's tasks", []string{"starling.result.*.*"}
	results.DiscardNewPer, results.DenyDelete, results.MaxMsgSize = true, true, maxRecord
	values.Name, values.Description, values.Subjects = ValueStream, "states of starling's runs and tasks", []string{valuePrefix + ">"}
	values.DenyDelete, values.AllowRollup, values.AllowTTL, values.MaxMsgSize = true, true, true, maxRecord
	blocks.Name, blocks.Description, blocks.Subjects = BlockStream, "data, states and results of starling's runs", []string{"starling.block.>"}
	blocks.AllowTTL, blocks.MaxBytes, blocks.MaxMsgSize = true, most(o.QuotaBytes, -1), pieceSize+headers
	return []streamConfig{tasks, results, values, blocks}
}

// Prepare makes the streams, the bucket and the consumer, or brings those that are there to the options. The owner of a server calls it, or a
// submitter whose keys permit it; workers do not. It may be called again at any time.
func (b *Broker) Prepare(ctx context.Context) error {
	for _, s := range b.options.streams() {
		err := b.stream(ctx, s)
		if err != nil {
			return fmt.Errorf("making stream %s: %w", s.Name, know(err))
		}
	}
	type consumerConfig struct {
		Durable    string `json:"durable_name"`
		Deliver    string `json:"deliver_policy"`
		Ack        string `json:"ack_policy"`
		Wait       int64  `json:"ack_wait"`
		MaxDeliver int    `json:"max_deliver"`
		MaxPending int    `json:"max_ack_pending"`
		MaxWaiting int    `json:"max_waiting"`
		Replay     string `json:"replay_policy"`
	}
	request := struct {
		Stream string         `json:"stream_name"`
		Config consumerConfig `json:"config"`
		Action string         `json:"action"`
	}{TaskStream, consumerConfig{Consumer, "all", "explicit", int64(b.lease), -1, 1 << 16, 1 << 16, "instant"}, ""}
	if _, err := b.api(ctx, "CONSUMER.DURABLE.CREATE."+TaskStream+"."+Consumer, request, nil); err != nil {
		return fmt.Errorf("making consumer %s of stream %s: %w", Consumer, TaskStream, know(err))
	}
	return nil
}

// Prepared reports whether the streams are there. Their owner has chosen their limits and copies, and Prepare would change them.
func (b *Broker) Prepared(ctx context.Context) (bool, error) {
	_, err := b.api(ctx, "STREAM.INFO."+TaskStream, nil, nil)
	if coded := (*apiError)(nil); errors.As(err, &coded) && coded.Err == codeNoStream {
		return false, nil
	}
	return err == nil, know(err)
}

// stream makes a stream, or changes the one that is there.
func (b *Broker) stream(ctx context.Context, s streamConfig) error {
	_, err := b.api(ctx, "STREAM.INFO."+s.Name, nil, nil)
	verb := "UPDATE"
	if coded := (*apiError)(nil); errors.As(err, &coded) && coded.Err == codeNoStream {
		verb = "CREATE"
	} else if err != nil {
		return err
	}
	for begun := time.Now(); ; { // servers that have just found each other do not yet count all of them
		_, err = b.api(ctx, "STREAM."+verb+"."+s.Name, s, nil)
		if coded := (*apiError)(nil); !errors.As(err, &coded) || coded.Err != codeNoPeers {
			return err
		}
		if time.Since(begun) > placing || ctx.Err() != nil {
			return fmt.Errorf("there are fewer servers than the %d copies that are asked for, or they have no room: %w", s.Replicas, err)
		}
		if err := later(ctx, nil); err != nil {
			return err
		}
	}
}

const placing = 20 * time.Second
