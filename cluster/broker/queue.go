package broker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/starling-smc/starling/cluster"
)

const maxTask = 256 << 10

func taskSubject(run, task string) string { return "starling.task." + run + "." + task }

// queue is a cluster.Queue.
type queue struct{ *link }

// Put writes down which contents the task names, so that [Broker.Forget] knows what the run owns, and queues it.
func (q queue) Put(ctx context.Context, task cluster.Task) error {
	run := task.Run()
	for _, c := range contents(task) {
		if err := q.hold(ctx, run, c); err != nil {
			return err
		}
	}
	data := encode(task)
	if len(data) > maxTask {
		return fmt.Errorf("part %d of phase %q has a task of %d bytes, and %d are the most: it names too many contents", task.Part, task.Phase, len(data), maxTask)
	}
	subject := taskSubject(run.String(), task.Digest().String())
	_, err := q.publish(ctx, subject, nil, data)
	if coded := (*apiError)(nil); errors.As(err, &coded) && coded.perSubject() {
		return cluster.ErrQueued
	}
	if err = know(err); errors.Is(err, cluster.ErrFull) { // with replicas, a full stream says so before it looks at the subject
		if _, there := q.get(ctx, TaskStream, lastOf{subject}); there == nil {
			return cluster.ErrQueued
		}
	}
	return err
}

// hold writes down that a task of a run names a content.
func (b *link) hold(ctx context.Context, run cluster.Sum, c cluster.Content) error {
	if len(c.Blocks) == 0 {
		return nil
	}
	h := held{run, c.Sum}
	b.turn.Lock()
	_, known := b.held[h]
	b.turn.Unlock()
	if known {
		return nil
	}
	if _, err := b.publish(ctx, valuePrefix+"holds."+run.String()+"."+c.Sum.String(), nil, encode(c)); err != nil {
		return know(err)
	}
	b.turn.Lock()
	b.held[h] = struct{}{}
	b.turn.Unlock()
	return nil
}

// contents returns what a task names.
func contents(t cluster.Task) []cluster.Content {
	all := []cluster.Content{t.Config}
	for _, one := range t.Data {
		all = append(all, one.Content)
	}
	for _, one := range t.Earlier {
		all = append(all, one.Content)
	}
	return all
}

// Take asks the consumer for one task. Each time has a subject of its own for the answer: the server sees that nobody listens there any more, and
// does not send a task to a worker that has stopped asking.
func (q queue) Take(ctx context.Context) (cluster.Lease, error) {
	var fails time.Time // since when
	for {
		m, err := q.pull(ctx)
		if err != nil && passing(err) && ctx.Err() == nil {
			if fails.IsZero() {
				fails = time.Now()
			}
			if time.Since(fails) < q.patience {
				continue
			}
			err = fmt.Errorf("the server has handed out no tasks for %v: %w", q.patience, explain(err))
		}
		if err != nil {
			return nil, err
		}
		if fails = (time.Time{}); m == nil {
			continue
		}
		task, err := readTask(m)
		if err == nil {
			return &lease{q.link, m.Reply, task}, nil
		}
		q.refuse(m.Subject, err)
		if err := q.ack(ctx, m.Reply, "+TERM"); err != nil {
			return nil, err
		}
	}
}

const pullTime = 20 * time.Second

