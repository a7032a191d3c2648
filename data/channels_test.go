package data

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/arrays"
)

// pictures are n images of bytes [3, 5, 4], whose channels have different means and deviations, as colours have.
func pictures(n int) []byte {
	r := rand.New(rand.NewPCG(uint64(n), 2))
	pixels := make([]byte, 0, n*60)
	for range n {
		for c := range 3 {
			level := 60*r.NormFloat64() + 90 + 20*float64(c)
			for range 20 {
				pixels = append(pixels, byte(min(255, max(0, level+float64(15*(c+1))*r.NormFloat64()))))
			}
		}
	}
	return pixels
}

// putImages writes bytes [n, 3, 5, 4], or the same images as float64 numbers from 0 to 1.
func putImages(t *testing.T, dir, name string, pixels []byte, floats bool) string {
	t.Helper()
	shape := []int{len(pixels) / 60, 3, 5, 4}
	if !floats {
		return put(t, dir, name, strings.Replace(string(arrays.NPYHeader(shape)), "<f8", "|u1", 1)+string(pixels))
	}
	values := make([]float64, len(pixels))
	for i, v := range pixels {
		values[i] = float64(v) / 255
	}
	return putNPY(t, dir, name, shape, values)
}

// colours are settings of 40 images to train, of which some are held out, and of others to test, with two classes.
func colours(t *testing.T, floats bool) Settings {
	t.Helper()
	dir := t.TempDir()
	labels := make([]byte, 60)
	for i := range labels {
		labels[i] = byte(i % 2)
	}
	return Settings{
		Train:       &Arrays{putImages(t, dir, "x.npy", pictures(60), floats), putLabels(t, dir, "y.npy", labels)},
		Test:        &Arrays{putImages(t, dir, "x-test.npy", pictures(10), floats), putLabels(t, dir, "y-test.npy", labels[:10])},
		Groups:      []GroupFile{{"far", putImages(t, dir, "far.npy", pictures(7), floats)}},
		Standardise: "channels",
	}
}

// momentsOf measures channel c of a set by the definition, in one pass over all its pixels.
func momentsOf(s *Set, c int) (mean, sd float64) {
	per, x := s.Features()/3, make([]float64, s.Features())
	sum, square, n := 0.0, 0.0, 0.0
	for i := range s.Len() {
		s.Row(i, x)
		for _, v := range x[c*per : (c+1)*per] {
			sum, square, n = sum+v, square+v*v, n+1
		}
	}
	return sum / n, math.Sqrt(square/n - sum/n*sum/n)
}

// TestChannels: means and deviations are those of all pixels of a channel over the images that train, by their definition, and not those of
// other parts or of other channels. All parts and groups, and images that are read later, have them. Bytes stay bytes and floats are as the
// file has them; both have the same statistics.
func TestChannels(t *testing.T) {
	for _, floats := range []bool{false, true} {
		settings := colours(t, floats)
		p := loaded(t, settings, Need{})
		s := p.Schema.Channels
		if s == nil || len(s.Mean) != 3 || len(s.SD) != 3 || p.Schema.Inputs != nil {
			t.Fatalf("the schema has the channels %+v", s)
		}
		for c := range 3 {
			mean, sd := momentsOf(p.Train, c)
			if !(math.Abs(s.Mean[c]-mean) <= 1e-7 && math.Abs(s.SD[c]-sd) <= 1e-7) { // floats were measured as float64 numbers, and are float32 here
				t.Errorf("floats %v: channel %d has mean %v and deviation %v, want %v and %v", floats, c, s.Mean[c], s.SD[c], mean, sd)
			}
			for _, other := range []*Set{p.Test, p.Validate} {
				if m, _ := momentsOf(other, c); math.Abs(m-s.Mean[c]) < 1e-4 {
					t.Errorf("channel %d: another part has the same mean, so the test says nothing", c)
				}
			}
		}
		raw, err := json.Marshal(p.Schema)
		if err != nil {
			t.Fatal(err)
		}
		back, err := DecodeSchema(raw)
		if err != nil || !slices.Equal(back.Channels.Mean, s.Mean) || !slices.Equal(back.Channels.SD, s.SD) {
			t.Fatalf("read back: %+v, %v", back, err)
		}
		later, err := back.Read(settings.Test.Inputs, settings.Test.Targets, "")
		if err != nil {
			t.Fatal(err)
		}
		if err := later.ReadGroups("", settings.Groups[0].File); err != nil {
			t.Fatal(err)
		}
		again := loaded(t, Settings{Train: settings.Test, Whole: true, Standardise: "channels"}, Need{Schema: back})
		for name, set := range map[string]*Set{
			"train": p.Train, "test": p.Test, "validate": p.Validate, "group": p.Groups[0].Set, "read": later.Test, "read group": later.Groups[0].Set, "evaluated": again.Train,
		} {
			if (set.U8 == nil) != floats || set.Channels == nil || !slices.Equal(set.Channels.Mean, s.Mean) || !slices.Equal(set.Channels.SD, s.SD) {
				t.Errorf("floats %v: %s has %d bytes, %d floats and the channels %+v", floats, name, len(set.U8), len(set.F32), set.Channels)
			}
		}
		without := *p.Test
		without.Channels = nil
		if without.Checksum() == p.Test.Checksum() {
			t.Error("the checksum says nothing of the channels")
		}
		each := settings
		each.Standardise = "inputs"
		if a, b := settings.LoadBytes(""), each.LoadBytes(""); !floats && a >= b {
			t.Errorf("loading takes %d bytes by channels, %d by inputs: bytes stay bytes", a, b)
		}
		if p.LargeScale() != "" {
			t.Error(p.LargeScale())
		}
	}
}

