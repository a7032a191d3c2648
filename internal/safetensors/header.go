package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

const (
	maxHeader = 100_000_000
	maxAxes   = 64 // of a shape, as in NumPy and PyTorch
)

// Parse returns the tensors of a file, in the order of its header, and its metadata.
func Parse(file []byte) ([]Tensor, map[string]string, error) {
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
	return h.tensors, h.metadata, nil
}

// headerReader reads the JSON token by token, since encoding/json accepts duplicate keys, nulls and fractions.
type headerReader struct {
	dec      *json.Decoder
	data     []byte // what follows the header
	tensors  []Tensor
	begins   []int // data_offsets of tensors
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
		if err := h.readTensor(name); err != nil {
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

func (h *headerReader) readTensor(name string) error {
	t := Tensor{Name: name}
	var offsets []int
	err := h.object(func(key string) (err error) {
		switch key {
		case "dtype":
			t.DType, err = next[string](h)
		case "shape":
			t.Shape, err = h.integers()
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
	size, known := sizes[t.DType]
	switch {
	case !known:
		return fmt.Errorf("dtype %q is not supported", t.DType)
	case t.Shape == nil:
		return errors.New("has no shape")
	case len(offsets) != 2 || offsets[0] > offsets[1] || offsets[1] > len(h.data):
		return fmt.Errorf("data_offsets %v do not lie in the %d bytes of data; was the file cut short?", offsets, len(h.data))
	}
	need := size
	for _, d := range t.Shape {
		if d > 0 && need > math.MaxInt/d {
			return fmt.Errorf("shape %v is too large", t.Shape)
		}
		need *= d
	}
	if need != offsets[1]-offsets[0] {
		return fmt.Errorf("shape %v of %s takes %d bytes, data_offsets give %d", t.Shape, t.DType, need, offsets[1]-offsets[0])
	}
	t.Data = h.data[offsets[0]:offsets[1]:offsets[1]]
	h.tensors = append(h.tensors, t)
	h.begins = append(h.begins, offsets[0])
	return nil
}

// cover checks that the tensors cover the data, without overlaps and gaps.
func (h *headerReader) cover() error {
	order := make([]int, len(h.tensors))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		if d := h.begins[i] - h.begins[j]; d != 0 {
			return d
		}
		return len(h.tensors[i].Data) - len(h.tensors[j].Data) // empty ones first
	})
	at := 0
	for _, i := range order {
		if h.begins[i] != at {
			return fmt.Errorf("tensor %q begins at byte %d of the data, not at %d where the one before it ends", h.tensors[i].Name, h.begins[i], at)
		}
		at += len(h.tensors[i].Data)
	}
	if at != len(h.data) {
		return fmt.Errorf("the last tensor ends at byte %d of %d bytes of data", at, len(h.data))
	}
	return nil
}

// object reads an object and calls value after each key. A repeated key is an error.
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

// integers reads an array of at most maxAxes integers from 0 to MaxInt. Without an error the result is not nil.
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
		if list = append(list, int(i)); len(list) > maxAxes {
			return nil, fmt.Errorf("byte %d: a list of more than %d numbers", h.dec.InputOffset(), maxAxes)
		}
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
