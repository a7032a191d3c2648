package parquet

import (
	"math"
	"math/big"
	"testing"
)

// TestDecimals: decimal numbers of bytes in two's complement are written with all their digits.
func TestDecimals(t *testing.T) {
	for _, c := range []struct {
		bytes  []byte
		places int
		want   string
	}{
		{[]byte{0x01, 0x00}, 2, "2.56"}, {[]byte{0xff, 0xff}, 2, "-0.01"}, {[]byte{0x80}, 0, "-128"}, {[]byte{5}, 4, "0.0005"}, {nil, 2, "0.00"},
		{new(big.Int).Exp(big.NewInt(10), big.NewInt(30), nil).Bytes(), 30, "1.000000000000000000000000000000"},
	} {
		if got := string(appendPlaces(nil, signed(c.bytes), c.places)); got != c.want {
			t.Errorf("% x with %d places is %s, want %s", c.bytes, c.places, got, c.want)
		}
	}
}

// TestHalf: half-precision numbers by the tables of IEEE 754, and in order.
func TestHalf(t *testing.T) {
	for bits, want := range map[uint16]float64{
		0x0000: 0, 0x8000: math.Copysign(0, -1), 0x0001: 0x1p-24, 0x03ff: 0x3ffp-24, 0x0400: 0x1p-14, 0x3c00: 1, 0x3555: 0x555p-12, 0xc000: -2, 0x7bff: 65504,
		0x7c00: math.Inf(1), 0xfc00: math.Inf(-1),
	} {
		if got := half(bits); math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("%04x is %v, want %v", bits, got, want)
		}
	}
	if v := half(0x7e00); v == v {
		t.Errorf("NaN is %v", v)
	}
	for bits := uint16(1); bits <= 0x7c00; bits++ {
		if !(half(bits) > half(bits-1)) {
			t.Fatalf("%04x is %v, and %04x is %v", bits, half(bits), bits-1, half(bits-1))
		}
	}
}
