package runs

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/lock"
	"github.com/starling-smc/starling/internal/regular"
)

// Kind describes a kind of run: its name and the files in its folders.
type Kind struct {
	Name  string   // in the manifest; also the verb of the command that resumes such a run
	Files []string // of the result, and any other files that such a run may keep in its folder

	// Replaced are those of Files that may be replaced when the run is done (Record.Replace).
	Replaced []string

	// Shards is the beginning of the names of the files in which parts keep what is too large for a checkpoint (Run.Store): SHARDS-PART-NUMBER.
	// They are gone when the run is done, whose result has all of it. Empty: there are none.
	Shards string

	// Streams says that the traced phase of such runs is open. Its lines may be too many for the memory: they are read one after another
	// (Record.Lines).
	Streams bool

	// Stored returns the sums of the shards that the packed state of a part counts, from number 0; none for a part that stores nothing.
	Stored func(part []byte) [][sha256.Size]byte

	// Most is the number of bytes beyond which a file of the result is written as several, if it can be. IsCut reports whether a name is that
	// of one of these, which are not among Files; nil: there are none.
	Most  int64
	IsCut func(name string) bool

	// Differ returns an error that lists the values in which two resolved configs differ. It is called only if their bytes
	// differ.
	Differ func(was, is []byte) error
}

// files lists the names of all files in a run's folder, except the lock.
func (k *Kind) files() []string {
	all := append([]string{configFile, manifestFile, traceFile, checkpointFile, previousFile}, k.Files...)
	for _, name := range k.Replaced {
		all = append(all, name+nextSuffix)
	}
	return all
}

// has reports whether a name is one of the files in a run's folder.
func (k *Kind) has(name string) bool {
	return slices.Contains(k.files(), name) || k.isShard(name) || k.IsCut != nil && k.IsCut(name)
}

// isShard reports whether a name is that of a shard.
func (k *Kind) isShard(name string) bool {
	numbers, ok := strings.CutPrefix(name, k.Shards+"-")
	part, number, both := strings.Cut(numbers, "-")
	return k.Shards != "" && ok && both && isNumber(part) && isNumber(number)
}

// shard is the name of a shard.
func (k *Kind) shard(part, n int) string { return fmt.Sprintf("%s-%d-%d", k.Shards, part, n) }

