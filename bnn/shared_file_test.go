package bnn

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/safetensors"
	"github.com/starling-smc/starling/nn"
)

// The layout of posterior.safetensors where particles share a part, as other programs rely on it.
func TestSharedLayout(t *testing.T) {
	net := partlyNet(t, "a", 2, nn.Gaussian{SD: nn.Learned})
	e := partlyRandom(t, net, 4)
	var b bytes.Buffer
	if err := WritePosterior(&b, e); err != nil {
		t.Fatal(err)
	}
	tensors, metadata, err := safetensors.Parse(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	roles := map[string]string{}
	if err := json.Unmarshal([]byte(metadata["roles"]), &roles); err != nil || len(metadata) != 1 {
		t.Fatalf("metadata %v: %v", metadata, err)
	}
	if want := map[string]string{
		"frozen.weight": "frozen", "frozen.bias": "frozen", "a.weight": "random", "a.bias": "random",
		"b.weight": "learned", "b.bias": "learned", "log_sd": "learned",
	}; !maps.Equal(roles, want) {
		t.Errorf("roles %v", roles)
	}
	want := []struct {
		name, dtype string
		shape       []int
	}{
		{"log_weights", "F64", []int{8}}, {"log_evidence", "F64", []int{2}},
		{"frozen.weight", "F32", []int{1, 3, 3}}, {"frozen.bias", "F32", []int{1, 3}},
		{"a.weight", "F32", []int{8, 4, 3}}, {"a.bias", "F32", []int{8, 4}},
		{"b.weight", "F32", []int{3, 2, 4}}, {"b.bias", "F32", []int{3, 2}}, {"log_sd", "F32", []int{3, 1}},
		{"island", "I32", []int{8}}, {"shared", "I32", []int{8}},
	}
	if len(tensors) != len(want) {
		t.Fatalf("%d tensors, want %d", len(tensors), len(want))
	}
	for i, w := range want {
		if a := tensors[i]; a.Name != w.name || a.DType != w.dtype || !slices.Equal(a.Shape, w.shape) {
			t.Errorf("tensor %d is %s %s %v, want %v", i, a.Name, a.DType, a.Shape, w)
		}
	}
	if got := tensors[10].Float64s(); !slices.Equal(got, []float64{0, 0, 0, 0, 1, 1, 2, 2}) {
		t.Errorf("rows %v", got)
	}
	// ψ is b.weight [2, 4], b.bias, log_sd; the constants are frozen.weight [3, 3], frozen.bias.
	s := net.Learned()
	for _, c := range []struct{ tensor, at, psi int }{{6, 2*8 + 5, 5}, {7, 2*2 + 1, 9}, {8, 2, 10}} {
		if got, want := tensors[c.tensor].Float64s()[c.at], float64(e.Shared[2*s+c.psi]); got != want {
			t.Errorf("value %d of %s is %v, want ψ[%d] of row 2, %v", c.at, tensors[c.tensor].Name, got, c.psi, want)
		}
	}
	if got := slices.Concat(tensors[2].Float64s(), tensors[3].Float64s()); !slices.Equal(got, widen(nil, net.Held())) {
		t.Errorf("frozen tensors %v, want %v", got, net.Held())
	}
}

func TestSharedRoundTrip(t *testing.T) {
	for _, random := range []string{"a", "b"} {
		e := partlyRandom(t, partlyNet(t, random, 2, nn.Gaussian{SD: nn.Learned}), 6)
		var first, second bytes.Buffer
		if err := WritePosterior(&first, e); err != nil {
			t.Fatal(err)
		}
		back, err := ReadPosterior(first.Bytes(), e.Net)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(back.Net.Held(), e.Net.Held()) || !slices.Equal(back.Theta, e.Theta) || !slices.Equal(back.Shared, e.Shared) || !slices.Equal(back.Row, e.Row) ||
			!slices.Equal(back.LogWeights, e.LogWeights) || !slices.Equal(back.Island, e.Island) {
			t.Error("another ensemble came back")
		}
		if err := WritePosterior(&second, back); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("written again, the bytes differ (%v)", err)
		}
	}
}

