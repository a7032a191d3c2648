// Package ckpt packs named arrays into one container of bytes, and replaces files so that a reader always finds either
// the whole old file or the whole new one.
//
// A container, all integers little-endian:
//
//	offset  bytes  content
//	0       8      magic "STARLING"
//	8       4      version of this layout: 1
//	12      4      number of sections
//	16      8      length of the whole container
//	24      …      the sections, one after another
//
//	a section:
//	0       4      CRC-32C (Castagnoli) of everything in the section after these four bytes
//	4       1      type: 'b' bytes, 'd' float64, 'i' int32, 'l' int64
//	5       3      length n of the name
//	8       8      length m of the data
//	16      n      name, UTF-8
//	16+n    m      data
//
// The first section is named "kind" and says what the container holds. Decoding checks the whole container before it
// returns any section, allocates at most a small multiple of its input, and never panics.
package ckpt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
)

const (
	magic         = "STARLING"
	version       = 1
	headerSize    = 24
	sectionHeader = 16
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Encoder collects sections. Arrays and raw bytes are not copied: they must stay as they are until the container is
// written. Names must differ. The program chooses them, so a repeated name panics.
type Encoder struct {
	pieces []piece // the container, in order
	size   int
	names  map[string]bool
}

// NewEncoder starts a container of the given kind, a name with the version of the contents: "survey.Table/1".
func NewEncoder(kind string) *Encoder {
	e := &Encoder{names: map[string]bool{}}
	e.add(make(raw, headerSize))
	e.Bytes("kind", []byte(kind))
	return e
}

func (e *Encoder) add(p piece) {
	e.pieces = append(e.pieces, p)
	e.size += p.size()
}

// section adds a header and the data.
func (e *Encoder) section(name string, typ byte, data piece) {
	if e.names[name] || len(name) >= 1<<24 {
		panic(fmt.Sprintf("ckpt: section name %q used twice or too long", name))
	}
	e.names[name] = true
	head := make(raw, sectionHeader+len(name))
	binary.LittleEndian.PutUint32(head[4:], uint32(typ)|uint32(len(name))<<8)
	binary.LittleEndian.PutUint64(head[8:], uint64(data.size()))
	copy(head[sectionHeader:], name)
	sum := crc32.New(castagnoli)
	sum.Write(head[4:])
	data.writeTo(sum) // which never fails
	binary.LittleEndian.PutUint32(head, sum.Sum32())
	e.add(head)
	e.add(data)
}

// Bytes adds a section of raw bytes.
func (e *Encoder) Bytes(name string, x []byte) { e.section(name, 'b', raw(x)) }

// Float64s adds an array. Every bit pattern is kept, NaN payloads included.
func (e *Encoder) Float64s(name string, x []float64) { e.section(name, 'd', float64s(x)) }

// Int32s adds an array.
func (e *Encoder) Int32s(name string, x []int32) {
	data := make(raw, 4*len(x))
	for i, v := range x {
		binary.LittleEndian.PutUint32(data[4*i:], uint32(v))
	}
	e.section(name, 'i', data)
}

// Ints adds one or more integers of 64 bits.
func (e *Encoder) Ints(name string, x ...int) {
	data := make(raw, 8*len(x))
	for i, v := range x {
		binary.LittleEndian.PutUint64(data[8*i:], uint64(int64(v)))
	}
	e.section(name, 'l', data)
}

// grower is a Writer that makes room for so many bytes.
type grower interface{ Grow(n int) }

// WriteTo writes the container. If w has a method Grow, it is called with the size first. The Encoder must not be used
// afterwards.
func (e *Encoder) WriteTo(w io.Writer) (n int64, err error) {
	e.head()
	if memory, ok := w.(grower); ok {
		memory.Grow(e.size)
	}
	for _, p := range e.pieces {
		if err := p.writeTo(w); err != nil {
			return n, err
		}
		n += int64(p.size())
	}
	return n, nil
}

// Encode returns the container. The Encoder must not be used afterwards.
func (e *Encoder) Encode() []byte {
	var b bytes.Buffer
	e.WriteTo(&b) // which never fails
	return b.Bytes()
}

func (e *Encoder) head() {
	h := e.pieces[0].(raw)
	copy(h, magic)
	binary.LittleEndian.PutUint32(h[8:], version)
	binary.LittleEndian.PutUint32(h[12:], uint32(len(e.names)))
	binary.LittleEndian.PutUint64(h[16:], uint64(e.size))
}

// Decoder returns the sections of a container. After the first fault its methods return zero values. Err reports the
// fault, so that a reader checks once, at the end.
type Decoder struct {
	sections map[string]section
	err      error
}

type section struct {
	typ  byte
	data []byte
}

// Names lists the sections but the kind, in the order of their names.
func (d *Decoder) Names() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(d.sections)), func(name string) bool { return name == "kind" })
}

