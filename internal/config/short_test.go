package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pots are a number of pots alone, or as many as a share of the beds needs.
type pots struct {
	Count int     `yaml:",short"`
	Share float64 `yaml:"share,omitempty,nonzero"`
}

func (p pots) Check(f *Faults) { f.If(p.Count < 0 || p.Count > 9, "", "want 0 to 9, have %d", p.Count) }

type shelf struct {
	Pots pots `yaml:"pots,omitempty"`
}

// rack may be given as the list of its shelves alone, but is written with its key.
type rack struct {
	Shelves []string `yaml:"shelves,omitempty,brief"`
	Wood    string   `yaml:"wood,omitempty"`
}

type room struct {
	Rack *rack `yaml:"rack,omitempty"`
}

// TestBrief: the short form is read, and never written.
func TestBrief(t *testing.T) {
	for text, want := range map[string]room{
		"rack: [a, b]": {&rack{Shelves: []string{"a", "b"}}}, "rack: {shelves: [a, b]}": {&rack{Shelves: []string{"a", "b"}}},
		"rack: {wood: oak}": {&rack{Wood: "oak"}}, "{}": {},
	} {
		got, _, err := Parse[room]("s.yaml", []byte(text), nil)
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", text, err, d)
		}
	}
	if text := string(Encode(room{&rack{Shelves: []string{"a"}}})); text != "rack: {shelves: [a]}\n" {
		t.Errorf("written %q", text)
	}
	if _, _, err := Parse[room]("s.yaml", []byte("rack: a"), nil); err == nil || err.Error() != "s.yaml:1:7: rack: want a list, as in [a, b], have \"a\"" {
		t.Errorf("error %v", err)
	}
}

// TestShortWithoutKey: what has no key is read and written by the short form alone.
func TestShortWithoutKey(t *testing.T) {
	for text, want := range map[string]shelf{
		"pots: 3": {pots{Count: 3}}, "pots: {share: 0.5}": {pots{Share: 0.5}}, "pots: {}": {}, "{}": {},
	} {
		got, _, err := Parse[shelf]("s.yaml", []byte(text), nil)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", text, got, err, want)
		}
		if again, _, err := Parse[shelf]("s.yaml", Encode(got), nil); err != nil || again != want {
			t.Errorf("%s: written %q, which is %+v, %v", text, Encode(got), again, err)
		}
	}
	for text, want := range map[string]string{
		"pots: {count: 3}": `s.yaml:1:8: pots: unknown key "count" (known: share)`,
		"pots: 12":         "s.yaml:1:7: pots: want 0 to 9, have 12",
		"pots: {share: 0}": "s.yaml:1:15: pots.share: want a number above 0, have 0",
		"pots: [3]":        "s.yaml:1:7: pots: want a whole number, have a list",
		"pots: {\"\": 3}":  `s.yaml:1:8: pots: unknown key "" (known: share)`,
	} {
		if _, _, err := Parse[shelf]("s.yaml", []byte(text), nil); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if d := cmp.Diff([]string{"pots", "pots.share"}, Keys[shelf]()); d != "" {
		t.Errorf("keys (-want +got):\n%s", d)
	}
}
