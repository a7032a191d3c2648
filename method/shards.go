package method

import (
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/safetensors"
	"github.com/starling-smc/starling/smc"
)

// shardBytes is about the size of a file of kept states: what an island holds in memory, and what a checkpoint holds. Files are cut by
// it alone, and not by time, so that a run has the same files however often it was stopped.
const shardBytes = 2 << 20

// filed is the format of states that are kept in files; empty: these are kept in memory.
func filed(k smc.Keeper) safetensors.Format {
	if keep, ok := k.(after); ok {
		return keep.Format()
	}
	return ""
}

func (p *island) format() safetensors.Format { return filed(p.sampler.Keep) }

// store moves the kept states to a file if they are many. Without a folder they stay in memory.
func (p *island) store() error {
	st, format := p.state, p.format()
	bytes := len(st.Kept) * safetensors.Float32.Bytes() // whatever the format: memory has float64
	if format == "" || !p.job.Run.Stores() || bytes < shardBytes {
		return nil
	}
	sum, err := p.job.Run.Store(p.sampler.Island, len(st.Shards), int64(len(st.Kept)*format.Bytes()), func(w io.Writer) error {
		return bnn.WriteShard(w, p.job.Net, st.Kept, format, p.sampler.Island, st.Unloaded())
	})
	if err == nil {
		st.Unload(sum)
	}
	return err
}

// stored are the kept states that lie in files, each of which must be the one that the state knows; nil where there are none.
func (p *island) stored() (*bnn.Members, error) {
	parts := make([]*bnn.Members, len(p.state.Shards))
	for i, shard := range p.state.Shards {
		if !p.job.Run.Stores() {
			return nil, fmt.Errorf("%d of its kept states lie in files of a run's folder, and there is no folder", p.state.Unloaded())
		}
		var err error
		if parts[i], err = p.shard(i, shard); err != nil {
			return nil, err
		}
	}
	return bnn.JoinMembers(parts...), nil
}

// StoredSums are the checksums of the files of kept states that a packed island counts. A part of another phase, such as a search, has none.
func StoredSums(part []byte) (sums [][sha256.Size]byte) {
	_, part = cutLost(part)
	if _, island, err := cutBefore(part); err == nil { // an island alone begins otherwise, with no such size
		part = island
	}
	var st smc.State
	if st.UnmarshalBinary(part) != nil {
		return nil
	}
	for _, s := range st.Shards {
		sums = append(sums, s.Sum)
	}
	return sums
}

func (p *island) shard(i int, shard smc.Shard) (one *bnn.Members, err error) {
	err = p.job.Run.Stored(p.sampler.Island, i, shard.Sum, func(file io.ReaderAt, size int64) error {
		if one, err = bnn.OpenShard(file, size, p.job.Net); err == nil && one.Size() != shard.Vectors {
			err = fmt.Errorf("has %d vectors, not %d", one.Size(), shard.Vectors)
		}
		if err != nil {
			return fmt.Errorf("file %d of the kept states: %w", i, err)
		}
		return nil
	})
	return one, err
}
