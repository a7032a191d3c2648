package lanes

// Add is the sum of the branches of a residual, or of the gradients of their input:
//
//	y[i] = a[i] + b[i]
//
// y may be a or b.
func Add(a, b, y []float32) {
	sameVectors("Add", len(a), len(b), len(y))
	for i := addAssembly(a, b, y); i < len(a); i++ {
		y[i] = a[i] + b[i]
	}
}

// AddReLU is Add with a ReLU behind it, which keeps NaN and −0:
//
//	y[i] = 0 > a[i] + b[i] ? 0 : a[i] + b[i]
//
// y may be a or b.
func AddReLU(a, b, y []float32) {
	sameVectors("AddReLU", len(a), len(b), len(y))
	for i := addReLUAssembly(a, b, y); i < len(a); i++ {
		y[i] = max32(0, a[i]+b[i])
	}
}

// AddGated adds a gradient of a ReLU's value to another, and takes the sum back through the ReLU:
//
//	y[i] = gate[i] > 0 ? y[i] + x[i] : 0
//
// y may be x.
func AddGated(gate, x, y []float32) {
	sameVectors("AddGated", len(gate), len(x), len(y))
	for i := addGatedAssembly(gate, x, y); i < len(gate); i++ {
		if gate[i] > 0 {
			y[i] += x[i]
		} else {
			y[i] = 0
		}
	}
}
