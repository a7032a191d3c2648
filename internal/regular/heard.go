package regular

import (
	"context"
	"io"
	"sync/atomic"
)

// until is the context that ends the reading of files; nil: nothing ends it.
var until atomic.Pointer[context.Context]

// Until makes every File end with the error of a context once that is done. A command calls it once, with the context that an interrupt
// ends: a file may take minutes to read, wherever in the program that happens. Who has a context for one stream alone calls Heard.
func Until(ctx context.Context) { until.Store(&ctx) }

// Interrupted is the error with which files end; nil: they do not. Who makes much of few bytes of a file asks now and then.
func Interrupted() error {
	if ctx := until.Load(); ctx != nil {
		return (*ctx).Err()
	}
	return nil
}

// Read implements io.Reader.
func (f *File) Read(b []byte) (int, error) {
	if err := Interrupted(); err != nil {
		return 0, err
	}
	return f.File.Read(b)
}

// ReadAt implements io.ReaderAt.
func (f *File) ReadAt(b []byte, at int64) (int, error) {
	if err := Interrupted(); err != nil {
		return 0, err
	}
	return f.File.ReadAt(b, at)
}

// WriteTo implements io.WriterTo by Read: that of os.File hears nothing.
func (f *File) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, struct{ io.Reader }{f}) }

// Heard is a stream that ends with the error of a context once that is done, or as Files do.
func Heard(ctx context.Context, r io.Reader) io.Reader { return &heard{ctx, r} }

type heard struct {
	ctx context.Context
	r   io.Reader
}

func (h *heard) Read(b []byte) (int, error) {
	if err := h.ctx.Err(); err != nil {
		return 0, err
	}
	if err := Interrupted(); err != nil {
		return 0, err
	}
	return h.r.Read(b)
}
