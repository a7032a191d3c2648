package config

import (
	"reflect"
	"testing"
)

// TestDifferences: values are in the order of the first config that has them; equal ones are left out, and a text that is no config has
// none.
func TestDifferences(t *testing.T) {
	a := []byte("seed: 1\nmodel: {layers: [{dense: 3}, tanh]}\nprior: {normal: {variance: 1}}\n")
	b := []byte("seed: 1\nmodel: {layers: [{dense: 4}, tanh, {dense: 2}]}\nprior: {normal: {fan_in: 2}}\n")
	want := []Difference{
		{"model.layers.0.dense", []string{"3", "4", "3"}},
		{"prior.normal.variance", []string{"1", "–", "1"}},
		{"model.layers.2.dense", []string{"–", "2", "–"}},
		{"prior.normal.fan_in", []string{"–", "2", "–"}},
	}
	if got := Differences(a, b, a); !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Differences(a, a); len(got) > 0 {
		t.Errorf("a config differs from itself: %q", got)
	}
	if got := Differences(a, []byte("{")); len(got) != 4 || got[0].Values[1] != "–" {
		t.Errorf("no config: %q", got)
	}
}
