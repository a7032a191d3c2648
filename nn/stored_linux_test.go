package nn

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/pool"
)

// TestStoredPages: the first gradient of 500 rows of a file of 200 MB leaves at most a tenth of its pages in memory. The file is a hole at
// first, so that none is before; half a page a row is the least that the rows need.
func TestStoredPages(t *testing.T) {
	const n, p, batch = 25000, 2048, 500
	path := filepath.Join(t.TempDir(), "x.npy")
	begin := arrays.NPYBegin("<f4", []int{n, p})
	if err := os.WriteFile(path, begin, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, int64(len(begin))+4*n*p); err != nil {
		t.Fatal(err)
	}
	a, err := data.StoreArray(path)
	if err != nil {
		t.Fatal(err)
	}
	net := mustNet(t, []int{p}, []Layer{Dense{Units: 10}}, Categorical{})
	r := rand.New(rand.NewPCG(5, 2))
	m, err := NewModel(net, &data.Set{Name: "x", Shape: []int{p}, Stored: a.Stored, Labels: make([]int32, n), Classes: 10}, pool.New(2))
	if err != nil {
		t.Fatal(err)
	}
	var rows []int32
	for range batch {
		rows = append(rows, int32(r.IntN(n)))
	}
	theta := testTheta(net, 10, r)
	if err := m.LogLik(t.Context(), rows, theta, make([]float64, 10), make([]float64, len(theta))); err != nil {
		t.Fatal(err)
	}
	page := os.Getpagesize()
	first := uintptr(unsafe.Pointer(unsafe.SliceData(a.Stored.Single))) / uintptr(page) * uintptr(page)
	pages := make([]byte, 4*n*p/page)
	if _, _, errno := unix.Syscall(unix.SYS_MINCORE, first, uintptr(len(pages)*page), uintptr(unsafe.Pointer(&pages[0]))); errno != 0 {
		t.Fatal(errno)
	}
	resident := 0
	for _, there := range pages {
		resident += int(there & 1)
	}
	t.Logf("%d of %d pages are in memory", resident, len(pages))
	if resident < batch/2 || resident > len(pages)/10 {
		t.Errorf("%d of %d pages are in memory: want at most a tenth, and those of the rows", resident, len(pages))
	}
}
