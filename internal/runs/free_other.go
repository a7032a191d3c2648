//go:build !linux && !darwin

package runs

// Free is the number of bytes that the folder's disk has for this user; ok is false where it is not known.
func (f *Folder) Free() (bytes int64, ok bool) { return 0, false }
