package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/starling-smc/starling/internal/stated"
)

const (
	maxHeader   = 16 << 20 // far more than any network's needs; the format allows 100,000,000
	maxAxes     = 64       // of a shape, as in NumPy and PyTorch
	maxMetadata = 4096     // entries: a map takes many times their size
	maxTensors  = 16384    // whoever reads the file keeps and shows something about each
)

// least is the shortest entry of a tensor in a header. It bounds the number of tensors that a header can hold.
const least = len(`"":{"dtype":"U8","shape":[],"data_offsets":[0,0]},`)

// Parse returns the tensors of a file, in the order of its header, and its metadata.
func Parse(file []byte) ([]Tensor, map[string]string, error) {
	n, err := headerLength(file, int64(len(file)))
	if err != nil {
		return nil, nil, err
	}
	body := file[8+n:]
	h, err := parseHeader(file[8:8+n], len(body))
	if err != nil {
		return nil, nil, err
	}
	for i, begin := range h.begins {
		h.tensors[i].Data = body[begin:h.ends[i]:h.ends[i]]
	}
	return h.tensors, h.metadata, nil
}

// headerLength reads the number of bytes of the header of a file of some size, from its first bytes.
func headerLength(first []byte, size int64) (int, error) {
	if len(first) < 8 {
		return 0, fmt.Errorf("safetensors: %d bytes, too short for the length of a header; is it the right file?", len(first))
	}
	claimed, left := binary.LittleEndian.Uint64(first), size-8
	n, ok := stated.Int(claimed, maxHeader)
	if !ok {
		return 0, fmt.Errorf("safetensors: a header of %d bytes is announced, at most %d are read; is it the right file?", claimed, maxHeader)
	}
	if int64(n) > left {
		return 0, fmt.Errorf("safetensors: a header of %d bytes is announced, %d bytes follow; the file was cut short", n, left)
	}
	return n, nil
}

// parseHeader reads a header that some bytes of data follow.
func parseHeader(text []byte, data int) (*headerReader, error) {
	h := &headerReader{scanner: scanner{text: text}, data: data}
	if err := h.read(); err != nil {
		return nil, fmt.Errorf("safetensors header: %w", err)
	}
	if err := h.cover(); err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	return h, nil
}

// headerReader reads the header strictly: encoding/json accepts duplicate keys, nulls and fractions. What it keeps of a header
// takes at most four times the header's size.
type headerReader struct {
	scanner
	data     int // bytes that follow the header
	tensors  []Tensor
	begins   []int // data_offsets of tensors
	ends     []int
	metadata map[string]string
}

