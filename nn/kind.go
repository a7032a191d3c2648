package nn

// Kind says what a tensor is in its layer. Priors and starts of descents depend on it.
type Kind int

const (
	Weights   Kind = iota // of a dense layer or a convolution
	Biases                // of the same
	Scales                // γ of a normalisation: 1 changes nothing
	Shifts                // β of a normalisation, and τ of the threshold behind it
	Epsilons              // ε of a normalisation where it is learned, as |ε|: it starts at 1e-4, not at a draw, and its prior is that of shifts
	Means                 // of the channels where a normalisation was trained: nothing draws them
	Variances             // likewise
	Own                   // the likelihood's own, such as log_sd
	Updates               // A and B of a low-rank update: weights that nobody has trained before; B starts at 0 (Tensor.Zero)
)

// Weighs reports whether a tensor of the kind multiplies the values that come into its layer.
func (k Kind) Weighs() bool { return k == Weights || k == Updates }
