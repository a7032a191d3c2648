package bnn

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/safetensors"
	"github.com/starling-smc/starling/nn"
)

// convNet has the layers of the MNIST7 network, on 6×6 pixels.
func convNet(t testing.TB) *nn.Net {
	t.Helper()
	net, err := nn.New([]int{1, 6, 6}, []nn.Layer{
		nn.Conv{Filters: 2, Kernel: [2]int{3, 3}, Pad: [2]int{1, 1}}, nn.ReLU, nn.MaxPool{Size: [2]int{2, 2}}, nn.Dense{Units: 3},
	}, nn.Categorical{})
	if err != nil {
		t.Fatal(err)
	}
	return net
}

// numbered gives island p, particle i, parameter k the value 100p + 10i + k/100.
func numbered(net *nn.Net, islands, particles int) []Island {
	out := make([]Island, islands)
	for p := range out {
		for i := range particles {
			for k := range net.Dim() {
				out[p].Theta = append(out[p].Theta, float64(100*p+10*i)+float64(k)/100)
			}
		}
		out[p].LogEvidence = -100 + float64(p)
	}
	return out
}

func combine(t testing.TB, net *nn.Net, islands []Island, by Combination) *Ensemble {
	t.Helper()
	e, err := Combine(net, islands, by)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The names, order, shapes and layout of posterior.safetensors as other programs rely on them.
func TestPosteriorLayout(t *testing.T) {
	net := convNet(t)
	e := combine(t, net, numbered(net, 2, 3), Evidence{})
	var b bytes.Buffer
	if err := WritePosterior(&b, e); err != nil {
		t.Fatal(err)
	}
	tensors, _, err := safetensors.Parse(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		name, dtype string
		shape       []int
	}{
		{"log_weights", "F64", []int{6}}, {"log_evidence", "F64", []int{2}},
		{"0.weight", "F32", []int{6, 2, 1, 3, 3}}, {"0.bias", "F32", []int{6, 2}},
		{"4.weight", "F32", []int{6, 3, 18}}, {"4.bias", "F32", []int{6, 3}},
		{"island", "I32", []int{6}},
	}
	if len(tensors) != len(want) {
		t.Fatalf("%d tensors, want %d", len(tensors), len(want))
	}
	for i, w := range want {
		if a := tensors[i]; a.Name != w.name || a.DType != w.dtype || !slices.Equal(a.Shape, w.shape) {
			t.Errorf("tensor %d is %s %s %v, want %v", i, a.Name, a.DType, a.Shape, w)
		}
	}
	// Particle 4 is particle 1 of island 1; its second bias of layer 4 is parameter 18+2+54+1.
	if got, want := tensors[5].Float64s()[4*3+1], float64(float32(110.75)); got != want {
		t.Errorf("4.bias[4, 1] is %v, want %v", got, want)
	}
	if got := tensors[6].Float64s(); !slices.Equal(got, []float64{0, 0, 0, 1, 1, 1}) {
		t.Errorf("island is %v", got)
	}
	if got := tensors[1].Float64s(); !slices.Equal(got, []float64{-100, -99}) {
		t.Errorf("log_evidence is %v", got)
	}
}

func TestPosteriorRoundTrip(t *testing.T) {
	net := convNet(t)
	islands := numbered(net, 2, 3)
	islands[1].LogWeights = []float64{0, math.Inf(-1), -1}
	e := combine(t, net, islands, Evidence{})
	var first, second bytes.Buffer
	if err := WritePosterior(&first, e); err != nil {
		t.Fatal(err)
	}
	back, err := ReadPosterior(first.Bytes(), net)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(back.Theta, e.Theta) || !slices.Equal(back.LogWeights, e.LogWeights) || !slices.Equal(back.Island, e.Island) || !slices.Equal(back.LogEvidence, e.LogEvidence) {
		t.Error("another ensemble came back")
	}
	if err := WritePosterior(&second, back); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Errorf("written again, the bytes differ (%v)", err)
	}
}

