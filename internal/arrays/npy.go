package arrays

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/packed"
	"github.com/starling-smc/starling/internal/stated"
)

// NPYMagic begins a file in NumPy's format for one array (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html):
//
//	6 bytes   93 4e 55 4d 50 59: \x93NUMPY
//	2 bytes   version: 1.0, 2.0 or 3.0
//	length    of the header, little-endian: 2 bytes in version 1, 4 bytes in 2 and 3
//	header    {'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }, a dictionary as Python writes it, then blanks
//	          and a line end
//	values    in C order, or the first index fastest (Fortran order), and nothing after them
//
// The whole may be compressed with gzip. Values are booleans, integers of 8 to 64 bits, or floats of 16 to 64, of
// either byte order; objects (which are pickled code), records, complex numbers, dates and text are refused.
const NPYMagic = "\x93NUMPY"

// maxNPYHeader bounds the header; only a record with many fields needs more.
const maxNPYHeader = 1<<16 - 1

// maxNPYDims is NumPy's own bound.
const maxNPYDims = 64

// NPY is the Header of NumPy files.
func NPY(s *packed.Source, first [4]byte) (*Layout, error) {
	var rest [4]byte // of the magic, and the version
	if string(first[:]) != NPYMagic[:4] {
		return nil, s.Errorf(0, "% x is not the beginning of a NumPy file (93 4e 55 4d 50 59)", first)
	}
	if err := s.Fill(rest[:]); err != nil {
		return nil, s.Errorf(s.At, "header: %w", err)
	}
	if string(rest[:2]) != NPYMagic[4:] {
		return nil, s.Errorf(4, "% x is not the beginning of a NumPy file (93 4e 55 4d 50 59)", slices.Concat(first[:], rest[:2]))
	}
	version := rest[2]
	if version < 1 || version > 3 || rest[3] != 0 {
		return nil, s.Errorf(6, "NumPy format %d.%d, want 1.0, 2.0 or 3.0", version, rest[3])
	}
	length := make([]byte, 2, 4)
	if version > 1 {
		length = length[:4]
	}
	if err := s.Fill(length); err != nil {
		return nil, s.Errorf(s.At, "length of the header: %w", err)
	}
	claimed := uint32(little.Uint16(length))
	if version > 1 {
		claimed = little.Uint32(length)
	}
	n, ok := stated.Int(claimed, maxNPYHeader)
	if !ok {
		return nil, s.Errorf(8, "a header of %s bytes: no array of numbers needs more than %s", numeral.Grouped(strconv.FormatUint(uint64(claimed), 10)), numeral.Count(maxNPYHeader))
	}
	if !s.Packed && n > s.Size-s.At {
		return nil, s.Errorf(s.Size, "the file ends early: the header has %d bytes, %d are left", n, s.Size-s.At)
	}
	text, err := readBytes(s, n, nil)
	if err != nil {
		return nil, fmt.Errorf("%w within the header of %d bytes", err, n)
	}
	l := &Layout{}
	h := npyDict{text: text.([]uint8)}
	if err := h.parse(l); err != nil {
		return nil, s.Errorf(s.At-n+h.at, "header: %w", err)
	}
	return l, nil
}

// npyDict reads the header's dictionary.
type npyDict struct {
	text []byte
	at   int
}

// parse reads {'key': value, …} and the blanks after it: each of the three keys once, in any order.
func (h *npyDict) parse(l *Layout) error {
	if !h.skip('{') {
		return h.want("{")
	}
	seen := map[string]bool{}
	for !h.skip('}') {
		from := h.at
		key, err := h.quoted()
		if err != nil {
			return err
		}
		if seen[key] {
			h.at = from
			return fmt.Errorf("the key %q comes twice", cells.Clip(key))
		}
		seen[key] = true
		if !h.skip(':') {
			return h.want(": after a key")
		}
		switch key {
		case "descr":
			err = h.descr(l)
		case "fortran_order":
			l.Fortran, err = h.boolean()
		case "shape":
			l.Shape, err = h.tuple()
		default:
			h.at = from
			err = fmt.Errorf("unknown key %q, want descr, fortran_order and shape", cells.Clip(key))
		}
		if err != nil {
			return err
		}
		if !h.skip(',') && h.peek() != '}' {
			return h.want(", or }")
		}
	}
	for _, key := range [...]string{"descr", "fortran_order", "shape"} {
		if !seen[key] {
			return fmt.Errorf("the key %q is missing", key)
		}
	}
	if h.peek() != 0 || h.at < len(h.text) {
		return h.want("nothing but blanks after }")
	}
	return nil
}

// blank reports whether c may stand between the parts.
func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// peek skips blanks and returns the next byte, 0 at the end.
func (h *npyDict) peek() byte {
	for h.at < len(h.text) && blank(h.text[h.at]) {
		h.at++
	}
	if h.at == len(h.text) {
		return 0
	}
	return h.text[h.at]
}

// skip skips blanks and, if it follows, c.
func (h *npyDict) skip(c byte) bool {
	if h.peek() != c || h.at == len(h.text) {
		return false
	}
	h.at++
	return true
}

func (h *npyDict) want(what string) error {
	if h.at == len(h.text) {
		return fmt.Errorf("ends early, want %s", what)
	}
	return fmt.Errorf("%s, want %s", cells.Quote(h.text[h.at:min(h.at+12, len(h.text))]), what)
}

