package bnn

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/starling-smc/starling/internal/spelling"
	"github.com/starling-smc/starling/nn"
)

// Errors for a file of weights that does not fit a network: the first difference, the nearest candidate, the remedy.

// fits returns an error if a tensor of the network is missing in the file, or has another shape or type there.
func (f *stateDict) fits(p part) error {
	t, ok := f.tensors[p.Name]
	switch {
	case !ok:
		return f.missing(p)
	case !slices.Equal(t.Shape, p.Shape):
		return fmt.Errorf("tensor %s is %v in the file, the network has %v%s: %s", p.Name, t.Shape, p.Shape, p.where(), f.reshape(p, t.Shape))
	case !slices.Contains([]string{"F32", "F64", "F16", "BF16"}, t.DType):
		return fmt.Errorf("tensor %s is %s in the file: want F32, F64, F16 or BF16, as model.float() makes it", p.Name, t.DType)
	}
	return nil
}

// where names the layer of a tensor in an error.
func (p part) where() string {
	if p.Layer < 0 {
		return ""
	}
	return fmt.Sprintf(" (layer %s, %s)", p.layer(), p.Of)
}

// layer is the place of the tensor's layer in model.layers: 3, or 2.body.0 for one inside another.
func (p part) layer() string {
	_, inside, _ := strings.Cut(p.Place, ".")
	return strings.TrimSuffix(fmt.Sprint(p.Layer, ".", inside), ".")
}

// wrapped refuses a file whose names all begin with that of a module around the network.
func (f *stateDict) wrapped() error {
	for _, w := range []struct{ prefix, by string }{{"module.", "torch.nn.DataParallel"}, {"_orig_mod.", "torch.compile"}} {
		lacks := func(name string) bool { return !strings.HasPrefix(name, w.prefix) }
		own := slices.ContainsFunc(f.parts, func(p part) bool { return !lacks(p.Name) })
		if len(f.names) > 0 && !own && !slices.ContainsFunc(f.names, lacks) {
			return fmt.Errorf("every name begins with %s, as those of a module in %s do: take it off, "+
				"save_file({k.removeprefix(%[1]q): v for k, v in model.state_dict().items()}, FILE)", w.prefix, w.by)
		}
	}
	return nil
}

// reshape returns the remedy for a tensor whose shape differs from the network's.
func (f *stateDict) reshape(p part, have []int) string {
	a, b := slices.Sorted(slices.Values(have)), slices.Sorted(slices.Values(p.Shape))
	switch {
	case len(have) == len(p.Shape)+1 && slices.Equal(have[1:], p.Shape):
		return fmt.Sprintf("it seems to hold %d stacked networks; save one of them, t[0].clone()", have[0])
	case slices.Equal(a, b) && len(have) == 2:
		return "it is transposed; PyTorch's nn.Linear has [outputs, inputs], so save t.T.contiguous()"
	case slices.Equal(a, b):
		return "its axes are in another order; PyTorch's nn.Conv2d has [filters, channels, height, width], so save t.permute(…).contiguous()"
	}
	remedy := "change the layers of the model to those that were trained"
	if name := f.nearest(p); name != "" && slices.Equal(f.tensors[name].Shape, p.Shape) {
		remedy += fmt.Sprintf(" (of that shape the file has %s)", shown(name))
	}
	return remedy
}

// missing returns the error for a tensor that is not in the file.
func (f *stateDict) missing(p part) error {
	var b strings.Builder
	fmt.Fprintf(&b, "tensor %s %v of the network%s is not in the file", p.Name, p.Shape, p.where())
	name := f.nearest(p)
	if name == "" {
		b.WriteString(", and the file has no other tensors")
	} else {
		fmt.Fprintf(&b, "; nearest is %s %v", shown(name), f.tensors[name].Shape)
	}
	layer, kind := cut(p.Name)
	other, same := cut(name)
	switch {
	case p.Layer < 0:
		b.WriteString(": likelihood {gaussian: {sd: learned}} wants log σ under that name, of shape [1]; or give a fixed sd")
	case p.Kind == nn.Biases && f.has(layer+".weight"):
		fmt.Fprintf(&b, ": if layer %s was trained without a bias, write bias: false in it", p.layer())
	case (p.Kind == nn.Means || p.Kind == nn.Variances) && f.has(layer+".weight"):
		fmt.Fprintf(&b, ": only a batch norm has statistics, and they are among its module's buffers; save model.state_dict(), not the parameters alone")
	case p.Kind == nn.Scales && f.has(layer+".running_var"):
		fmt.Fprintf(&b, ": %s was trained with affine=False; save ones as %s and zeros as %s.bias with it", shown(layer), shown(p.Name), shown(layer))
	case p.Kind == nn.Updates:
		b.WriteString(": an update has A and B; save both, or neither, if the layer was trained without it")
	case same == kind && slices.Equal(f.tensors[name].Shape, p.Shape):
		fmt.Fprintf(&b, ": write name: %s beside %s in layer %s", quoted(other), p.Of, p.layer())
		if all := f.layers(); all != nil {
			fmt.Fprintf(&b, " (by their shapes, the layers with weights are %s in order)", strings.Join(all, ", "))
		}
	default:
		fmt.Fprintf(&b, ": name layer %s as the file does, or change the layers to those that were trained", p.layer())
	}
	return errors.New(b.String())
}