func TestRestartsRoundTrip(t *testing.T) {
	net := convNet(t)
	e, nll := combine(t, net, numbered(net, 1, 3), Equal{}), []float64{0.5, 0.25, math.NaN()}
	var b bytes.Buffer
	if err := WriteRestarts(&b, e, nll, 1); err != nil {
		t.Fatal(err)
	}
	back, losses, chosen, err := ReadRestarts(b.Bytes(), net)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(back.Theta, e.Theta) || !slices.Equal(back.LogWeights, e.LogWeights) || back.check() != nil {
		t.Errorf("the ensemble came back as %+v, want %+v", back, e)
	}
	if chosen != 1 || losses[0] != 0.5 || losses[1] != 0.25 || !math.IsNaN(losses[2]) {
		t.Errorf("chosen %d, NLL %v", chosen, losses)
	}
}

// Whatever does not fit the network is named.
func TestReadPosteriorErrors(t *testing.T) {
	type tensors = []safetensors.Tensor
	net := convNet(t)
	good := func() tensors {
		var b bytes.Buffer
		if err := WritePosterior(&b, combine(t, net, numbered(net, 2, 2), Equal{})); err != nil {
			t.Fatal(err)
		}
		all, _, err := safetensors.Parse(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	for name, c := range map[string]struct {
		change func(a tensors) tensors
		reason string
	}{
		"missing":         {func(a tensors) tensors { return append(a[:3:3], a[4:]...) }, "0.bias [2] of the network is not in the file"},
		"unknown tensor":  {func(a tensors) tensors { return append(a, floats("9.weight", []float64{1})) }, "9.weight"},
		"no weights":      {func(a tensors) tensors { return a[1:] }, "log_weights"},
		"scalar weight":   {func(a tensors) tensors { a[2].Shape, a[2].Data = nil, a[2].Data[:4]; return a }, "0.weight is F32 []"},
		"another shape":   {func(a tensors) tensors { a[4].Shape = []int{4, 18, 3}; return a }, "4.weight is F32 [4 18 3]"},
		"fewer particles": {func(a tensors) tensors { a[3].Shape, a[3].Data = []int{3, 2}, a[3].Data[:24]; return a }, "0.bias"},
		"no particles":    {func(a tensors) tensors { a[2].Shape, a[2].Data = []int{0, 2, 1, 3, 3}, nil; return a }, "0.weight"},
		"dtype":           {func(a tensors) tensors { a[4].DType = "I32"; return a }, "4.weight is I32"},
		"short weights":   {func(a tensors) tensors { a[0] = floats("log_weights", make([]float64, 3)); return a }, "log_weights is F64 [3]"},
		"weights' dtype": {func(a tensors) tensors {
			a[0] = safetensors.Tensor{Name: "log_weights", DType: "F32", Shape: []int{4}, Data: make([]byte, 16)}
			return a
		}, "log_weights is F32 [4] in the file, want F64"},
		"evidence's shape": {func(a tensors) tensors { a[1].Shape = []int{2, 1}; return a }, "log_evidence is F64 [2 1] in the file"},
		"weights over one": {func(a tensors) tensors { a[0] = floats("log_weights", make([]float64, 4)); return a }, "sum to 4"},
		"NaN weight": {func(a tensors) tensors {
			a[0] = floats("log_weights", []float64{math.NaN(), 0, 0, 0})
			return a
		}, "particle 0 is NaN"},
		"evidence": {func(a tensors) tensors { a[1] = floats("log_evidence", make([]float64, 3)); return a }, "evidence of 3"},
		"islands": {func(a tensors) tensors {
			a[6].Data = append([]byte{1}, a[6].Data[1:]...)
			return a
		}, "particle 0 is of island 1, after 0 islands"},
		"island -1": {func(a tensors) tensors {
			for i := range a[6].Data[:8] {
				a[6].Data[i] = 0xff
			}
			a[1] = floats("log_evidence", []float64{0})
			for i := range a[6].Data[8:] {
				a[6].Data[8+i] = 0
			}
			return a
		}, "particle 0 is of island -1, after 0 islands"},
		"NaN parameter": {func(a tensors) tensors {
			a[4].Data = append([]byte{0, 0, 0xc0, 0x7f}, a[4].Data[4:]...)
			return a
		}, "parameter 20 of particle 0 is NaN"},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := safetensors.Write(&b, c.change(good())); err != nil {
				t.Fatal(err)
			}
			if _, err := ReadPosterior(b.Bytes(), net); err == nil || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("error %v, want one about %q", err, c.reason)
			}
		})
	}
	if _, err := ReadPosterior([]byte("not a file at all"), net); err == nil {
		t.Error("took a text for a posterior")
	}
}

