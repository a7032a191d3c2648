package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/starling-smc/starling/cluster"
)

// Elsewhere is the Executor that has parts carried out by the workers of a cluster. The run's folder and its result are those of one
// process. Parts that end are saved in the folder; what others have done is in the cluster's store until they end. It serves one run.
type Elsewhere struct {
	Cluster cluster.Cluster

	// Task makes the task that all tasks of the run are like, and puts what it names into the store. It is called before the first phase that
	// has work to do.
	Task func(ctx context.Context) (cluster.Task, error)

	Tell    func(Away)         // called with progress, one call at a time; nil: nobody is told
	Refused func(words string) // called when a worker says that it cannot compute the run's tasks; nil: nobody is told

	task  *cluster.Task // nil: not asked for yet
	ended []Phase       // earlier phases
	named int           // of these, phases whose results the task names
}

// Away is the progress of a phase that is carried out elsewhere.
type Away struct {
	Phase       string
	Parts, Done int
	Share       float64        // share of the work that is done, 0 to 1: the mean over the parts
	Machines    map[string]int // parts at work on each machine that was heard of
	Resumed     bool           // Share was done before: the speed is not known yet
}

// quiet is how long a part counts as at work after the last word of it.
const quiet = 2 * time.Minute

// prepare names what the tasks of the next phase need.
func (a *Elsewhere) prepare(ctx context.Context) error {
	if a.task == nil {
		task, err := a.Task(ctx)
		if err != nil {
			return err
		}
		a.task = &task
	}
	for ; a.named < len(a.ended); a.named++ {
		p := &a.ended[a.named]
		b, err := packStates(p.Parts)
		if err != nil {
			return err
		}
		content, err := cluster.Save(ctx, a.Cluster.Blocks, cluster.Shared, b)
		if err != nil {
			return fmt.Errorf("the results of phase %q: %w", p.Name, err)
		}
		a.task.Earlier = append(a.task.Earlier, cluster.Input{Name: p.Name, Content: content})
	}
	return nil
}

// carry has the parts of a phase that are not done carried out. The end of ctx cancels the run: workers stop after their steps.
func (a *Elsewhere) carry(ctx context.Context, w *work) error {
	if w.ended == len(w.Parts) {
		a.ended = append(a.ended, w.Phase)
		return nil
	}
	if err := a.prepare(ctx); err != nil {
		return err
	}
	var tasks []cluster.Task
	var parts []int
	lines := make([][]TraceLine, len(w.Parts))
	if w.traced {
		for _, l := range w.run.trace {
			lines[l.Part] = append(lines[l.Part], l)
		}
	}
	for i, part := range w.Parts {
		if part.Done() {
			continue
		}
		task := *a.task
		task.Phase, task.Part = w.Name, i
		if err := a.seed(ctx, w, i, task, lines[i]); err != nil {
			return err
		}
		tasks, parts = append(tasks, task), append(parts, i)
	}
	ear := &ear{work: w, tell: a.Tell, refused: a.Refused, run: tasks[0].Run(), at: make([]at, len(w.Parts))}
	for i, part := range w.Parts {
		if ear.at[i].done = part.Done(); part.Done() {
			ear.ended++
		}
	}
	stop, err := a.Cluster.Hear(ear.run, ear.hear)
	if err != nil {
		return err
	}
	defer ear.end()
	defer stop()
	ear.begin(w.begun)
	c := &cluster.Coordinator{Cluster: a.Cluster}
	err = c.Do(ctx, tasks, func(j int, end cluster.End) error {
		i := parts[j]
		if err := w.deliver(ctx, i, end.Result, a.Cluster.Blocks, ear); err != nil {
			return fmt.Errorf("phase %q: part %d, as it came back: %w", w.Name, i, err)
		}
		return nil
	})
	if err != nil {
		return Cancelled(ctx, a.Cluster, ear.run, err)
	}
	a.ended = append(a.ended, w.Phase)
	return w.tellAll()
}

// Cancelled tells the workers of a run that its submitter has given up for a reason, unless the run has ended by itself. It returns the reason.
func Cancelled(ctx context.Context, c cluster.Cluster, run cluster.Sum, why error) error {
	if errors.As(why, new(*cluster.FailedError)) || errors.Is(why, cluster.ErrCancelled) {
		return why
	}
	later, done := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer done()
	if failed := c.Cancel(later, run); failed != nil {
		return fmt.Errorf("%w; the workers could not be told to stop: %w", why, failed)
	}
	return why
}

// Finish tells the cluster that the run is done.
func (a *Elsewhere) Finish(ctx context.Context) error {
	if a.task == nil {
		return nil
	}
	return a.Cluster.Finish(ctx, a.task.Run())
}

// seed lets the worker of a part that has begun here go on from where it is.
func (a *Elsewhere) seed(ctx context.Context, w *work, i int, task cluster.Task, lines []TraceLine) error {
	part := w.Parts[i]
	if part.K() == 0 {
		return nil
	}
	so := outcome{steps: part.K()}
	for _, l := range lines {
		if l.K <= so.steps {
			l.Seconds = 0
			so.lines = append(so.lines, l)
		}
	}
	if kind := w.run.folder.kind; kind.Stored != nil {
		for n, sum := range kind.Stored(w.run.keep.phase.parts[i]) {
			var b []byte
			err := w.run.Stored(i, n, sum, func(file io.ReaderAt, size int64) (err error) {
				b, err = io.ReadAll(io.NewSectionReader(file, 0, size))
				return err
			})
			if err != nil {
				return err
			}
			content, err := cluster.Save(ctx, a.Cluster.Blocks, cluster.Shared, b)
			if err != nil {
				return err
			}
			so.shards = append(so.shards, content)
		}
	}
	b, err := so.pack(part)
	if err != nil {
		return err
	}
	return a.Cluster.Seed(ctx, task, b, so.shards...)
}

