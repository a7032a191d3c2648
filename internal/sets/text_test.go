package sets

import "testing"

// TestSizesOfTexts: a text has the examples that its known size and its parts give.
func TestSizesOfTexts(t *testing.T) {
	texts := 0
	for _, k := range known() {
		if k.Text == nil {
			continue
		}
		texts++
		at := func(i int) int { return i * int(pins[k.Name][0].size) / Twentieths }
		for _, c := range []struct{ have, from, to int }{
			{k.Train, k.Text.From, k.Text.To}, {k.Validate, Twentieths - 2, Twentieths - 1}, {k.Test, Twentieths - 1, Twentieths},
		} {
			if want := at(c.to) - at(c.from) - k.Text.Context; c.have != want {
				t.Errorf("%s: %d examples of the twentieths %d to %d, want %d", k.Name, c.have, c.from, c.to, want)
			}
		}
	}
	if texts != 2 {
		t.Errorf("%d texts", texts)
	}
}