// A file has learned layers where they are frozen now: it was written before, with a row for each island. It is read as it is.
func TestSharedOlder(t *testing.T) {
	net, err := nn.NewPartly([]int{3}, []nn.Layer{nn.Dense{Units: 4, Name: "a"}, nn.Tanh, nn.Dense{Units: 2, Name: "b"}}, nn.Gaussian{SD: nn.Learned},
		but("b", nn.RoleLearned))
	if err != nil {
		t.Fatal(err)
	}
	e := partlyRandom(t, net, 4)
	var b bytes.Buffer
	if err := WritePosterior(&b, e); err != nil {
		t.Fatal(err)
	}
	back, err := ReadPosterior(b.Bytes(), net.Frozen())
	if err != nil {
		t.Fatal(err)
	}
	if back.Net.Learned() != net.Learned() || !slices.Equal(back.Shared, e.Shared) || !slices.Equal(back.Row, e.Row) || !slices.Equal(back.Theta, e.Theta) {
		t.Error("another ensemble came back")
	}
}

// but gives a role to all modules but the random one.
func but(random string, role nn.Role) func(string) nn.Role {
	return func(module string) nn.Role {
		if module == random {
			return nn.RoleRandom
		}
		return role
	}
}

// Restarts are whole networks, whatever is random in the network that they are read for.
func TestSharedRestarts(t *testing.T) {
	net := partlyNet(t, "b", 2, nn.Categorical{})
	e := combine(t, net.Whole(), numbered(net.Whole(), 1, 3), Equal{})
	var b bytes.Buffer
	if err := WriteRestarts(&b, e, make([]float64, 3), 1); err != nil {
		t.Fatal(err)
	}
	back, _, _, err := ReadRestarts(b.Bytes(), net)
	if err != nil {
		t.Fatal(err)
	}
	if back.Net.Partly() || !slices.Equal(back.Theta, e.Theta) {
		t.Error("other restarts came back")
	}
}