// deliver takes a part to the end that it has come to elsewhere, with its lines and the files of its kept states.
func (w *work) deliver(ctx context.Context, i int, result []byte, blocks cluster.Blocks, ear *ear) error {
	end, err := unpack(result)
	if err != nil {
		return err
	}
	part := w.Parts[i]
	for n, content := range end.shards {
		b, err := cluster.Load(ctx, blocks, cluster.Shared, content)
		if err != nil {
			return err
		}
		if _, err := w.run.Store(i, n, content.Bytes, func(to io.Writer) error { _, err := to.Write(b); return err }); err != nil {
			return err
		}
	}
	if err := end.restore(part); err != nil {
		return err
	}
	if !part.Done() {
		return fmt.Errorf("it has made %d steps, and is not done", end.steps)
	}
	now, _ := w.run.clock.read()
	stamps := ear.stamps(i)
	w.run.telling.Lock()
	defer w.run.telling.Unlock()
	traced := len(end.lines) > 0
	if w.begun && traced != w.traced {
		return errors.New("some parts leave lines in the trace, others none")
	}
	for _, l := range end.lines[min(len(end.lines), w.made[i]):] {
		if l.Part != i {
			return fmt.Errorf("it has lines of part %d", l.Part)
		}
		l.Seconds = secondsOf(stamps, l.K, now)
		if err := w.run.append(&w.Phase, l); err != nil {
			return err
		}
	}
	w.begun, w.traced = true, traced
	w.made[i] = end.steps
	w.ended++
	ear.done(i)
	return w.run.keep.step(i, part, false)
}

// tellAll shows the last step of each part to Watch, once all are done.
func (w *work) tellAll() error {
	if w.Watch == nil {
		return nil
	}
	last := make([]TraceLine, len(w.Parts))
	for i, part := range w.Parts {
		last[i] = TraceLine{Part: i, K: part.K()}
	}
	for _, l := range w.run.trace {
		if w.traced && l.K == last[l.Part].K {
			last[l.Part] = l
		}
	}
	for _, l := range last {
		if err := w.Watch(l); err != nil {
			return err
		}
	}
	return nil
}

// ear hears the workers of a phase.
type ear struct {
	*work
	run cluster.Sum

	turn    sync.Mutex // for all that follows
	tell    func(Away)
	refused func(string)
	at      []at
	ended   int       // parts that are done
	last    time.Time // of a report
}

// at is what was heard of a part.
type at struct {
	machine  string
	heard    time.Time
	progress float64
	done     bool
	stamps   []stamp
}

// stamp is the time of the run's work at which a step was heard of.
type stamp struct {
	k       int
	seconds time.Duration
}

// begin tells how far the phase is before anything is heard.
func (e *ear) begin(resumed bool) {
	e.turn.Lock()
	defer e.turn.Unlock()
	e.report(resumed)
}

// end lets nothing more be told: a word may come while the ear is being closed.
func (e *ear) end() {
	e.turn.Lock()
	defer e.turn.Unlock()
	e.tell, e.refused = nil, nil
}

func (e *ear) hear(word cluster.Word) {
	e.turn.Lock()
	defer e.turn.Unlock()
	if word.Refused != "" && e.refused != nil {
		e.refused(fmt.Sprintf("machine %s: %s", word.Machine, word.Refused))
	}
	var s Step
	if json.Unmarshal(word.Step, &s) != nil || s.Phase != e.Name || s.Part < 0 || s.Part >= len(e.at) {
		return
	}
	seconds, _ := e.work.run.clock.read()
	p := &e.at[s.Part]
	p.machine, p.heard, p.progress = word.Machine, time.Now(), min(max(s.Progress, 0), 1)
	if n := len(p.stamps); n == 0 || p.stamps[n-1].k < s.K {
		p.stamps = append(p.stamps, stamp{s.K, seconds})
	}
	e.report(false)
}

func (e *ear) done(i int) {
	e.turn.Lock()
	defer e.turn.Unlock()
	e.at[i].done = true
	e.ended++
	e.report(false)
}

// stamps are those of a part, in order.
func (e *ear) stamps(i int) []stamp {
	e.turn.Lock()
	defer e.turn.Unlock()
	return e.at[i].stamps
}

// secondsOf is when a step was heard of: with the next one that was, or now.
func secondsOf(stamps []stamp, k int, now time.Duration) float64 {
	if n, _ := slices.BinarySearchFunc(stamps, k, func(s stamp, k int) int { return s.k - k }); n < len(stamps) {
		now = stamps[n].seconds
	}
	return now.Seconds()
}

// report tells the progress, at most five times a second. The turn is held.
func (e *ear) report(resumed bool) {
	if e.tell == nil {
		return
	}
	now := time.Now()
	if !resumed && e.ended < len(e.at) && now.Sub(e.last) < tellEvery { // before the parts are counted: workers tell thousands of words a second
		return
	}
	a := Away{Phase: e.Name, Parts: len(e.at), Machines: map[string]int{}, Resumed: resumed}
	for i := range e.at {
		p := &e.at[i]
		switch {
		case p.done, p.progress == 1: // results come in order, and ends are heard of before
			a.Done++
			a.Share++
		case p.heard.IsZero():
		default:
			if a.Share += p.progress; now.Sub(p.heard) < quiet {
				a.Machines[p.machine]++
			}
		}
	}
	a.Share /= float64(len(e.at))
	e.last = now
	e.tell(a)
}
