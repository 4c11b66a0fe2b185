package cpu_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/roundofflab/roundoff/pkg/cpu"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"golang.org/x/sys/unix"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// instruction returns machine code as a function. Its argument is in RAX.
func instruction(t *testing.T, code ...byte) func(*[64]byte) {
	t.Helper()
	page, err := unix.Mmap(-1, 0, unix.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { unix.Munmap(page) })
	copy(page, code)
	if err := unix.Mprotect(page, unix.PROT_READ|unix.PROT_EXEC); err != nil {
		t.Skip(err)
	}
	entry := &page[0] // a function value is a pointer to one to the code
	value := unsafe.Pointer(&entry)
	return *(*func(*[64]byte))(unsafe.Pointer(&value))
}

// Tiles that others configured on the thread of a product, and left, do not
// change it, and it leaves none behind.
func TestForeignTiles(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))                  // products stay on this thread
	configure := instruction(t, 0xc4, 0xe2, 0x78, 0x49, 0x00, 0xc3)  // LDTILECFG (AX); RET
	configured := instruction(t, 0xc4, 0xe2, 0x79, 0x49, 0x00, 0xc3) // STTILECFG (AX); RET

	// 3 rows of 12 bytes in every tile, of palette 1.
	foreign := [64]byte{0: 1}
	for tile := range 8 {
		foreign[16+2*tile], foreign[48+tile] = 12, 3
	}
	check := func(t *testing.T, product func() bool) {
		t.Helper()
		configure(&foreign)
		var now [64]byte
		if configured(&now); now != foreign {
			t.Fatalf("the tiles are %v, want the foreign ones, %v", now, foreign)
		}
		same := product()
		if configured(&now); now != [64]byte{} {
			t.Errorf("the tiles are %v, want none", now)
		}
		if !same {
			t.Error("the result is another one with foreign tiles")
		}
	}
	r := rand.New(rand.NewPCG(seed, 8))
	draw := func() float32 { return float32(20 * r.NormFloat64()) }
	test := func(t *testing.T, u *cpu.Unit) {
		if !strings.Contains(u.Device().Name, "-tdp") {
			t.Skip("it uses no tiles")
		}
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		a, b := matrixOf(r, 35, 70, 0, draw), matrixOf(r, 70, 37, 0, draw)
		got, want := matrixOf(r, 35, 37, 0, draw), matrixOf(r, 35, 37, 0, draw)
		tcore.Machine{Device: u.Device()}.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, want)
		check(t, func() bool {
			u.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, got)
			return sameBits(got.Data, want.Data)
		})
		k := u.K()
		x, c, one, again := make([]uint64, k), []uint64{3}, make([]uint64, 1), make([]uint64, 1)
		for i := range x {
			x[i] = uint64(i % 7)
		}
		again[0] = u.Device().DotCodes(x, x, c[0])
		check(t, func() bool { return u.Dots(t.Context(), x, x, c, one) == nil && one[0] == again[0] })
		check(t, func() bool { return u.Grid(t.Context(), x, x, c, one) == nil && one[0] == again[0] })
	}
	eachUnit(t, test)
	eachInteger(t, test)
}

// sameBits reports whether x and y have the same bits, NaN aside.
func sameBits(x, y []float32) bool {
	for i, v := range x {
		if math.Float32bits(v) != math.Float32bits(y[i]) && (v == v || y[i] == y[i]) {
			return false
		}
	}
	return len(x) == len(y)
}
