package runs

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"io"

	"github.com/starling-smc/starling/internal/regular"
)

// summing counts and hashes the bytes that are written to it.
type summing struct {
	hash  hash.Hash
	bytes int64
}

func newSumming() *summing { return &summing{hash: sha256.New()} }

func (s *summing) Write(b []byte) (int, error) {
	s.bytes += int64(len(b))
	return s.hash.Write(b)
}

// sum identifies the bytes so far.
func (s *summing) sum() sum { return sum{s.bytes, [sha256.Size]byte(s.hash.Sum(nil))} }

// sum identifies bytes by their number and their SHA-256. The zero sum is not that of any bytes.
type sum struct {
	bytes  int64
	sha256 [sha256.Size]byte
}

// sumSize is the number of bytes of a sum in a checkpoint.
const sumSize = 8 + sha256.Size

func (s sum) append(to []byte) []byte {
	return append(binary.LittleEndian.AppendUint64(to, uint64(s.bytes)), s.sha256[:]...)
}

// readSum is the inverse of append.
func readSum(b []byte) sum {
	return sum{int64(binary.LittleEndian.Uint64(b)), [sha256.Size]byte(b[8:sumSize])}
}

// hex is the SHA-256 as it stands in a manifest.
func (s sum) hex() string { return fmt.Sprintf("%x", s.sha256) }

// sumFile hashes a file without holding it in memory.
func sumFile(path string) (sum, error) {
	f, err := regular.Open(path)
	if err != nil {
		return sum{}, err
	}
	defer f.Close()
	s := newSumming()
	if _, err := io.Copy(s, f); err != nil {
		return sum{}, err
	}
	return s.sum(), f.Unchanged()
}