// Whatever does not fit the network, or the rest of the file, is named.
func TestSharedFileErrors(t *testing.T) {
	type tensors = []safetensors.Tensor
	net := partlyNet(t, "a", 2, nn.Gaussian{SD: nn.Learned})
	e := partlyRandom(t, net, 4)
	var good bytes.Buffer
	if err := WritePosterior(&good, e); err != nil {
		t.Fatal(err)
	}
	_, roles, err := safetensors.Parse(good.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	rows := func(values ...int32) func(tensors) tensors {
		return func(a tensors) tensors { a[10] = integers("shared", values); return a }
	}
	same := func(a tensors) tensors { return a }
	for name, c := range map[string]struct {
		change   func(tensors) tensors
		metadata map[string]string
		net      *nn.Net
		reason   string
	}{
		"transposed": {func(a tensors) tensors { a[6].Shape = []int{3, 4, 2}; return a }, roles, net,
			"tensor b.weight is F32 [3 4 2] in the file, want F32 [3 2 4]: particles share it, and tensor shared gives them 3 rows; write a row for each island"},
		"fewer rows of one": {func(a tensors) tensors { a[7].Shape, a[7].Data = []int{2, 2}, a[7].Data[:16]; return a }, roles, net,
			"tensor b.bias is F32 [2 2] in the file, want F32 [3 2]"},
		"ψ of each particle": {func(a tensors) tensors {
			a[8].Shape, a[8].Data = []int{8, 1}, make([]byte, 32)
			return a
		}, roles, net, "tensor log_sd is F32 [8 1] in the file, want F32 [3 1]"},
		"fewer rows":       {rows(0, 0, 0, 0, 1, 1, 1, 1), roles, net, "tensor b.weight is F32 [3 2 4] in the file, want F32 [2 2 4]"},
		"type":             {func(a tensors) tensors { a[6].DType = "I32"; return a }, roles, net, "tensor b.weight is I32"},
		"no rows":          {func(a tensors) tensors { return a[:10] }, roles, net, "tensor shared is not in the file"},
		"rows' number":     {rows(0, 0, 0, 1), roles, net, "tensor shared is I32 [4] in the file"},
		"rows' type":       {func(a tensors) tensors { a[10].DType = "F32"; return a }, roles, net, "tensor shared is F32"},
		"row out of range": {rows(0, 0, 0, 0, 1, 1, 2, math.MaxInt32), roles, net, "tensor shared has row 2147483647 for 8 particles"},
		"row -1":           {rows(0, 0, 0, -1, 1, 1, 2, 2), roles, net, "tensor shared has row -1 for particle 3, after 1 rows: want rows numbered from 0, in order"},
		"row 0 is missing": {rows(1, 1, 1, 1, 1, 1, 2, 2), roles, net, "tensor shared has row 1 for particle 0, after 0 rows"},
		"rows back":        {rows(0, 0, 0, 0, 1, 2, 1, 2), roles, net, "tensor shared has row 1 for particle 6, after 3 rows"},
		"islands":          {rows(0, 0, 0, 1, 1, 1, 2, 2), roles, net, "tensor shared has row 1 for particles of islands 0 and 1: want rows of its own for each island"},
		"NaN": {func(a tensors) tensors {
			copy(a[6].Data[4*(8+5):], []byte{0, 0, 0xc0, 0x7f})
			return a
		}, roles, net, "b.weight[1, 1] of row 1 is NaN"},
		"another shape": {func(a tensors) tensors { a[2].Shape = []int{9}; return a }, roles, net,
			"tensor frozen.weight is F32 [9] in the file, want F32 [1 3 3]: it is frozen, the same for all particles"},
		"another row": {func(a tensors) tensors {
			a[3].Shape, a[3].Data = []int{2, 3}, slices.Concat(a[3].Data, a[3].Data[4:], a[3].Data[:4])
			return a
		}, roles, net, "frozen.bias[0] is 1.375 in row 1 and 1.25 in row 0: it is the same for all particles, and a file has it once"},
		"NaN, frozen": {func(a tensors) tensors {
			copy(a[3].Data, []byte{0, 0, 0xc0, 0x7f})
			return a
		}, roles, net, "frozen.bias[0] is NaN"},
		"no random tensor": {func(a tensors) tensors { return append(a[:4:4], a[5:]...) }, roles, net, "a.weight [4 3] of the network is not in the file"},
		"no ψ":             {func(a tensors) tensors { return append(a[:6:6], a[7:]...) }, roles, net, "b.weight [2 4] of the network is not in the file"},
		"no particles":     {func(a tensors) tensors { a[4].Shape, a[4].Data = []int{0, 4, 3}, nil; return a }, roles, net, "a.weight is F32 [0 4 3]"},
		"no roles":         {same, nil, net, "tensor frozen.weight is random in the file, frozen in the network: want the layers to be random that were when the file was written, and its metadata"},
		"other roles":      {same, roles, partlyNet(t, "b", 2, nn.Gaussian{SD: nn.Learned}), "tensor a.weight is random in the file, learned in the network"},
		"no shared part":   {same, roles, net.Whole(), "tensor frozen.weight is frozen in the file, random in the network"},
		"damaged roles":    {same, map[string]string{"roles": "{"}, net, "roles in the metadata"},
	} {
		t.Run(name, func(t *testing.T) {
			all, _, err := safetensors.Parse(slices.Clone(good.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := safetensors.WriteWith(&b, c.metadata, c.change(all)); err != nil {
				t.Fatal(err)
			}
			if _, err := ReadPosterior(b.Bytes(), c.net); err == nil || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("error %v, want one about %q", err, c.reason)
			}
		})
	}
}

// A state_dict holds all tensors of a network, in the order of the layers.
func TestReadWeightsOfPartlyRandom(t *testing.T) {
	net := partlyNet(t, "a", 2, nn.Categorical{})
	var file []safetensors.Tensor
	want := []float64{}
	for _, x := range slices.Backward(net.Tensors()) {
		a := safetensors.Tensor{Name: x.Name, DType: "F64", Shape: x.Shape}
		var values []float64
		for i := range x.Size {
			values = append(values, float64(len(want)+i))
		}
		a.Data = floats("", values).Data
		file, want = append(file, a), append(values, want...)
	}
	got, err := ReadWeights(saved(t, file), net)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) || len(got) != net.Parameters() {
		t.Errorf("parameters %v, want %v", got, want)
	}
}
