package ckpt

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// settled is the age from which on a temporary file that nobody has locked is taken to be left behind. A younger one may be one that is
// not locked yet.
const settled = time.Minute

// Temp makes a temporary file in a folder, whose name is a prefix and digits, and locks it until it is closed or the process ends. First it
// removes those of the same prefix that killed processes left behind.
func Temp(dir, prefix string) (*os.File, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	removeLeft(dir, prefix)
	f, err := os.CreateTemp(dir, prefix)
	if err == nil {
		tryLock(f)
	}
	return f, err
}

// removeLeft removes the temporary files that nobody works on. What cannot be looked at stays.
func removeLeft(dir, prefix string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		digits, ok := strings.CutPrefix(e.Name(), prefix)
		if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err != nil || time.Since(info.ModTime()) < settled {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if f, err := os.OpenFile(path, os.O_RDWR, 0); err == nil {
			if tryLock(f) {
				os.Remove(path)
			}
			f.Close()
		}
	}
}
