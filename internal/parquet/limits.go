package parquet

import (
	"fmt"

	"github.com/starling-smc/starling/internal/numeral"
)

// What a file claims is compared with its size before anything is allocated by it. A page may have many values in few bytes, since a
// column that hardly changes takes almost none, so that values alone are no memory: they are read one after another from the bytes of
// their page. What is in memory are the bytes of one page of each column, unpacked, and of its dictionary.
const (
	mostPage    = 256 << 20 // bytes of a page, unpacked
	fewValues   = 4 << 20   // values of a page that any file may have
	ratio       = 1024      // values of a page for each byte of the file that it may have beyond these
	mostValues  = 1 << 26   // values of a page of any file
	leastPage   = 8         // bytes of the header of a page
	mostColumns = 1 << 16   // of a table, as of a CSV
	mostRow     = 4<<20 - 1 // bytes of a row's text, as of a CSV
	mostRows    = 1 << 40   // of a row group

	mostHeld  = 256 << 20 // bytes of the pages of all columns together, unpacked, that any file may have
	heldRatio = 64        // bytes of them for each byte of the file, if these are more

	fewParts  = 4096 // structures of a description that any file may have
	leastPart = 4    // bytes of a structure beyond these, on the average: in memory it takes many times as many
)

// room is the memory that is left for the pages of all columns of a row group.
type room struct{ left, whole int64 }

func newRoom(size int64) *room {
	whole := max(mostHeld, heldRatio*min(size, 1<<40))
	return &room{whole, whole}
}

// take takes n bytes.
func (r *room) take(n int64) error {
	if n < 0 || n > r.left {
		return fmt.Errorf("a page that takes %s bytes: with those of the columns before it that is more than %s bytes of memory, far more than the file's size allows: write the file with smaller pages, or with smaller row groups",
			numeral.Count(int(n)), numeral.Count(int(r.whole)))
	}
	r.left -= n
	return nil
}

func (r *room) give(n int64) { r.left += n }

// inProportion returns an error if a page has far more bytes than its values can take, each of a width in bytes: values, levels and
// places in a dictionary, in runs of one.
func inProportion(size, values int64, width int) error {
	const (
		beside = 16 // bytes of a value beside its own
		few    = 1024
	)
	if width > 0 && size > few+values*int64(width+beside) {
		return fmt.Errorf("a page of %s bytes for %s of %d bytes each", numeral.Count(int(size)), numeral.Several(int(values), "value"), width)
	}
	return nil
}
