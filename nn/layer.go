package nn

// Layer is one layer of a network as the user describes it: Dense, Conv, MaxPool, AvgPool, GlobalAvgPool, Flatten
// or an Activation. Layers carry no sizes of their inputs: New derives them.
type Layer interface{ layer() }

// Dense is y = W x + b with W of shape [Units, inputs] (PyTorch's nn.Linear). An input of shape [c, h, w] is
// flattened first, in that order.
type Dense struct {
	Units  int
	NoBias bool
	Name   string // of its tensors; empty: the layer's number in an nn.Sequential
}

// Conv is a cross-correlation with zero padding (PyTorch's nn.Conv2d): weight [Filters, channels, kh, kw],
// output size ⌊(h+2·pad−kh)/stride⌋+1. Pairs are height, width. A zero Stride means 1.
type Conv struct {
	Filters int
	Kernel  [2]int
	Stride  [2]int
	Pad     [2]int
	NoBias  bool
	Name    string
}

// MaxPool takes the maximum over windows; padding counts as −∞. A zero Stride means Size.
type MaxPool struct{ Size, Stride, Pad [2]int }

// AvgPool takes the mean over windows, dividing by the window's full size (padding counts as zeros). A zero Stride
// means Size.
type AvgPool struct{ Size, Stride, Pad [2]int }

// GlobalAvgPool averages each channel over height and width.
type GlobalAvgPool struct{}

// Flatten turns [c, h, w] into c·h·w features; Dense does so on its own.
type Flatten struct{}

// Activation is an elementwise function.
type Activation int

const (
	ReLU  Activation = iota // max(0, x), derivative 0 at 0
	Tanh                    // tanh x
	GELU                    // x Φ(x), with the error function
	Swish                   // x / (1 + e^−x)
)

func (a Activation) String() string {
	return [...]string{"relu", "tanh", "gelu", "swish"}[a]
}

func (Dense) layer()         {}
func (Conv) layer()          {}
func (MaxPool) layer()       {}
func (AvgPool) layer()       {}
func (GlobalAvgPool) layer() {}
func (Flatten) layer()       {}
func (Activation) layer()    {}

// Likelihood says how the network's outputs give the probability of a target.
type Likelihood interface{ likelihood() }

// Categorical is log softmax(outputs)[label]; one output a class.
type Categorical struct{}

// Bernoulli is one logit z: log p(y) = y·z − log(1 + e^z), y ∈ {0, 1}.
type Bernoulli struct{}

// Gaussian is Σ_k log N(y_k; output_k, SD²). With Learned, SD is not used: log σ is one more parameter, the last of
// θ, in a tensor named log_sd.
type Gaussian struct {
	SD      float64
	Learned bool
}

func (Categorical) likelihood() {}
func (Bernoulli) likelihood()   {}
func (Gaussian) likelihood()    {}

// Tensor places one named array of parameters in θ: θ[Offset : Offset+Size], row-major in Shape.
type Tensor struct {
	Name   string // as in the state_dict of an nn.Sequential of the same layers, the implicit flatten counted
	Shape  []int
	Offset int
	Size   int
	FanIn  int // inputs of one unit (a bias has its layer's); 0 for log_sd
}
