package config

import "testing"

// TestSourceError: what only the data show is pointed at where it was written, or at the --set that it comes from.
func TestSourceError(t *testing.T) {
	_, source, err := parseGarden("rows: [{beans: 3, label: x}, mint]\nwater: {litres: 3}\nbeds: [{}, {}]",
		"beds.1.nails=3", "beds.0.wood=oak", "water.times=4", "seed=3")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		fault Fault
		want  string
	}{
		{Fault{Path: "rows.1", Message: "m"}, "g.yaml:1:30: rows.1: m"},
		{Fault{Path: "rows.1.deeper.still", Message: "m"}, "g.yaml:1:30: rows.1.deeper.still: m"},
		{Fault{Path: "rows.0.beans.poles", Message: "m"}, "g.yaml:1:16: rows.0.beans: m"},
		{Fault{Path: "rows.0.beans.label", Message: "m"}, "g.yaml:1:26: rows.0.label: m"},
		{Fault{Path: "rows.0.beans.gap", Message: "m"}, "g.yaml:1:16: rows.0.beans.gap: m"},
		{Fault{Path: "beds", Message: "m"}, "--set beds.0.wood=oak: beds: m"}, // the first in the order of the file
		{Fault{Path: "beds.0", Message: "m"}, "--set beds.0.wood=oak: beds.0: m"},
		{Fault{Path: "water", Message: "m"}, "--set water.times=4: water: m"},
		{Fault{Path: "water.litres", Message: "m"}, "g.yaml:2:17: water.litres: m"},
		{Fault{Path: "water.litres", Also: []string{"rows", "seed"}, Message: "m"}, "--set seed=3: water.litres: m"},
		{Fault{Path: "name", Message: "m"}, "g.yaml:1:1: name: m"},
		{Fault{Message: "m"}, "--set water.times=4: m"},
	} {
		if got := source.Error(c.fault).Error(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.fault, got, c.want)
		}
	}
	if err := source.Error(); err != nil {
		t.Errorf("no faults: %v", err)
	}
	several := source.Error(Fault{Path: "water.litres", Message: "b"}, Fault{Path: "rows", Message: "a"}, Fault{Path: "rows", Message: "a"})
	if want := "g.yaml:1:7: rows: a\ng.yaml:2:17: water.litres: b"; several.Error() != want {
		t.Errorf("several: %v", several)
	}
	var built *Source
	if err := built.Error(Fault{Path: "a.b", Message: "m"}, Fault{Message: "n"}); err.Error() != "a.b: m\nn" {
		t.Errorf("built in Go: %v", err)
	}
	if err := built.Error(); err != nil {
		t.Errorf("built in Go, no faults: %v", err)
	}
}