// quoted reads a text in single or double quotes, which holds no escapes.
func (h *npyDict) quoted() (string, error) {
	q := h.peek()
	if q != '\'' && q != '"' {
		return "", h.want("a text in quotes")
	}
	for i := h.at + 1; i < len(h.text); i++ {
		switch h.text[i] {
		case q:
			text := string(h.text[h.at+1 : i])
			h.at = i + 1
			return text, nil
		case '\\', '\n':
			h.at = i
			return "", h.want("a plain text in quotes")
		}
	}
	return "", fmt.Errorf("the quote is never closed")
}

// word reads letters and digits.
func (h *npyDict) word() string {
	h.peek()
	from := h.at
	for h.at < len(h.text) {
		c := h.text[h.at]
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_') {
			break
		}
		h.at++
	}
	return string(h.text[from:h.at])
}

func (h *npyDict) boolean() (bool, error) {
	h.peek()
	from := h.at
	switch h.word() {
	case "True":
		return true, nil
	case "False":
		return false, nil
	}
	h.at = from
	return false, h.want("fortran_order True or False")
}

// tuple reads sizes: (), (3,), (3, 4), (3, 4,).
func (h *npyDict) tuple() ([]int, error) {
	if !h.skip('(') {
		return nil, h.want("a shape such as (2, 3)")
	}
	shape := []int{}
	for !h.skip(')') {
		if h.peek() == '-' {
			return nil, h.want("sizes that are not negative")
		}
		from := h.at
		digits := h.word()
		d, err := strconv.ParseUint(digits, 10, strconv.IntSize-1)
		switch {
		case err != nil && strings.Trim(digits, "0123456789") == "" && digits != "":
			h.at = from
			return nil, fmt.Errorf("the size %s is more than a machine can address", cells.Clip(digits))
		case err != nil, len(digits) > 1 && digits[0] == '0':
			h.at = from
			return nil, h.want("a size, as a whole number")
		case len(shape) == maxNPYDims:
			h.at = from
			return nil, fmt.Errorf("more than %d dimensions", maxNPYDims)
		}
		shape = append(shape, int(d))
		switch {
		case h.skip(','):
		case h.peek() != ')':
			return nil, h.want(", or ) in the shape")
		case len(shape) == 1:
			return nil, h.want(", in a shape of one dimension, as (3,)")
		}
	}
	return shape, nil
}

// npyTypes are the type codes without the byte order.
var npyTypes = map[string]string{
	"b1": "bool", "u1": "uint8", "u2": "uint16", "u4": "uint32", "u8": "uint64",
	"i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "f2": "float16", "f4": "float32", "f8": "float64",
}

// descr reads the element type: < little-endian, > big-endian, | neither, then a kind and the bytes of a value.
func (h *npyDict) descr(l *Layout) error {
	const mend = "save numbers, such as x.astype('float32')"
	if h.peek() == '[' {
		return fmt.Errorf("the array holds records with fields: %s", mend)
	}
	from := h.at
	d, err := h.quoted()
	if err != nil {
		return err
	}
	order, kind := byte(0), ""
	if d != "" {
		order, kind = d[0], d[1:]
	}
	l.DType, l.big = npyTypes[kind], order == '>'
	switch {
	case order == '|' && kind == "O":
		err = fmt.Errorf("dtype %q: Python objects are never unpickled: %s", d, mend)
	case l.DType == "":
		err = fmt.Errorf("dtype %q is none of |b1, |u1 to <u8, |i1 to <i8, <f2, <f4 and <f8: %s", cells.Clip(d), mend)
	case order != '<' && order != '>' && (order != '|' || elements[l.DType].size > 1):
		err = fmt.Errorf("dtype %q does not begin with its byte order, < or >", d)
	}
	if err != nil {
		h.at = from
	}
	return err
}

// WriteNPY writes a NumPy file, version 1.0, of float64 numbers in C order, little-endian. The length of values must be the
// product of shape.
func WriteNPY(w io.Writer, shape []int, values []float64) error {
	if n, err := count(shape, 8); err != nil || n != len(values) {
		panic(fmt.Sprintf("arrays: WriteNPY of %d values as %v", len(values), shape))
	}
	b := bufio.NewWriterSize(w, min(512+8*len(values), 64<<10))
	b.Write(NPYHeader(shape))
	for _, v := range values {
		b.Write(little.AppendUint64(b.AvailableBuffer(), math.Float64bits(v)))
	}
	return b.Flush()
}

// NPYHeader returns the bytes before the values in a file of float64 numbers in C order, little-endian, for programs that
// write the values one by one. The number of bytes is a multiple of 64.
func NPYHeader(shape []int) []byte { return NPYBegin("<f8", shape) }

// NPYBegin is NPYHeader of any type, as NumPy writes it: '<f8'.
func NPYBegin(dtype string, shape []int) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "{'descr': '%s', 'fortran_order': False, 'shape': (", dtype)
	for i, d := range shape {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%d,", d)
	}
	dict := strings.TrimSuffix(b.String(), ",")
	if len(shape) == 1 {
		dict += ","
	}
	dict += "), }"
	const before = len(NPYMagic) + 4
	pad := 63 - (before+len(dict))%64 // and a line end
	head := append([]byte(NPYMagic), 1, 0)
	head = little.AppendUint16(head, uint16(len(dict)+pad+1))
	return append(append(head, dict...), strings.Repeat(" ", pad)+"\n"...)
}
