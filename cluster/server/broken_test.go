package server

import (
	"strings"
	"testing"
)

// TestBroken: a write that failed is told once, with what to do; the script of the command has it with a disk that is full.
func TestBroken(t *testing.T) {
	s := &Server{options: Options{Dir: "store"}, broken: make(chan error, 1)}
	l := &logger{refused: newRefusals(func(string) {}), log: func(string) {}, broken: s.breaks}
	l.Errorf("JetStream failed to store a msg")
	if len(s.Broken()) > 0 {
		t.Error("any error breaks the server")
	}
	for range 3 {
		l.Errorf("Filestore [%s] Critical write error: %v", "STARLING_BLOCKS", "no space left on device")
	}
	if len(s.Broken()) != 1 {
		t.Fatalf("told %d times", len(s.Broken()))
	}
	if err := <-s.Broken(); !strings.Contains(err.Error(), "cannot write to store, which has no room left or is faulty: make room, and start the server again") {
		t.Error(err)
	}
}
