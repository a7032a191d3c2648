package sets

import (
	"io"
	"maps"
	"os"
	"path/filepath"

	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/regular"
)

// verifiedName is the name of a file in the data directory. It lists the files of known sets whose content was found to be
// right, so that large files are not hashed each time that they are loaded. Verify does not look at it.
const verifiedName = ".starling-verified.json"

// verified describes a file whose content was right.
type verified struct {
	Size     int64  `json:"size"`
	Modified int64  `json:"modified"` // in nanoseconds since 1970
	SHA256   string `json:"sha256"`   // as pinned
}

// verifyOnce compares a file with its pin, unless that was done before and its size and time are still the same. dir is the
// data directory.
func (p pin) verifyOnce(path, dir string) error {
	info, err := os.Stat(path) // before it is read: what is changed meanwhile is compared again
	if err != nil {
		return err
	}
	now := verified{info.Size(), info.ModTime().UnixNano(), p.sum}
	if readVerified(dir)[p.file] == now {
		return nil
	}
	if err := p.compareFile(path); err != nil {
		return err
	}
	writeVerified(dir, p.file, now)
	return nil
}

// readVerified reads the list of verified files. Without a list that can be read none is verified.
func readVerified(dir string) map[string]verified {
	const limit = 1 << 20
	text, err := regular.Read(filepath.Join(dir, verifiedName), limit)
	if err != nil {
		return nil
	}
	var list map[string]verified
	if err := jsontext.Read(text, &list); err != nil {
		return nil
	}
	return list
}

// writeVerified adds a file to the list, unless the data directory is read-only. A failure is no error: the file will be
// hashed again. Of two processes that write at once, the list of the last stays.
func writeVerified(dir, file string, v verified) {
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm()&0o222 == 0 {
		return
	}
	list := map[string]verified{}
	maps.Copy(list, readVerified(dir))
	list[file] = v
	_ = ckpt.Replace(filepath.Join(dir, verifiedName), "", func(w io.Writer) error { return jsontext.Write(w, list) })
}
