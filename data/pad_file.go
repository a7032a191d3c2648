package data

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/formats"
)

// Write pads the images of a file, NPY or IDX, or the test images (without any, the training images) of a set known by name, and writes
// them as an NPY [examples, channels, height, width] of bytes or float32, whose shape it returns. dir is the data directory. A file is read
// a few images at a time. The error is about the images, a *FieldError for an unknown name; that of writing comes when w is flushed.
func (p Padding) Write(w *bufio.Writer, name, dir string) (shape []int, err error) {
	return shape, eachImages(name, dir, func(n int, images *Set) error {
		to, err := p.Pad(images)
		if err != nil {
			return err
		}
		if shape == nil {
			shape = append([]int{n}, to.Shape...)
			dtype := "<f4"
			if to.U8 != nil {
				dtype = "|u1"
			}
			w.Write(arrays.NPYBegin(dtype, shape))
		}
		w.Write(to.U8)
		if to.U8 == nil {
			next := to.pass()
			for i := range to.Len() {
				w.Write(appendFloats(w.AvailableBuffer(), next(i)))
			}
		}
		return nil
	})
}

// padBlock is the number of images that are padded at a time.
const padBlock = 64

// eachImages passes the images of a file or of a known set to fn, a few at a time and without targets, with the number of all of them.
func eachImages(name, dir string, fn func(n int, images *Set) error) error {
	if IsKnown(name) {
		problem, err := Load(name, dir)
		if err != nil {
			return err
		}
		set := problem.Test
		if set == nil {
			set = problem.Train
		}
		set = withoutTargets(name, set)
		rows := make([]int32, set.Len())
		for i := range rows {
			rows[i] = int32(i)
		}
		for few := range slices.Chunk(rows, padBlock) {
			if err := fn(set.Len(), set.Select(name, few)); err != nil {
				return err
			}
		}
		return nil
	}
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return unknownOrMissing(name)
	}
	in, err := formats.OpenArray(name)
	if err != nil {
		return err
	}
	defer in.Close()
	n := in.Shape()[0]
	if n == 0 {
		return fmt.Errorf("%s: %w", name, arrays.ErrNoRows)
	}
	for done := 0; done < n; done += padBlock {
		images, err := in.Next(padBlock)
		if err != nil {
			return err
		}
		set, err := NewInputs(name, images)
		if err != nil {
			return err
		}
		if err := fn(n, set); err != nil {
			return err
		}
	}
	return nil
}
