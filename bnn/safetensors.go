package bnn

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The safetensors format (https://github.com/huggingface/safetensors#format), as PyTorch users exchange weights:
//
//	8 bytes   n, little endian, at most 100,000,000
//	n bytes   JSON {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, …}, padded with spaces;
//	          "__metadata__" may hold a map of strings
//	the rest  values, little endian, row-major; the tensors cover it without overlap or hole
//
// Reading is strict: whatever the text of the format does not allow is an error, found before anything is allocated
// that the file's own size does not account for.

const maxHeader = 100_000_000

// array is one tensor of a file; data is a part of the file's bytes.
type array struct {
	name  string
	dtype string // a key of dtypeSize
	shape []int  // empty: a scalar
	data  []byte
}

var dtypeSize = map[string]int{
	"BOOL": 1, "U8": 1, "I8": 1, "U16": 2, "I16": 2, "F16": 2, "BF16": 2,
	"U32": 4, "I32": 4, "F32": 4, "U64": 8, "I64": 8, "F64": 8,
}

// parseArrays returns the tensors of a file, in the order of its header, and its metadata.
func parseArrays(file []byte) ([]array, map[string]string, error) {
	if len(file) < 8 {
		return nil, nil, fmt.Errorf("safetensors: %d bytes, too short for the length of a header; is it the right file?", len(file))
	}
	n, body := binary.LittleEndian.Uint64(file), file[8:]
	if n > maxHeader {
		return nil, nil, fmt.Errorf("safetensors: a header of %d bytes is announced, at most %d are allowed; is it the right file?", n, maxHeader)
	}
	if n > uint64(len(body)) {
		return nil, nil, fmt.Errorf("safetensors: a header of %d bytes is announced, %d bytes follow; the file was cut short", n, len(body))
	}
	h := headerReader{data: body[n:]}
	if err := h.read(body[:n]); err != nil {
		return nil, nil, fmt.Errorf("safetensors header: %w", err)
	}
	if err := h.cover(); err != nil {
		return nil, nil, fmt.Errorf("safetensors: %w", err)
	}
	return h.arrays, h.metadata, nil
}

// headerReader reads the JSON token by token, since encoding/json would take duplicate keys, nulls and fractions.
type headerReader struct {
	dec      *json.Decoder
	data     []byte // what follows the header
	arrays   []array
	begins   []int // data_offsets of arrays
	metadata map[string]string
}

func (h *headerReader) read(header []byte) error {
	if len(header) == 0 || header[0] != '{' {
		return errors.New("does not begin with {")
	}
	if !utf8.Valid(header) {
		return errors.New("is not valid UTF-8")
	}
	h.dec = json.NewDecoder(bytes.NewReader(header))
	h.dec.UseNumber()
	err := h.object(func(name string) error {
		if name == "__metadata__" {
			return h.readMetadata()
		}
		if err := h.readArray(name); err != nil {
			return fmt.Errorf("tensor %q: %w", name, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if rest := bytes.TrimRight(header[h.dec.InputOffset():], " "); len(rest) > 0 {
		return fmt.Errorf("byte %d: something follows the closing brace", h.dec.InputOffset())
	}
	return nil
}

func (h *headerReader) readMetadata() error {
	h.metadata = map[string]string{}
	return h.object(func(key string) error {
		text, err := next[string](h)
		h.metadata[key] = text
		return err
	})
}

func (h *headerReader) readArray(name string) error {
	a := array{name: name}
	var offsets []int
	err := h.object(func(key string) (err error) {
		switch key {
		case "dtype":
			a.dtype, err = next[string](h)
		case "shape":
			a.shape, err = h.integers()
		case "data_offsets":
			offsets, err = h.integers()
		default:
			err = fmt.Errorf("unknown key %q", key)
		}
		return err
	})
	if err != nil {
		return err
	}
	size, known := dtypeSize[a.dtype]
	switch {
	case !known:
		return fmt.Errorf("dtype %q is not supported", a.dtype)
	case a.shape == nil:
		return errors.New("has no shape")
	case len(offsets) != 2 || offsets[0] > offsets[1] || offsets[1] > len(h.data):
		return fmt.Errorf("data_offsets %v do not lie in the %d bytes of data; was the file cut short?", offsets, len(h.data))
	}
	need := size
	for _, d := range a.shape {
		if d > 0 && need > math.MaxInt/d {
			return fmt.Errorf("shape %v is too large", a.shape)
		}
		need *= d
	}
	if need != offsets[1]-offsets[0] {
		return fmt.Errorf("shape %v of %s takes %d bytes, data_offsets give %d", a.shape, a.dtype, need, offsets[1]-offsets[0])
	}
	a.data = h.data[offsets[0]:offsets[1]:offsets[1]]
	h.arrays = append(h.arrays, a)
	h.begins = append(h.begins, offsets[0])
	return nil
}

// cover checks that the tensors cover the data without overlap or hole.
func (h *headerReader) cover() error {
	order := make([]int, len(h.arrays))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		if d := h.begins[i] - h.begins[j]; d != 0 {
			return d
		}
		return len(h.arrays[i].data) - len(h.arrays[j].data) // empty ones first
	})
	at := 0
	for _, i := range order {
		if h.begins[i] != at {
			return fmt.Errorf("tensor %q begins at byte %d of the data, not at %d where the one before it ends", h.arrays[i].name, h.begins[i], at)
		}
		at += len(h.arrays[i].data)
	}
	if at != len(h.data) {
		return fmt.Errorf("the last tensor ends at byte %d of %d bytes of data", at, len(h.data))
	}
	return nil
}

// object reads an object and calls value after each key; a key that comes twice is an error.
func (h *headerReader) object(value func(key string) error) error {
	if err := h.delim('{'); err != nil {
		return err
	}
	seen := map[string]bool{}
	for h.dec.More() {
		key, err := next[string](h)
		if err != nil {
			return err
		}
		if seen[key] {
			return fmt.Errorf("byte %d: the key %q comes twice", h.dec.InputOffset(), key)
		}
		seen[key] = true
		if err := value(key); err != nil {
			return err
		}
	}
	return h.delim('}')
}

// integers reads an array of integers from 0 to MaxInt; it never returns nil without an error.
func (h *headerReader) integers() ([]int, error) {
	if err := h.delim('['); err != nil {
		return nil, err
	}
	list := []int{}
	for h.dec.More() {
		number, err := next[json.Number](h)
		if err != nil {
			return nil, err
		}
		i, err := strconv.ParseUint(number.String(), 10, strconv.IntSize-1)
		if err != nil {
			return nil, fmt.Errorf("byte %d: %s is not a size", h.dec.InputOffset(), number)
		}
		list = append(list, int(i))
	}
	return list, h.delim(']')
}

func (h *headerReader) delim(want json.Delim) error {
	got, err := next[json.Delim](h)
	if err == nil && got != want {
		err = fmt.Errorf("byte %d: found %v, want %v", h.dec.InputOffset(), got, want)
	}
	return err
}

// next reads a token that must be a T.
func next[T any](h *headerReader) (T, error) {
	token, err := h.dec.Token()
	value, ok := token.(T)
	if err != nil {
		return value, fmt.Errorf("byte %d: %w", h.dec.InputOffset(), err)
	}
	if !ok {
		return value, fmt.Errorf("byte %d: found %v where another kind of value belongs", h.dec.InputOffset(), token)
	}
	return value, nil
}

// values converts to float64, integers beyond 2⁵³ to the nearest.
func (a *array) values() []float64 {
	size := dtypeSize[a.dtype]
	out := make([]float64, len(a.data)/size)
	for i := range out {
		b := a.data[i*size:]
		switch a.dtype {
		case "BOOL", "U8":
			out[i] = float64(b[0])
		case "I8":
			out[i] = float64(int8(b[0]))
		case "U16":
			out[i] = float64(binary.LittleEndian.Uint16(b))
		case "I16":
			out[i] = float64(int16(binary.LittleEndian.Uint16(b)))
		case "F16":
			out[i] = half(binary.LittleEndian.Uint16(b))
		case "BF16":
			out[i] = float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16))
		case "U32":
			out[i] = float64(binary.LittleEndian.Uint32(b))
		case "I32":
			out[i] = float64(int32(binary.LittleEndian.Uint32(b)))
		case "F32":
			out[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
		case "U64":
			out[i] = float64(binary.LittleEndian.Uint64(b))
		case "I64":
			out[i] = float64(int64(binary.LittleEndian.Uint64(b)))
		case "F64":
			out[i] = math.Float64frombits(binary.LittleEndian.Uint64(b))
		}
	}
	return out
}

// half is the value of an IEEE 754 binary16 number.
func half(b uint16) float64 {
	exponent, fraction := int(b>>10&31), float64(b&1023)
	var x float64
	switch exponent {
	case 0:
		x = math.Ldexp(fraction, -24)
	case 31:
		x = math.Inf(1)
		if fraction > 0 {
			x = math.NaN()
		}
	default:
		x = math.Ldexp(1024+fraction, exponent-25)
	}
	if b>>15 == 1 {
		x = -x
	}
	return x
}

// writeArrays writes a file, the same bytes for the same arrays.
func writeArrays(w io.Writer, arrays []array) error {
	var header strings.Builder
	at := 0
	for i, a := range arrays {
		name, err := json.Marshal(a.name)
		if err != nil {
			return err
		}
		shape, err := json.Marshal(append([]int{}, a.shape...))
		if err != nil {
			return err
		}
		fmt.Fprintf(&header, `%c%s:{"dtype":%q,"shape":%s,"data_offsets":[%d,%d]}`, "{,"[min(i, 1)], name, a.dtype, shape, at, at+len(a.data))
		at += len(a.data)
	}
	if len(arrays) == 0 {
		header.WriteByte('{')
	}
	header.WriteByte('}')
	for header.Len()%8 != 0 { // so that the data begins at a multiple of 8
		header.WriteByte(' ')
	}
	n := binary.LittleEndian.AppendUint64(nil, uint64(header.Len()))
	for _, part := range [][]byte{n, []byte(header.String())} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	for _, a := range arrays {
		if _, err := w.Write(a.data); err != nil {
			return err
		}
	}
	return nil
}
