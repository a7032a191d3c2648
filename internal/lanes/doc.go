// Package lanes computes with 16 examples side by side.
//
// # Layout
//
// A vector is 16 float32 values, one an example: vector i of a buffer is buf[16i : 16i+16]. Activations are stored
// as [group of 16 examples][channel][y][x][16], weights as plain row-major scalars. A convolution or a dense layer
// is then a stream of fused multiply-adds of a broadcast weight and a vector of activations, wherever both happen to
// lie: kernel size, stride, padding, borders and transposition are nothing but tables of offsets. Weights are read in
// place, with any stride between the rows of a tile; there is no packing, no im2col and no transposition, since a
// broadcast costs one load whatever the stride, and every weight that is loaded serves n vectors.
//
// The kernels are
//
//   - [Gemm]: sums of weight × vector for tiles of m rows by n vectors; forward passes and input gradients,
//     with bias, ReLU, ReLU and 2×2 pooling (maximum or mean) or a ReLU's derivative in the epilogue;
//   - [Dot] and [PoolDot]: sums of vector × vector, lane by lane, for tiles of m × n streams; weight gradients
//     (PoolDot through a pooling, from the masks that [Gemm.StoreMaxPool] and [Gemm.StoreMeanPool] leave);
//   - [ReduceAdd]: the sums over the lanes;
//   - [Windows]: max and mean pooling by a table, and [Unpool], the way back through the poolings of Gemm;
//   - [Load] and [Transpose]: examples into the lanes, and activations out of them;
//   - [ReLU], [Tanh], [GELU] and [Swish], element by element, and their derivatives; [Scale], multiplication by a number;
//   - [Categorical], [Bernoulli] and [Gaussian]: log-likelihoods and their gradients, with [MaskLanes] and [LaneSums]
//     for groups that are not full;
//   - [SumRows], the gradients of biases; [Float32s] and [AddFloat64s] to and from float64.
//
// The elementary functions in them are polynomials of our own, with the errors that their comments state.
//
// # Plans
//
// A plan ([NewGemm], [NewDot], [NewPoolDot], [NewWindows], [NewLoad]) is a table of offsets, built once for a shape of
// layer and used for every group of examples by slicing the buffers. Its constructor copies the offsets, checks them
// and finds how far they reach; each call compares that with the lengths of its slices and panics if one is too short.
// The assembly relies on it: it has no bounds checks. Plans are immutable and safe for concurrent use.
//
// The elementwise kernels have no tables: each call compares the lengths of its slices. Long work is cut into calls of
// assembly far below a millisecond (maxCallFMAs, maxCallVectors, [MaxTerms]), because Go cannot preempt them.
//
// Destinations must not overlap inputs, except where a kernel says that they may be the same.
//
// # Equal bits
//
// There are three implementations: AVX-512 and AVX2 assembly, generated from one description in _gen, and plain Go,
// which is always compiled and is the definition. They give the same bits, because
//
//   - every element is the same sequence of float32 operations on every one of them: a sum starts from the stated
//     initial value and takes its terms in the order of the table, each one fused multiply-add, rounded once
//     (fma32 in Go: the processor's instruction, or an exact emulation of it);
//   - a tile's size never enters into that sequence, so plans are the same for all; where a tile needs more
//     registers than AVX2 has, the AVX2 kernel makes several passes over parts of it;
//   - maximum and comparisons are spelt out in the direction in which they treat NaN and −0;
//   - sums over lanes are the tree (i,i+8), (i,i+4), (i,i+2), (i,i+1).
//
// NaN meets NaN; its sign and payload are free. Denormals are kept (the processor's default in Go programs).
//
// The best implementation that the processor has is chosen at start-up; see [Kernel].
package lanes
