// Package lanes computes with 16 examples side by side.
//
// # Layout
//
// A vector is 16 float32 values, one for each example: vector i of a buffer is buf[16i : 16i+16]. Activations are stored
// as [group of 16 examples][channel][y][x][16], weights as plain row-major scalars. A convolution or a dense layer is
// then a stream of fused multiply-adds of a broadcast weight and a vector of activations. Kernel size, stride, padding,
// borders and transposition are tables of offsets. Weights are read in place, with any stride between the rows of a tile.
// There is no packing, no im2col and no transposition: a broadcast costs one load whatever the stride, and every loaded
// weight serves n vectors.
//
// The kernels are
//
//   - [Gemm]: sums of weight × vector for tiles of m rows by n vectors; forward passes and input gradients,
//     with bias, ReLU, ReLU and 2×2 pooling (maximum or mean) or a ReLU's derivative in the epilogue;
//   - [Dot] and [PoolDot]: sums of vector × vector, lane by lane, for tiles of m × n streams; weight gradients
//     (PoolDot through a pooling, from the masks that [Gemm.StoreMaxPool] and [Gemm.StoreMeanPool] leave);
//   - [ReduceAdd]: the sums over the lanes;
//   - [Windows]: max and mean pooling by a table, and [Unpool], the backward pass of Gemm's poolings;
//   - [Load] and [Transpose]: examples into the lanes, and activations out of them;
//   - [ReLU], [Tanh], [GELU] and [Swish], element by element, and their derivatives; [Scale], multiplication by a number,
//     and [Drop], of the lanes that a mask keeps;
//   - [Norm], the normalisation of a plane with a threshold behind it, and its way back, and [AffineSums], the gradients of a scale and a shift;
//   - [Add], [AddReLU] and [AddGated]: the sum of two branches, and of gradients;
//   - [Categorical], [Bernoulli], [Gaussian] and [PredictedNormal]: log-likelihoods and their gradients, with [MaskLanes]
//     and [LaneSums] for groups that are not full;
//   - [SquareSum], [NormalTerms] and [MixtureTerm]: densities of many measurements or means at one point, for filters;
//   - [AddScaled], [Kick], [Squares], [NormalSquares] and [NormalGradient] in float64: leapfrogs and normal priors;
//   - [Philox], the blocks of random streams;
//   - [SumRows], the gradients of biases; [Float32s] and [AddFloat64s] to and from float64.
//
// Their elementary functions are polynomials of this package. Comments state their errors. [Exp] and [Log] are in float64.
//
// # Plans
//
// A plan ([NewGemm], [NewDot], [NewPoolDot], [NewWindows], [NewLoad]) is a table of offsets. It is built once for the shape
// of a layer and used for every group of examples by slicing the buffers. Its constructor copies and checks the offsets and
// finds how far they reach. Each call compares the reach with the lengths of its slices and panics if one is too short. The
// assembly has no bounds checks and relies on these. Plans are immutable and safe for concurrent use.
//
// The elementwise kernels have no tables: each call compares the lengths of its slices. Long work is cut into calls of
// assembly far below a millisecond (maxCallFMAs, maxCallVectors, [MaxTerms]), because Go cannot preempt assembly.
//
// Destinations must not overlap inputs, except where a kernel says that they may be the same.
//
// # Equal bits
//
// There are three implementations: AVX-512 and AVX2 assembly, generated from one description in _gen, and plain Go,
// which is always compiled and is the definition. They give the same bits, because
//
//   - each element is the same sequence of float32 operations in all implementations: a sum starts from the stated
//     initial value and takes its terms in the order of the table, each with one fused multiply-add, rounded once
//     (fma32 in Go: the processor's instruction, or an exact emulation of it);
//   - the size of a tile does not change that sequence, so plans are the same for all implementations; where a tile
//     needs more registers than AVX2 has, the AVX2 kernel makes several passes over parts of it;
//   - maxima and comparisons are written in the direction that gives the stated results for NaN and −0;
//   - sums over lanes are the tree (i,i+8), (i,i+4), (i,i+2), (i,i+1);
//   - float64 kernels round every product, and take the terms of a sum in the order that their comments state.
//
// Where one implementation gives a NaN, all do; its sign and payload may differ. Denormals are kept (the processor's
// default in Go programs).
//
// The best implementation that the processor can run is chosen at start-up; see [Kernel].
package lanes