func isNumber(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// Folder is the folder of a run. One process at a time has it, and takes it before the work begins.
type Folder struct {
	Dir     string
	kind    Kind
	parents []string    // folders around it that were made for it, outermost first
	made    bool        // the folder itself was made by this process
	resumed bool        // it was taken by ResumeFolder
	kept    bool        // it holds a state to resume from, or a result
	busy    atomic.Bool // a run is at work in it
	lock    *lock.Lock
}

// TakeFolder makes a folder for a run, and missing folders around it. If dir exists, the error is fs.ErrExist.
func TakeFolder(dir string, kind Kind) (*Folder, error) {
	f := &Folder{Dir: filepath.Clean(dir), kind: kind, made: true}
	parent := filepath.Dir(f.Dir)
	for p := parent; ; p = filepath.Dir(p) {
		if _, err := os.Lstat(p); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		f.parents = slices.Insert(f.parents, 0, p)
	}
	err := os.MkdirAll(parent, 0o777)
	if errors.Is(err, fs.ErrExist) { // a broken link above dir: dir itself does not exist
		err = fmt.Errorf("%s is no folder", parent)
	}
	if err == nil {
		err = os.Mkdir(f.Dir, 0o777)
	}
	if err != nil {
		f.removeParents()
		return nil, err
	}
	if err := f.take(); err != nil {
		os.Remove(f.Dir) // fails if another process has it: its lock is there
		f.removeParents()
		return nil, err
	}
	return f, nil
}

// RetakeFolder takes a folder left behind by a process that was killed before it saved anything: the folder holds an
// abandoned lock and nothing else. For any other folder the error is fs.ErrExist.
func RetakeFolder(dir string, kind Kind) (*Folder, error) {
	f := &Folder{Dir: filepath.Clean(dir), kind: kind, made: true}
	abandoned := func() error {
		entries, err := os.ReadDir(f.Dir)
		if err != nil || len(entries) != 1 || entries[0].Name() != lockFile {
			return fmt.Errorf("%s: %w", f.Dir, fs.ErrExist)
		}
		return nil
	}
	if err := abandoned(); err != nil {
		return nil, err
	}
	if err := f.take(); err != nil {
		return nil, err
	}
	if err := abandoned(); err != nil { // in between, another process took the folder and finished with it
		f.made = false
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// ResumeFolder takes the folder of a run to resume it, or makes the folder. It is an error if another process has the folder,
// or if the folder holds a file that does not belong to a run.
func ResumeFolder(dir string, kind Kind) (*Folder, error) {
	f, err := TakeFolder(dir, kind)
	if err == nil {
		f.resumed = true
	}
	if !errors.Is(err, fs.ErrExist) {
		return f, err
	}
	f = &Folder{Dir: filepath.Clean(dir), kind: kind, resumed: true}
	if info, err := os.Stat(f.Dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is no folder", f.Dir)
	}
	if err := f.take(); err != nil {
		return nil, err
	}
	if err := f.sweep(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// take locks the folder.
func (f *Folder) take() (err error) {
	f.lock, err = lock.Take(f.path(lockFile))
	var held *lock.HeldError
	if errors.As(err, &held) {
		return fmt.Errorf("%s: another run is at work in this folder (%s); let it end, or choose another", f.Dir, held.By)
	}
	return err
}

// sweep removes files that were half written when a process was killed. It is an error if the folder holds other files but no
// manifest and no checkpoint: the folder is not a run's, and a run begun there could replace these files. It is also an error if
// a folder stands in the place of a file that the run will write: no file can replace a folder.
func (f *Folder) sweep() error {
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return err
	}
	var half []string
	other, begun := "", false
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() && slices.Contains([]string{manifestFile, traceFile, checkpointFile, previousFile}, name) {
			return &DamagedError{fmt.Errorf("%s: %w but a folder: move it away", f.path(name), regular.ErrIrregular)}
		}
		switch {
		case f.kind.halfWritten(name) && e.Type().IsRegular():
			half = append(half, name)
		case name == manifestFile, name == checkpointFile, name == previousFile:
			begun = true
		case name != lockFile && (other == "" || f.kind.has(other)): // a foreign name says more
			other = name
		}
	}
	if other != "" && !begun {
		return fmt.Errorf("%s is not the folder of a run: it holds %s, but no %s", f.Dir, other, manifestFile)
	}
	for _, name := range half {
		if err := os.Remove(f.path(name)); err != nil {
			return err
		}
	}
	return nil
}

// halfWritten reports whether a name is one that ckpt.Replace gives to a file of a run while it writes it: .NAME.DIGITS.
func (k *Kind) halfWritten(name string) bool {
	at := strings.LastIndexByte(name, '.')
	return at > 0 && name[0] == '.' && isNumber(name[at+1:]) && k.has(name[1:at])
}

// held reports whether this process has the folder.
func (f *Folder) held() bool { return f.lock.Held() }

// Kept reports whether the folder holds a state to resume from, or a result.
func (f *Folder) Kept() bool { return f.kept }

// Holds reports whether there is a state to resume from, or a result, of whatever run. Kept says so of the run that this process has begun or
// resumed in the folder.
func (f *Folder) Holds() bool {
	if f.has(checkpointFile) || f.has(previousFile) {
		return true
	}
	m, err := ReadManifest(f.Dir)
	return err == nil && m.Status == Done
}

// Most is the number of bytes beyond which a file of the result is written as several, if it can be.
func (f *Folder) Most() int64 { return f.kind.Most }

// Close releases the folder. A folder that this process made and in which nothing is kept is removed, unless others have put
// files there. Closing it again does nothing.
func (f *Folder) Close() error {
	if !f.held() {
		return nil
	}
	leave := f.made && !f.kept
	if leave {
		entries, _ := os.ReadDir(f.Dir)
		for _, e := range entries {
			if f.kind.has(e.Name()) {
				os.Remove(f.path(e.Name()))
			}
		}
	}
	err := f.lock.Free()
	if leave {
		os.Remove(f.Dir)
		f.removeParents()
	}
	return err
}

func (f *Folder) removeParents() {
	for _, p := range slices.Backward(f.parents) {
		os.Remove(p) // fails if others use it
	}
}

func (f *Folder) has(name string) bool {
	_, err := os.Stat(f.path(name))
	return err == nil
}

func (f *Folder) path(name string) string { return filepath.Join(f.Dir, name) }

// IsRunFile reports whether path is a file in the folder of a run of one of these kinds. Other output should not be written
// there.
func IsRunFile(path string, kinds ...Kind) bool {
	dir, name := filepath.Split(path)
	_, err := os.Stat(filepath.Join(dir, manifestFile))
	return err == nil && slices.ContainsFunc(kinds, func(k Kind) bool { return k.has(name) })
}

// File is a file of a run's result. Its name is one of the Kind's, or one that IsCut knows.
type File struct {
	Name  string
	Write func(w io.Writer) error
}

// Write writes a finished run into the folder, of a kind that does not stream. Each file replaces an existing one atomically. The manifest
// comes last: its status says that the run is done, and it holds the checksums of the other files.
func (f *Folder) Write(config []byte, trace []TraceLine, files []File, m *Manifest) error {
	return f.write(config, files, []File{{traceFile, func(w io.Writer) error { return writeTrace(w, trace) }}}, nil, m)
}

// write is Write, where the trace is to be written, or is there already, with a sum.
func (f *Folder) write(config []byte, files, trace []File, there map[string]sum, m *Manifest) error {
	all := []File{{configFile, func(w io.Writer) error {
		_, err := w.Write(config)
		return err
	}}}
	for _, file := range files {
		if !slices.Contains(f.kind.Files, file.Name) && (f.kind.IsCut == nil || !f.kind.IsCut(file.Name)) {
			return fmt.Errorf("a run of kind %s has no file %s", f.kind.Name, file.Name)
		}
		all = append(all, file)
	}
	all = append(all, trace...)
	m.Kind, m.Status, m.Files = f.kind.Name, Done, map[string]string{}
	for name, sum := range there {
		m.Files[name] = sum.hex()
	}
	for _, file := range all {
		sum := newSumming()
		err := ckpt.Replace(f.path(file.Name), "", func(w io.Writer) error {
			if err := file.Write(io.MultiWriter(w, sum)); err != nil {
				return err
			}
			return readable(file.Name, sum.bytes)
		})
		if err != nil {
			return err
		}
		m.Files[file.Name] = sum.sum().hex()
	}
	shards, err := f.shards()
	if err != nil {
		return err
	}
	if f.has(checkpointFile) && len(shards) == 0 { // tidy removes one that counts shards
		sum, err := sumFile(f.path(checkpointFile))
		if err != nil {
			return err
		}
		m.Files[checkpointFile] = sum.hex()
	}
	if err := f.writeManifest(m); err != nil {
		return err
	}
	f.kept = true
	return f.tidy(m)
}

// tidy removes the files that a finished run does not need: the shards, the checkpoint before, and a checkpoint that counts shards. Without
// them no run could go on from it, so the manifest does not list it. A replacement that was stopped is ended.
func (f *Folder) tidy(m *Manifest) error {
	names := []string{previousFile}
	if _, listed := m.Files[checkpointFile]; !listed {
		names = append(names, checkpointFile)
	}
	for _, name := range names {
		if err := os.Remove(f.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return errors.Join(f.settle(m), f.removeShards())
}

// shards lists the shards in the folder.
func (f *Folder) shards() (found []os.DirEntry, err error) {
	entries, err := os.ReadDir(f.Dir)
	for _, e := range entries {
		if f.kind.isShard(e.Name()) {
			found = append(found, e)
		}
	}
	return found, err
}

// bytes is the size of the run's files in the folder.
func (f *Folder) bytes() (bytes int64) {
	entries, _ := os.ReadDir(f.Dir)
	for _, e := range entries {
		if !f.kind.has(e.Name()) {
			continue
		}
		if info, err := e.Info(); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}

// removeShards removes what parts have stored.
func (f *Folder) removeShards() error {
	shards, err := f.shards()
	for _, e := range shards {
		err = errors.Join(err, os.Remove(f.path(e.Name())))
	}
	return err
}

// damaged returns the error for a finished run whose files do not fit together. It says what to do, unless err does.
func (f *Folder) damaged(err error) error {
	if errors.As(err, new(*DamagedError)) {
		return err
	}
	return &DamagedError{fmt.Errorf("the run in %s is damaged: %w; %s it again into another folder, by another --out", f.Dir, err, f.kind.Name)}
}
