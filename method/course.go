package method

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/uq"
)

// Course is how the NLL of a restart of a Search went, epoch by epoch, in nats, of targets in their own units: beside Unlearning, what
// training goes on to do. A line of map.jsonl holds one.
//
// The training NLL of an epoch is the mean over its mini-batches, each before its own step and with dropout if the network has such
// layers: the descent needs it anyway, where a further pass would cost a third of an epoch. While the NLL falls, it lies above that of the
// network at the epoch's end. The validation NLL is that of the network at the epoch's end. A given network, from which restart 0 begins, is
// epoch 0, and both are its own.
type Course struct {
	Restart int         `json:"restart"`
	From    int         `json:"from"` // the epoch of the first number: 0, or 1 where the restart began at a draw
	Train   []uq.Number `json:"train_nll"`
	Val     []uq.Number `json:"val_nll,omitempty"` // nil without validation examples
}

// course is that of a restart. train and scale are added to mean NLLs of the training and the validation examples to get them in the targets'
// own units.
func (r *restart) course(train, scale float64) Course {
	c := Course{Restart: r.number, From: 1 + r.Epochs - len(r.Train)}
	for _, nll := range r.Train {
		c.Train = append(c.Train, uq.Number(nll+train))
	}
	for _, nll := range r.Val {
		c.Val = append(c.Val, uq.Number(nll+scale))
	}
	return c
}

// WriteCourses writes those of all restarts, a line each.
func WriteCourses(w io.Writer, courses []Course) error {
	lines := json.NewEncoder(w)
	for _, c := range courses {
		if err := lines.Encode(c); err != nil {
			return err
		}
	}
	return nil
}

// ReadCourses reads what WriteCourses wrote of so many restarts, which are fewer than there were where some were left out.
func ReadCourses(text []byte, restarts int) (courses []Course, err error) {
	for line := range bytes.Lines(text) {
		var c Course
		if err := jsontext.Read(line, &c); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(courses)+1, err)
		}
		if n := len(courses); c.Restart < n || n > 0 && c.Restart <= courses[n-1].Restart || c.From < 0 || c.From > 1 || len(c.Train) == 0 || c.Val != nil && len(c.Val) != len(c.Train) {
			return nil, fmt.Errorf("line %d has restart %d from epoch %d, with the training NLL of %d epochs and the validation NLL of %d",
				len(courses)+1, c.Restart, c.From, len(c.Train), len(c.Val))
		}
		courses = append(courses, c)
	}
	if len(courses) != restarts {
		return nil, fmt.Errorf("%d restarts, there were %d", len(courses), restarts)
	}
	return courses, nil
}
