package bnn

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/safetensors"
	"github.com/starling-smc/starling/nn"
)

// Some islands of an ensemble are the ensemble of these alone, in memory and in files cut anywhere, with evidences of their own.
func TestOfIslands(t *testing.T) {
	net := convNet(t)
	const particles = 7
	islands := numbered(net, 4, particles)
	for p := range islands {
		islands[p].LogEvidence = []float64{-3, -1, -2, -2.5}[p]
	}
	memory := combine(t, net, islands, Evidence{})
	files := slices.Clone(islands)
	for p := range files {
		theta, d := files[p].Theta, net.Dim()
		files[p].Theta = nil
		for _, cut := range [][2]int{{0, 2}, {2, 3}, {3, particles}} {
			var file bytes.Buffer
			if err := WriteShard(&file, net, theta[cut[0]*d:cut[1]*d], safetensors.Float32, p, cut[0]); err != nil {
				t.Fatal(err)
			}
			one, err := OpenShard(bytes.NewReader(file.Bytes()), int64(file.Len()), net)
			if err != nil {
				t.Fatal(err)
			}
			files[p].Members = JoinMembers(files[p].Members, one)
		}
	}
	var all, shard bytes.Buffer
	if err := WritePosterior(&all, memory); err != nil {
		t.Fatal(err)
	}
	if err := WriteShard(&shard, net, widen(nil, memory.Theta), safetensors.Float32, 0, 0); err != nil {
		t.Fatal(err)
	}
	one := *memory // whose islands all lie in one file
	one.Theta = nil
	var err error
	if one.Members, err = OpenShard(bytes.NewReader(shard.Bytes()), int64(shard.Len()), net); err != nil {
		t.Fatal(err)
	}
	for name, e := range map[string]*Ensemble{"memory": memory, "files": combine(t, net, files, Evidence{}), "one file": &one} {
		for _, which := range [][]int{{0}, {3}, {1, 2}, {2, 0}, {0, 1, 2, 3}} {
			for _, by := range []Combination{nil, Equal{}, Evidence{}} {
				var few []Island
				for _, p := range which {
					few = append(few, islands[p])
				}
				want := combine(t, net, few, by)
				got, err := e.OfIslands(which, by)
				if err != nil {
					t.Fatal(err)
				}
				var a, b bytes.Buffer
				if err := WritePosterior(&a, want); err != nil {
					t.Fatal(err)
				}
				if err := WritePosterior(&b, got); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(a.Bytes(), b.Bytes()) || !slices.Equal(got.LogEvidence, want.LogEvidence) || got.check() != nil {
					t.Errorf("%s, islands %v, %v: another posterior than that of these islands alone (%v)", name, which, by, got.check())
				}
			}
		}
	}
	var after bytes.Buffer
	if err := WritePosterior(&after, memory); err != nil || !bytes.Equal(all.Bytes(), after.Bytes()) {
		t.Errorf("the ensemble itself has changed: %v", err)
	}
	for _, which := range [][]int{{4}, {-1}, {1, 1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("islands %v of four", which)
				}
			}()
			memory.OfIslands(which, nil)
		}()
	}
}

// Particles that share ψ keep their rows of it, and weights within an island keep their proportions.
func TestOfSharedIslands(t *testing.T) {
	for p, rows := range [][]int32{{0, 0, 0, 0}, {0, 0, 1, 1}} {
		e := partlyRandom(t, partlyNet(t, "a", 2, nn.Categorical{}), 4)
		some, err := e.OfIslands([]int{p}, Equal{})
		if err != nil {
			t.Fatal(err)
		}
		s := e.Net.Learned()
		if want := e.Shared[p*s : (2*p+1)*s]; !slices.Equal(some.Row, rows) || !slices.Equal(some.Shared, want) || some.check() != nil {
			t.Errorf("island %d: rows %v, %v", p, some.Row, some.check())
		}
		for i, l := range some.LogWeights[1:] {
			was := e.LogWeights[4*p+1+i] - e.LogWeights[4*p]
			if got := l - some.LogWeights[0]; !golden.Near(got, was, 1e-12, 0) && !(math.IsInf(got, -1) && math.IsInf(was, -1)) {
				t.Errorf("island %d, particle %d: %v nats above the first, was %v", p, i+1, got, was)
			}
		}
	}
}
