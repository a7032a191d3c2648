package nn

// Role says who moves a tensor of a network (guided-open-horizon-smc, section 2). What moves is in two vectors: θ, of which every
// particle has its own, and ψ, which the particles of an island share. What nobody moves is a constant of the network itself (Net.With).
type Role int

const (
	RoleRandom  Role = iota // in θ: each particle has its own values
	RoleLearned             // in ψ: shared by particles, and learned while they move
	RoleFrozen              // a constant: a parameter that stays as it was trained
	RoleFixed               // a constant that is never a parameter, such as a statistic of a normalisation
)

// moves reports whether tensors of this role are in θ or in ψ.
func (r Role) moves() bool { return r == RoleRandom || r == RoleLearned }

// String is the role's name in files.
func (r Role) String() string { return [...]string{"random", "learned", "frozen", "fixed"}[r] }

// param is a tensor as an op sees it.
type param struct {
	role Role
	at   int // offset in θ, in ψ or in the constants
	grad int // offset in the sums of the gradient of θ or ψ
}

// gradRows is the place of a tensor's gradient: rows of a given pitch in the float32 sums, dense in θ or ψ.
type gradRows struct{ at, grad, rows, cols, pitch int }

// layout is the float32 sums of the gradient of θ, for one particle, or of ψ.
type layout struct {
	size int
	rows []gradRows
}
