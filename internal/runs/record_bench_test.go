package runs

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/starling-smc/starling/internal/regular"
)

// BenchmarkOpen reads a result of 1 GB, which is in the system's cache: as Record.File does, without comparing its checksum,
// and as Verify does.
func BenchmarkOpen(b *testing.B) {
	const size = 1_000_000_000
	dir := b.TempDir()
	path := filepath.Join(dir, "result.bin")
	if err := os.WriteFile(path, make([]byte, size), 0o666); err != nil {
		b.Fatal(err)
	}
	sum, err := sumFile(path)
	if err != nil {
		b.Fatal(err)
	}
	record := &Record{Dir: dir, Manifest: Manifest{Files: map[string]string{"result.bin": sum.hex()}}}
	for _, c := range []struct {
		name string
		read func() error
	}{
		{"compared", func() error { _, err := record.File("result.bin"); return err }},
		{"read", func() error { _, err := regular.Read(path, math.MaxInt64); return err }},
		{"verified", func() error { _, err := sumFile(path); return err }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				if err := c.read(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
