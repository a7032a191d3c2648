//go:build !purego && !race

// Residual networks take minutes without assembly.

package paper

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/sets"
	"github.com/starling-smc/starling/uq"
)

const (
	generatedTrain, generatedTest = 400, 40 // images
	pixels                        = 3 * 32 * 32
)

// generated makes a folder of data: CIFAR-10 in its binary form, natural and changed images, and a reference, all of blobs whose colour tells
// the class.
func generated(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	r := rand.New(rand.NewPCG(3, 9))
	images := func(n int) (labels, values []byte) {
		for i := range n {
			labels = append(labels, byte(i%10))
			for k := range pixels {
				values = append(values, byte(100+10*(i%10)*(k/1024)/2+r.IntN(60)))
			}
		}
		return labels, values
	}
	put := func(name string, content []byte) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, content, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	pair := func(images, labels string, n int, values, classes []byte) {
		t.Helper()
		put(images, append(arrays.NPYBegin("|u1", []int{n, 3, 32, 32}), values...))
		put(labels, append(arrays.NPYBegin("|u1", []int{n}), classes...))
	}
	files := map[string][]byte{}
	for _, f := range []struct {
		name string
		n    int
	}{{"data_batch_1.bin", 80}, {"data_batch_2.bin", 80}, {"data_batch_3.bin", 80}, {"data_batch_4.bin", 80}, {"data_batch_5.bin", 80}, {"test_batch.bin", generatedTest}} {
		labels, values := images(f.n)
		var records []byte
		for i, y := range labels {
			records = append(append(records, y), values[i*pixels:(i+1)*pixels]...)
		}
		files[f.name] = records
		put(filepath.Join("cifar10", f.name), records)
	}
	t.Cleanup(sets.PinImages("cifar10", generatedTrain, generatedTest, files))
	labels, values := images(30)
	for i := 20; i < 30; i++ {
		labels[i] = noClass
	}
	pair(naturalFiles[0], naturalFiles[1], 30, values, labels)
	for _, kind := range corruptions {
		labels, values := images(10)
		pair(filepath.Join(corruptionFolder, kind+".npy"), filepath.Join(corruptionFolder, kind+"-labels.npy"), 10, values, labels)
	}
	probs := make([]float32, generatedTest*10)
	for i := range generatedTest {
		for c := range 10 {
			probs[i*10+c] = .05
		}
		probs[i*10+r.IntN(10)] = .55
	}
	var b bytes.Buffer
	b.Write(arrays.NPYBegin("<f4", []int{generatedTest, 10}))
	if err := binary.Write(&b, binary.LittleEndian, probs); err != nil {
		t.Fatal(err)
	}
	put(referenceFile, b.Bytes())
	return dir
}

// smallBatch suits 16 images to train.
const smallBatch = "method.smc.move.epoch.batch=8"

