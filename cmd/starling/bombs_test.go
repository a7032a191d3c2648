package main

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/testkit"
)

// bombs FOLDER: writes files that claim or unpack to far more than they hold.
func bombs(ts *testscript.TestScript, neg bool, args []string) {
	write := func(name string, b []byte) { ts.Check(os.WriteFile(filepath.Join(ts.MkAbs(args[0]), name), b, 0o666)) }
	ts.Check(os.MkdirAll(ts.MkAbs(args[0]), 0o777))
	const double = 5
	table := func(columns int, repeated, codec, rows int64, groups int, bytes int64, body []byte) []byte { // all share the body
		schema := []testkit.ParquetColumn{{Name: "root", Type: -1, Children: int64(columns)}}
		var chunks []testkit.ParquetChunk
		for j := range columns {
			schema = append(schema, testkit.ParquetColumn{Name: fmt.Sprint("c", j), Type: double, Repeated: repeated})
			chunks = append(chunks, testkit.ParquetChunk{Type: double, Codec: codec, Values: rows, From: 4, Bytes: bytes})
		}
		return testkit.ParquetFile(body, rows*int64(groups), schema, slices.Repeat([][]byte{testkit.ParquetGroup(rows, chunks...)}, groups)...)
	}
	w, err := zstd.NewWriter(nil)
	ts.Check(err)
	const size = 32 << 20
	zeros := w.EncodeAll(make([]byte, size), nil)
	page := testkit.ParquetPage{Values: 1, Size: size, Body: zeros}.Bytes()
	write("shared.parquet", table(300, 0, 6, 1, 1, int64(len(page)), page))

	// Each column has its own page, and they are as many bytes as their rows want.
	var own []byte
	schema := []testkit.ParquetColumn{{Name: "root", Type: -1, Children: 200}}
	var chunks []testkit.ParquetChunk
	for j := range 200 {
		page := testkit.ParquetPage{Values: size / 8, Size: size, Body: zeros}.Bytes()
		schema = append(schema, testkit.ParquetColumn{Name: fmt.Sprint("c", j), Type: double})
		chunks = append(chunks, testkit.ParquetChunk{Type: double, Codec: 6, Values: size / 8, From: int64(4 + len(own)), Bytes: int64(len(page))})
		own = append(own, page...)
	}
	write("own.parquet", testkit.ParquetFile(own, size/8, schema, testkit.ParquetGroup(size/8, chunks...)))

	// 10⁹ rows without values, each page a run.
	const rows = 4 << 20
	levels := append(binary.AppendUvarint(nil, rows<<1), 0)
	null := testkit.ParquetPage{Values: rows, Size: int64(4 + len(levels)), Body: append(binary.LittleEndian.AppendUint32(nil, uint32(len(levels))), levels...)}.Bytes()
	whole := bytes.Repeat(null, 250)
	write("rows.parquet", table(1, 1, 0, 250*rows, 1, int64(len(whole)), whole))
	write("claim.parquet", table(1, 0, 0, 1<<39, 1, 0, nil))
	empty := bytes.Repeat(testkit.ParquetPage{}.Bytes(), 10_000)
	write("none.parquet", table(1, 0, 0, 5, 1, int64(len(empty)), empty))

	lines := []byte(strings.Repeat("1,2\n", 1<<18))
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, flate.BestCompression)
	ts.Check(err)
	z.Write([]byte("a,y\n"))
	for range 200 {
		z.Write(lines)
	}
	ts.Check(z.Close())
	write("lines.csv.gz", packed.Bytes()) // 52 million rows in 800 kB

	write("shape.npy", testkit.NPYOf("<f8", "(4294967296, 4294967296)"))
	write("long.npy", testkit.NPYOf("<f8", "(1099511627776,)", 1, 2))
	write("dims.idx", append([]byte{0, 0, 14, 4}, bytes.Repeat([]byte{255}, 16)...))
	write("head.safetensors", append(binary.LittleEndian.AppendUint64(nil, math.MaxUint32-1), '{', '}'))
	write("sizes.safetensors", tensorsOf(`{"a":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,8]}}`, 8))
	var npy bytes.Buffer
	ts.Check(arrays.WriteNPY(&npy, []int{1000, 3}, make([]float64, 3000)))
	write("whole.npy", npy.Bytes())
}

func tensorsOf(header string, data int) []byte {
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), make([]byte, data)...)
}

// terminated SIGNAL PROGRAM ARGS…: the program is at work a second later, and the signal ends it with 130 within five seconds.
func terminated(ts *testscript.TestScript, neg bool, args []string) {
	cmd, _, stderr := begun(ts, args[1:])
	time.Sleep(time.Second)
	ts.Check(cmd.Process.Signal(map[string]os.Signal{"TERM": syscall.SIGTERM, "INT": os.Interrupt}[args[0]]))
	done, at := make(chan struct{}), time.Now()
	go func() { cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		cmd.Process.Kill()
		<-done
	}
	if cmd.ProcessState.ExitCode() != 130 || time.Since(at) > 15*time.Second {
		ts.Fatalf("%v after %v, stderr:\n%s", cmd.ProcessState, time.Since(at), stderr.String())
	}
}
