package ckpt

import (
	"encoding/binary"
	"io"
	"math"
)

// piece is a part of a container, as it lies in memory. Large arrays become bytes only while they are written.
type piece interface {
	size() int // in bytes
	writeTo(w io.Writer) error
}

type raw []byte

func (p raw) size() int { return len(p) }

func (p raw) writeTo(w io.Writer) error {
	_, err := w.Write(p)
	return err
}

type float64s []float64

func (p float64s) size() int { return 8 * len(p) }

func (p float64s) writeTo(w io.Writer) error {
	buffer := make([]byte, 0, min(p.size(), 1<<15))
	for len(p) > 0 {
		n := min(len(p), cap(buffer)/8)
		buffer = buffer[:8*n]
		for i, v := range p[:n] {
			binary.LittleEndian.PutUint64(buffer[8*i:], math.Float64bits(v))
		}
		if _, err := w.Write(buffer); err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}
