package starling

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/regular"
	"github.com/starling-smc/starling/internal/testkit"
)

// twoFeatures is a file of n rows of two features, of 16 or of 32 bits.
func twoFeatures(n, bits int) []byte {
	raw := arrays.NPYBegin(fmt.Sprintf("<f%d", bits/8), []int{n, 2})
	for i := range 2 * n {
		if v := math.Sin(float64(i)); bits == 32 {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(3*v)))
		} else {
			raw = binary.LittleEndian.AppendUint16(raw, uint16(math.Abs(v)*0x3c00)|uint16(math.Float32bits(float32(v))>>31<<15))
		}
	}
	return raw
}

// zeroOrOne is a file of n labels.
func zeroOrOne(n int) []byte {
	raw := arrays.NPYBegin("|u1", []int{n})
	for i := range n {
		raw = append(raw, byte(i*i/3%2))
	}
	return raw
}

// TestStoredFitsAsRead: a run on inputs that stay in their file has the same bytes as one on inputs that are read, since they are compressed.
func TestStoredFitsAsRead(t *testing.T) {
	const n = 120
	y := testkit.WriteFile(t, "y.npy", zeroOrOne(n))
	for _, bits := range []int{16, 32} {
		for _, standardise := range []string{"none", "inputs"} {
			x := twoFeatures(n, bits)
			var prints []string
			for _, file := range []string{testkit.WriteFile(t, "x.npy", x), testkit.WriteFile(t, "x.npy", testkit.Gzipped(t, x))} {
				r := fitted(t, tiny(t, fmt.Sprintf("{train: {inputs: %s, targets: %s}, standardise: %s}", file, y, standardise), "bernoulli", 1, "seed=5"), Options{})
				if stays := r.Data.Train.Stored != nil; stays != (regular.Maps && prints == nil) {
					t.Errorf("inputs stay in their file: %v", stays)
				}
				prints = append(prints, fingerprint(t, r))
			}
			if prints[0] != prints[1] {
				t.Errorf("float%d, standardise: %s:\n%s\nread:\n%s", bits, standardise, prints[0], prints[1])
			}
		}
	}
}

// TestChangedWhileItRuns: a file that is cut, or written to, while a run uses it ends the run with the file's name. Nothing that was computed of
// the other content is kept: once the file is as it was, the run goes on to the bytes of one that was left alone.
func TestChangedWhileItRuns(t *testing.T) {
	if !regular.Maps {
		return
	}
	const n = 6000 // several pages
	x := testkit.WriteFile(t, "x.npy", twoFeatures(n, 32))
	y := testkit.WriteFile(t, "y.npy", zeroOrOne(n))
	spec := tiny(t, fmt.Sprintf("{train: {inputs: %s, targets: %s}}", x, y), "bernoulli", 1, "seed=5")
	_, done := kept(t, spec)
	want := contents(t, done)
	for name, change := range map[string]func() error{
		"cut":     func() error { return os.Truncate(x, 5000) },
		"written": func() error { return os.WriteFile(x, bytes.Repeat([]byte("other"), 40), 0o666) },
		"zeroed": func() error {
			f, err := os.OpenFile(x, os.O_RDWR, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteAt(make([]byte, 30000), 1000)
			return errors.Join(err, f.Close())
		},
	} {
		for _, events := range []int{2, 5} {
			dir, told := filepath.Join(t.TempDir(), "run"), 0
			_, err := resume(t.Context(), dir, spec, Options{Every: 1, Progress: func(Event) {
				if told++; told == events {
					if err := change(); err != nil {
						t.Error(err)
					}
				}
			}})
			var fault *DataError
			if !errors.As(err, &fault) || !strings.Contains(err.Error(), x+": was changed while it was in use") {
				t.Fatalf("%s after %d events: %v", name, events, err)
			}
			if strings.Contains(err.Error(), "the last good state is kept in "+dir) != (events > 2) {
				t.Errorf("%s after %d events: %v", name, events, err)
			}
			if err := os.WriteFile(x, twoFeatures(n, 32), 0o666); err != nil {
				t.Fatal(err)
			}
			if _, err := resume(t.Context(), dir, spec, Options{}); err != nil {
				t.Fatalf("%s after %d events, put back: %v", name, events, err)
			}
			if got := contents(t, dir); got != want {
				t.Errorf("%s after %d events, put back:\n%s\nleft alone:\n%s", name, events, got, want)
			}
		}
	}
}

// TestEvaluatedWhileChanged: an evaluation of a file that was cut, or written to, since it was opened has no result.
func TestEvaluatedWhileChanged(t *testing.T) {
	if !regular.Maps {
		return
	}
	const n = 6000
	x := testkit.WriteFile(t, "x.npy", twoFeatures(n, 32))
	y := testkit.WriteFile(t, "y.npy", zeroOrOne(n))
	r := fitted(t, tiny(t, fmt.Sprintf("{train: {inputs: %s, targets: %s}}", x, y), "bernoulli", 1, "seed=5"), Options{})
	for name, change := range map[string]func() error{
		"cut":     func() error { return os.Truncate(x, 5000) },
		"written": func() error { return os.Chtimes(x, time.Time{}, time.Now().Add(time.Hour)) },
	} {
		if err := errors.Join(os.WriteFile(x, twoFeatures(n, 32), 0o666), change()); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Spec.Evaluate(t.Context(), &r.Ensembles, r.Data, nil); !errors.As(err, new(*regular.ChangedError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