// plain matches names that YAML reads as text without quotes. Others are numbers, as the names in an nn.Sequential are,
// words for true and null, or contain special characters.
var plain = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// quoted writes a name as a YAML scalar of a config.
func quoted(name string) string {
	if !plain.MatchString(name) || slices.Contains([]string{"true", "false", "yes", "no", "on", "off", "null", "y", "n"}, strings.ToLower(name)) {
		return strconv.Quote(name)
	}
	return name
}

// shown prepares a name of the file for an error: it escapes characters that a terminal cannot print, and cuts a long name.
func shown(name string) string {
	if len(name) > 100 || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Sprintf("%.100q", name)
	}
	return name
}

// cut splits a tensor's name into the layer's and the kind: conv1.weight is the weight of conv1.
func cut(name string) (layer, kind string) {
	at := strings.LastIndexByte(name, '.')
	if at < 0 {
		return "", name
	}
	return name[:at], name[at+1:]
}

// free lists the tensors of the file that match no tensor of the network by name and shape, in the order of the file.
func (f *stateDict) free() (names []string) {
	shapes := make(map[string][]int, len(f.parts))
	for _, p := range f.parts {
		shapes[p.Name] = p.Shape
	}
	for _, name := range f.names {
		if shape, ok := shapes[name]; !ok || !slices.Equal(shape, f.tensors[name].Shape) {
			names = append(names, name)
		}
	}
	return names
}

// nearest is the free tensor of the file most like p: of the same shape first, then by name; empty if none is free.
func (f *stateDict) nearest(p part) string {
	distance := func(name string) (other, far int) {
		if !slices.Equal(f.tensors[name].Shape, p.Shape) {
			other = 1
		}
		return other, spelling.Edits(name, p.Name)
	}
	free := f.free()
	if len(free) == 0 {
		return ""
	}
	return slices.MinFunc(free, func(a, b string) int {
		aOther, aFar := distance(a)
		bOther, bFar := distance(b)
		return cmp.Or(cmp.Compare(aOther, bOther), cmp.Compare(aFar, bFar))
	})
}

// layers lists the file's names of the network's layers with weights, if shapes alone identify them; else nil.
func (f *stateDict) layers() (names []string) {
	for i, p := range f.parts {
		if _, kind := cut(p.Name); kind != "weight" {
			continue
		}
		var fitting []string
		for _, name := range f.names {
			layer, kind := cut(name)
			if kind != "weight" || !slices.Equal(f.tensors[name].Shape, p.Shape) {
				continue
			}
			biased := i+1 < len(f.parts) && f.parts[i+1].Layer == p.Layer
			if f.has(layer+".bias") == biased {
				fitting = append(fitting, layer)
			}
		}
		if len(fitting) != 1 || slices.Contains(names, fitting[0]) {
			return nil
		}
		names = append(names, quoted(fitting[0]))
	}
	return names
}

// extra returns the error for a tensor of the file that the network does not have, after all tensors of the network fit.
// Statistics of a batch normalisation come first, because they explain the other tensors.
func (f *stateDict) extra() error {
	free := f.free()
	for _, name := range free {
		switch layer, kind := cut(name); kind {
		case "running_mean", "running_var":
			return fmt.Errorf("tensor %s in the file is a buffer of a batch normalisation that the network does not have: add {norm: {batch: frozen}, name: %s} behind its convolution",
				shown(name), quoted(layer))
		}
	}
	for _, name := range free {
		layer, kind := cut(name)
		for _, p := range f.parts {
			if own, _ := cut(p.Name); own == layer && kind == "bias" && p.Layer >= 0 {
				return fmt.Errorf("tensor %s %v in the file is not in the network: layer %s has bias: false, but was trained with one", shown(name), f.tensors[name].Shape, p.layer())
			}
		}
	}
	if len(free) > 0 {
		return fmt.Errorf("tensor %s %v in the file is not in the network: add the layer that is missing in the model, or leave the tensor out of the file", shown(free[0]), f.tensors[free[0]].Shape)
	}
	return nil
}
