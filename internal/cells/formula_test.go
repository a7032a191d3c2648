package cells

import "testing"

func TestFormula(t *testing.T) {
	for cell, want := range map[string]bool{
		"=1+1": true, "@x": true, "+a": true, "-a": true, "--1": true, "\t=1": true, "\rx": true, "-": true, "=": true, "+1+1": true, "-0x1F": true,
		"": false, "a=1": false, "-1": false, "+1.5e3": false, "-.5": false, "-inf": false, "1-1": false, " =1": false, "é": false,
	} {
		if Formula(cell) != want {
			t.Errorf("%q: %v", cell, !want)
		}
	}
}
