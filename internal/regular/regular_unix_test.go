//go:build unix

package regular_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/starling-smc/starling/internal/regular"
)

// TestNothingElseIsOpened: pipes, devices and folders are refused at once, and what is written goes through no link.
func TestNothingElseIsOpened(t *testing.T) {
	dir := t.TempDir()
	file, link, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	if err := errors.Join(os.WriteFile(file, []byte("text"), 0o666), os.Symlink(file, link), syscall.Mkfifo(pipe, 0o666)); err != nil {
		t.Fatal(err)
	}
	for path, what := range map[string]string{pipe: "pipe", dir: "folder", "/dev/zero": "device"} {
		if _, err := regular.Read(path, 100); !errors.Is(err, regular.ErrIrregular) || !strings.HasSuffix(err.Error(), what) {
			t.Errorf("reading %s: %v", path, err)
		}
		if _, err := regular.Create(path, os.O_WRONLY); !errors.Is(err, regular.ErrIrregular) || !strings.HasSuffix(err.Error(), what) {
			t.Errorf("writing %s: %v", path, err)
		}
	}
	if text, err := regular.Read(link, 100); err != nil || string(text) != "text" {
		t.Errorf("%q, %v read through a link", text, err)
	}
	dangling := filepath.Join(dir, "dangling")
	if err := os.Symlink(filepath.Join(dir, "none"), dangling); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, dangling} {
		if _, err := regular.Create(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC); !errors.Is(err, regular.ErrIrregular) {
			t.Errorf("%s is opened for writing: %v", path, err)
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "text" {
		t.Errorf("the file behind the link now has %q, %v", text, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "none")); err == nil {
		t.Error("a file was made behind a link")
	}
}

// TestCreateSharesNothing: a file with another name is not opened for writing, and not emptied.
func TestCreateSharesNothing(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, []byte("text"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(file, link); err != nil {
		t.Skip(err)
	}
	if _, err := regular.Create(link, os.O_WRONLY|os.O_TRUNC); !errors.Is(err, regular.ErrIrregular) || !strings.Contains(err.Error(), "one of 2 hard links") {
		t.Errorf("opened: %v", err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "text" {
		t.Errorf("the file now has %q, %v", text, err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	f, err := regular.Create(link, os.O_WRONLY)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

// TestReadIsWhole: a file that is too long, or that changes while it is read, is an error.
func TestReadIsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("12345"), 0o666); err != nil {
		t.Fatal(err)
	}
	if text, err := regular.Read(path, 5); err != nil || string(text) != "12345" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := regular.Read(path, 4); err == nil || !strings.Contains(err.Error(), "at most 4") {
		t.Errorf("five bytes of four: %v", err)
	}
	f, err := regular.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Unchanged(); err != nil {
		t.Error(err)
	}
	if err := os.Truncate(path, 2); err != nil {
		t.Fatal(err)
	}
	if err := f.Unchanged(); err == nil || !strings.Contains(err.Error(), "was changed") {
		t.Errorf("cut while it was read: %v", err)
	}
}