func (h *headerReader) read() error {
	if len(h.text) == 0 || h.text[0] != '{' {
		return errors.New("does not begin with {")
	}
	if !utf8.Valid(h.text) {
		return errors.New("is not valid UTF-8")
	}
	most := min(bytes.Count(h.text, []byte("{")), len(h.text)/least+1)
	h.tensors, h.begins, h.ends = make([]Tensor, 0, most), make([]int, 0, most), make([]int, 0, most)
	err := h.object(func(name []byte) error {
		if string(name) == "__metadata__" {
			return h.readMetadata()
		}
		if len(h.tensors) == maxTensors {
			return h.errorf("more than %d tensors", maxTensors)
		}
		if err := h.readTensor(string(name)); err != nil {
			return fmt.Errorf("tensor %q: %w", name, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if rest := bytes.TrimRight(h.text[h.at:], " "); len(rest) > 0 {
		return fmt.Errorf("byte %d: something follows the closing brace", h.at)
	}
	return nil
}

func (h *headerReader) readMetadata() error {
	if h.metadata != nil {
		return h.errorf("__metadata__ comes twice")
	}
	h.metadata = map[string]string{}
	return h.object(func(key []byte) error {
		if _, twice := h.metadata[string(key)]; twice {
			return h.errorf("the key %q comes twice", key)
		}
		if len(h.metadata) == maxMetadata {
			return h.errorf("more than %d entries of metadata", maxMetadata)
		}
		value, err := h.quoted()
		h.metadata[string(key)] = string(value)
		return err
	})
}

func (h *headerReader) readTensor(name string) error {
	t := Tensor{Name: name}
	fields := [...]string{"dtype", "shape", "data_offsets"}
	var seen [len(fields)]bool
	var offsets []int
	err := h.object(func(key []byte) (err error) {
		k := slices.Index(fields[:], string(key))
		switch {
		case k < 0:
			return h.errorf("unknown key %q", key)
		case seen[k]:
			return h.errorf("the key %q comes twice", key)
		}
		seen[k] = true
		switch fields[k] {
		case "dtype":
			t.DType, err = h.dtype()
		case "shape":
			t.Shape, err = h.integers()
		case "data_offsets":
			offsets, err = h.integers()
		}
		return err
	})
	if err != nil {
		return err
	}
	switch {
	case t.DType == "":
		return errors.New("has no dtype")
	case t.Shape == nil:
		return errors.New("has no shape")
	case len(offsets) != 2 || offsets[0] > offsets[1] || offsets[1] > h.data:
		return fmt.Errorf("data_offsets %v do not lie in the %d bytes of data; was the file cut short?", offsets, h.data)
	}
	need := sizes[t.DType]
	for _, d := range t.Shape {
		var ok bool
		if need, ok = stated.Product(need, d, math.MaxInt); !ok {
			return fmt.Errorf("shape %v is too large", t.Shape)
		}
	}
	if need != offsets[1]-offsets[0] {
		return fmt.Errorf("shape %v of %s takes %d bytes, data_offsets give %d", t.Shape, t.DType, need, offsets[1]-offsets[0])
	}
	h.tensors = append(h.tensors, t)
	h.begins, h.ends = append(h.begins, offsets[0]), append(h.ends, offsets[1])
	return nil
}

// dtype reads a name of sizes.
func (h *headerReader) dtype() (string, error) {
	text, err := h.quoted()
	if err != nil {
		return "", err
	}
	for name := range sizes {
		if string(text) == name {
			return name, nil // one text for all tensors
		}
	}
	return "", fmt.Errorf("dtype %q is not supported", text)
}

// integers reads an array of at most maxAxes integers from 0 to MaxInt. Without an error the result is not nil.
func (h *headerReader) integers() ([]int, error) {
	var list [maxAxes]int
	n := 0
	err := h.list(func() error {
		number, err := h.number()
		if err != nil {
			return err
		}
		i, err := strconv.ParseUint(string(number), 10, strconv.IntSize-1)
		if err != nil || len(number) > 1 && number[0] == '0' {
			return h.errorf("%s is not a size", clip(number))
		}
		if n == maxAxes {
			return h.errorf("a list of more than %d numbers", maxAxes)
		}
		list[n] = int(i)
		n++
		return nil
	})
	return append(make([]int, 0, n), list[:n]...), err
}

// cover checks that the tensors have different names and cover the data, without overlaps and gaps.
func (h *headerReader) cover() error {
	order := make([]int32, len(h.tensors))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int { return strings.Compare(h.tensors[i].Name, h.tensors[j].Name) })
	for k := 1; k < len(order); k++ {
		if name := h.tensors[order[k]].Name; name == h.tensors[order[k-1]].Name {
			return fmt.Errorf("tensor %q comes twice", name)
		}
	}
	slices.SortFunc(order, func(i, j int32) int {
		if d := h.begins[i] - h.begins[j]; d != 0 {
			return d
		}
		return h.ends[i] - h.ends[j] // empty ones first
	})
	at := 0
	for _, i := range order {
		if h.begins[i] != at {
			return fmt.Errorf("tensor %q begins at byte %d of the data, not at %d where the one before it ends", h.tensors[i].Name, h.begins[i], at)
		}
		at = h.ends[i]
	}
	if at != h.data {
		return fmt.Errorf("the last tensor ends at byte %d of %d bytes of data", at, h.data)
	}
	return nil
}
