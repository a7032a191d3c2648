package cluster

import (
	"context"
	"fmt"
	"slices"
)

// DamagedError says that a block in the store does not have the bytes of its sum.
type DamagedError struct{ Block Sum }

func (e *DamagedError) Error() string {
	return fmt.Sprintf("block %v of the store is damaged: its bytes have another SHA-256", e.Block)
}

// Save puts bytes into a space, in blocks. Saving the same bytes again changes nothing.
func Save(ctx context.Context, blocks Blocks, space string, b []byte) (Content, error) {
	c := Content{Sum: SumOf(b), Bytes: int64(len(b))}
	for block := range slices.Chunk(b, MaxBlock) {
		sum := c.Sum
		if len(block) < len(b) {
			sum = SumOf(block)
		}
		if err := blocks.Put(ctx, space, sum, block); err != nil {
			return Content{}, fmt.Errorf("storing %d bytes: %w", len(b), err)
		}
		c.Blocks = append(c.Blocks, sum)
	}
	return c, nil
}

// Load returns the bytes that a content of a space names. Bytes of another sum are a *DamagedError.
func Load(ctx context.Context, blocks Blocks, space string, c Content) ([]byte, error) {
	whole := []byte{}
	for _, sum := range c.Blocks {
		block, err := blocks.Get(ctx, space, sum)
		if err != nil {
			return nil, fmt.Errorf("block %v of the store: %w", sum, err)
		}
		if SumOf(block) != sum {
			return nil, &DamagedError{sum}
		}
		if len(c.Blocks) == 1 {
			whole = block
		} else {
			whole = append(whole, block...)
		}
	}
	if int64(len(whole)) != c.Bytes || len(c.Blocks) != 1 && SumOf(whole) != c.Sum || len(c.Blocks) == 1 && c.Blocks[0] != c.Sum {
		return nil, fmt.Errorf("the blocks of content %v have other bytes together", c.Sum)
	}
	return whole, nil
}