// TestConstantChannel: a channel that all training images have alike is 0 for a network, in later images too, and a finding names it.
func TestConstantChannel(t *testing.T) {
	s := colours(t, false)
	pixels := pictures(60)
	for i := range pixels {
		if i/20%3 == 1 {
			pixels[i] = 77
		}
	}
	putImages(t, t.TempDir(), "x.npy", pixels, false)
	if err := os.WriteFile(s.Train.Inputs, []byte(strings.Replace(string(arrays.NPYHeader([]int{60, 3, 5, 4})), "<f8", "|u1", 1)+string(pixels)), 0o666); err != nil {
		t.Fatal(err)
	}
	p := loaded(t, s, Need{})
	if c := p.Schema.Channels; c.SD[1] != 0 || c.Mean[1] != 77./255 || c.SD[0] == 0 {
		t.Errorf("channels %+v", c)
	}
	zero, channels := p.Schema.alwaysZero()
	if !slices.Equal(zero, []int{1}) || !channels {
		t.Errorf("always 0: %v", zero)
	}
	if of, _ := p.Schema.ranged(); of[20] != -1 || of[19] != 0 || of[40] != 2 {
		t.Errorf("inputs belong to the ranges %v", of)
	}
}

// TestImagesRefused: what is wrong with images for channels or augmentation is refused with the place and the mend.
func TestImagesRefused(t *testing.T) {
	dir := t.TempDir()
	flat := &Arrays{putNPY(t, dir, "flat.npy", []int{20, 3}, make([]float64, 60)), putLabels(t, dir, "y.npy", append(make([]byte, 10), slices.Repeat([]byte{1}, 10)...))}
	far := make([]float64, 20*60)
	for i := range far {
		far[i] = 1e7 + float64(i%7)
	}
	offset := &Arrays{putNPY(t, dir, "far.npy", []int{20, 3, 5, 4}, far), flat.Targets}
	changed := func(a Augment, standardise string) Settings {
		s := colours(t, false)
		s.Augment, s.Standardise = &a, standardise
		return s
	}
	for _, c := range []struct {
		s    Settings
		want string
	}{
		{Settings{Train: flat, Standardise: "channels"}, "data.standardise: the examples of " + flat.Inputs + " have the shape [3], without channels: want inputs or none, or images"},
		{Settings{Train: flat, Augment: &Augment{Flip: true}}, "data.augment: changes images, and the examples of " + flat.Inputs + " have the shape [3]: leave augment out"},
		{changed(Augment{Crop: 4}, "channels"), "data.augment.crop: want less than 4 pixels, the size of the images"},
		{Settings{Train: offset, Standardise: "channels"}, "channel 0 has mean 1e+07 and standard deviation 1.99, too few digits of which a float32 holds: subtract the mean from the file"},
	} {
		if _, err := c.s.Load("", Need{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	if p := loaded(t, changed(Augment{Crop: 3, Flip: true}, "none"), Need{}); *p.Augment != (Augment{Crop: 3, Flip: true}) {
		t.Errorf("augment %+v", p.Augment)
	}
	other := putNPY(t, dir, "other.npy", []int{2, 3, 4, 4}, make([]float64, 96))
	if _, err := loaded(t, colours(t, false), Need{}).Schema.Read(other, flat.Targets, ""); err == nil || !strings.Contains(err.Error(), "examples of shape [3 4 4], the run was trained on examples of shape [3 5 4]") {
		t.Errorf("images of another size: %v", err)
	}
}
