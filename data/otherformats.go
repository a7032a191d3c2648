package data

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/starling-smc/starling/internal/parquet"
)

// otherKind returns an error that says what a file is and what to do with it, if its first bytes are those of a known other
// format; nil for NPY, IDX, text and anything unknown. A gzip file is recognised by the bytes inside.
func otherKind(name string, file io.ReaderAt) error {
	head := make([]byte, 512)
	n, _ := file.ReadAt(head, 0) // a short file is not an error here
	head = head[:n]
	packed := ""
	if bytes.HasPrefix(head, []byte("\x1f\x8b")) {
		z, err := gzip.NewReader(io.NewSectionReader(file, 0, 1<<62))
		if err != nil {
			return nil // the reader of arrays says where it is damaged
		}
		n, _ := io.ReadFull(z, head[:cap(head)])
		head, packed = head[:n], "gzip of "
		if parquet.Is(head) {
			return fmt.Errorf("%s: is gzip of a Parquet file, which is packed in itself: unpack it with gunzip first", name)
		}
	}
	what, remedy := kind(head)
	if what == "" {
		return nil
	}
	return fmt.Errorf("%s: is %s%s: %s", name, packed, what, remedy)
}

// kind recognises other formats by the beginning of a file. It does not recognise IDX, which begins with two zeros, and NPY,
// which begins with its magic.
func kind(head []byte) (what, remedy string) {
	const asCSV = "save the table as CSV"
	is := func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }
	switch {
	case is("PK\x03\x04"), is("PK\x05\x06"):
		return zipKind(head)
	case len(head) > 8 && head[8] == '{' && binary.LittleEndian.Uint64(head) < 1<<32: // after the length of its header
		return "a safetensors file", "it holds named tensors: save the one that is meant with np.save"
	case is("ARROW1"), is("FEA1"):
		return "an Arrow or Feather file", asCSV + " (df.to_csv(FILE, index=False)), or its numbers with np.save"
	case is("\x89HDF\r\n\x1a\n"):
		return "an HDF5 file", "save each data set of it with np.save"
	case is("MATLAB 5.0"):
		return "a MATLAB file", "save each array of it with np.save (scipy.io.loadmat)"
	case is("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
		return "an old Office document, such as .xls", asCSV
	case len(head) > 1 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5:
		return "a Python pickle, as .pkl and old .pt files are", "load it where it comes from and save each array with np.save"
	case is("\x89PNG"), is("\xff\xd8\xff"), is("GIF8"):
		return "a picture", "put the pixels of all pictures into one array [examples, height, width] and save it with np.save"
	case is("%PDF-"):
		return "a PDF document", "want numbers: CSV, NPY or IDX"
	case is("\x28\xb5\x2f\xfd"), is("\xfd7zXZ\x00"), is("BZh"), is("7z\xbc\xaf\x27\x1c"):
		return "packed with zstd, xz, bzip2 or 7z", "unpack it first; only gzip is read as it is"
	}
	return "", ""
}

// zipKind recognises a zip archive by the name of its first member.
func zipKind(head []byte) (what, remedy string) {
	member := ""
	if len(head) > 30 {
		member = string(head[30:min(len(head), 30+int(binary.LittleEndian.Uint16(head[26:])))])
	}
	switch {
	case strings.HasSuffix(member, ".npy"):
		return "an .npz archive, not one array", "save each array with np.save"
	case strings.HasSuffix(member, "/data.pkl"), strings.HasSuffix(member, "/version"), strings.HasSuffix(member, "/byteorder"):
		return "a zip archive written by torch.save", "save an array with np.save(FILE, t.numpy()), or weights with safetensors.torch.save_file"
	case member == "[Content_Types].xml", strings.HasPrefix(member, "xl/"), strings.HasPrefix(member, "_rels/"):
		return "an Office document, such as .xlsx", "save the table as CSV"
	}
	return "a zip archive (.npz, .pt, .xlsx or others)", "unpack it; save arrays with np.save, a table as CSV, weights as .safetensors"
}

// isText reports whether a file that begins like this could be a table. UTF-16 counts as text: the reader of tables refuses
// it with the reason.
func isText(head []byte) bool {
	if s := string(head[:min(len(head), 2)]); s == "\xff\xfe" || s == "\xfe\xff" {
		return true
	}
	return len(head) > 0 && !bytes.ContainsFunc(head, func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' })
}
