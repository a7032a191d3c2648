package sets

import (
	"archive/tar"
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/packed"
	"github.com/starling-smc/starling/internal/regular"
)

// Fetched is a file that is in its place after Fetch.
type Fetched struct {
	File  string // its path
	Size  int64  // in bytes; of a gzip file, after unpacking
	Sum   string // SHA-256 of the same bytes
	There bool   // it was there before, with the right content
}

// ErrNoDownload is the error of Fetch for a set that no server has in the form that Load reads.
var ErrNoDownload = errors.New("has no download")

// Fetch downloads the missing files of a known data set into dir, in the places where Load looks for them. A file that is
// already there is not changed; if its content is wrong, the error is ErrContent. A built-in set has no files.
//
// get downloads a file to a path, complete and with the right content, or returns an error. The part of a broken download is
// kept at that path with suffix .part, and the next Fetch continues it.
func Fetch(ctx context.Context, name, dir string, get func(ctx context.Context, r Remote, path string) error) ([]Fetched, error) {
	k, err := Find(name)
	if err != nil {
		return nil, err
	}
	if k.BuiltIn {
		return nil, nil
	}
	if !k.Download {
		return nil, fmt.Errorf("data set %s %w: %s", name, ErrNoDownload, k.HowToGet())
	}
	var list []Fetched
	var missing []string
	for _, p := range pins[name] {
		path := k.path(dir, p.file)
		switch err := k.verify(p, dir); {
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, p.file)
		case errors.Is(err, ErrContent):
			return nil, fmt.Errorf("%w (this file stays as it is: move it away, then fetch again)", err)
		case err != nil:
			return nil, err
		}
		list = append(list, Fetched{path, p.size, p.sum, !slices.Contains(missing, p.file)})
	}
	for _, d := range downloads[name] {
		place := filepath.Join(dir, filepath.FromSlash(d.file))
		if d.folder == "" {
			if slices.Contains(missing, d.file) {
				if err := get(ctx, d.Remote, place); err != nil {
					return nil, err
				}
			}
			continue
		}
		if missing == nil {
			continue
		}
		_, err := os.Stat(place) // it may be there from a Fetch that was interrupted while it unpacked
		there := err == nil
		if !there {
			if err := get(ctx, d.Remote, place); err != nil {
				return nil, err
			}
		}
		switch err := unpack(ctx, place, d.folder, dir, pins[name], missing); {
		case there && errors.Is(err, ErrContent):
			return nil, fmt.Errorf("%w (it was there before: delete %s, then fetch again)", err, place)
		case err != nil:
			return nil, err
		}
		if err := os.Remove(place); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// unpack copies the missing files of a set from a folder of an archive, each into its place once it is complete and right.
func unpack(ctx context.Context, archive, folder, dir string, pins []pin, missing []string) error {
	file, err := regular.Open(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		return fmt.Errorf("%s: %w: damaged gzip: %w", archive, ErrContent, packed.Ended(err))
	}
	left := slices.Clone(missing)
	for r := tar.NewReader(z); len(left) > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		head, err := r.Next()
		if err == io.EOF {
			return fmt.Errorf("%s: %w: has no %s/%s", archive, ErrContent, folder, path.Base(left[0]))
		}
		if err != nil {
			return fmt.Errorf("%s: %w: %w", archive, ErrContent, packed.Ended(err))
		}
		k := slices.IndexFunc(pins, func(p pin) bool { return path.Join(folder, path.Base(p.file)) == path.Clean(head.Name) })
		if k < 0 || head.Typeflag != tar.TypeReg || !slices.Contains(left, pins[k].file) {
			continue
		}
		err = pins[k].place(r, dir)
		if damaged(err) {
			err = fmt.Errorf("%w: %w", ErrContent, packed.Ended(err))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", archive, err)
		}
		left = slices.DeleteFunc(left, func(f string) bool { return f == pins[k].file })
	}
	return nil
}

// damaged reports whether a packed file could not be read because of its bytes.
func damaged(err error) bool {
	return errors.As(err, new(flate.CorruptInputError)) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, io.ErrUnexpectedEOF)
}

// place writes a file of an archive. The file appears in its place once it is whole and its content is right.
func (p pin) place(r io.Reader, dir string) error {
	return ckpt.Replace(filepath.Join(dir, filepath.FromSlash(p.file)), "", func(w io.Writer) error {
		h := sha256.New()
		n, err := io.Copy(io.MultiWriter(w, h), io.LimitReader(r, p.size+1))
		if err != nil {
			return err
		}
		if n != p.size {
			return fmt.Errorf("%s: %w: not %s bytes", p.file, ErrContent, numeral.Grouped(strconv.FormatInt(p.size, 10)))
		}
		return p.compareTo(p.file, h.Sum(nil))
	})
}
