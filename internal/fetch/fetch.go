// Package fetch downloads files of known content. A file is accepted only if it has the expected size and SHA-256, so the
// server and the connection need not be trusted.
//
// A file grows next to its place, under its name with suffix .part. When it is complete and has the right content, it is
// synchronised and renamed. The part of an interrupted download is kept, and the download is resumed in the same process or
// in a later one.
package fetch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/lock"
	"github.com/starling-smc/starling/internal/regular"
)

// Part is the suffix of a file that is not complete yet.
const Part = ".part"

// ErrContent is the error for bytes that are not the expected ones.
var ErrContent = errors.New("wrong content")

// File describes the wanted file.
type File struct {
	URLs   []string // of the same bytes; when one fails, the next is tried
	Size   int64
	SHA256 string // in hexadecimal
}

// Client downloads files. Its zero value is ready for use.
type Client struct {
	HTTP     *http.Client                                        // nil: http.DefaultClient
	Stall    time.Duration                                       // an attempt without new bytes for this long has failed; 0: 30 s
	Tries    int                                                 // a server is given up after this many attempts in a row without new bytes; 0: 5
	Pause    func(ctx context.Context, wait time.Duration) error // between attempts; nil: waits
	Progress func(done int64)                                    // called often, with the bytes that have arrived; nil: not called
	Failed   func(err error, wait time.Duration)                 // called for an attempt that failed and will be repeated; nil: not called
}

// Get downloads a file to path and makes the folders of path. It never replaces a file: if there is one at path, Get returns
// an error. When ctx ends or the network fails, the part that has arrived stays for the next call. If the whole file has the
// wrong content, it is removed, and the error is ErrContent.
func (c *Client) Get(ctx context.Context, f File, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	l, err := lock.Take(path + ".lock") // a file of its own, since the part is renamed
	if errors.As(err, new(*lock.HeldError)) {
		return fmt.Errorf("%s: another process is fetching this file", path)
	}
	if err != nil {
		return err
	}
	defer l.Free()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fmt.Errorf("%s: %w", path, fs.ErrExist)
		}
		return err
	}
	p, err := openPart(path+Part, f)
	if err != nil {
		return err
	}
	defer p.Close()
	var failed error
	for _, url := range f.URLs {
		err := c.from(ctx, url, p)
		if err == nil {
			failed = nil
			break
		}
		failed = errors.Join(failed, err)
		if ctx.Err() != nil || errors.As(err, new(diskError)) {
			break
		}
	}
	if failed != nil {
		if p.have == 0 {
			p.Close()
			os.Remove(p.Name())
		}
		return failed
	}
	if err := p.Close(); err != nil {
		return err
	}
	return ckpt.Rename(p.Name(), path)
}

// part is a file that grows.
type part struct {
	*os.File
	want File
	have int64  // bytes that have arrived
	tag  string // strong ETag of these bytes; empty: unknown, for example after another run
}

// diskError is a fault of the local disk; another server would not help.
type diskError struct{ error }

func (e diskError) Unwrap() error { return e.error }

func openPart(path string, want File) (*part, error) {
	file, err := regular.Create(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, err
	}
	return &part{File: file, want: want, have: info.Size()}, nil
}

// reset discards the bytes that have arrived.
func (p *part) reset() error {
	p.have, p.tag = 0, ""
	if err := p.Truncate(0); err != nil {
		return diskError{err}
	}
	return nil
}

// add appends the bytes that a server has sent.
func (p *part) add(b []byte) error {
	n, err := p.WriteAt(b, p.have)
	p.have += int64(n)
	if err != nil {
		return diskError{err}
	}
	return nil
}

// check synchronises the whole file and compares the content on the disk with the wanted SHA-256.
func (p *part) check(url string) error {
	if err := p.Sync(); err != nil {
		return diskError{err}
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(p, 0, p.have)); err != nil {
		return diskError{err}
	}
	if sum := hex.EncodeToString(h.Sum(nil)); sum != p.want.SHA256 {
		return fmt.Errorf("%s: %w: SHA-256 %s, want %s", url, ErrContent, sum, p.want.SHA256)
	}
	return nil
}

// from downloads from one server, as long as attempts bring new bytes. If the whole file is wrong and a part of it came
// earlier, it is downloaded once more from the start: that part may belong to another file.
func (c *Client) from(ctx context.Context, url string, p *part) error {
	best, fails := p.have, 0
	mixed, again := p.have > 0, false
	p.tag = "" // the tag belongs to another server
	for {
		var err error
		if p.have < p.want.Size {
			err = c.attempt(ctx, url, p)
		}
		if err == nil {
			if err = p.check(url); !errors.Is(err, ErrContent) {
				return err
			}
			if reset := p.reset(); reset != nil || !mixed || again {
				return errors.Join(err, reset)
			}
			best, again = 0, true
			continue
		}
		mixed = mixed || p.have > 0
		var temporary temporaryError
		if ctx.Err() != nil || !errors.As(err, &temporary) {
			return err
		}
		if fails++; p.have > best {
			best, fails = p.have, 0
		}
		if fails >= cmp.Or(c.Tries, 5) {
			return fmt.Errorf("%w (given up after %d attempts)", err, fails)
		}
		wait := time.Second << fails
		if c.Failed != nil {
			c.Failed(err, wait)
		}
		pause := c.Pause
		if pause == nil {
			pause = sleep
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}

func sleep(ctx context.Context, wait time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(wait):
		return nil
	}
}