func TestReadRestartsErrors(t *testing.T) {
	net := convNet(t)
	e := combine(t, net, numbered(net, 1, 2), Equal{})
	for _, chosen := range []int{-1, 2} {
		var b bytes.Buffer
		if err := WriteRestarts(&b, e, make([]float64, 2), chosen); err != nil {
			t.Fatal(err)
		}
		if _, _, _, err := ReadRestarts(b.Bytes(), net); err == nil || !strings.Contains(err.Error(), "chosen of 2") {
			t.Errorf("restart %d of 2 was chosen: error %v", chosen, err)
		}
	}
}

// FuzzReadPosterior: no bytes make the readers of networks panic or allocate more than their size justifies, and a posterior that reads is
// one that can be written.
func FuzzReadPosterior(f *testing.F) {
	net := convNet(f)
	e := combine(f, net, numbered(net, 2, 2), Equal{})
	var posterior, restarts, shard bytes.Buffer
	err := errors.Join(WritePosterior(&posterior, e), WriteRestarts(&restarts, combine(f, net, numbered(net, 1, 2), Equal{}), []float64{1, 2}, 0),
		WriteShard(&shard, net, numbered(net, 1, 2)[0].Theta, safetensors.Float32, 0, 0))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(bytes.Clone(posterior.Bytes()))
	posterior.Reset()
	e.Centre = make([]float32, net.Dim())
	if err := WritePosterior(&posterior, e); err != nil {
		f.Fatal(err)
	}
	f.Add(posterior.Bytes())
	f.Add(restarts.Bytes())
	f.Add(shard.Bytes())
	f.Add(endless(net))
	f.Fuzz(func(t *testing.T, file []byte) {
		if m, err := OpenShard(bytes.NewReader(file), int64(len(file)), net); err == nil && m.Size()*net.Dim() > len(file) {
			t.Errorf("%d networks of %d parameters in %d bytes", m.Size(), net.Dim(), len(file))
		}
		if e, nll, chosen, err := ReadRestarts(file, net); err == nil && (e.check() != nil || len(nll) != e.Size() || chosen < 0 || chosen >= e.Size()) {
			t.Errorf("%d restarts, with %d losses, and %d is chosen", e.Size(), len(nll), chosen)
		}
		e, err := ReadPosterior(file, net)
		if err != nil {
			return
		}
		if err := WritePosterior(io.Discard, e); err != nil || e.check() != nil {
			t.Errorf("a posterior that was read: %v, %v", e.check(), err)
		}
	})
}

// endless is a file of 2⁴⁰ particles whose tensors have no parameters.
func endless(net *nn.Net) []byte {
	var tensors []string
	for _, t := range net.Random() {
		tensors = append(tensors, strconv.Quote(t.Name)+`:{"dtype":"F32","shape":[1099511627776,0],"data_offsets":[0,0]}`)
	}
	header := "{" + strings.Join(tensors, ",") + "}"
	header += strings.Repeat(" ", 7-(len(header)+7)%8)
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)
}

// TestEndlessShard: a header cannot make a reader take more memory than its file justifies.
func TestEndlessShard(t *testing.T) {
	net := convNet(t)
	file := endless(net)
	if _, err := OpenShard(bytes.NewReader(file), int64(len(file)), net); err == nil || !strings.Contains(err.Error(), "particles is in a file of") {
		t.Errorf("OpenShard: %v", err)
	}
}
