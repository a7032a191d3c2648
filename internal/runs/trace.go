package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// TraceLine is one step of one part. In the trace it is a JSON object: island, k, progress, seconds, and the part's own
// fields.
type TraceLine struct {
	Part     int     // "island", from 0
	K        int     // from 1
	Progress float64 // 0 to 1: of the part's work
	Seconds  float64 // seconds of the run's work so far, without pauses and without the evaluation

	// Fields is the part's own JSON object. It is nil if the part is not traced, and {} if the part has no fields.
	Fields json.RawMessage
}

// head holds the keys that each line begins with.
type head struct {
	Part     int     `json:"island"`
	K        int     `json:"k"`
	Progress float64 `json:"progress"`
	Seconds  float64 `json:"seconds"`
}

// MarshalJSON writes the line in the format of the trace.
func (l TraceLine) MarshalJSON() ([]byte, error) {
	line, err := json.Marshal(head{l.Part, l.K, l.Progress, l.Seconds})
	if err != nil {
		return nil, err
	}
	fields := bytes.TrimSpace(l.Fields)
	if len(fields) == 0 {
		return line, nil
	}
	if fields[0] != '{' || !json.Valid(fields) {
		return nil, fmt.Errorf("the fields of a trace line are %.40s, not an object", fields)
	}
	if fields = bytes.TrimLeft(fields[1:], " \t\r\n"); fields[0] != '}' {
		line = append(line[:len(line)-1], ',')
		line = append(line, fields...)
	}
	return line, nil
}

// UnmarshalJSON reads what MarshalJSON writes: the four keys first, in their order. A run has thousands of lines, so a line is
// cut by hand; encoding/json would read each three times.
func (l *TraceLine) UnmarshalJSON(text []byte) error {
	if !json.Valid(text) { // what follows need not ask again whether brackets close and numbers are numbers
		return json.Unmarshal(text, new(json.RawMessage))
	}
	*l = TraceLine{}
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(text), []byte{'{'})
	if !ok {
		return errors.New("not an object")
	}
	for _, head := range [...]struct {
		key string
		set func(number string) error
	}{
		{"island", toInt(&l.Part)}, {"k", toInt(&l.K)}, {"progress", toFloat(&l.Progress)}, {"seconds", toFloat(&l.Seconds)},
	} {
		value, found := bytes.CutPrefix(rest, []byte(`"`+head.key+`":`))
		if !found {
			return fmt.Errorf("%s is missing, or not in its place", head.key)
		}
		end := bytes.IndexAny(value, ",}")
		if err := head.set(string(value[:end])); err != nil {
			return fmt.Errorf("%s: %w", head.key, err)
		}
		rest = bytes.TrimPrefix(value[end:], []byte{','})
	}
	l.Fields = append([]byte{'{'}, rest...)
	return nil
}

func toInt(to *int) func(string) error {
	return func(number string) (err error) {
		*to, err = strconv.Atoi(number)
		return err
	}
}

func toFloat(to *float64) func(string) error {
	return func(number string) (err error) {
		*to, err = strconv.ParseFloat(number, 64)
		return err
	}
}

// ReadTrace reads the lines of a trace. The error names the number of the line that is damaged.
func ReadTrace(text []byte) ([]TraceLine, error) {
	var trace []TraceLine
	for line := range bytes.Lines(text) {
		var l TraceLine
		if err := l.UnmarshalJSON(bytes.TrimSuffix(line, []byte("\n"))); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(trace)+1, err)
		}
		trace = append(trace, l)
	}
	return trace, nil
}

// CheckTrace checks that a trace has all steps of a given number of parts, part by part and in order, up to progress 1.
func CheckTrace(trace []TraceLine, parts int) error {
	last := TraceLine{Part: -1, Progress: 1}
	for i, l := range trace {
		part, k := last.Part, last.K+1
		if l.Part != part && last.Progress >= 1 {
			part, k = part+1, 1
		}
		if l.Part != part || l.K != k || part >= parts {
			return fmt.Errorf("line %d is k %d of island %d of %d, after k %d of island %d: lines are missing, or too many",
				i+1, l.K, l.Part, parts, last.K, last.Part)
		}
		last = l
	}
	if last.Part != parts-1 || !(last.Progress >= 1) {
		return fmt.Errorf("it stops after line %d, k %d of island %d of %d at progress %v: lines are missing",
			len(trace), last.K, last.Part, parts, last.Progress)
	}
	return nil
}

func writeTrace(w io.Writer, trace []TraceLine) error {
	lines := json.NewEncoder(w)
	for _, line := range trace {
		if err := lines.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

// sortTrace orders lines by part, then by step.
func sortTrace(trace []TraceLine) {
	slices.SortFunc(trace, func(a, b TraceLine) int {
		if a.Part != b.Part {
			return a.Part - b.Part
		}
		return a.K - b.K
	})
}

// cutTrace returns the lines of a trace up to a checkpoint: steps[i] of part i. Other lines are of steps that were made
// after the part was packed. When the run went on, such a step was made again and left a second line, which counts.
func cutTrace(text []byte, steps []int) ([]TraceLine, error) {
	at := make([][]int, len(steps)) // of each part's lines in kept
	var kept []TraceLine
	for line := range bytes.Lines(text) {
		var l TraceLine
		if json.Unmarshal(line, &l) != nil || l.Part < 0 || l.Part >= len(steps) || l.K < 1 || l.K > steps[l.Part] {
			continue
		}
		switch mine := &at[l.Part]; {
		case l.K <= len(*mine):
			kept[(*mine)[l.K-1]] = l
		case l.K == len(*mine)+1:
			*mine = append(*mine, len(kept))
			kept = append(kept, l)
		}
	}
	for i, k := range steps {
		if len(at[i]) != k {
			return nil, fmt.Errorf("it lacks k %d of island %d, which the checkpoint has", len(at[i])+1, i)
		}
	}
	return kept, nil
}
