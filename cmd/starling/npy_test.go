package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/starling-smc/starling/internal/arrays"
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

// images FILE LABELS N SHAPE CLASSES: N images of bytes, and their labels 0, 1, …, of blobs whose brightness tells the class.
func images(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	classes, err := strconv.Atoi(args[4])
	ts.Check(err)
	shape := []int{n}
	for _, d := range strings.Split(args[3], "x") {
		size, err := strconv.Atoi(d)
		ts.Check(err)
		shape = append(shape, size)
	}
	each := 1
	for _, d := range shape[1:] {
		each *= d
	}
	noise := rand.New(rand.NewPCG(1, uint64(len(args[0]))))
	pixels, labels := arrays.NPYBegin("|u1", shape), arrays.NPYBegin("|u1", shape[:1])
	for i := range n {
		labels = append(labels, byte(i%classes))
		for range each {
			pixels = append(pixels, byte(20+180*(i%classes)/classes+noise.IntN(50)))
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), pixels, 0o666))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), labels, 0o666))
}
