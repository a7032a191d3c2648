package nn

// ResNet20 is the layers of the residual network of 20 weighted layers for small images with that many classes (He et al. 2016, section 4.2), with filter
// response normalisation and its thresholds in place of batch norm and ReLU: a convolution, three blocks each of 16, 32 and 64 channels, the mean of
// each channel, and a dense layer. Where a block doubles the channels its shortcut is option A.
func ResNet20(classes int) []Layer {
	normed := func(filters, stride int) []Layer {
		conv := Conv{Filters: filters, Kernel: [2]int{3, 3}, Stride: [2]int{stride, stride}, Pad: [2]int{1, 1}, NoBias: true}
		return []Layer{conv, FRN{TLU: true}}
	}
	layers := normed(16, 1)
	for _, filters := range []int{16, 32, 64} {
		for block := range 3 {
			r, stride := Residual{}, 1
			if block == 0 && filters > 16 {
				r.Shortcut, stride = []Layer{Pad{}}, 2
			}
			r.Body = append(normed(filters, stride), normed(filters, 1)...)
			layers = append(layers, r)
		}
	}
	return append(layers, GlobalAvgPool{}, Dense{Units: classes})
}
