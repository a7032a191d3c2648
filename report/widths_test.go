package report

import (
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
)

// TestWidths: a learned width stands in the sampler's section, the prior's before the posterior's, and no table where none is learned.
func TestWidths(t *testing.T) {
	f := shape{chains: true}.make(t)
	if tables := f.view(t).sampler().Tables; tables != nil {
		t.Errorf("a prior with given widths has the tables %+v", tables)
	}
	f.a.Metrics.Widths = []bnn.Width{{Tensor: "0.weight", Prior: bnn.Quantiles{At5: 0.5778, At50: 1.2011, At95: 4.4154}, Posterior: bnn.Quantiles{At5: 2, At50: 3, At95: 4}}}
	tables := f.view(t).sampler().Tables
	if len(tables) != 1 || len(tables[0].Rows) != 1 || tables[0].Rows[0].Name != "0.weight" {
		t.Fatalf("tables %+v", tables)
	}
	var cells []string
	for _, c := range tables[0].Rows[0].Cells {
		cells = append(cells, c.Text)
	}
	if got, want := strings.Join(cells, " | "), "1.201 | 0.5778 to 4.415 | 3.000 | 2.000 to 4.000"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
