package data

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/starling-smc/starling/internal/sets"
)

var update = flag.Bool("update", false, "write folder mnist7 anew from MNIST in STARLING_DATA")

// mnist returns the whole of MNIST, or skips the test.
func mnist(t *testing.T, skipped string) (train, test *Set) {
	t.Helper()
	dir := os.Getenv("STARLING_DATA")
	if dir == "" {
		t.Skipf("STARLING_DATA is not set: skips %s", skipped)
	}
	p, err := Load("mnist", dir)
	if err != nil {
		t.Fatal(err)
	}
	return p.Train, p.Test
}

// firstOf lists the first n rows with labels lo to hi.
func firstOf(s *Set, lo, hi int32, n int) []int32 {
	var rows []int32
	for i, y := range s.Labels {
		if y >= lo && y <= hi && len(rows) < n {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

// The embedded images are what the rule picks from MNIST.
func TestMNIST7Files(t *testing.T) {
	train, test := mnist(t, "the comparison of the embedded images with MNIST")
	whole := train
	train = train.Select("train", slices.Concat(firstOf(train, 0, 7, 3400), firstOf(train, 8, 8, 500), firstOf(train, 9, 9, 500)))
	test = test.Select("test", slices.Concat(firstOf(test, 0, 7, 7000), firstOf(test, 8, 8, 500), firstOf(test, 9, 9, 500)))
	k, err := sets.Find("mnist7")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		files, err := sets.Find("mnist")
		if err != nil {
			t.Fatal(err)
		}
		writeIDX(t, files.Files[0], train.U8, train.Len(), 28, 28)
		writeIDX(t, files.Files[1], labelBytes(train), train.Len())
		writeIDX(t, files.Files[2], test.U8, test.Len(), 28, 28)
		writeIDX(t, files.Files[3], labelBytes(test), test.Len())
		return
	}
	trains, tests, err := k.Images("")
	if err != nil {
		t.Fatal(err)
	}
	gotTrain, err := NewSet("train", trains.Inputs, trains.Labels, 10)
	if err != nil {
		t.Fatal(err)
	}
	gotTest, err := NewSet("test", tests.Inputs, tests.Labels, 10)
	if err != nil {
		t.Fatal(err)
	}
	if gotTrain.Checksum() != train.Checksum() || gotTest.Checksum() != test.Checksum() {
		t.Error("folder mnist7 does not hold the images that the rule picks: run this test with -update")
	}
	p, err := Load("mnist7", "")
	if err != nil {
		t.Fatal(err)
	}
	calibrate := whole.Select("calibrate", firstOf(whole, 0, 7, 3400)[1400:])
	calibrate.Classes = 8
	for name, want := range map[string]*Set{
		"calibrate": calibrate, "calibrate/eight": withoutTargets("", whole.Select("", firstOf(whole, 8, 8, 500))),
		"calibrate/nine": withoutTargets("", whole.Select("", firstOf(whole, 9, 9, 500))),
	} {
		if p.Checksums()[name] != want.Checksum() {
			t.Errorf("%s: other images than those of MNIST", name)
		}
	}
}

func labelBytes(s *Set) []byte {
	b := make([]byte, len(s.Labels))
	for i, y := range s.Labels {
		b[i] = byte(y)
	}
	return b
}

func writeIDX(t *testing.T, name string, values []byte, shape ...int) {
	t.Helper()
	var buf bytes.Buffer
	z, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	head := []byte{0, 0, 0x08, byte(len(shape))}
	for _, d := range shape {
		head = binary.BigEndian.AppendUint32(head, uint32(d))
	}
	for _, b := range [][]byte{head, values} {
		if _, err := z.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("..", "internal", "sets", "mnist7", filepath.Base(name)), buf.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestMNIST7(t *testing.T) {
	p, err := Load("mnist7", "")
	if err != nil {
		t.Fatal(err)
	}
	type part struct{ N, Classes int }
	sizes := func(s *Set) part { return part{s.Len(), s.Classes} }
	got := []part{sizes(p.Train), sizes(p.Validate), sizes(p.Test), sizes(p.Calibrate)}
	want := []part{{1200, 8}, {200, 8}, {7000, 8}, {2000, 8}}
	for _, g := range slices.Concat(p.Groups, p.Foreign) {
		got = append(got, sizes(g.Set))
		want = append(want, part{500, 0})
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatal(d)
	}
	for _, part := range p.Parts() {
		s := part.Set
		if err := s.Check(); err != nil {
			t.Error(err)
		}
		if !slices.Equal(s.Shape, []int{1, 28, 28}) {
			t.Errorf("%s has shape %v", s.Name, s.Shape)
		}
	}
	at := slices.IndexFunc(sets.List(""), func(k sets.Known) bool { return k.Name == "mnist7" })
	if e := sets.List("")[at]; e.Train != 1200 || e.Validate != 200 || e.Test != 7000 || len(e.Groups) != len(p.Groups) || e.Calibrate != 2000 || len(e.Foreign) != len(p.Foreign) || !e.Found {
		t.Errorf("List says %+v", e)
	}
	// The noise is none that is tested on, and is that of the calibration images.
	tested, known := p.Groups[3].Set, p.Foreign[3].Set
	var mean, square float64
	for i, v := range known.F32 {
		clean := p.Calibrate.U8[i]
		d := float64(v) - float64(clean)/255
		if d == float64(tested.F32[i])-float64(p.Test.U8[i])/255 && i < 100 {
			t.Errorf("pixel %d has the noise of a test image", i)
		}
		mean, square = mean+d, square+d*d
	}
	if n := float64(len(known.F32)); !(math.Abs(mean/n) < .5*5/math.Sqrt(n)) || !(math.Abs(square/n-.25) < .25*5*math.Sqrt(2/n)) { // 5 deviations: 6e-7 each
		t.Errorf("the noise has mean %v and mean square %v", mean/n, square/n)
	}
	if known, tested := p.Foreign[2].Set.F32, p.Groups[2].Set.F32; known[0] == tested[0] || known[1] == tested[1] {
		t.Error("the white noise is that which is tested on")
	}
	// Frozen: every bit of the noise and of the embedded images is part of the data set.
	sums := map[string]string{}
	for name, sum := range p.Checksums() {
		sums[name] = sum[:16]
	}
	frozen := map[string]string{
		"train": "3f7261a6e317d1f0", "validate": "5393d97fb44be9ad", "test": "73f9184de677800b", "eight": "5935e47fd5f19a29",
		"nine": "cdfcf5c2cdd01351", "noise": "4fda1ea2060f6284", "perturbed": "0c73f60d91efad26",
		"calibrate": "0247e30583f5fb29", "calibrate/eight": "f7eb70c7b5f16506", "calibrate/nine": "181a90e8fe5401a2",
		"calibrate/noise": "d829eb34f65b1543", "calibrate/perturbed": "6082d8b6cbb465ec",
	}
	if d := cmp.Diff(frozen, sums); d != "" {
		t.Error(d)
	}
}
