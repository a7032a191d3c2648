package scans

// format reads scans of one format. An error is a *BadError or final.
type format interface {
	next() (*draft, error)
	chosen() []string  // the columns of a measurement
	ignored() []string // columns that are not read
}

// draft is a scan before its time is checked.
type draft struct {
	rec    *Record
	at     instant
	column int // of the time
}
