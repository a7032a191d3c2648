package starling

import (
	"fmt"
	"slices"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/formats"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/presets"
)

// ofFeatures is a head: one layer. Each feature has standard deviation 1, whatever the scale of the network that made it, so that one rate suits
// all. The rate was chosen by the validation NLL of the best restart on sentence embeddings of length 1 (docs/partly-random.md).
var ofFeatures = tableNetwork{most: 10000, descent: "optimiser: adam, rate: 0.001"}

// manyRows is from how many rows on a twentieth of them validates: 100.
const manyRows = 2000

// NewHeadConfig writes a commented config for a head, a layer that predicts targets from the features of another network, which ParseSpec reads.
// Both are files of arrays. Whole numbers are classes, floats are numbers. The error is a *DataError for files that do not belong together.
func NewHeadConfig(inputs, targets string) ([]byte, error) {
	h := presets.Head{
		Inputs: config.Scalar(inputs), Target: config.Scalar(targets), Name: config.Scalar(runName(inputs)), Folder: "runs/" + runName(inputs),
		Prior: usualWidths, Chains: tableChains, States: tableKept, Batch: 32, Descent: ofFeatures.descent,
	}
	features, labels, err := headArrays(inputs, targets)
	if err != nil {
		return nil, &DataError{Err: err}
	}
	rows, width := features[0], features[1]
	h.Size = numeral.Several(rows, "row") + ", " + numeral.Several(width, "feature")
	h.Standardise, h.Scaled = "inputs", "each feature has mean 0 and standard deviation 1: its scale does not matter"
	if labels.Floats() {
		h.Kind, h.Outputs, h.Likelihood = "numbers. If they are classes: save whole numbers, y.astype('int64')", 1, "{gaussian: {sd: learned}}"
		if len(labels.Shape) == 2 {
			h.Outputs = labels.Shape[1]
		}
		h.Standardise, h.Scaled = "both", "features and targets have mean 0 and standard deviation 1: their scales do not matter"
	} else {
		classes, err := labels.Ints()
		if err != nil {
			return nil, &DataError{Err: err}
		}
		h.Outputs, h.Likelihood = int(slices.Max(classes))+1, "categorical"
		if h.Outputs == 1 {
			return nil, &DataError{Err: fmt.Errorf("%s: all labels are 0, and a class is told from others: look at the file", targets)}
		}
		h.Kind = fmt.Sprintf("whole numbers: one of %d classes. If they are amounts: save floats, y.astype('float32')", h.Outputs)
	}
	if rows >= manyRows {
		h.Validate = "0.05"
	}
	h.Epochs = ofFeatures.epochs(rows, (width+1)*h.Outputs)
	h.Move = ofFeatures.move(h.Epochs)
	return h.Config(), nil
}

// headArrays reads the shape of the features and what is predicted from them, and compares their rows.
func headArrays(inputs, targets string) (features []int, labels *data.Array, err error) {
	layout, _, err := formats.LayoutOf(inputs)
	if err != nil {
		return nil, nil, err
	}
	if features = layout.Shape; len(features) != 2 || features[0] == 0 || features[1] == 0 {
		return nil, nil, fmt.Errorf("%s: an array of shape %v, and a head takes features [rows, features]: save x.reshape(len(x), -1), or take a network for images "+
			"(examples/images.yaml)", inputs, features)
	}
	if is, err := formats.IsArray(targets); err != nil || !is {
		if err == nil {
			err = fmt.Errorf("%s is no array: to learn from features in an array, --target is the file of one label for each row (np.save), NPY or IDX", targets)
		}
		return nil, nil, err
	}
	if labels, err = data.ReadArray(targets); err != nil {
		return nil, nil, err
	}
	switch shape := labels.Shape; {
	case len(shape) == 0 || len(shape) > 2 || shape[len(shape)-1] == 0 || len(shape) == 2 && shape[1] > 1 && !labels.Floats():
		return nil, nil, fmt.Errorf("%s: labels of shape %v, want one for each row: [%d], or floats [%d, outputs]", targets, shape, features[0], features[0])
	case shape[0] != features[0]:
		return nil, nil, fmt.Errorf("%s has labels of %s, and %s has features of %s: want a label for each row, in the same order",
			targets, numeral.Several(shape[0], "row"), inputs, numeral.Several(features[0], "row"))
	}
	return features, labels, nil
}
