// Package depot keeps folders of files of known content on a machine, so that they come to it once. A depot has a limit: the folders that
// were used longest ago make room. Several processes may use one at the same time.
package depot

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/regular"
)

// Depot is a folder of folders.
type Depot struct {
	Dir  string
	Most int64 // bytes of all files; 0: no limit
}

// File is a file of known content.
type File struct {
	Name  string // below its folder, with slashes; it does not lead out of it
	Sum   [sha256.Size]byte
	Bytes int64
	Get   func() ([]byte, error) // where it is not there yet
}

// SmallError says that the limit of a depot is below the size of the files.
type SmallError struct{ error }

// Folder returns a folder that has these files. Those that it does not have, or has with other content, are got. key names the folder: the
// same files have the same key.
func (d Depot) Folder(key string, files []File) (dir string, err error) {
	dir = filepath.Join(d.Dir, key)
	bytes := int64(0)
	for _, f := range files {
		if !filepath.IsLocal(filepath.FromSlash(f.Name)) {
			return "", fmt.Errorf("a file cannot be named %q: it would lie outside of its folder", f.Name)
		}
		bytes += f.Bytes
	}
	if err := d.room(key, bytes); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if Is(path, f.Sum) {
			continue
		}
		b, err := f.Get()
		if err != nil {
			return "", fmt.Errorf("%s: %w", f.Name, err)
		}
		if sha256.Sum256(b) != f.Sum {
			return "", fmt.Errorf("%s: has another SHA-256 than %s", f.Name, hex.EncodeToString(f.Sum[:]))
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return "", err
		}
		if err := ckpt.WriteFile(path, b); err != nil {
			return "", err
		}
	}
	now := time.Now()
	return dir, os.Chtimes(dir, now, now)
}

// Is reports whether a file has this content.
func Is(path string, sum [sha256.Size]byte) bool {
	is, err := Sum(path)
	return err == nil && is == sum
}

// Sum is the SHA-256 of a file.
func Sum(path string) (sum [sha256.Size]byte, err error) {
	file, err := regular.Open(path)
	if err != nil {
		return sum, err
	}
	defer file.Close()
	h := sha256.New()
	_, err = io.Copy(h, io.NewSectionReader(file, 0, file.Size()))
	return [sha256.Size]byte(h.Sum(nil)), err
}

// room removes folders until so many bytes have room beside the others. The folder of the key stays.
func (d Depot) room(key string, bytes int64) error {
	if d.Most == 0 {
		return nil
	}
	if bytes > d.Most {
		return &SmallError{fmt.Errorf("the files have %d bytes, and the cache %s may have %d: give it more", bytes, d.Dir, d.Most)}
	}
	type folder struct {
		name  string
		used  time.Time
		bytes int64
	}
	entries, err := os.ReadDir(d.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var all []folder
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.IsDir() || e.Name() == key || strings.HasPrefix(e.Name(), ".") {
			continue // another process has removed it, or it is none of ours
		}
		all = append(all, folder{e.Name(), info.ModTime(), size(filepath.Join(d.Dir, e.Name()))})
		bytes += all[len(all)-1].bytes
	}
	slices.SortFunc(all, func(a, b folder) int { return a.used.Compare(b.used) })
	for _, f := range all {
		if bytes <= d.Most {
			break
		}
		if err := os.RemoveAll(filepath.Join(d.Dir, f.name)); err != nil {
			return err
		}
		bytes -= f.bytes
	}
	return nil
}

// size sums the bytes of the files below a folder.
func size(dir string) (bytes int64) {
	filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			if info, err := e.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return nil
	})
	return bytes
}
