package config

import "testing"

// height is where a shelf hangs.
type height interface{ hangs() }

type (
	centimetres float64 // which may be written alone
	places      float64 // which needs its name
	floor       struct{}
)

func (centimetres) hangs() {}
func (places) hangs()      {}
func (floor) hangs()       {}
func (centimetres) Alone() {}

var heights = Table[height]{{Name: "places", Part: places(0)}, {Name: "centimetres", Part: centimetres(0)}, {Name: "floor", Part: floor{}}}

type hook struct {
	At height `yaml:"at"`
}

// TestAlone: a number alone is the part that says so, and is written with its name; another part that is a number needs its name.
func TestAlone(t *testing.T) {
	for text, want := range map[string]height{
		"at: 1.5": centimetres(1.5), "at: -3": centimetres(-3), "at: 0": centimetres(0), "at: {centimetres: 2}": centimetres(2), "at: {places: 2}": places(2), "at: floor": floor{},
	} {
		got, _, err := Parse[hook]("h.yaml", []byte(text), nil, heights)
		if err != nil || got.At != want {
			t.Errorf("%s: %#v, %v, want %#v", text, got.At, err, want)
			continue
		}
		if again, _, err := Parse[hook]("h.yaml", Encode(got, heights), nil, heights); err != nil || again != got {
			t.Errorf("%s: written %q, which is %#v, %v", text, Encode(got, heights), again, err)
		}
	}
	if got := string(Encode(hook{centimetres(1.5)}, heights)); got != "at: {centimetres: 1.5}\n" {
		t.Errorf("written %q", got)
	}
	heights := heights[:1]
	if _, _, err := Parse[hook]("h.yaml", []byte("at: 1.5"), nil, heights); err == nil {
		t.Error("a number alone is read as a part that does not say so")
	}
}
