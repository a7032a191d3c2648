package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// npy FILE DTYPE SHAPE VALUES…: writes an array, as in npy p.npy <f4 2x3 1 2 3 4 5 6.
func npy(ts *testscript.TestScript, neg bool, args []string) {
	var b bytes.Buffer
	shape := strings.ReplaceAll(args[2], "x", ", ")
	if !strings.Contains(shape, ",") {
		shape += ","
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s)}", args[1], shape)
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	b.WriteString("\x93NUMPY\x01\x00")
	b.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(header))))
	b.WriteString(header)
	for _, text := range args[3:] {
		v, err := strconv.ParseFloat(text, 64)
		ts.Check(err)
		var raw []byte
		switch args[1] {
		case "<f8":
			raw = binary.LittleEndian.AppendUint64(nil, math.Float64bits(v))
		case "<f4":
			raw = binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(v)))
		case "<i8":
			raw = binary.LittleEndian.AppendUint64(nil, uint64(int64(v)))
		case "|u1":
			raw = []byte{byte(v)}
		default:
			ts.Fatalf("npy: no dtype %s", args[1])
		}
		b.Write(raw)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o666))
}