// pull waits for the next message of the queue: nil where none comes for a while.
func (q queue) pull(ctx context.Context) (*nats.Msg, error) {
	const subject = "$JS.API.CONSUMER.MSG.NEXT." + TaskStream + "." + Consumer
	ctx, done := q.wait(ctx, subject)
	defer done()
	inbox := q.conn.NewInbox()
	answers := make(chan *nats.Msg, 4)
	sub, err := q.conn.ChanSubscribe(inbox, answers)
	if err != nil {
		return nil, closed(err)
	}
	defer sub.Unsubscribe()
	request := struct {
		Batch   int           `json:"batch"`
		Expires time.Duration `json:"expires"`
	}{1, pullTime}
	if err := q.conn.PublishRequest(subject, inbox, encode(request)); err != nil {
		return nil, later(ctx, err)
	}
	long := time.NewTimer(pullTime + 2*time.Second) // a server that starts again forgets who waits
	defer long.Stop()
	select {
	case m := <-answers:
		switch status := m.Header.Get("Status"); status {
		case "":
			return m, nil
		case "404", "408": // there is none
			return nil, nil
		case "503":
			return nil, later(ctx, nats.ErrNoResponders)
		default:
			return nil, later(ctx, &apiError{503, 0, "status " + status + " " + m.Header.Get("Description")})
		}
	case <-long.C:
		return nil, nil
	case <-ctx.Done():
	}
	// A task that was on its way when this worker stopped would wait a minute for another one.
	sub.Unsubscribe()
	soon, end := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer end()
	if q.conn.FlushWithContext(soon) == nil {
		select {
		case m := <-answers:
			if m.Header.Get("Status") == "" {
				return m, nil
			}
		default:
		}
	}
	return nil, context.Cause(ctx)
}

// later returns an error after a while, so that what is asked again is not asked all the time.
func later(ctx context.Context, err error) error {
	timer := time.NewTimer(250 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return err
	}
}

// readTask reads a task and compares it with its name. A task of another version of the program may have fields that this one does not know: the
// worker then compares the versions.
func readTask(m *nats.Msg) (cluster.Task, error) {
	var task cluster.Task
	d := json.NewDecoder(bytes.NewReader(m.Data))
	d.DisallowUnknownFields()
	if err := d.Decode(&task); err != nil || d.More() {
		task = cluster.Task{}
		if err := json.Unmarshal(m.Data, &task); err != nil {
			return task, err
		}
		if task.Version == "" {
			return task, errors.New("it is no task")
		}
		return task, nil
	}
	if want := taskSubject(task.Run().String(), task.Digest().String()); m.Subject != want {
		return task, errors.New("its name is that of another task")
	}
	return task, nil
}

// Queued lists the subjects of the stream.
func (q queue) Queued(ctx context.Context, run cluster.Sum) ([]cluster.Sum, error) {
	subjects, err := q.subjects(ctx, TaskStream, taskSubject(run.String(), "*"))
	var ids []cluster.Sum
	for subject := range subjects {
		var id cluster.Sum
		if id.UnmarshalText([]byte(subject[strings.LastIndexByte(subject, '.')+1:])) == nil {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// subjects returns the subjects of a stream that fit a filter, with the number of messages of each.
func (b *link) subjects(ctx context.Context, stream, filter string) (map[string]int, error) {
	all := map[string]int{}
	for {
		var page struct {
			Total int `json:"total"`
			State struct {
				Subjects map[string]int `json:"subjects"`
			} `json:"state"`
		}
		request := struct {
			Filter string `json:"subjects_filter"`
			Offset int    `json:"offset"`
		}{filter, len(all)}
		if _, err := b.api(ctx, "STREAM.INFO."+stream, request, &page); err != nil {
			return nil, know(err)
		}
		before := len(all)
		for subject, n := range page.State.Subjects {
			all[subject] = n
		}
		if len(all) >= page.Total || len(all) == before {
			return all, nil
		}
	}
}

// lease is a cluster.Lease: a delivery, with the subject that its acknowledgements go to.
type lease struct {
	broker *link
	reply  string
	task   cluster.Task
}

func (l *lease) Task() cluster.Task { return l.task }

func (l *lease) Extend(ctx context.Context) error { return l.broker.ack(ctx, l.reply, "+WPI") }

func (l *lease) GiveBack(ctx context.Context) error { return l.broker.ack(ctx, l.reply, "-NAK") }

func (l *lease) Acknowledge(ctx context.Context) error { return l.broker.ack(ctx, l.reply, "+ACK") }

// ack tells the consumer what has become of a delivery, and waits until it has heard.
func (b *link) ack(ctx context.Context, reply, what string) error {
	return b.ask(ctx, reply, nil, []byte(what), func(*nats.Msg) error { return nil })
}
