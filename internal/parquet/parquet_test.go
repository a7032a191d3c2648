package parquet

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// all reads n numbers.
func all(b []byte, bits, n int) (values []uint32, err error) {
	r := newRuns(b, bits, n)
	for len(values) < n {
		v, err := r.next()
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

// TestRuns: what runs claim is compared with their bytes and with the number that is wanted, so that a few bytes cannot claim all memory.
func TestRuns(t *testing.T) {
	ones := func(n int) []uint32 { return slices.Repeat([]uint32{1}, n) }
	for name, c := range map[string]struct {
		bytes   string
		bits, n int
		want    []uint32 // nil: an error
	}{
		"a run of ten":         {"\x14\x01", 1, 10, ones(10)},
		"a run of nineteen":    {"\x26\x01", 1, 11, nil},
		"a run of 2³⁰":         {"\x80\x80\x80\x80\x08\x01", 1, 10, nil},
		"a run of none":        {"\x00\x01\x14\x01", 1, 10, nil},
		"eights":               {"\x05\xff\x03", 1, 10, ones(10)}, // two of them, of which ten values count
		"too many eights":      {"\x07\xff\xff\xff", 1, 10, nil},
		"packed, cut":          {"\x05\xff", 1, 10, nil},
		"a run, cut":           {"\x14\x01", 9, 10, nil},
		"runs one after other": {"\x0a\x01\x0a\x00", 1, 10, append(ones(5), make([]uint32, 5)...)},
		"too few":              {"\x0a\x01", 1, 10, nil},
		"a wide run":           {"\x04\x34\x12", 13, 2, []uint32{0x1234, 0x1234}},
		"three bits":           {"\x03\x88\xc6\xfa", 3, 8, []uint32{0, 1, 2, 3, 4, 5, 6, 7}}, // the example of the format's page
		"no number":            {"\xff\xff\xff", 1, 10, nil},
		"a level of 255":       {"\x14\xff", 1, 10, nil},
		"a level of 2":         {"\x14\x02", 1, 10, nil},
		"beyond 13 bits":       {"\x04\x34\x22", 13, 2, nil},
	} {
		got, err := all([]byte(c.bytes), c.bits, c.n)
		if (err == nil) != (c.want != nil) || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for trial := range 300 { // packed bit by bit
		bits := 1 + trial%32
		want, packed := make([]uint32, 16), make([]byte, 2*bits)
		for i := range want {
			want[i] = r.Uint32() >> (32 - bits)
			for b := range bits {
				packed[(i*bits+b)/8] |= byte(want[i]>>b&1) << ((i*bits + b) % 8)
			}
		}
		if got, err := all(append([]byte{2<<1 | 1}, packed...), bits, 16); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%d bits: %v, %v, want %v", bits, got, err, want)
		}
	}
}

// TestCodecs: a page is unpacked to the size that it claims, and not further.
func TestCodecs(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte("abcde")); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	tried := 0
	for name, raw := range map[string][]byte{"SNAPPY": {0x05, 0x10, 'a', 'b', 'c', 'd', 'e'}, "GZIP": packed.Bytes(), "UNCOMPRESSED": []byte("abcde"), "LZ4_RAW": append([]byte{0x50}, "abcde"...)} {
		for kind, codec := range codecs {
			if !strings.EqualFold(kind.String(), name) {
				continue
			}
			tried++
			if b, err := codec.unpack(raw, 5); err != nil || string(b) != "abcde" {
				t.Errorf("%s: %q, %v", name, b, err)
			}
			for _, size := range []int{4, 6, 1 << 20} {
				if _, err := codec.unpack(raw, size); err == nil {
					t.Errorf("%s: takes five bytes for %d", name, size)
				}
			}
		}
	}
	if tried != 4 {
		t.Errorf("%d of 4 codecs tried", tried)
	}
}
