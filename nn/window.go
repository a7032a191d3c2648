package nn

import (
	"cmp"
	"fmt"

	"github.com/starling-smc/starling/internal/config"
)

// window is a sliding window over planes; pairs are height, width.
type window struct{ size, stride, pad [2]int }

// newWindow returns the window of a pooling layer, whose zero stride means the size.
func newWindow(size, stride, pad [2]int) window { return window{size, cmp.Or(stride, size), pad} }

// over is the output height and width of the window over a shape [c, h, w].
func (w window) over(shape []int) (out [2]int, err error) {
	for d := range 2 {
		size, stride, pad := w.size[d], w.stride[d], w.pad[d]
		switch {
		case size <= 0 || stride <= 0 || pad < 0:
			return out, fmt.Errorf("window %v, stride %v, padding %v: sizes and strides must be positive, padding not negative", w.size, w.stride, w.pad)
		case volume(shape[0], shape[1]+2*min(w.pad[0], maxValues), shape[2]+2*min(w.pad[1], maxValues)) > maxValues:
			return out, fmt.Errorf("padding %v makes more than %d values of %v", w.pad, maxValues, shape)
		case size > shape[1+d]+2*pad:
			return out, fmt.Errorf("the window %v is larger than the input %v with padding %v", w.size, shape[1:], w.pad)
		}
		out[d] = (shape[1+d]+2*pad-size)/stride + 1
	}
	return out, nil
}

// pool sets the output of a layer that pools over the window.
func (w window) pool(n *node) error {
	if err := n.planes(); err != nil {
		return err
	}
	if 2*w.pad[0] > w.size[0] || 2*w.pad[1] > w.size[1] {
		return fmt.Errorf("padding %v is more than half of the window %v", w.pad, w.size)
	}
	out, err := w.over(n.in)
	if err != nil {
		return err
	}
	if n.out = []int{n.in[0], out[0], out[1]}; volume(n.in[0], out[0], out[1], w.size[0], w.size[1]) > maxTable {
		return fmt.Errorf("a window of %v over %v is too large: a table of more than %d offsets; take a smaller window or a longer stride", w.size, n.in, maxTable)
	}
	return nil
}

// checkWindow checks the settings of a pooling layer.
func checkWindow(f *config.Faults, size, stride, pad [2]int) {
	needSizes(f, "size", size[:]...)
	checkStride(f, stride)
	checkSizes(f, "pad", 0, pad[:]...)
}

// pooling is a layer that takes the maximum or the mean of windows of a fixed size.
type pooling interface {
	Layer
	window() window
	mean() bool // the mean, else the maximum
}

// pooledReLU finds the two layers after a convolution that its kernels can compute with it: a ReLU and a 2×2 pool. A maximum
// may stand before or after the ReLU, a mean only after it.
func (c *compiler) pooledReLU(chain []node) (p pooling, ok bool) {
	if len(chain) < 2 {
		return nil, false
	}
	if p, ok = chain[1].layer.(pooling); ok {
		ok = c.clips(chain)
	} else if p, ok = chain[0].layer.(pooling); ok {
		ok = c.clips(chain[1:]) && !p.mean()
	}
	two := [2]int{2, 2}
	return p, ok && p.window() == window{size: two, stride: two}
}