// reducedRun makes the reduced run of a cell of CIFAR10 in a folder of runs, and reads it.
func reducedRun(t *testing.T, out, dataDir, name string, seed uint64) *Run {
	t.Helper()
	c := CIFAR10.cell(t, name)
	if strings.HasPrefix(name, "refined") {
		c.Reduced = append(slices.Clone(c.Reduced), smallBatch)
	}
	dir, o := filepath.Join(out, Folder(name, seed, true)), starling.Options{DataDir: dataDir}
	if err := c.Ready(t.Context(), seed, true, dir, o); err != nil {
		t.Fatal(err)
	}
	work, err := CIFAR10.Work(c, seed, true, dir, dataDir)
	if err != nil {
		t.Fatal(err)
	}
	if o.Folder, err = starling.TakeFolder(dir, work.Kind()); err != nil {
		t.Fatal(err)
	}
	if _, err := work.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if err := o.Folder.Close(); err != nil {
		t.Fatal(err)
	}
	o.Folder = nil
	run, err := CIFAR10.Read(t.Context(), dir, c, seed, true, o)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// A network, what begins at it, and networks together: figures are those of the runs by other roads.
func TestCIFAROnGeneratedImages(t *testing.T) {
	out, dir := t.TempDir(), generated(t)
	for _, seed := range []uint64{1, 2, 3} {
		reducedRun(t, out, dir, cifarNetwork, seed)
	}
	refined, together := reducedRun(t, out, dir, "refined", 1), reducedRun(t, out, dir, "ensemble", 1)
	open := func(cell string, seed uint64) *starling.Run {
		t.Helper()
		run, err := starling.OpenRun(filepath.Join(out, Folder(cell, seed, true)))
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	network, run := open(cifarNetwork, 1), open("refined", 1)
	p, err := run.Spec.Load(dir, run.Schema)
	if err != nil {
		t.Fatal(err)
	}
	predict := func(e *bnn.Ensemble, set *data.Set) *uq.Predictive {
		t.Helper()
		v, err := e.Predict(t.Context(), set, pool.New(0))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	is := func(of *Run, name string, want, within float64) {
		t.Helper()
		if got := figure(name)(*of); !(math.Abs(got-want) <= within) {
			t.Errorf("%s: %s is %v, want %v", of.Cell, name, got, want)
		}
	}

	// Three networks together are the mean of their probabilities.
	mean, best := make([]float64, generatedTest*10), make([]float64, generatedTest)
	for _, seed := range []uint64{1, 2, 3} {
		for i, v := range predict(open(cifarNetwork, seed).Posterior, p.Test).Probs {
			mean[i] += v / 3
		}
	}
	right, nll, squares := 0., 0., 0.
	for i, y := range p.Test.Labels {
		row := mean[i*10 : (i+1)*10]
		best[i] = slices.Max(row)
		if row[y] == best[i] {
			right += 100. / generatedTest
		}
		nll -= math.Log(row[y]) / generatedTest
		for c, v := range row {
			if c == int(y) {
				v--
			}
			squares += v * v / generatedTest
		}
	}
	is(together, "accuracy", right, 1e-9)
	is(together, "nll", nll, 1e-6)
	is(together, "brier", squares, 1e-6)
	is(together, "gradients", 3*2*16, 0) // two epochs of 4 % of the images

	// Distances from the reference, and from where the run began.
	reference := func(v *uq.Predictive) (agreed, distance float64) {
		file, err := os.ReadFile(filepath.Join(dir, referenceFile))
		if err != nil {
			t.Fatal(err)
		}
		values := file[len(file)-4*generatedTest*10:]
		for i := range generatedTest {
			most, mostOfIt := 0, 0
			q := make([]float64, 10)
			for c := range q {
				q[c] = float64(math.Float32frombits(binary.LittleEndian.Uint32(values[4*(i*10+c):])))
				distance += math.Abs(v.Probs[i*10+c]-q[c]) / 2 / generatedTest
				if q[c] > q[mostOfIt] {
					mostOfIt = c
				}
				if v.Probs[i*10+c] > v.Probs[i*10+most] {
					most = c
				}
			}
			if most == mostOfIt {
				agreed += 1. / generatedTest
			}
		}
		return agreed, distance
	}
	agreed, distance := reference(predict(run.Posterior, p.Test))
	before, distanceBefore := reference(predict(network.Posterior, p.Test))
	is(refined, "agreement", agreed, 1e-9)
	is(refined, "variation", distance, 1e-6)
	is(refined, "agreement_gain", agreed-before, 1e-9)
	is(refined, "variation_gain", distance-distanceBefore, 1e-6)

	// Other images are scored as they are: standardised as the training images are, and not augmented.
	other := func(images, labels string, keep func(y uint8) bool) (set *data.Set, classes []int32) {
		file := func(name string) *data.Array {
			a, err := data.ReadArray(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		x, y := file(images).Values.([]uint8), file(labels).Values.([]uint8)
		set = &data.Set{Name: "other", Shape: []int{3, 32, 32}}
		for i, class := range y {
			if !keep(class) {
				continue
			}
			classes = append(classes, int32(class))
			for k, v := range x[i*pixels : (i+1)*pixels] {
				c := k / 1024
				set.F32 = append(set.F32, float32((float64(v)/255-run.Schema.Channels.Mean[c])/run.Schema.Channels.SD[c]))
			}
		}
		return set, classes
	}
	foreign, _ := other(naturalFiles[0], naturalFiles[1], func(y uint8) bool { return y == noClass })
	is(refined, "natural_auroc_energy", uq.AUROC(predict(run.Posterior, p.Test).Energy, predict(run.Posterior, foreign).Energy), 1e-3)
	meanNLL := func(set *data.Set, classes []int32) (nll float64) {
		v := predict(run.Posterior, set)
		for i, y := range classes {
			nll -= math.Log(v.Probs[i*10+int(y)]) / float64(len(classes))
		}
		return nll
	}
	shared, classes := other(naturalFiles[0], naturalFiles[1], func(y uint8) bool { return y != noClass })
	is(refined, "transfer_n", 20, 0)
	is(refined, "transfer_nll", meanNLL(shared, classes), 1e-4)
	byKind, classes := other(filepath.Join(corruptionFolder, "frost.npy"), filepath.Join(corruptionFolder, "frost-labels.npy"), func(uint8) bool { return true })
	is(refined, "frost_nll", meanNLL(byKind, classes), 1e-4)
	last := 0.
	for _, kind := range corruptions {
		set, classes := other(filepath.Join(corruptionFolder, kind+".npy"), filepath.Join(corruptionFolder, kind+"-labels.npy"), func(uint8) bool { return true })
		last += meanNLL(&data.Set{Name: "last", Shape: set.Shape, F32: set.F32[8*pixels:]}, classes[8:]) / float64(len(corruptions))
	}
	is(refined, "severity5_nll", last, 1e-4)
	if math.IsNaN(figure("train_start")(*refined)) || refined.Protocol != reducedBy+CIFAR10.Reduced {
		t.Errorf("refined: %+v", refined)
	}

	// A network that has changed since is told of, and nothing of it is read.
	if err := os.RemoveAll(filepath.Join(out, Folder(cifarNetwork, 1, true))); err != nil {
		t.Fatal(err)
	}
	c := CIFAR10.cell(t, "refined")
	c.Reduced = append(slices.Clone(c.Reduced), smallBatch)
	read := func() error {
		_, err := CIFAR10.Read(t.Context(), filepath.Join(out, "refined-1-reduced"), c, 1, true, starling.Options{DataDir: dir})
		return err
	}
	if err := read(); err != nil {
		t.Errorf("a network that is gone: %v", err)
	}
	reducedRun(t, out, dir, cifarNetwork, 1)
	if err := read(); err != nil {
		t.Errorf("the same network, made again: %v", err)
	}
	if err := errors.Join(os.RemoveAll(filepath.Join(out, "network-1-reduced")), os.Rename(filepath.Join(out, "network-2-reduced"), filepath.Join(out, "network-1-reduced"))); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"reading": read(), "going on": c.Ready(t.Context(), 1, true, filepath.Join(out, "refined-1-reduced"), starling.Options{DataDir: dir}),
	} {
		if !errors.As(err, new(*starling.DataError)) || !strings.Contains(err.Error(), "refined-1-reduced was made of the networks in ") ||
			!strings.Contains(err.Error(), "network-1-reduced, which has changed since") || !strings.Contains(err.Error(), "refined-1-reduced away") {
			t.Errorf("%s, with another network: %v", what, err)
		}
	}
}
