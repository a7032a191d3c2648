package formats

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/tables"
	"github.com/starling-smc/starling/internal/testkit"
)

func zipped(t *testing.T, member string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	if member != "" {
		if _, err := z.Create(member); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Files of other programs are named for what they are, with what to do, by everything that reads arrays or tables; what starling
// reads passes, and what nobody knows is left to the readers.
func TestOtherFormats(t *testing.T) {
	packed := func(text string) string { return string(testkit.Gzipped(t, []byte(text))) }
	npy := arrays.NPYMagic + "\x01\x00\x06\x00{} \n  \n"
	idx := "\x00\x00\x08\x01\x00\x00\x00\x01\x07"
	safetensors := "\x02\x00\x00\x00\x00\x00\x00\x00{}"
	for name, c := range map[string]struct{ text, want string }{
		"npz":                {zipped(t, "x.npy"), "is an .npz archive, not one array: save each array with np.save"},
		"torch":              {zipped(t, "model/data.pkl"), "is a zip archive written by torch.save: save an array with np.save"},
		"xlsx":               {zipped(t, "[Content_Types].xml"), "is an Office document, such as .xlsx: save the table as CSV"},
		"other zip":          {zipped(t, "readme.txt"), "is a zip archive (.npz, .pt, .xlsx or others)"},
		"empty zip":          {zipped(t, ""), "is a zip archive"},
		"cut zip":            {"PK\x03\x04\x14\x00", "is a zip archive"},
		"gzip of Parquet":    {packed("PAR1\x15\x04"), "is gzip of a Parquet file, which is packed in itself: unpack it with gunzip first"},
		"feather":            {"ARROW1\x00\x00", "is an Arrow or Feather file"},
		"hdf5":               {"\x89HDF\r\n\x1a\n\x00", "is an HDF5 file: save each data set of it with np.save"},
		"xls":                {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", "is an old Office document"},
		"pickle":             {"\x80\x04\x95", "is a Python pickle"},
		"matlab":             {"MATLAB 5.0 MAT-file", "is a MATLAB file: save each array of it"},
		"pdf":                {"%PDF-1.7", "is a PDF document: want numbers"},
		"json":               {"[{\"a\": 1}]", "is JSON: save the table as CSV"},
		"html":               {"<!DOCTYPE html>", "is a page of the web (HTML) or XML"},
		"sqlite":             {"SQLite format 3\x00", "is an SQLite database"},
		"tar":                {"a.csv" + strings.Repeat("\x00", 252) + "ustar\x00", "is a tar archive: unpack it"},
		"png":                {"\x89PNG\r\n\x1a\n", "is a picture"},
		"zstd":               {"\x28\xb5\x2f\xfd\x04", "is a file packed with zstd: unpack it first (zstd -d FILE)"},
		"xz":                 {"\xfd7zXZ\x00\x00\x04", "is a file packed with xz: unpack it first (xz -d FILE)"},
		"bzip2":              {"BZh91AY&SY", "is a file packed with bzip2: unpack it first (bzip2 -d FILE)"},
		"bzip2 of nothing":   {"BZh9\x17rE8P\x90", "is a file packed with bzip2: unpack it first"},
		"lz4":                {"\x04\x22\x4d\x18\x64", "is a file packed with lz4: unpack it first (lz4 -d FILE)"},
		"7z":                 {"7z\xbc\xaf\x27\x1c\x00", "is a file packed with 7z: unpack it first (7z x FILE)"},
		"a table of BZh":     {"BZh4,x\n1,2\n", ""},
		"safetensors":        {safetensors, "is a safetensors file: it holds named tensors"},
		"gzip of text":       {packed("a,b\n1,2\n"), ""},
		"gzip of an npz":     {packed(zipped(t, "x.npy")), "is gzip of an .npz archive"},
		"gzip of NPY":        {packed(npy), ""},
		"gzip of IDX":        {packed(idx), ""},
		"gzip, damaged":      {"\x1f\x8b\x00", ""},
		"NPY":                {npy, ""},
		"IDX":                {idx, ""},
		"a wide IDX":         {"\x00\x00\x08\x03\x00\x00\x00\x01{\x00\x00\x01\x00\x00\x00\x01", ""},
		"text":               {"a,b\n1,2\n", ""},
		"short text":         {"1", ""},
		"nothing":            {"", ""},
		"something unknown":  {"\x01\x02\x03\x04", ""},
		"a text with a mark": {"\ufeffa\n1\n", ""},
	} {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, asked := IsArray(file)
		_, read := ReadArray(file)
		_, opened := OpenArray(file)
		_, table := ReadCSV(file, tables.CSV{})
		for entry, err := range map[string]error{"IsArray": asked, "ReadArray": read, "OpenArray": opened, "ReadCSV": table} {
			switch {
			case c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), file+": is ") || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%s: %s: %v, want %q", name, entry, err, c.want)
			case c.want == "" && err != nil && strings.Contains(err.Error(), file+": is "):
				t.Errorf("%s: %s takes it for another format: %v", name, entry, err)
			}
		}
		if c.want == "" && asked != nil {
			t.Errorf("%s: %v", name, asked)
		}
	}
}
