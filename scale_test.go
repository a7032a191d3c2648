package starling

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// TestWidePriorIsNamed: a run that fails because the draws of a learned prior are too different says so, and names the mend; with the
// default it does not.
func TestWidePriorIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.csv")
	save(t, file, []byte("a,b,y\n"+strings.Repeat("1,2,p\n2,5,q\n3,3,r\n7,4,p\n", 15)))
	for _, shape := range []float64{0.001, 0.01, 1} {
		spec := tiny(t, "{csv: {file: "+file+", target: y}}", "categorical", 3, "prior={learned: {shape: "+fmt.Sprint(shape)+"}}", "method.smc.particles=30")
		_, err := Fit(t.Context(), spec, Options{})
		want := fmt.Sprintf("; or the reason is the prior: with prior.learned.shape %v the widths of its draws spread over many powers of ten: take a larger one, such as 1", shape)
		if (err == nil) != (shape == 1) || err != nil && !strings.HasSuffix(err.Error(), want) {
			t.Errorf("shape %v: %v", shape, err)
		}
	}
}

// TestScaleIsNamed: a run that fails because of the unit of its data says so, and names the mend.
func TestScaleIsNamed(t *testing.T) {
	for _, c := range []struct {
		inputs, targets float64
		standardise     string
		want            string // of the error; empty: the run is done
		data            bool   // the data are refused before the run
	}{
		{1e38, 1, "none", "x.csv: column 1 (a): numbers as large as 1e+38", true},
		{1, 1e38, "none", "x.csv: column 3 (y): numbers as large as 1e+38, whose squares overflow", true},
		{1, 1e38, "inputs", "change the unit, or standardise (data.standardise: both)", true},
		{1e12, 1, "none", "take more particles or a smaller ESS; or the reason is the data's scale: inputs as large as 1e+12 are not standardised", false},
		{1e38, 1e38, "both", "", false},
		{1e-200, 1e-200, "both", "", false},
	} {
		var text strings.Builder
		text.WriteString("a,b,y\n")
		for i := range 60 {
			a, b := math.Sin(float64(i)), math.Cos(float64(3*i))
			fmt.Fprintf(&text, "%v,%v,%v\n", c.inputs*a, c.inputs*b, c.targets*math.Cos(float64(5*i)))
		}
		file := filepath.Join(t.TempDir(), "x.csv")
		save(t, file, []byte(text.String()))
		spec := tiny(t, fmt.Sprintf("{csv: {file: %s, target: y}, standardise: %s}", file, c.standardise), "{gaussian: {sd: 0.5}}", 1, "model.layers.1=relu", "method.smc.particles=30")
		_, err := Fit(t.Context(), spec, Options{})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || errors.As(err, new(*DataError)) != c.data {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
