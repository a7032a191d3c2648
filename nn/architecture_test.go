package nn

import (
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/config"
)

// TestInputOfImages: images of another shape than model.input are refused. Where the channels are last, leaving input out would take the height
// for the channels, so the mend is another one.
func TestInputOfImages(t *testing.T) {
	for want, shape := range map[string][]int{
		"x.npy has examples of shape [8 6 3], the network takes [3 8 6]: the axes of the images are height, width, channels: move the channels": {8, 6, 3},
		"x.npy has examples of shape [3 9 9], the network takes [3 8 6]: leave input out to take theirs":                                        {3, 9, 9},
	} {
		f := config.NewFaults()
		a := Architecture{Input: []int{3, 8, 6}, Layers: []Layer{Dense{Units: 2}}, Likelihood: Categorical{}}
		a.Network(&data.Problem{Name: "x.npy", Train: &data.Set{Shape: shape}}, f)
		if all := f.All(); len(all) != 1 || all[0].Path != "input" || !strings.HasPrefix(all[0].Message, want) {
			t.Errorf("%v: %+v\nwant %s", shape, all, want)
		}
	}
}
