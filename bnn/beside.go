package bnn

// The tensors beside a network's: in a posterior, in one of a network of which a part is learned, too, and in restarts.
var (
	ofPosterior = []string{"log_weights", "log_evidence", "island"}
	ofShared    = []string{"shared"}
	ofRestarts  = []string{"val_nll", "chosen"}
)
