package starling

import (
	"context"
	"testing"
)

func TestTry(t *testing.T) {
	spec, err := Preset("mnist7-smc", "map.epochs=2", "method.smc.islands=2")
	if err != nil {
		t.Fatal(err)
	}
	res, err := Fit(context.Background(), spec, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", res.Metrics)
	t.Logf("%v", res.Finished.Sub(res.Started))
}
