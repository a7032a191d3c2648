package runs

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/starling-smc/starling/internal/ckpt"
)

// A part may grow what never changes again, such as the states that a sampler keeps. In a checkpoint it would be written anew each
// time. The part stores it in shards instead, files that are complete and on the disk before the part says that it has them: the next
// checkpoint counts them, by their sums. A run that is resumed from an earlier checkpoint writes later shards again, with the same bytes.

// Stores reports whether Store can be called: the run has a folder, or on a worker its submitter has one, and its kind has shards.
func (r *Run) Stores() bool {
	return r != nil && (r.open && r.folder.kind.Shards != "" || r.shelf != nil)
}

// Free is the number of bytes that the folder's disk has for this user, with those of the run's files in the folder, as shards and
// checkpoints: a run that goes on needs so much less. ok is false where it is not known.
func (r *Run) Free() (bytes int64, ok bool) {
	if r.folder == nil {
		return 0, false
	}
	bytes, ok = r.free(r.folder.Dir)
	return bytes + r.folder.bytes(), ok
}

// Store writes shard number n of a part, of about so many bytes, and returns its sum. If the disk has less, nothing is written. Several
// parts may call it at the same time.
func (r *Run) Store(part, n int, bytes int64, write func(io.Writer) error) (sum [sha256.Size]byte, err error) {
	if r.shelf != nil {
		return r.shelf.store(n, write)
	}
	path := r.shard(part, n)
	if free, ok := r.free(r.folder.Dir); ok && free < bytes {
		return sum, &fs.PathError{Op: "saving the run:", Path: path, Err: fmt.Errorf("needs %d bytes of the disk, which has %d free: %s", bytes, free, makeRoom)}
	}
	s := newSumming()
	err = ckpt.Replace(path, "", func(w io.Writer) error { return write(io.MultiWriter(w, s)) })
	if err != nil {
		return sum, saving(err)
	}
	return s.sum().sha256, nil
}

// Stored calls read with shard number n of a part, and its size. If it is not the one with this sum, which is compared as in Record.Open,
// the error is a *DamagedError. A run may have thousands of shards: after read each is opened for every read alone, and must stay as it is.
func (r *Run) Stored(part, n int, sum [sha256.Size]byte, read func(file io.ReaderAt, size int64) error) error {
	if r.shelf != nil {
		return r.shelf.stored(n, sum, read)
	}
	f, err := openLarge(r.shard(part, n))
	if err == nil {
		failed := read(f, f.size)
		if err = f.compare(fmt.Sprintf("%x", sum)); err == errOther {
			err = fmt.Errorf("%s: %w", f.path, errShard)
		}
		f.Close()
		if err == nil {
			return failed
		}
	}
	return &DamagedError{fmt.Errorf("states that the run has kept: %w; put the file back, or begin anew in another folder", err)}
}

// errShard is the error for a shard that was damaged after it was written, or is another run's.
var errShard = errors.New("is not as the run wrote it: its checksum is not the one in the checkpoint")

func (r *Run) shard(part, n int) string {
	return r.folder.path(r.folder.kind.shard(part, n))
}
