//go:build !linux && !darwin

package regular

// DiskFree is the number of bytes that a folder's disk has for this user; ok is false where it is not known.
func DiskFree(string) (bytes int64, ok bool) { return 0, false }
