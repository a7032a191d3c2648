package packed

import (
	"bufio"
	"compress/gzip"
	"io"
)

// members reads the members of a gzip file, one after another. What follows the last one, and is too short or is no member, is
// gzip.ErrHeader: gzip's own reader says of a few bytes that the file ends early.
type members struct {
	z *gzip.Reader
	r *bufio.Reader
}

// memberHeader is the least size of a member's header.
const memberHeader = 10

func newMembers(r io.Reader) (*members, error) {
	m := &members{r: bufio.NewReader(r)}
	var err error
	if m.z, err = gzip.NewReader(m.r); err != nil {
		return nil, err
	}
	m.z.Multistream(false)
	return m, nil
}

func (m *members) Read(b []byte) (int, error) {
	n, err := m.z.Read(b)
	if err != io.EOF {
		return n, err
	}
	head, err := m.r.Peek(memberHeader)
	switch {
	case len(head) == 0:
		return n, err
	case len(head) < memberHeader && err == io.EOF:
		return n, gzip.ErrHeader
	case err != nil:
		return n, err
	}
	if err := m.z.Reset(m.r); err != nil {
		return n, err
	}
	m.z.Multistream(false)
	return n, nil
}
