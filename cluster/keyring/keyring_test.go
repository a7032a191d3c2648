package keyring

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func made(t *testing.T, hosts ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "keys")
	if _, err := Write(dir, hosts, time.Hour); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestWrite: only the owner can read the keys, no role has the key of another or of the authority, and nothing is written over.
func TestWrite(t *testing.T) {
	dir := made(t, "node1.lab.org", "10.0.0.1")
	private := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if want := map[bool]fs.FileMode{true: 0o700, false: 0o600}[e.IsDir()]; info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode().Perm(), want)
		}
		if e.IsDir() {
			return nil
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "PRIVATE KEY") || strings.HasPrefix(string(text), "SU") {
			if other, has := private[string(text)]; has {
				t.Errorf("%s and %s are the same key", path, other)
			}
			private[string(text)] = path
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(private) != 6 { // of three roles and of the server among peers; two nkeys
		t.Errorf("private keys: %v", private)
	}
	before, err := os.ReadFile(filepath.Join(dir, "worker", "key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Write(dir, nil, time.Hour); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("keys are written over: %v", err)
	}
	if after, err := os.ReadFile(filepath.Join(dir, "worker", "key.pem")); err != nil || string(after) != string(before) {
		t.Errorf("a key has changed: %v", err)
	}
	s, err := ReadServer(dir)
	if err != nil {
		t.Fatal(err)
	}
	leaf := s.TLS.Certificates[0].Leaf
	for _, host := range []string{"node1.lab.org", "10.0.0.1", "localhost", "127.0.0.1", "::1"} {
		if err := leaf.VerifyHostname(host); err != nil {
			t.Error(err)
		}
	}
	if err := leaf.VerifyHostname("node2.lab.org"); err == nil {
		t.Error("the certificate is one of any host")
	}
}

// TestHosts: what cannot be in a certificate is refused before anything is written.
func TestHosts(t *testing.T) {
	for _, host := range []string{"", "node1:4222", "tls://node1", "node 1", "a\n"} {
		dir := filepath.Join(t.TempDir(), "keys")
		if _, err := Write(dir, []string{host}, time.Hour); err == nil || !strings.Contains(err.Error(), "is no host") {
			t.Errorf("%q: %v", host, err)
		}
		if exists(dir) {
			t.Errorf("%q: a folder is there", host)
		}
	}
}

// TestRead: the folder of all keys and that of a role are read; what is damaged, of another role or open to others is refused with what to do.
func TestRead(t *testing.T) {
	dir := made(t)
	for _, role := range []Role{Submitter, Worker} {
		for _, d := range []string{dir, filepath.Join(dir, string(role))} {
			if c, err := Read(d, role); err != nil || c.Role != role || len(c.Seed) == 0 {
				t.Errorf("%s: %+v, %v", d, c, err)
			}
		}
	}
	for _, c := range []struct {
		want   string
		change func(worker string) error
	}{
		{"others on this machine may read", func(d string) error { return os.Chmod(filepath.Join(d, "key.pem"), 0o660) }},
		{"others on this machine may read", func(d string) error { return os.Chmod(filepath.Join(d, "nkey"), 0o604) }},
		{"has no nkey", func(d string) error { return os.WriteFile(filepath.Join(d, "nkey"), []byte("SUAB"), 0o600) }},
		{"copy the folder again", func(d string) error { return os.WriteFile(filepath.Join(d, "certificate.pem"), nil, 0o600) }},
		{"copy the folder again", func(d string) error { return os.WriteFile(filepath.Join(d, "authority.pem"), nil, 0o600) }},
		{"copy the folder again", func(d string) error {
			other, err := os.ReadFile(filepath.Join(dir, "submitter", "key.pem"))
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(d, "key.pem"), other, 0o600)
		}},
		{"no such file", func(d string) error { return os.Remove(filepath.Join(d, "authority.pem")) }},
		{"has the keys of a submitter, and this needs those of a worker", func(d string) error {
			return os.Rename(filepath.Join(dir, "submitter"), d+"-2")
		}},
	} {
		worker := filepath.Join(made(t), "worker")
		if err := c.change(worker); err != nil {
			t.Fatal(err)
		}
		if exists(worker + "-2") {
			worker += "-2"
		}
		if _, err := Read(worker, Worker); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	if _, err := Read(t.TempDir(), Worker); err == nil || !strings.Contains(err.Error(), "name the folder that starling cluster keys made") {
		t.Errorf("%v", err)
	}
	if _, err := ReadServer(filepath.Join(made(t), "worker")); err == nil || !strings.Contains(err.Error(), "has the keys of a worker") {
		t.Errorf("%v", err)
	}
}
