package testkit

import (
	"encoding/binary"
	"math"
)

// Parquet by hand, for files that no library would write: structures in Thrift's compact protocol, and the file of them.

// Thrift is a structure that is being written. Fields come in the order of their numbers.
type Thrift struct {
	b    []byte
	last int
}

func (s *Thrift) field(id int, kind byte) {
	if d := id - s.last; d > 0 && d <= 15 {
		s.b = append(s.b, byte(d)<<4|kind)
	} else {
		s.b = binary.AppendVarint(append(s.b, kind), int64(id))
	}
	s.last = id
}

// I32 adds a number of 32 bits, though it may have more.
func (s *Thrift) I32(id int, v int64) *Thrift {
	s.field(id, 5)
	s.b = binary.AppendVarint(s.b, v)
	return s
}

// I64 adds a number of 64 bits.
func (s *Thrift) I64(id int, v int64) *Thrift {
	s.field(id, 6)
	s.b = binary.AppendVarint(s.b, v)
	return s
}

// Text adds a text.
func (s *Thrift) Text(id int, v string) *Thrift {
	s.field(id, 8)
	s.b = append(binary.AppendUvarint(s.b, uint64(len(v))), v...)
	return s
}

// Struct adds a structure.
func (s *Thrift) Struct(id int, v *Thrift) *Thrift {
	s.field(id, 12)
	s.b = append(s.b, v.End()...)
	return s
}

// Structs adds a list of structures.
func (s *Thrift) Structs(id int, items ...[]byte) *Thrift {
	s.field(id, 9)
	s.b = binary.AppendUvarint(append(s.b, 0xf0|12), uint64(len(items)))
	for _, item := range items {
		s.b = append(s.b, item...)
	}
	return s
}

// empty adds a list of nothing of a kind.
func (s *Thrift) empty(id int, kind byte) *Thrift {
	s.field(id, 9)
	s.b = append(s.b, kind)
	return s
}

// End returns the structure's bytes.
func (s *Thrift) End() []byte { return append(s.b[:len(s.b):len(s.b)], 0) }

// ParquetColumn is an element of a schema. Children below 0 are none, and Type below 0 is none.
type ParquetColumn struct {
	Name                     string
	Type, Repeated, Children int64
}

func (c ParquetColumn) bytes() []byte {
	s := new(Thrift)
	if c.Type >= 0 {
		s.I32(1, c.Type)
	}
	s.I32(3, c.Repeated).Text(4, c.Name)
	if c.Children != 0 {
		s.I32(5, c.Children)
	}
	if c.Type == 6 {
		s.I32(6, 0) // UTF-8
	}
	return s.End()
}

// ParquetPage is a page: its header, and its body as it lies in the file.
type ParquetPage struct {
	Kind, Values, Encoding int64
	Size                   int64 // unpacked
	Levels                 int64 // bytes of them, of the kind 3
	Packed                 int64 // bytes of the body that are claimed; 0: as many as it has
	Body                   []byte
}

// Bytes are the page's bytes.
func (p ParquetPage) Bytes() []byte {
	packed := p.Packed
	if packed == 0 {
		packed = int64(len(p.Body))
	}
	h := new(Thrift).I32(1, p.Kind).I32(2, p.Size).I32(3, packed)
	switch of := new(Thrift).I32(1, p.Values); p.Kind {
	case 2:
		h.Struct(7, of.I32(2, p.Encoding))
	case 3:
		h.Struct(8, of.I32(2, 0).I32(3, p.Values).I32(4, p.Encoding).I32(5, p.Levels).I32(6, 0))
	default:
		h.Struct(5, of.I32(2, p.Encoding).I32(3, 3).I32(4, 3))
	}
	return append(h.End(), p.Body...)
}

// ParquetChunk is a column of a row group.
type ParquetChunk struct {
	Type, Codec, Values int64
	From, Bytes         int64
}

// ParquetGroup is a row group.
func ParquetGroup(rows int64, chunks ...ParquetChunk) []byte {
	var all [][]byte
	for _, c := range chunks {
		meta := new(Thrift).I32(1, c.Type).empty(2, 5).empty(3, 8).I32(4, c.Codec).I64(5, c.Values).I64(6, c.Bytes).I64(7, c.Bytes).I64(9, c.From)
		all = append(all, new(Thrift).I64(2, 0).Struct(3, meta).End())
	}
	return new(Thrift).Structs(1, all...).I64(2, 0).I64(3, rows).End()
}

// ParquetFile is a file of some columns, the first element of the schema before them.
func ParquetFile(body []byte, rows int64, schema []ParquetColumn, groups ...[]byte) []byte {
	var elements [][]byte
	for _, c := range schema {
		elements = append(elements, c.bytes())
	}
	return ParquetEnds(body, new(Thrift).I32(1, 1).Structs(2, elements...).I64(3, rows).Structs(4, groups...).End())
}

// ParquetEnds is a file with a description.
func ParquetEnds(body, description []byte) []byte {
	b := append([]byte("PAR1"), body...)
	b = append(b, description...)
	b = binary.LittleEndian.AppendUint32(b, uint32(min(len(description), math.MaxUint32)))
	return append(b, "PAR1"...)
}
