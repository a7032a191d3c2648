package paper

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/uq"
)

// imagery is a kind of images: what the runs of a table are asked beside its own figures.
type imagery struct {
	groups []group // of foreign inputs

	// read reads these groups, as far as the folder of data has them, and adds the figures of other images.
	read func(d *fitDone, p *data.Problem, f map[string]float64) error

	// more adds the figures that need the predictions for the test images; nil: there are none.
	more func(d *fitDone, p *data.Problem, f map[string]float64) error
}

// group is a group of foreign inputs of a table: its name in figures, and what it is.
type group struct{ name, title string }

// colours is the set of colour images.
const colours = "cifar10"

// Natural images are in two files of the folder of data, NPY: the images, and the number of the class of CIFAR-10 that each shows, or
// noClass. bench/cifar writes them.
var naturalFiles = []string{filepath.Join("imagenet-sample-32", "images.npy"), filepath.Join("imagenet-sample-32", "labels.npy")}

// fewForeign is the number of images of a group that has thousands: predictions by thirty networks take minutes.
const fewForeign = 2000

// noClass is the label of a natural image that shows none of the ten classes.
const noClass = 10

// inColours reads the groups of colourImages, and scores natural images of the ten classes (transfer) and images that were changed (shifted). What the
// folder of data does not have is left out.
func (d *fitDone) inColours(p *data.Problem, f map[string]float64) error {
	for _, other := range []struct{ name, set string }{{"mnist", "mnist"}, {"fashion", "fashion-mnist"}} {
		known, err := data.Load(other.set, d.options.DataDir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return &starling.DataError{Err: err}
		}
		few := known.Test.Slice(other.name, 0, min(fewForeign, known.Test.Len()))
		padded, err := data.Padding{Height: 32, Width: 32, Channels: 3}.Pad(&data.Set{Name: few.Name, Shape: few.Shape, U8: few.U8, F32: few.F32})
		if err == nil {
			padded, err = p.Schema.Standardise(padded)
		}
		if err != nil {
			return &starling.DataError{Err: err}
		}
		p.Groups = append(p.Groups, data.Group{Name: other.name, Set: padded})
	}
	if err := d.transfer(p, f); err != nil {
		return err
	}
	noise, err := p.Schema.Standardise(data.WhiteNoise(p.Test.Shape, min(fewForeign, p.Test.Len())).Set)
	if err != nil {
		return err
	}
	p.Groups = append(p.Groups, data.Group{Name: "noise", Set: noise})
	return d.shifted(p, f)
}

// present returns the paths of files of the folder of data; nil if it has not all of them.
func present(dir string, files ...string) (paths []string) {
	for _, file := range files {
		path := filepath.Join(dir, file)
		if _, err := os.Stat(path); err != nil {
			return nil
		}
		paths = append(paths, path)
	}
	return paths
}

// rescored are the figures of other images of the ten classes: how many there are, and scores, two of them with standard errors.
var rescored = []string{"n", "accuracy", "accuracy_error", "nll", "nll_error", "ece"}

// rescore adds the figures of predictions [n, classes].
func rescore(prefix string, probs []float64, labels []int32, f map[string]float64) {
	n, classes := len(labels), len(probs)/len(labels)
	_, nllError := uq.MeanSE(losses(probs, labels))
	s, right := uq.Score(probs, classes, labels), uq.Accuracy(probs, classes, labels)
	values := []float64{float64(n), 100 * right, 100 * math.Sqrt(right*(1-right)/float64(n)), float64(s.NLL), nllError, float64(s.ECE)}
	for k, name := range rescored {
		f[prefix+name] = values[k]
	}
}

// losses are the NLL of each example, of predictions [n, classes].
func losses(probs []float64, labels []int32) []float64 {
	nll, classes := make([]float64, len(labels)), len(probs)/len(labels)
	for i, y := range labels {
		nll[i] = -rng.Log(probs[i*classes+int(y)])
	}
	return nll
}

// transfer scores the natural images of the ten classes, and makes the others the group natural.
func (d *fitDone) transfer(p *data.Problem, f map[string]float64) error {
	files := present(d.options.DataDir, naturalFiles...)
	if files == nil {
		return nil
	}
	classes := data.ClassMap{noClass: data.NoClass}
	for c := range int32(noClass) {
		classes[c] = c
	}
	images, err := p.Schema.ReadClasses(files[0], files[1], d.options.DataDir, classes)
	if err != nil {
		return &starling.DataError{Err: err}
	}
	if images.Unshared != nil {
		p.Groups = append(p.Groups, data.Group{Name: "natural", Set: images.Unshared.Set})
	}
	v, err := d.Posterior.Predict(d.ctx, images.Test, pool.New(d.options.Threads))
	if err != nil {
		return err
	}
	rescore("transfer_", v.Probs, images.Test.Labels, f)
	return nil
}

// The corruptions of Hendrycks and Dietterich (2019), in their order. Files of the folder of data have the images of each, NPY, as many of
// severity 1 as of 2 and so on to 5, one severity after another, and their labels: KIND.npy and KIND-labels.npy.
var corruptions = []string{
	"gaussian_noise", "shot_noise", "impulse_noise", "defocus_blur", "glass_blur", "motion_blur", "zoom_blur", "snow", "frost", "fog",
	"brightness", "contrast", "elastic_transform", "pixelate", "jpeg_compression",
}

const corruptionFolder, severities = "cifar10-c-generated", 5

// severity is the name of a severity in figures, from 1.
func severity(s int) string { return fmt.Sprint("severity", s) }

// shifted scores images that were changed: by kind of corruption, over all severities, and by severity, over all kinds.
func (d *fitDone) shifted(p *data.Problem, f map[string]float64) error {
	type seen struct {
		probs  []float64
		labels []int32
	}
	bySeverity := make([]seen, severities)
	for _, kind := range corruptions {
		files := present(d.options.DataDir, filepath.Join(corruptionFolder, kind+".npy"), filepath.Join(corruptionFolder, kind+"-labels.npy"))
		if files == nil {
			return nil
		}
		images, err := p.Schema.Read(files[0], files[1], d.options.DataDir)
		if err != nil {
			return &starling.DataError{Err: err}
		}
		labels := images.Test.Labels
		if len(labels)%severities != 0 {
			return &starling.DataError{Err: fmt.Errorf("%s: %d images, want as many of each of %d severities", files[0], len(labels), severities)}
		}
		v, err := d.Posterior.Predict(d.ctx, images.Test, pool.New(d.options.Threads))
		if err != nil {
			return err
		}
		rescore(kind+"_", v.Probs, labels, f)
		for s, each := 0, len(labels)/severities; s < severities; s++ {
			of := &bySeverity[s]
			of.probs = append(of.probs, v.Probs[s*each*v.Classes:(s+1)*each*v.Classes]...)
			of.labels = append(of.labels, labels[s*each:(s+1)*each]...)
		}
	}
	for s, of := range bySeverity {
		rescore(severity(s+1)+"_", of.probs, of.labels, f)
	}
	return nil
}