// NewDecoder checks a whole container and that it is of the given kind. The Decoder refers to b.
func NewDecoder(b []byte, kind string) (*Decoder, error) {
	switch {
	case len(b) < headerSize:
		return nil, fmt.Errorf("checkpoint: %d bytes are too few for a header of %d", len(b), headerSize)
	case string(b[:8]) != magic:
		return nil, errors.New("checkpoint: not a starling container: it does not begin with " + magic)
	case binary.LittleEndian.Uint32(b[8:]) != version:
		return nil, fmt.Errorf("checkpoint: layout version %d, this program reads %d", binary.LittleEndian.Uint32(b[8:]), version)
	case binary.LittleEndian.Uint64(b[16:]) != uint64(len(b)):
		return nil, fmt.Errorf("checkpoint: %d bytes, but the header says %d: it was cut off or appended to", len(b), binary.LittleEndian.Uint64(b[16:]))
	}
	d := &Decoder{sections: map[string]section{}}
	count, rest := binary.LittleEndian.Uint32(b[12:]), b[headerSize:]
	for i := range count {
		if len(rest) < sectionHeader {
			return nil, fmt.Errorf("checkpoint: section %d of %d is missing", i, count)
		}
		word := binary.LittleEndian.Uint32(rest[4:])
		typ, n, m := byte(word), uint64(word>>8), binary.LittleEndian.Uint64(rest[8:])
		if left := uint64(len(rest) - sectionHeader); n > left || m > left-n {
			return nil, fmt.Errorf("checkpoint: section %d of %d is longer than the container", i, count)
		}
		whole := rest[:sectionHeader+n+m]
		if crc32.Checksum(whole[4:], castagnoli) != binary.LittleEndian.Uint32(whole) {
			return nil, fmt.Errorf("checkpoint: section %d of %d is damaged: its checksum does not fit", i, count)
		}
		name := string(whole[sectionHeader : sectionHeader+n])
		if _, twice := d.sections[name]; twice {
			return nil, fmt.Errorf("checkpoint: section %q occurs twice", name)
		}
		d.sections[name] = section{typ, whole[sectionHeader+n:]}
		rest = rest[len(whole):]
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("checkpoint: %d bytes after the last section", len(rest))
	}
	if got := string(d.Bytes("kind")); d.err == nil && got != kind {
		other := ""
		if name, _, _ := strings.Cut(kind, "/"); strings.HasPrefix(got, name+"/") {
			other = ": another version of the program wrote it"
		}
		return nil, fmt.Errorf("checkpoint: holds %q, not %q%s", got, kind, other)
	}
	return d, d.err
}

// Without returns a copy of a container in which the data of one section are zero, with the checksum of that. It is for
// comparisons: a section may hold what differs between runs that are otherwise the same, such as times. Bytes that are no
// container are returned as they are.
func Without(b []byte, name string) []byte {
	out := bytes.Clone(b)
	for rest := out[min(headerSize, len(out)):]; len(rest) >= sectionHeader; {
		n, m := uint64(binary.LittleEndian.Uint32(rest[4:])>>8), binary.LittleEndian.Uint64(rest[8:])
		if left := uint64(len(rest) - sectionHeader); n > left || m > left-n {
			break
		}
		whole := rest[:sectionHeader+n+m]
		if string(whole[sectionHeader:sectionHeader+n]) == name {
			clear(whole[sectionHeader+n:])
			binary.LittleEndian.PutUint32(whole, crc32.Checksum(whole[4:], castagnoli))
		}
		rest = rest[len(whole):]
	}
	return out
}

// Err returns the first fault that the methods below met: a section is missing, or has another type or length than the
// reader wants.
func (d *Decoder) Err() error { return d.err }

// Fail records a fault that the caller found in the sections, unless there was one before.
func (d *Decoder) Fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("checkpoint: "+format, args...)
	}
}

func (d *Decoder) take(name string, typ byte, size int) []byte {
	s, ok := d.sections[name]
	switch {
	case !ok:
		d.Fail("section %q is missing", name)
	case s.typ != typ:
		d.Fail("section %q has type %q, not %q", name, s.typ, typ)
	case len(s.data)%size != 0:
		d.Fail("section %q has %d bytes, not a multiple of %d", name, len(s.data), size)
	}
	if d.err != nil {
		return nil
	}
	return s.data
}

// Bytes returns a section of raw bytes, a part of the container.
func (d *Decoder) Bytes(name string) []byte { return d.take(name, 'b', 1) }

// Float64s returns a copy of an array of any length; an empty one is nil.
func (d *Decoder) Float64s(name string) []float64 {
	data := d.take(name, 'd', 8)
	if len(data) == 0 {
		return nil
	}
	x := make([]float64, len(data)/8)
	for i := range x {
		x[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
	}
	return x
}

// Int32s returns a copy of an array of any length; an empty one is nil.
func (d *Decoder) Int32s(name string) []int32 {
	data := d.take(name, 'i', 4)
	if len(data) == 0 {
		return nil
	}
	x := make([]int32, len(data)/4)
	for i := range x {
		x[i] = int32(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return x
}

// Ints sets the given integers. The section must have as many.
func (d *Decoder) Ints(name string, to ...*int) {
	data := d.take(name, 'l', 8)
	if d.err == nil && len(data) != 8*len(to) {
		d.Fail("section %q has %d integers, not %d", name, len(data)/8, len(to))
	}
	if d.err != nil {
		return
	}
	for i, p := range to {
		v := int64(binary.LittleEndian.Uint64(data[8*i:]))
		if *p = int(v); int64(*p) != v {
			d.Fail("section %q holds %d, which this machine's int cannot", name, v)
		}
	}
}
