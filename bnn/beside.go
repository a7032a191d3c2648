package bnn

// The tensors beside a network's: in a posterior, in one of a network that is partly random, too, and in restarts.
var (
	ofPosterior = []string{"log_weights", "log_evidence", "island"}
	ofPartly    = []string{"shared"}
	ofRestarts  = []string{"val_nll", "chosen"}
)
