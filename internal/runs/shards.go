package runs

import (
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/regular"
)

// A part may grow what never changes again, such as the states that a sampler keeps. In a checkpoint it would be written anew each
// time. The part stores it in shards instead, files that are complete and on the disk before the part says that it has them: the next
// checkpoint counts them, by their sums. A run that is resumed from an earlier checkpoint writes later shards again, with the same bytes.

// Stores reports whether Store can be called: the run has a folder, and its kind has shards.
func (r *Run) Stores() bool { return r != nil && r.open && r.folder.kind.Shards != "" }

// Store writes shard number n of a part, and returns its sum. Several parts may call it at the same time.
func (r *Run) Store(part, n int, write func(io.Writer) error) (sum [sha256.Size]byte, err error) {
	s := newSumming()
	err = ckpt.Replace(r.shard(part, n), "", func(w io.Writer) error { return write(io.MultiWriter(w, s)) })
	if err != nil {
		return sum, fmt.Errorf("saving the run: %w", err)
	}
	return s.sum().sha256, nil
}

// Stored returns a reader of shard number n of a part, and its size. If it is not the one with this sum, the error is a *DamagedError. A
// run may have thousands of shards: each is opened for every read alone, and must stay as it is.
func (r *Run) Stored(part, n int, sum [sha256.Size]byte) (io.ReaderAt, int64, error) {
	path := r.shard(part, n)
	f, err := openSummed(path, fmt.Sprintf("%x", sum))
	if err == errOther {
		err = fmt.Errorf("%s: is not as the run wrote it: its checksum is not the one in the checkpoint", path)
	}
	if err != nil {
		return nil, 0, &DamagedError{fmt.Errorf("states that the run has kept: %w; put the file back, or begin anew in another folder", err)}
	}
	return reopened(path), f.Size(), f.Close()
}

// reopened is the path of a file that is opened for each read.
type reopened string

// ReadAt reads from the file as it is now.
func (path reopened) ReadAt(b []byte, at int64) (int, error) {
	f, err := regular.Open(string(path))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return f.ReadAt(b, at)
}

func (r *Run) shard(part, n int) string {
	return r.folder.path(fmt.Sprintf("%s-%d-%d", r.folder.kind.Shards, part, n))
}
