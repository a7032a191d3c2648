//go:build linux || darwin

package runs

import "syscall"

// Free is the number of bytes that the folder's disk has for this user, with those of the folder's shards; ok is false where it is not known.
func (f *Folder) Free() (bytes int64, ok bool) {
	var s syscall.Statfs_t
	if f == nil || syscall.Statfs(f.Dir, &s) != nil {
		return 0, false
	}
	return f.shardBytes() + int64(s.Bavail)*int64(s.Bsize), true
}
