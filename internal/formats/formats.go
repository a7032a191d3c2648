// Package formats reads and describes files of numbers, whatever their format: one array, a table, tensors or pictures. A table has a row
// for every format, also for those that cannot be read, of which it says what to do.
package formats

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"

	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/packed"
	"github.com/starling-smc/starling/internal/parquet"
	"github.com/starling-smc/starling/internal/stated"
	"github.com/starling-smc/starling/internal/tables"
)

// format is what is known of a format.
type format struct {
	name   string                 // as Show says it; empty: it cannot be read
	title  string                 // as people say it
	begins func(head []byte) bool // whether a file begins like this, as those of no other format do; nil: its beginning does not tell
	ends   []string               // how the names of its files end, in lower case: they tell where no beginning does
	fits   func(size int) bool    // whether a file of such a name has a size that it may have; nil: it may have any
	may    func(head []byte) bool // whether a file of any other name that begins like this may be one; nil: it may not

	closes func(tail []byte, size int) bool // whether a file that begins as none does and ends like this is one, damaged; nil: it is not
	only   []string                         // how the names of files end that begins knows, unless they are damaged

	// How it is read: as an array, as a table or, where it is only described, by show.
	array arrays.Header
	table func(name string, file io.ReaderAt, size int, o tables.CSV) (*tables.File, error)
	show  func(d *Description, file packed.File) error

	what   string                                  // in a sentence, where array or table is asked for and it is another
	remedy string                                  // what to do with a file that is neither
	inside func(head []byte) (what, remedy string) // in place of both, where the first bytes tell more
}

const asCSV = "save the table as CSV"

