package fetch

import (
	"fmt"
	"os"
	"runtime"

	"github.com/gofrs/flock"
)

// lock keeps other processes from fetching the same file, until free is called or this process ends. The lock is a file
// of its own, since the part is renamed.
func lock(path string) (free func(), err error) {
	path += ".lock"
	l := flock.New(path)
	locked, err := l.TryLock()
	if err != nil {
		return nil, err
	}
	if locked { // unless its last owner has removed the file meanwhile
		mine, err := l.Stat()
		there, gone := os.Stat(path)
		if locked = err == nil && gone == nil && os.SameFile(mine, there); !locked {
			l.Close()
		}
	}
	if !locked {
		return nil, fmt.Errorf("%s: another process is fetching this file", path)
	}
	return func() {
		if runtime.GOOS != "windows" { // where a file that is open cannot be removed
			os.Remove(path)
		}
		l.Close()
		if runtime.GOOS == "windows" {
			os.Remove(path)
		}
	}, nil
}
