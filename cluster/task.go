package cluster

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
)

// Sum is a SHA-256.
type Sum [sha256.Size]byte

// SumOf returns the SHA-256 of bytes.
func SumOf(b []byte) Sum { return sha256.Sum256(b) }

func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// MarshalText writes the sum as 64 hexadecimal digits.
func (s Sum) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, s[:]), nil }

// UnmarshalText reads 64 hexadecimal digits.
func (s *Sum) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(s)) {
		return fmt.Errorf("a SHA-256 has %d digits, not %d", hex.EncodedLen(len(s)), len(text))
	}
	_, err := hex.Decode(s[:], text)
	return err
}

// Content names bytes by their sum, and the blocks that the store holds them in.
type Content struct {
	Sum    Sum   `json:"sum"`
	Bytes  int64 `json:"bytes"`
	Blocks []Sum `json:"blocks,omitempty"` // in order; each has MaxBlock bytes, except the last
}

// Input is a content with a name, such as a file of data.
type Input struct {
	Name    string  `json:"name"`
	Content Content `json:"content"`
}

// Task is one part of a phase of a run, with all that its result depends on. It says nothing about who computes it or when. The fields
// except Phase, Part and Earlier are the same for all tasks of a run.
type Task struct {
	Config  Content  `json:"config"`            // the resolved config
	Data    []Input  `json:"data,omitempty"`    // the files of examples
	Version string   `json:"version"`           // of the program
	Arch    string   `json:"arch"`              // such as amd64
	Kernels []string `json:"kernels,omitempty"` // those that give the same bits: a worker computes with any of them

	Phase   string  `json:"phase"`
	Part    int     `json:"part"`              // of the phase, from 0
	Earlier []Input `json:"earlier,omitempty"` // results of earlier phases that the part needs
}

// Digest names the task: tasks with the same digest have the same result.
func (t Task) Digest() Sum { return digest("starling.Task/1", t) }

// Run names the run that the task is a part of.
func (t Task) Run() Sum {
	t.Phase, t.Part, t.Earlier = "", 0, nil
	return digest("starling.Run/1", t)
}

// digest is the sum of the task's JSON. A worker has the version of the submitter, and so the same JSON.
func digest(kind string, t Task) Sum {
	b, err := json.Marshal(t)
	if err != nil {
		panic(err) // strings, integers and sums can be marshalled
	}
	return SumOf(slices.Concat([]byte(kind+"\n"), b))
}

// ForeignError says that a worker cannot compute a task which others may compute: its program does not give the bits of the others or,
// where Work returned the error, its machine lacks something, which is Why. It is no attempt.
type ForeignError struct {
	What, Worker, Task string
	Why                error
	task               Task
}

func (e *ForeignError) Unwrap() error { return e.Why }

func (e *ForeignError) Error() string {
	if e.Why != nil {
		return fmt.Sprintf("this worker leaves the task to others: %v", e.Why)
	}
	return fmt.Sprintf("this worker has %s %s, and the run asks for %s: copy the starling that submits the run to this machine, if it is for it, and start the worker again", e.What, e.Worker, e.Task)
}

// foreign compares a worker's program with the one that the task asks for.
func (t Task) foreign(version, arch, kernel string) error {
	switch {
	case t.Version != version:
		return &ForeignError{"version", version, t.Version, nil, t}
	case t.Arch != arch:
		return &ForeignError{"architecture", arch, t.Arch, nil, t}
	case !slices.Contains(t.Kernels, kernel):
		return &ForeignError{"kernel", kernel, fmt.Sprint(t.Kernels), nil, t}
	}
	return nil
}
