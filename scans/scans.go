// Package scans reads scans of measurements, with the true states where they are known: JSON lines or CSV, compressed with gzip or
// not, from a file or a pipe. docs/scans.md describes both formats, and what happens to bad input.
//
// A Source gives one Record after another and reads ahead as little as it can: a scan in JSON is complete when its line ends, a scan
// in CSV when a row of the next time begins.
package scans

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/ssm"
)

// Source gives scans in the order of their times.
type Source interface {
	// Next returns the next scan, in memory that the source does not use again. The error is io.EOF after the last scan. It is a
	// *BadError if the next scan cannot be used: a caller may go on, and gets the scan after it. Every other error is of the
	// source itself, and final.
	Next() (*Record, error)
}

// Record is a scan and what belongs to it.
type Record struct {
	ssm.Scan
	Text  string    // the time as the source writes it
	Line  int       // line of the source on which the scan begins, from 1; 0 if it was not read
	Truth []Truth   // true states at the scan's time, in the order of the source
	Held  []float64 // measurements that Hold took out of the scan, row-major

	Unused int // of the missing measurements, those that lack only some of their numbers, and that LeaveOutParts left out
}

// Truth is the true state of one target.
type Truth struct {
	ID    string
	State []float64
}

// BadError says why a scan cannot be used, and where.
type BadError struct {
	Line   int // from 1
	Column int // from 1: a byte of the line in JSON, a cell in CSV; 0: the fault is of the whole line
	Err    error
}

func (e *BadError) Error() string {
	if e.Column == 0 {
		return fmt.Sprintf("line %d: %v", e.Line, e.Err)
	}
	return fmt.Sprintf("line %d, column %d: %v", e.Line, e.Column, e.Err)
}

func (e *BadError) Unwrap() error { return e.Err }

// bad makes a BadError.
func bad(line, column int, format string, args ...any) *BadError {
	return &BadError{line, column, fmt.Errorf(format, args...)}
}

// Hold moves ⌊share·M + 1/2⌋ of the scan's M measurements to Held; both parts keep their order. Seed and k, the number of the scan
// from 0, draw them: every choice is equally likely. The draw is of places in the scan, so a scan whose rows come in another
// order may lose others. share is below 1; missing measurements are not drawn. It panics if k is not below 2³².
func (r *Record) Hold(share float64, seed uint64, k int) {
	left, w := r.Len(), r.Width
	hold := int(math.Floor(float64(share*float64(left)) + 0.5))
	s := rng.Key{Seed: seed, Purpose: rng.Hold, Iteration: k}.Stream()
	r.Held = make([]float64, 0, hold*w)
	kept := r.Values[:0]
	for ; left > 0; left-- { // hold of the left rows are still to be drawn (Knuth's algorithm S)
		i := r.Len() - left
		if hold > 0 && s.IntN(left) < hold {
			r.Held = append(r.Held, r.Values[i*w:(i+1)*w]...)
			hold--
		} else {
			kept = append(kept, r.Values[i*w:(i+1)*w]...)
		}
	}
	r.Values = kept
}

// Sum continues a chain of SHA-256 checksums, which begins with zeros: two chains are equal if all scans so far are, bit for bit and
// in the order of their rows, with their truth. A resumed filter compares it after the scans that it skips.
func (r *Record) Sum(previous [sha256.Size]byte) (sum [sha256.Size]byte) {
	s := summer{h: sha256.New()}
	s.h.Write(previous[:])
	s.text(r.Text)
	s.numbers([]float64{r.Time})
	s.count(r.Width)
	s.count(r.Missing + r.Partial()) // as if they were left out, so that it is one sum for all models that leave them out
	s.numbers(r.Values)
	s.numbers(r.Held)
	s.count(len(r.Truth))
	for _, t := range r.Truth {
		s.text(t.ID)
		s.numbers(t.State)
	}
	for _, p := range r.Parts {
		for _, c := range p.Columns {
			s.count(c)
		}
		s.numbers(p.Values)
	}
	s.h.Sum(sum[:0])
	return sum
}

// summer adds values to a checksum, each list after its length.
type summer struct {
	h   hash.Hash
	buf [4096]byte
}

func (s *summer) count(n int) {
	s.h.Write(binary.LittleEndian.AppendUint64(s.buf[:0], uint64(n)))
}

func (s *summer) text(t string) {
	s.count(len(t))
	s.h.Write([]byte(t))
}

func (s *summer) numbers(v []float64) {
	s.count(len(v))
	for len(v) > 0 {
		n := min(len(v), len(s.buf)/8)
		for i, x := range v[:n] {
			binary.LittleEndian.PutUint64(s.buf[8*i:], math.Float64bits(x))
		}
		s.h.Write(s.buf[:8*n])
		v = v[n:]
	}
}
