package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/starling-smc/starling/internal/lock"
	"github.com/starling-smc/starling/paper"
)

// Between reading a record and replacing it nobody else does: what the other wrote would be lost.
func TestRecordByOne(t *testing.T) {
	dir := t.TempDir()
	other, err := lock.Take(filepath.Join(dir, ".record.json.lock"))
	if err != nil {
		t.Fatal(err)
	}
	r := reproduce{table: &paper.DataAnnealing, out: filepath.Join(dir, "none"), record: filepath.Join(dir, "record.json")}
	written := make(chan error)
	go func() {
		_, err := r.write(t.Context())
		written <- err
	}()
	select {
	case err := <-written:
		t.Fatalf("written while another has it: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	if err := other.Free(); err != nil {
		t.Fatal(err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}
