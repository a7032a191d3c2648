//go:build linux || darwin

package regular

import "syscall"

// DiskFree is the number of bytes that a folder's disk has for this user; ok is false where it is not known.
func DiskFree(dir string) (bytes int64, ok bool) {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}
