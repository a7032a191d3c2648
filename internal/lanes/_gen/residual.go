package main

// residual writes the kernels of the sum of two branches, and of the gradients of their common input.
func residual() {
	pointwise("add", []string{"a", "b"}, []string{"y"}, func(m *machine) func([]vec) []vec {
		return func(x []vec) []vec { return []vec{m.add(x[0], x[1])} }
	})
	pointwise("addReLU", []string{"a", "b"}, []string{"y"}, func(m *machine) func([]vec) []vec {
		zero := m.copy(m.k(0))
		return func(x []vec) []vec { return []vec{m.max(zero, m.add(x[0], x[1]))} }
	})
	pointwise("addGated", []string{"gate", "x", "y"}, []string{"y"}, func(m *machine) func([]vec) []vec {
		m.k(0)
		return func(x []vec) []vec { return []vec{m.keep(m.compare(greater, x[0], m.k(0)), m.add(x[2], x[1]))} }
	})
}
