package formats

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/starling-smc/starling/internal/packed"
	"github.com/starling-smc/starling/internal/parquet"
	"github.com/starling-smc/starling/internal/regular"
)

// Foreign says what a text is that begins like this, and what to do with it, if that is no text of which records are read. ok is false
// where the beginning does not tell.
func Foreign(head []byte) (what, remedy string, ok bool) {
	if what, remedy := packed.Wide(head); what != "" {
		return what, remedy, true
	}
	f := first(func(f *format) bool { return f.begins != nil && f.begins(head) })
	switch {
	case f == nil:
		return "", "", false
	case f.inside != nil:
		what, remedy = f.inside(head)
		return what, remedy, true
	}
	return cmp.Or(f.what, "a file of the format "+f.title), cmp.Or(f.remedy, asCSV), true
}

// beginning is what a file begins with, unpacked.
type beginning struct {
	name   string
	size   int // of the file
	packed bool
	head   []byte
	tail   []byte // its last bytes, of a file that is not packed
	err    error  // of a packed file that is damaged where it begins: its reader says the same
}

// beginningOf reads the beginning of a file.
func beginningOf(name string, file io.ReaderAt, size int) (*beginning, error) {
	b := &beginning{name: name, size: size, packed: packed.Is(file)}
	if !b.packed {
		b.head = make([]byte, min(size, 1<<10))
		if n, err := file.ReadAt(b.head, 0); n < len(b.head) {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		b.tail = make([]byte, min(size, parquet.Tail))
		if n, err := file.ReadAt(b.tail, int64(size-len(b.tail))); n < len(b.tail) {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return b, nil
	}
	s, err := packed.New(name, io.NewSectionReader(file, 0, int64(size)), size)
	if err != nil {
		b.err = err
		return b, nil
	}
	head := make([]byte, 512)
	n, _ := io.ReadFull(s, head) // what is damaged further on is said by the format's reader
	b.head = head[:n]
	return b, nil
}

// known is the format that the beginning tells, or else the end, of a file that is damaged; nil: they tell none.
func (b *beginning) known() *format {
	if f := first(func(f *format) bool { return f.begins != nil && f.begins(b.head) }); f != nil || b.packed {
		return f
	}
	name := strings.ToLower(filepath.Base(b.name))
	return first(func(f *format) bool {
		return f.closes != nil && f.closes(b.tail, b.size) || slices.ContainsFunc(f.only, func(end string) bool { return strings.HasSuffix(name, end) })
	})
}

func first(is func(*format) bool) *format {
	if k := slices.IndexFunc(formats, func(f format) bool { return is(&f) }); k >= 0 {
		return &formats[k]
	}
	return nil
}

// refuse returns an error that says what a file is and what to do with it, if it is known to hold neither an array nor a table.
func (b *beginning) refuse() error {
	f := b.known()
	switch {
	case f == nil || f.array != nil:
		return nil
	case f.table != nil && !b.packed:
		return nil
	case f.table != nil:
		return fmt.Errorf("%s: is gzip of %s, which is packed in itself: unpack it with gunzip first", b.name, f.what)
	}
	what, remedy := f.what, f.remedy
	if f.inside != nil {
		what, remedy = f.inside(b.head)
	}
	if b.packed {
		what = "gzip of " + what
	}
	return fmt.Errorf("%s: is %s: %s", b.name, what, remedy)
}

// format is the format of a file that Show describes: what its beginning tells, else the end of its name, else what it may be.
func (b *beginning) format() (*format, error) {
	if f := b.known(); f != nil && f.show != nil && !b.packed {
		return f, nil
	}
	if err := b.refuse(); err != nil {
		return nil, err
	}
	if f := b.known(); f != nil {
		return f, nil
	}
	named, may := b.named(b.name), first(func(f *format) bool { return f.may != nil && f.may(b.head) })
	switch {
	case b.err != nil:
		return nil, b.err
	case b.packed && may == nil:
		return b.named(".gz"), nil
	case b.packed:
		return may, nil
	case named != nil:
		return named, nil
	case may != nil:
		return may, nil
	case b.size == 0:
		return nil, fmt.Errorf("%s: the file is empty", b.name)
	}
	return nil, fmt.Errorf("%s: is not in a format that can be read (NPY, IDX, CSV, Parquet, safetensors, or CIFAR as .bin): it begins with % x", b.name, b.head[:min(len(b.head), 8)])
}

// named is the format that the end of a name tells; nil: it tells none.
func (b *beginning) named(name string) *format {
	name = strings.ToLower(filepath.Base(name))
	return first(func(f *format) bool {
		return slices.ContainsFunc(f.ends, func(end string) bool { return strings.HasSuffix(name, end) }) && (f.fits == nil || f.fits(b.size))
	})
}

// open opens a file for the readers of arrays and tables, unless it is known to be of another kind.
func open(path string) (*regular.File, error) {
	file, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	b, err := beginningOf(path, file, int(file.Size()))
	if err == nil {
		err = b.refuse()
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}
