package method

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/starling-smc/starling/smc"
)

// writeBefore packs what a part knows of its own before the state of its sampler, whose bytes follow as they are; nil: there is none.
func writeBefore(w io.Writer, own []byte, st *smc.State) (int64, error) {
	n, err := w.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(len(own))), own...))
	if err != nil || st == nil {
		return int64(n), err
	}
	rest, err := st.WriteTo(w)
	return int64(n) + rest, err
}

// cutBefore divides what writeBefore wrote.
func cutBefore(b []byte) (own, state []byte, err error) {
	if len(b) < 8 {
		return nil, nil, errors.New("the state is cut")
	}
	size, b := binary.LittleEndian.Uint64(b), b[8:]
	if size > uint64(len(b)) {
		return nil, nil, errors.New("the state is cut")
	}
	return b[:size], b[size:], nil
}
