package paper

import (
	"path/filepath"
	"slices"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/uq"
)

// What CIFAR10's runs say beside the table: other images of the ten classes (foreign.go), how near their predictions are to those of a
// reference, and how far they went from the network that they began at.

// referenceFile has the class probabilities of a long run of full-batch HMC (Izmailov et al. 2021), below the folder of data.
var referenceFile = filepath.Join("cifar10-hmc", "probs.npy")

var (
	// nearness are the figures of the reference: the share of the test images with the same most probable class, the mean total variation,
	// their standard errors, and both with equal weights.
	nearness = []string{"agreement", "agreement_error", "variation", "variation_error", "equal_agreement", "equal_variation"}

	// gains are the differences from the network where a run began, image by image: of the NLL, of the agreement and of the total variation.
	gains = []string{"nll_gain", "nll_gain_error", "agreement_gain", "agreement_gain_error", "variation_gain", "variation_gain_error"}
)

// colourImages have foreign inputs in place of the paper's SVHN, CIFAR-100 and LSUN.
var colourImages = imagery{
	groups: []group{
		{"mnist", "MNIST, padded and repeated as RGB; substitute"}, {"fashion", "FashionMNIST, padded and repeated as RGB; substitute"},
		{"natural", "photographs of other classes; substitute"}, {"noise", "white noise"},
	},
	read: (*fitDone).inColours,
	more: (*fitDone).beside10,
}

// besides10 are the measures of those figures.
func besides10() []Measure {
	all := colourImages.measures("", nearness, gains)
	for _, prefix := range otherImages() {
		all = append(all, colourImages.measures(prefix, rescored)...)
	}
	return all
}

// otherImages are the prefixes of the figures of other images of the ten classes.
func otherImages() []string {
	all := []string{"transfer_"}
	for s := range severities {
		all = append(all, severity(s+1)+"_")
	}
	for _, kind := range corruptions {
		all = append(all, kind+"_")
	}
	return all
}

// beside10 compares the predictions for the test images with those of the reference, where the folder of data has them, and with those of the
// network where the run began, where it is still there.
func (d *fitDone) beside10(p *data.Problem, f map[string]float64) error {
	var reference []float64
	if file := present(d.options.DataDir, referenceFile); file != nil {
		r, err := eval.ReadReference(file[0], d.test.Classes, nil)
		if err == nil {
			reference, err = r.Probs(p.Test.Len())
		}
		if err != nil {
			return &starling.DataError{Err: err}
		}
	}
	own := againstReference(d.test.Probs, reference, p.Test.Labels, d.test.Classes)
	for k, of := range own[1:] {
		if of != nil {
			f[nearness[2*k]], f[nearness[2*k+1]] = uq.MeanSE(of)
		}
	}
	if reference != nil && d.iterations() > 0 {
		equal, err := d.Posterior.PredictUnder(d.ctx, p.Test, [][]float64{equalWeights(d.Posterior.LogWeights)}, false, pool.New(d.options.Threads))
		if err != nil {
			return err
		}
		of := againstReference(equal[0].Probs, reference, p.Test.Labels, d.test.Classes)
		f["equal_agreement"], f["equal_variation"] = uq.Mean(of[1]), uq.Mean(of[2])
	}
	began, err := d.began()
	if err != nil || began == nil {
		return err
	}
	v, err := began.Predict(d.ctx, p.Test, pool.New(d.options.Threads))
	if err != nil {
		return err
	}
	for k, before := range againstReference(v.Probs, reference, p.Test.Labels, d.test.Classes) {
		if before != nil {
			difference := make([]float64, len(before))
			for i, b := range before {
				difference[i] = own[k][i] - b
			}
			f[gains[2*k]], f[gains[2*k+1]] = uq.MeanSE(difference)
		}
	}
	return nil
}

// againstReference are the NLL of each image, whether its most probable class is the reference's, and the total variation; the last two are
// nil without a reference.
func againstReference(probs, reference []float64, labels []int32, classes int) [3][]float64 {
	nll := losses(probs, labels)
	if reference == nil {
		return [3][]float64{nll}
	}
	return [3][]float64{nll, uq.Agreement(probs, reference, classes), uq.TotalVariation(probs, reference, classes)}
}

// began is the network at which a run began; nil: it began at none, or that one is not there any more.
func (d *fitDone) began() (*bnn.Ensemble, error) {
	if d.origin != nil || d.Spec.Model.Init == "" {
		return d.origin, nil
	}
	if present("", d.Spec.Model.Init) == nil {
		return nil, nil
	}
	r, err := starling.OpenRun(filepath.Dir(d.Spec.Model.Init))
	if err != nil {
		return nil, err
	}
	return r.Posterior, nil
}

// sheets10 are the tables of those figures.
func sheets10() []sheet {
	pair := func(head, name string) sheetColumn {
		return sheetColumn{head, []string{name, name + "_error"}, []int{4, 4}}
	}
	scores := func(prefix, title string) sheetColumn {
		return sheetColumn{title, []string{prefix + "accuracy", prefix + "accuracy_error", prefix + "nll", prefix + "nll_error", prefix + "ece"}, []int{1, 1, 3, 3, 3}}
	}
	all := []sheet{
		{title: "Beside the reference: agreement and total variation on the test images / standard error", first: "cell", columns: []sheetColumn{
			pair("agreement", "agreement"), pair("total variation", "variation"),
			{"agreement, equal weights", []string{"equal_agreement"}, []int{4}}, {"total variation, equal weights", []string{"equal_variation"}, []int{4}}}},
		{title: "Beside the network where it began: mean difference on the test images / standard error", first: "cell", columns: []sheetColumn{
			pair("NLL", "nll_gain"), pair("agreement with the reference", "agreement_gain"), pair("total variation from it", "variation_gain")}},
		{title: "Photographs of the ten classes, substitute: accuracy in % / standard error / NLL / standard error / ECE", first: "cell", columns: []sheetColumn{
			{"images", []string{"transfer_n"}, []int{0}}, scores("transfer_", "scores")}},
	}
	bySeverity := sheet{title: "Changed images by severity, generated: accuracy in % / standard error / NLL / standard error / ECE", first: "cell"}
	for s := range severities {
		bySeverity.columns = append(bySeverity.columns, scores(severity(s+1)+"_", severity(s+1)))
	}
	all = append(all, bySeverity)
	for part := range slices.Chunk(corruptions, 5) {
		kinds := sheet{title: "Changed images, generated: " + part[0] + " to " + part[len(part)-1] + "; accuracy in % / standard error / NLL / standard error / ECE", first: "cell"}
		for _, kind := range part {
			kinds.columns = append(kinds.columns, scores(kind+"_", kind))
		}
		all = append(all, kinds)
	}
	return all
}
