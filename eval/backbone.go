package eval

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/regular"
	"github.com/starling-smc/starling/nn"
)

// Backbone is the layers of a trained network before one of its layers. Its outputs are features: what a head, a network of its own, learns
// from.
type Backbone struct {
	Net      *nn.Net                // the layers (nn.Net.Before)
	Theta    []float64              // their parameters
	Schema   *data.Schema           // of the run whose network it is: how a file becomes inputs
	Pool     *pool.Pool             // nil: one with a thread for each CPU
	Progress func(done, rows int)   // called after each block of rows, and once before the first; nil: not called
	Note     func(text string)      // called for each way in which a file differs from what the network was trained on; nil: not called
	free     func(dir string) int64 // bytes of a folder's disk, for tests; nil: the system's
}

// The types of features in a file.
const (
	Float32 = "float32"
	Float16 = "float16"
)

// featureType is how numbers of a type are written.
type featureType struct {
	dtype string
	size  int64
	put   func(to []byte, x float32) []byte
	most  float64 // the largest number that it holds
}

var featureTypes = map[string]featureType{
	Float32: {"<f4", 4, func(to []byte, x float32) []byte { return binary.LittleEndian.AppendUint32(to, math.Float32bits(x)) }, math.MaxFloat32},
	Float16: {"<f2", 2, func(to []byte, x float32) []byte {
		return binary.LittleEndian.AppendUint16(to, uint16(arrays.ToFloat16(x)))
	}, arrays.MaxFloat16},
}

// File writes the features of every row of a file of inputs, CSV, Parquet, NPY or IDX, as an NPY [rows, …] of a type, Float32 or Float16, and
// returns the number of rows. Missing values are filled, as a Predictor fills them. Either file may be larger than memory. After an error
// the file out is unchanged.
//
// The error is a *UsageError for a name or a type that cannot be used, and an *InputError for the inputs, for features that are not finite in
// that type, and for more of them than the disk has room for.
func (b *Backbone) File(ctx context.Context, in, out, dtype string) (int, error) {
	as, known := featureTypes[dtype]
	switch {
	case !known:
		return 0, wrongUse("features of type %q: want %s or %s", dtype, Float32, Float16)
	case !isNPY(out):
		return 0, wrongUse("%s: features are written as .npy", out)
	}
	if err := checkOut(in, strings.TrimSuffix(out, filepath.Ext(out))+".npy"); err != nil {
		return 0, err
	}
	reader := &Predictor{Schema: b.Schema, Note: b.Note}
	source, err := reader.open(ctx, in, out)
	if err != nil {
		return 0, err
	}
	width := b.Net.Outputs()
	if err := b.fits(filepath.Dir(out), source.rows, width, as.size); err != nil {
		return 0, err
	}
	progress := b.Progress
	if progress == nil {
		progress = func(int, int) {}
	}
	progress(0, source.rows)
	done := 0
	err = ckpt.Replace(out, "", func(w io.Writer) error {
		to := bufio.NewWriterSize(w, 64<<10)
		to.Write(arrays.NPYBegin(as.dtype, append([]int{source.rows}, b.Net.Output()...)))
		err := source.each(func(set *data.Set, _ []string, _ []int) error {
			features, err := b.of(ctx, set)
			for i, x := range features {
				if !(math.Abs(float64(x)) <= as.most) {
					const large = "%s: row %d, from 0: feature %d is %v, more than %s holds%s"
					return &InputError{fmt.Errorf(large, in, done+i/width, i%width, x, dtype, as.mend(x))}
				}
				if _, err := to.Write(as.put(to.AvailableBuffer(), x)); err != nil {
					return err
				}
			}
			if err == nil {
				done += set.Len()
				progress(done, source.rows)
			}
			return err
		})
		if err == nil && done != source.rows {
			err = &InputError{fmt.Errorf("%s: changed while it was read", in)}
		}
		if err != nil {
			return err
		}
		return to.Flush()
	})
	var bad *InputError
	if errors.As(err, &bad) { // not the error of ckpt.Replace around it, which is about out
		err = bad
	}
	return done, err
}

// mend says what to do about a number that is too large.
func (t featureType) mend(x float32) string {
	if math.Abs(float64(x)) <= math.MaxFloat32 {
		return ": write " + Float32
	}
	return ": the network overflows there; look at this row, and at the weights"
}

// fits refuses more features than a folder's disk has room for.
func (b *Backbone) fits(dir string, rows, width int, size int64) error {
	free, known := regular.DiskFree(dir)
	if b.free != nil {
		free, known = b.free(dir), true
	}
	if need := int64(rows) * int64(width) * size; known && need > free {
		return &InputError{fmt.Errorf("%s of %s features take %s, and the disk of %s has %s left: make room, write float16, or take fewer rows",
			numeral.Several(rows, "row"), numeral.Count(width), bytesOf(need), dir, bytesOf(free))}
	}
	return nil
}

// of computes the features of a set, row after row.
func (b *Backbone) of(ctx context.Context, set *data.Set) ([]float32, error) {
	model, err := nn.NewModel(b.Net, set, b.Pool)
	if err != nil {
		return nil, &InputError{err}
	}
	features := make([]float32, set.Len()*b.Net.Outputs())
	return features, model.Outputs(ctx, nil, b.Theta, features)
}

// bytesOf says how many bytes, in a unit that suits them.
func bytesOf(n int64) string {
	for _, u := range numeral.ByteUnits {
		if size := float64(n) / u.Bytes; size >= 1 {
			return numeral.Fixed(size, 1) + " " + u.Name
		}
	}
	return numeral.Several(int(n), "byte")
}

func (b *Backbone) reads() *data.Schema { return b.Schema }

// head makes the inputs of a head from those of the backbone, as if their features were read from a file of float32 numbers.
func (b *Backbone) head(ctx context.Context, head *data.Schema, set *data.Set) (*data.Set, error) {
	features, err := b.of(ctx, set)
	if err != nil {
		return nil, err
	}
	first := 0
	if set.Rows != nil {
		first = int(set.Rows[0])
	}
	from, err := head.Examples(set.Name, &data.Array{Name: set.Source, First: first, Shape: append([]int{set.Len()}, b.Net.Output()...), Values: features})
	if err != nil {
		return nil, fmt.Errorf("features of %w", err)
	}
	return from, nil
}
