package cpu_test

import (
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/roundofflab/roundoff/pkg/cpu"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"golang.org/x/sys/unix"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// between returns bytes with pages around them that nobody may touch: right
// before them if atStart is set, else right behind them.
func between(t *testing.T, bytes int, atStart bool) []byte {
	t.Helper()
	page := unix.Getpagesize()
	inner := (bytes + page - 1) / page * page
	all, err := unix.Mmap(-1, 0, inner+2*page, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(all) })
	middle := all[page : page+inner]
	if err := unix.Mprotect(middle, unix.PROT_READ|unix.PROT_WRITE); err != nil {
		t.Fatal(err)
	}
	if atStart {
		return middle[:bytes:bytes]
	}
	return middle[inner-bytes:]
}

// edged returns a copy of m between pages that nobody may touch, without what
// follows its last element.
func edged(t *testing.T, m blas32.General, atStart bool) blas32.General {
	n := (m.Rows-1)*m.Stride + m.Cols
	data := unsafe.Slice((*float32)(unsafe.Pointer(&between(t, 4*n, atStart)[0])), n)
	copy(data, m.Data)
	return blas32.General{Rows: m.Rows, Cols: m.Cols, Stride: m.Stride, Data: data}
}

// Products read and write nothing beside their matrices, wherever these begin,
// also with strides and with sizes that are no multiple of a tile: what is
// before and behind may be no memory at all.
func TestGEMM_at_the_edge_of_memory(t *testing.T) {
	sizes := [][3]int{{1, 1, 1}, {16, 1, 1}, {1, 19, 1}, {33, 33, 1}, {15, 17, 31}, {17, 31, 33}, {32, 32, 64}, {33, 65, 129}, {64, 64, 128}}
	test := func(t *testing.T, u *cpu.Unit) {
		r := rand.New(rand.NewPCG(seed, 9))
		draw := func() float32 { return float32(40 * r.NormFloat64()) }
		for i, size := range sizes {
			m, n, k := size[0], size[1], size[2]
			for beyond := range 3 {
				a, b, d := matrixOf(r, m, k, beyond, draw), matrixOf(r, k, n, beyond, draw), matrixOf(r, m, n, beyond, draw)
				want := edged(t, d, true)
				tcore.Machine{Device: u.Device()}.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, want)
				atStart := (i+beyond)%2 == 0
				for _, start := range []bool{atStart, !atStart} {
					got := edged(t, d, start)
					u.GEMM(blas.NoTrans, blas.NoTrans, 1, edged(t, a, start), edged(t, b, start), 0, blas32.General{}, got)
					for j, v := range want.Data {
						if got.Data[j] != v {
							t.Fatalf("%v, %d beyond a row, element %d: %v, want %v", size, beyond, j, got.Data[j], v)
						}
					}
				}
			}
		}
	}
	eachUnit(t, test)
	eachInteger(t, test)
}

// So do products of codes, which may begin at any byte.
func TestMultiplyCodes_at_the_edge_of_memory(t *testing.T) {
	eachInteger(t, func(t *testing.T, u *cpu.Unit) {
		r := rand.New(rand.NewPCG(seed, 10))
		for _, size := range [][3]int{{1, 1, 1}, {1, 33, 1}, {3, 5, 7}, {32, 32, 63}, {33, 31, 65}, {64, 64, 129}} {
			a, b := codesOf(r, size[0], size[2]), codesOf(r, size[2], size[1])
			want := integerProduct(u.Device(), a, b)
			for _, start := range []bool{true, false} {
				edge := func(m tcore.Codes) tcore.Codes {
					data := between(t, len(m.Data), start)
					copy(data, m.Data)
					return tcore.Codes{Rows: m.Rows, Cols: m.Cols, Data: data}
				}
				got := unsafe.Slice((*int32)(unsafe.Pointer(&between(t, 4*len(want), start)[0])), len(want))
				u.MultiplyCodes(edge(a), edge(b), got)
				for i, v := range want {
					if got[i] != v {
						t.Fatalf("%v, element %d: %d, want %d", size, i, got[i], v)
					}
				}
			}
		}
	})
}

// And codes of 16 bits, as numbers in memory begin.
func TestGEMMCodes_at_the_edge_of_memory(t *testing.T) {
	eachUnit(t, func(t *testing.T, u *cpu.Unit) {
		d, r := u.Device(), rand.New(rand.NewPCG(seed, 14))
		if d.A.Bits() != 16 {
			t.Skip("its factors have other than 16 bits")
		}
		for _, size := range [][3]int{{1, 1, 1}, {1, 33, 1}, {3, 5, 7}, {32, 32, 31}, {33, 31, 65}, {64, 64, 129}} {
			draw := func() float32 { return float32(r.NormFloat64()) }
			a, b := encoded(d.A, matrixOf(r, size[0], size[2], 0, draw)), encoded(d.B, matrixOf(r, size[2], size[1], 0, draw))
			want := matrixOf(r, size[0], size[1], 0, draw)
			tcore.Machine{Device: d}.GEMMCodes(1, a, b, 0, blas32.General{}, want)
			for _, start := range []bool{true, false} {
				edge := func(m tcore.Codes) tcore.Codes {
					data := unsafe.Slice((*uint16)(unsafe.Pointer(&between(t, 2*len(m.Data16), start)[0])), len(m.Data16))
					copy(data, m.Data16)
					return tcore.Codes{Rows: m.Rows, Cols: m.Cols, Data16: data}
				}
				got := want
				got.Data = unsafe.Slice((*float32)(unsafe.Pointer(&between(t, 4*len(want.Data), start)[0])), len(want.Data))
				u.GEMMCodes(1, edge(a), edge(b), 0, blas32.General{}, got)
				if !slices.Equal(got.Data, want.Data) {
					t.Fatalf("%v: %v, want %v", size, got.Data, want.Data)
				}
			}
		}
	})
}

// Signals in the middle of products, handled on their threads, spoil none, with
// all units of the processor at once on more threads than cores.
func TestSignals(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	sent := make(chan os.Signal, 1)
	signal.Notify(sent, syscall.SIGUSR1)
	defer signal.Stop(sent)
	products := 40
	if testing.Short() {
		products = 8
	}
	var work sync.WaitGroup
	start := func(t *testing.T, u *cpu.Unit) {
		r := rand.New(rand.NewPCG(seed, 11))
		draw := func() float32 { return float32(40 * r.NormFloat64()) }
		a, b, want := matrixOf(r, 48, 2000, 0, draw), matrixOf(r, 2000, 48, 0, draw), matrixOf(r, 48, 48, 0, draw)
		tcore.Machine{Device: u.Device()}.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, want)
		work.Go(func() {
			got := matrixOf(r, 48, 48, 0, draw)
			for range products {
				u.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, got)
				for i, v := range want.Data {
					if got.Data[i] != v {
						t.Errorf("%s, element %d: %v, want %v", u.Device().Name, i, got.Data[i], v)
						return
					}
				}
			}
		})
	}
	for _, d := range append(cpu.Instructions(), cpu.Integers()...) {
		u, err := cpu.Open(d)
		if err != nil {
			t.Fatal(err)
		}
		start(t, u)
	}
	done := make(chan struct{})
	go func() { work.Wait(); close(done) }()
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Skip(err)
	}
	signals := 0
	for {
		select {
		case <-done:
			t.Logf("%d signals", signals)
			return
		default:
		}
		for _, thread := range threads {
			if id, err := strconv.Atoi(thread.Name()); err == nil && unix.Tgkill(os.Getpid(), id, unix.SIGUSR1) == nil {
				signals++
			}
		}
		runtime.Gosched()
	}
}