// formats are all formats, the first that fits.
var formats = []format{
	{
		name: "safetensors", title: "safetensors", begins: beginsTensors, ends: []string{".safetensors"}, show: (*Description).tensors,
		what: "a safetensors file", remedy: "it holds named tensors: save the one that is meant with np.save",
	},
	{
		name: "parquet", title: "Parquet", begins: parquet.Is, closes: parquet.Ends, only: []string{".parquet", ".pq"},
		table: tables.OpenParquet, what: "a Parquet file",
	},
	{name: "npy", title: "NPY", begins: is(arrays.NPYMagic[:4]), ends: []string{".npy"}, array: arrays.NPY},
	{name: "idx", title: "IDX", ends: []string{".idx", ".gz", "-ubyte"}, may: is("\x00\x00"), array: arrays.IDX},
	{name: "csv", title: "CSV", ends: []string{".csv", ".tsv"}, may: isText, table: tables.Open},
	{name: "cifar100", title: "CIFAR-100", ends: []string{".bin"}, fits: func(size int) bool { return arrays.CIFAR100.Fits(size) && !arrays.CIFAR10.Fits(size) }, show: images(arrays.CIFAR100)},
	{name: "cifar10", title: "CIFAR-10", ends: []string{".bin"}, show: images(arrays.CIFAR10)},
	{begins: is("PK\x03\x04", "PK\x05\x06"), inside: zipKind},
	{begins: is("ARROW1", "FEA1"), what: "an Arrow or Feather file", remedy: asCSV + " (df.to_csv(FILE, index=False)), or its numbers with np.save"},
	{begins: is("\x89HDF\r\n\x1a\n"), what: "an HDF5 file", remedy: "save each data set of it with np.save"},
	{begins: is("MATLAB 5.0"), what: "a MATLAB file", remedy: "save each array of it with np.save (scipy.io.loadmat)"},
	{begins: is("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), what: "an old Office document, such as .xls", remedy: asCSV},
	{
		begins: is("\x80\x02", "\x80\x03", "\x80\x04", "\x80\x05"),
		what:   "a Python pickle, as .pkl and old .pt files are", remedy: "load it where it comes from and save each array with np.save",
	},
	{begins: is("\x89PNG", "\xff\xd8\xff", "GIF8"), what: "a picture", remedy: "put the pixels of all pictures into one array [examples, height, width] and save it with np.save"},
	{begins: beginsJSON, what: "JSON", remedy: asCSV + " (pandas.read_json(FILE).to_csv(FILE, index=False))"},
	{begins: beginsMarkup, what: "a page of the web (HTML) or XML, perhaps the page of an error", remedy: "download the file itself, or " + asCSV},
	{begins: is("SQLite format 3\x00"), what: "an SQLite database", remedy: asCSV + " (sqlite3 -header -csv FILE 'select * from TABLE')"},
	{begins: beginsTar, what: "a tar archive", remedy: "unpack it with tar xf first"},
	{begins: is("%PDF-"), what: "a PDF document", remedy: "want numbers: CSV, NPY or IDX"},
	{begins: is("\x28\xb5\x2f\xfd"), what: "a file packed with zstd", remedy: "unpack it first (zstd -d FILE); only gzip is read as it is"},
	{begins: is("\xfd7zXZ\x00"), what: "a file packed with xz", remedy: "unpack it first (xz -d FILE); only gzip is read as it is"},
	{begins: beginsBzip2, what: "a file packed with bzip2", remedy: "unpack it first (bzip2 -d FILE); only gzip is read as it is"},
	{begins: is("\x04\x22\x4d\x18"), what: "a file packed with lz4", remedy: "unpack it first (lz4 -d FILE); only gzip is read as it is"},
	{begins: is("7z\xbc\xaf\x27\x1c"), what: "a file packed with 7z", remedy: "unpack it first (7z x FILE); only gzip is read as it is"},
}

// is reports whether a file begins with one of some texts.
func is(magic ...string) func(head []byte) bool {
	return func(head []byte) bool {
		for _, m := range magic {
			if bytes.HasPrefix(head, []byte(m)) {
				return true
			}
		}
		return false
	}
}

// beginsJSON reports whether a text begins with an object, or with a list of them, of lists, numbers or strings.
func beginsJSON(head []byte) bool {
	head = startOf(head)
	if len(head) < 2 {
		return false
	}
	next := bytes.TrimLeft(head[1:], " \t\r\n")
	switch {
	case len(next) == 0:
		return false
	case head[0] == '{':
		return next[0] == '"' || next[0] == '}'
	}
	return head[0] == '[' && bytes.ContainsRune([]byte("{[\"-]0123456789"), rune(next[0]))
}

// beginsMarkup reports whether a text begins with a tag of HTML or XML.
func beginsMarkup(head []byte) bool {
	head = bytes.ToLower(startOf(head))
	return is("<!doctype", "<html", "<?xml", "<table", "<head", "<!--")(head)
}

// beginsBzip2 reports whether a file begins as bzip2 does: with the size of its blocks, then the mark of a block or of the end.
func beginsBzip2(head []byte) bool {
	return len(head) >= 6 && string(head[:3]) == "BZh" && head[3] >= '1' && head[3] <= '9' && (string(head[4:6]) == "1A" || string(head[4:6]) == "\x17r")
}

// beginsTar reports whether a file begins with the head of a member of an archive.
func beginsTar(head []byte) bool { return len(head) > 262 && string(head[257:262]) == "ustar" }

// startOf is a text without a byte-order mark and blanks before it.
func startOf(head []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
}

// beginsTensors reports whether a file begins with the length of a header, which is an object.
func beginsTensors(head []byte) bool {
	return len(head) > 8 && head[8] == '{' && binary.LittleEndian.Uint64(head) < 1<<32
}

// zipHeader is the size of a member's header, up to its name.
const zipHeader = 30

// zipKind recognises a zip archive by the name of its first member.
func zipKind(head []byte) (what, remedy string) {
	member := ""
	if len(head) > zipHeader {
		member = string(head[zipHeader:])
		if n, ok := stated.Int(binary.LittleEndian.Uint16(head[26:]), len(member)); ok {
			member = member[:n]
		}
	}
	switch {
	case strings.HasSuffix(member, ".npy"):
		return "an .npz archive, not one array", "save each array with np.save"
	case strings.HasSuffix(member, "/data.pkl"), strings.HasSuffix(member, "/version"), strings.HasSuffix(member, "/byteorder"):
		return "a zip archive written by torch.save", "save an array with np.save(FILE, t.numpy()), or weights with safetensors.torch.save_file"
	case member == "[Content_Types].xml", strings.HasPrefix(member, "xl/"), strings.HasPrefix(member, "_rels/"):
		return "an Office document, such as .xlsx", asCSV
	}
	return "a zip archive (.npz, .pt, .xlsx or others)", "unpack it; save arrays with np.save, a table as CSV, weights as .safetensors"
}

// isText reports whether a file that begins like this could be a table. UTF-16 counts as text: the reader of tables refuses
// it with the reason.
func isText(head []byte) bool {
	if what, _ := packed.Wide(head); what != "" {
		return true
	}
	return len(head) > 0 && !bytes.ContainsFunc(head, func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' })
}
