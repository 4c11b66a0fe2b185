//go:build cgo && linux

package gpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/cuda"
	"github.com/roundofflab/roundoff/internal/cuda/cudatest"
	"github.com/roundofflab/roundoff/internal/panics"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// random returns a matrix of small integers, whose products are exact. Its
// stride exceeds its number of columns; the elements between the rows must be
// neither read nor written.
func random(rng *rand.Rand, rows, cols int) blas32.General {
	m := blas32.General{Rows: rows, Cols: cols, Stride: cols + 3, Data: make([]float32, rows*(cols+3))}
	for i := range m.Data {
		m.Data[i] = 1e30
	}
	for i := range rows {
		for j := range cols {
			m.Data[i*m.Stride+j] = float32(rng.IntN(9) - 4)
		}
	}
	return m
}

// slow computes the product in plain loops.
func slow(tA, tB blas.Transpose, alpha float32, a, b blas32.General, beta float32, c, d blas32.General) {
	at := func(m blas32.General, t blas.Transpose, i, j int) float64 {
		if t != blas.NoTrans {
			i, j = j, i
		}
		return float64(m.Data[i*m.Stride+j])
	}
	l, _ := shape(b, tB != blas.NoTrans)
	for i := range d.Rows {
		for j := range d.Cols {
			s := 0.0
			for k := range l {
				s += at(a, tA, i, k) * at(b, tB, k, j)
			}
			s *= float64(alpha)
			if beta != 0 {
				s += float64(beta) * at(c, blas.NoTrans, i, j)
			}
			d.Data[i*d.Stride+j] = float32(s)
		}
	}
}

// A problem is a product of random matrices.
type problem struct {
	m, n, k     int
	tA, tB      blas.Transpose
	alpha, beta float32
}

func (p problem) matrices(seed uint64) (a, b, c, d blas32.General) {
	rng := rand.New(rand.NewPCG(7, seed))
	a, b = random(rng, p.m, p.k), random(rng, p.k, p.n)
	if p.tA != blas.NoTrans {
		a = random(rng, p.k, p.m)
	}
	if p.tB != blas.NoTrans {
		b = random(rng, p.n, p.k)
	}
	return a, b, random(rng, p.m, p.n), random(rng, p.m, p.n)
}

// check multiplies and compares all elements of D, and also those between its
// rows.
func (p problem) check(t *testing.T, k *Routine) Report {
	t.Helper()
	a, b, c, d := p.matrices(uint64(p.m))
	want := d
	want.Data = append([]float32(nil), d.Data...)
	slow(p.tA, p.tB, p.alpha, a, b, p.beta, c, want)
	report, err := k.Multiply(t.Context(), p.tA, p.tB, p.alpha, a, b, p.beta, c, d)
	if err != nil {
		t.Fatal(err)
	}
	for i := range d.Data {
		if d.Data[i] != want.Data[i] {
			t.Fatalf("row %d, column %d is %v, want %v", i/d.Stride, i%d.Stride, d.Data[i], want.Data[i])
		}
	}
	return report
}

func kernels(g *GPU) []*Routine {
	var list []*Routine
	for _, f := range families {
		for _, output := range f.outputs {
			k := Routine{GPU: g, A: f.a, B: f.b, C: f.c, Output: output, Workspace: 1 << 16}
			list = append(list, &k)
			if dataTypes[f.a].Size() > 1 {
				classic := k
				classic.Classic = true
				list = append(list, &classic)
			}
		}
	}
	return list
}

func (k *Routine) name() string {
	s := fmt.Sprintf("%s_%s_%s_%s", k.A.Name, k.B.Name, k.C.Name, k.Output.Name)
	if k.Classic {
		s += "_classic"
	}
	return s
}

// No two of m, n and k are equal, so that a product with exchanged dimensions
// fails the test.
func TestMultiply(t *testing.T) {
	g := open(t)
	defer g.Close()
	for _, k := range kernels(g) {
		for _, tA := range []blas.Transpose{blas.NoTrans, blas.Trans} {
			for _, tB := range []blas.Transpose{blas.NoTrans, blas.Trans} {
				for _, c := range []struct{ alpha, beta float32 }{{1, 0}, {-0.5, 0}, {2, -1}} {
					p := problem{m: 5, n: 3, k: 7, tA: tA, tB: tB, alpha: c.alpha, beta: c.beta}
					t.Run(fmt.Sprintf("%s/%c%c_%v_%v", k.name(), tA, tB, p.alpha, p.beta), func(t *testing.T) {
						if r := p.check(t, k); r.Panels != 1 || r.Time <= 0 || len(r.Algorithms) == 0 != k.Classic {
							t.Errorf("%+v", r)
						}
					})
				}
			}
		}
	}
}

// With Rows the library is given row-major matrices without padding, the odd
// ones too, and computes the same product.
func TestMultiply_by_rows(t *testing.T) {
	g := open(t)
	defer g.Close()
	for _, k := range kernels(g) {
		if k.Classic {
			continue
		}
		k.Rows = true
		for _, tA := range []blas.Transpose{blas.NoTrans, blas.Trans} {
			for _, tB := range []blas.Transpose{blas.NoTrans, blas.Trans} {
				p := problem{m: 5, n: 3, k: 7, tA: tA, tB: tB, alpha: -0.5}
				if k.arithmetic().eight() {
					p.m, p.n, p.k = 48, 32, 16
				} else {
					p.beta = 1
				}
				t.Run(fmt.Sprintf("%s/%c%c", k.name(), tA, tB), func(t *testing.T) { p.check(t, k) })
			}
		}
	}
}

// What the library does not compute is told from what fails.
func TestMultiply_not_supported(t *testing.T) {
	g := open(t)
	defer g.Close()
	k := g.Routine(devices.HopperE4M3())
	k.Rows = true
	if _, err := k.Algorithms(16, 16, 17, 1); !errors.Is(err, ErrNotSupported) {
		t.Errorf("K = 17 in 8 bits: %v, want ErrNotSupported", err)
	}
	t.Setenv("FAKE_FAIL", "cublasLtMatmulAlgoGetHeuristic:13")
	if _, err := k.Algorithms(16, 16, 16, 1); err == nil || errors.Is(err, ErrNotSupported) {
		t.Errorf("a call that failed: %v, want another error", err)
	}
	t.Setenv("FAKE_FAIL", "cuStreamCreate:15") // another library's 15
	if err := k.multiplyOnes(t); err == nil || errors.Is(err, ErrNotSupported) {
		t.Errorf("a call of the driver that failed: %v, want another error", err)
	}
}

// multiplyOnes returns the error of a product of 16 × 16 matrices.
func (k *Routine) multiplyOnes(t *testing.T) error {
	m := blas32.General{Rows: 16, Cols: 16, Stride: 16, Data: make([]float32, 256)}
	_, err := k.Multiply(t.Context(), blas.NoTrans, blas.NoTrans, 1, m, m, 0, m, blas32.General{Rows: 16, Cols: 16, Stride: 16, Data: make([]float32, 256)})
	return err
}

// If a call of the library reports success and does nothing, D contains neither
// a wrong product nor the result of an earlier one.
func TestMultiply_shows_what_was_not_computed(t *testing.T) {
	g := open(t)
	defer g.Close()
	for _, k := range kernels(g) {
		for _, call := range []string{"cublasGemmEx", "cublasLtMatmul", "cuMemcpyDtoHAsync_v2"} {
			if call == "cublasGemmEx" != k.Classic && call != "cuMemcpyDtoHAsync_v2" {
				continue
			}
			t.Run(k.name()+"/"+call, func(t *testing.T) {
				p := problem{m: 5, n: 3, k: 7, tA: blas.NoTrans, tB: blas.NoTrans, alpha: 1}
				p.check(t, k) // its product stays in the memory that the next product will use
				a, b, _, d := p.matrices(5)
				t.Setenv("FAKE_NOTHING", call)
				if _, err := k.Multiply(t.Context(), p.tA, p.tB, 1, a, b, 0, blas32.General{}, d); err != nil {
					t.Fatal(err)
				}
				for i := range p.m {
					for j, x := range d.Data[i*d.Stride:][:p.n] {
						if x == x {
							t.Fatalf("row %d, column %d is %v, want NaN", i, j, x)
						}
					}
				}
			})
		}
	}
}

// Panels of every shape give the same product as one panel.
func TestMultiply_in_panels(t *testing.T) {
	g := open(t)
	defer g.Close()
	for _, k := range kernels(g) {
		for _, p := range []problem{
			{m: 37, n: 21, k: 9, tA: blas.NoTrans, tB: blas.NoTrans, alpha: 1},
			{m: 18, n: 50, k: 13, tA: blas.Trans, tB: blas.NoTrans, alpha: 1, beta: 1},
			{m: 33, n: 35, k: 5, tA: blas.Trans, tB: blas.Trans, alpha: 1, beta: 2},
		} {
			most := 0
			for bytes := 1600; bytes < 16000; bytes += 700 {
				small := *k
				small.MaxBytes = small.Workspace + bytes
				most = max(most, p.check(t, &small).Panels)
			}
			if most < 4 {
				t.Errorf("%s, %+v: at most %d panels, want more", k.name(), p, most)
			}
		}
	}
}

func TestMultiply_in_little_memory(t *testing.T) {
	g := open(t)
	defer g.Close()
	k := g.Routine(devices.HopperF16())
	k.Workspace = 4096
	p := problem{m: 300, n: 200, k: 100, tA: blas.NoTrans, tB: blas.NoTrans, alpha: 1}
	t.Setenv("FAKE_MEMORY", "100000")
	if r := p.check(t, k); r.Panels < 4 {
		t.Errorf("%d panels in 100000 bytes", r.Panels)
	}
	t.Setenv("FAKE_MEMORY", "4500")
	a, b, c, d := p.matrices(1)
	_, err := k.Multiply(t.Context(), p.tA, p.tB, 1, a, b, 0, c, d)
	if err == nil || !strings.Contains(err.Error(), "do not hold a row of A and a column of B, 100 elements each") {
		t.Errorf("in 4500 bytes: %v", err)
	}
}

func TestMultiply_leaves_D_for_C(t *testing.T) {
	g := open(t)
	defer g.Close()
	p := problem{m: 4, n: 6, k: 5, tA: blas.NoTrans, tB: blas.NoTrans, alpha: 1, beta: 3}
	a, b, _, d := p.matrices(1)
	want := d
	want.Data = append([]float32(nil), d.Data...)
	slow(p.tA, p.tB, 1, a, b, 3, want, want)
	k := g.Routine(devices.HopperTF32())
	k.GEMM(p.tA, p.tB, 1, a, b, 3, d, d)
	if k.Err() != nil || fmt.Sprint(d) != fmt.Sprint(want) {
		t.Errorf("%v, %v, want %v", d, k.Err(), want)
	}
}

// Factors are rounded as the emulation rounds them.
func TestMultiply_rounds_factors(t *testing.T) {
	g := open(t)
	defer g.Close()
	one := func(x float32) blas32.General { return blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: []float32{x}} }
	for _, k := range kernels(g) {
		for _, x := range []float32{1.1, -0.3, 1 + 0x1p-11, 1 + 3*0x1p-11, 3e-6, 100} {
			d := one(0)
			k.GEMM(blas.NoTrans, blas.NoTrans, 1, one(x), one(1), 0, d, d)
			output := k.Output
			want := float32(output.Round(k.A.Round(float64(x), tcore.ToNearestEven), tcore.ToNearestEven))
			if k.Err() != nil || d.Data[0] != want {
				t.Errorf("%s: %v × 1 = %v, %v, want %v", k.name(), x, d.Data[0], k.Err(), want)
			}
		}
	}
}

// If any call fails, in any format, the error contains the call, the code and
// the shapes, and no memory stays in use.
func TestMultiply_fails_and_leaves_nothing(t *testing.T) {
	g := open(t)
	defer g.Close()
	p := problem{m: 37, n: 21, k: 9, tA: blas.NoTrans, tB: blas.NoTrans, alpha: 1, beta: 1}
	a, b, c, d := p.matrices(1)
	for _, k := range kernels(g) {
		k.MaxBytes, k.Fast = k.Workspace+4000, true // panels, and every attribute of a product
		if !k.Classic {
			k.SplitK = 5 // which the library never chooses by itself
		}
		panels := p.check(t, k).Panels
		idle := cudatest.Alive(t, g.device)
		for call := 1; ; call++ {
			t.Setenv("FAKE_FAIL", fmt.Sprintf("%d:2", call))
			_, err := k.Multiply(t.Context(), p.tA, p.tB, 1, a, b, 1, c, d)
			n := cudatest.Calls(t, g.device)
			if alive := cudatest.Alive(t, g.device); alive != idle {
				t.Fatalf("%s, call %d: %d objects alive, want %d, after %v", k.name(), call, alive, idle, err)
			}
			if call > n {
				if err != nil || n < 25+6*panels {
					t.Errorf("%s: %d calls in %d panels and %v, want more calls that fail", k.name(), n, panels, err)
				}
				break
			}
			var e *cuda.Error
			switch {
			case err == nil && !k.Classic:
				continue // whether an algorithm fits is asked again in another way
			case !errors.As(err, &e) || e.Code != 2:
				t.Errorf("%s, call %d: error %v, want an Error with code 2", k.name(), call, err)
			case !strings.Contains(err.Error(), "product of 37 × 9 by 9 × 21, "+k.A.Name+": cu"):
				t.Errorf("%s, call %d: error %q does not tell the shapes", k.name(), call, err)
			}
		}
		t.Setenv("FAKE_FAIL", "")
	}
	if alive := cudatest.Alive(t, g.device); alive != 3 { // the context, and the handles of two libraries
		t.Errorf("%d objects alive, want 3", alive)
	}
}

// Opening and closing the libraries fail in turn; a closed GPU keeps no
// resources.
func TestClose_leaves_nothing_whatever_fails(t *testing.T) {
	p := problem{m: 2, n: 3, k: 4, tA: blas.NoTrans, tB: blas.NoTrans, alpha: 1}
	a, b, c, d := p.matrices(1)
	other := open(t)
	defer other.Close()
	whole := func() error {
		g, err := Open()
		if err != nil {
			return err
		}
		_, err = g.Info()
		k := g.Routine(devices.HopperF16())
		_, listErr := k.Algorithms(p.m, p.n, p.k, 4)
		_, multiplyErr := k.Multiply(t.Context(), p.tA, p.tB, 1, a, b, 0, c, d)
		closeErr := g.Close()
		if closeErr != nil {
			g.Close() // a second Close is allowed, and closes what is still open
		}
		return errors.Join(err, listErr, multiplyErr, closeErr)
	}
	for call := 1; ; call++ {
		t.Setenv("FAKE_FAIL", fmt.Sprintf("%d:3", call))
		err := whole()
		n := cudatest.Calls(t, other.device)
		if call > n {
			if err != nil || n < 60 {
				t.Errorf("%d calls and %v, want 60 or more that fail", n, err)
			}
			return
		}
		if alive := cudatest.Alive(t, other.device); alive != 1 {
			t.Fatalf("call %d: %d objects alive after %v, want the other context", call, alive, err)
		}
	}
}

func TestMultiply_tells_what_failed(t *testing.T) {
	g := open(t)
	defer g.Close()
	p := problem{m: 2, n: 3, k: 4, tA: blas.NoTrans, tB: blas.NoTrans, alpha: 1}
	a, b, c, d := p.matrices(1)
	for _, c2 := range []struct{ fail, want string }{
		{"cuMemAlloc_v2:2", "cuMemAlloc(64 bytes) returned 2, CUDA_ERROR_OUT_OF_MEMORY: out of memory"},
		{"cublasLtMatmul:13", "cublasLtMatmul(NN, m 3, n 2, k 4, types 2, 2, 0, ld 8, 8, 4, compute 68) returned 13, CUBLAS_STATUS_EXECUTION_FAILED: fake status"},
		{"cublasLtMatmul:99", "returned 99, an unknown status"},
		{"cublasLtMatmulAlgoGetHeuristic:15", "returned 15, CUBLAS_STATUS_NOT_SUPPORTED: not supported"},
	} {
		t.Setenv("FAKE_FAIL", c2.fail)
		_, err := g.Routine(devices.HopperF16()).Multiply(t.Context(), p.tA, p.tB, 1, a, b, 0, c, d)
		if err == nil || !strings.Contains(err.Error(), c2.want) {
			t.Errorf("%s: error %q, want %q", c2.fail, err, c2.want)
		}
	}
}

func TestGEMM_keeps_its_first_error(t *testing.T) {
	g := open(t)
	defer g.Close()
	p := problem{m: 2, n: 3, k: 4, tA: blas.NoTrans, tB: blas.NoTrans, alpha: 1}
	a, b, c, d := p.matrices(1)
	k := g.Routine(devices.HopperF16())
	t.Setenv("FAKE_FAIL", "cuStreamCreate:7")
	k.GEMM(p.tA, p.tB, 1, a, b, 0, c, d)
	t.Setenv("FAKE_FAIL", "")
	before := cudatest.Products(t, g.device)
	k.GEMM(p.tA, p.tB, 1, a, b, 0, c, d)
	if k.Err() == nil || cudatest.Products(t, g.device) != before {
		t.Errorf("error %v, and %d products after it", k.Err(), cudatest.Products(t, g.device)-before)
	}
}

// endsAfter is a context that ends after so many calls of Err. The product
// stops before the next panel.
type endsAfter struct {
	context.Context
	asked, after int
}

func (c *endsAfter) Err() error {
	if c.asked++; c.asked > c.after {
		return context.Canceled
	}
	return nil
}

func TestMultiply_stops_between_panels(t *testing.T) {
	g := open(t)
	defer g.Close()
	k := g.Routine(devices.HopperF16())
	k.Workspace, k.MaxBytes = 1<<16, 1<<16+1600
	p := problem{m: 37, n: 21, k: 9, tA: blas.NoTrans, tB: blas.NoTrans, alpha: 1}
	p.check(t, k)
	idle := cudatest.Alive(t, g.device)
	for after := range 4 {
		a, b, c, d := p.matrices(1)
		before := cudatest.Products(t, g.device)
		r, err := k.Multiply(&endsAfter{Context: t.Context(), after: after}, p.tA, p.tB, 1, a, b, 0, c, d)
		done := cudatest.Products(t, g.device) - before
		if !errors.Is(err, context.Canceled) || done != max(after-1, 0) || r.Panels != done {
			t.Errorf("ended after %d questions: %d panels, report %+v, %v", after, done, r, err)
		}
		if cudatest.Alive(t, g.device) != idle {
			t.Errorf("ended after %d questions: %d objects alive, want %d", after, cudatest.Alive(t, g.device), idle)
		}
	}
}

func TestAlgorithm(t *testing.T) {
	g := open(t)
	defer g.Close()
	p := problem{m: 5, n: 3, k: 7, tA: blas.NoTrans, tB: blas.Trans, alpha: 1}
	new := func() *Routine { return g.Routine(devices.HopperF16()) }
	t.Run("is_the_first_of_the_library", func(t *testing.T) {
		t.Setenv("FAKE_SPLITK", "3")
		if a := p.check(t, new()).Algorithms[0]; a.ID != 66 || a.SplitK != 3 || a.Reduction != 2 || a.Stages != 36 || a.ClusterShape != 3 {
			t.Errorf("%+v", a)
		}
	})
	t.Run("is_one_that_splits_K_as_asked", func(t *testing.T) {
		t.Setenv("FAKE_SPLITK", "3")
		for parts, want := range map[int]int{1: 66, 2: 67, 3: 66, 5: 66} {
			k := new()
			k.SplitK = parts
			if a := p.check(t, k).Algorithms[0]; a.ID != want || a.SplitK != parts {
				t.Errorf("%d parts: %+v", parts, a)
			}
		}
	})
	t.Run("can_be_fixed", func(t *testing.T) {
		list, err := new().Algorithms(p.m, p.n, p.k, 8)
		if err != nil || len(list) != 3 {
			t.Fatalf("%d algorithms, %v", len(list), err)
		}
		k := new()
		k.Algorithm = &list[2]
		if a := p.check(t, k).Algorithms[0]; a.ID != list[2].ID || a.SplitK != list[2].SplitK {
			t.Errorf("%+v, want %+v", a, list[2])
		}
	})
	t.Run("is_the_same_for_every_panel", func(t *testing.T) {
		t.Setenv("FAKE_SPLITK", "2")
		k := new()
		k.Workspace, k.MaxBytes = 4096, 4096+1600
		q := problem{m: 37, n: 21, k: 9, tA: blas.NoTrans, tB: blas.NoTrans, alpha: 1}
		for i, a := range q.check(t, k).Algorithms {
			if a.ID != 66 || a.SplitK != 2 {
				t.Errorf("panel %d: %+v", i, a)
			}
		}
	})
	t.Run("is_not_one_that_the_library_says_it_cannot_use", func(t *testing.T) {
		t.Setenv("FAKE_STATE", "15")
		if a := p.check(t, new()).Algorithms[0]; a.ID != 67 {
			t.Errorf("%+v, want the second", a)
		}
	})
	t.Run("of_an_old_library_has_no_cluster", func(t *testing.T) {
		t.Setenv("FAKE_OLD", "1")
		if a := p.check(t, new()).Algorithms[0]; a.ID != 66 || a.ClusterShape != 0 {
			t.Errorf("%+v", a)
		}
	})
	for _, c := range []struct {
		name, variable string
		kernel         func(*Routine)
		want           string
	}{
		{"may_not_exist", "FAKE_NO_ALGORITHM", func(*Routine) {}, "CUBLAS_STATUS_NOT_SUPPORTED"},
		{"may_not_split_so_far", "", func(k *Routine) { k.SplitK = 100 }, "cublasLtMatmulAlgoCheck(NN, m 3"},
		{"may_not_be_one", "", func(k *Routine) { k.Algorithm = &Algorithm{} }, "cublasLtMatmulAlgoCheck"},
		{"may_want_more_workspace_than_there_is", "", func(k *Routine) {
			list, err := k.Algorithms(5, 3, 7, 3)
			if err != nil {
				t.Fatal(err)
			}
			k.Algorithm, k.Workspace = &list[2], 256
		}, "an algorithm needs a workspace of 3072 bytes, and has 256"},
		{"may_want_more_workspace", "", func(k *Routine) { k.SplitK, k.Workspace = 4, 256 }, "knows no algorithm"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.variable != "" {
				t.Setenv(c.variable, "1")
			}
			k := new()
			c.kernel(k)
			a, b, cc, d := problem{m: 5, n: 3, k: 7, tA: blas.NoTrans, tB: blas.NoTrans}.matrices(1)
			_, err := k.Multiply(t.Context(), blas.NoTrans, blas.NoTrans, 1, a, b, 0, cc, d)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestAlgorithms(t *testing.T) {
	g := open(t)
	defer g.Close()
	k := g.Routine(devices.HopperF16())
	for want, fail := range map[string]string{
		"gpu: algorithms for 5 × 7 by 7 × 3, binary16: cublasCreate() returned 1, CUBLAS_STATUS_NOT_INITIALIZED": "cublasCreate_v2:1",
		"gpu: algorithms for 5 × 7 by 7 × 3, binary16: cublasLtMatmulAlgoGetHeuristic(":                          "cublasLtMatmulAlgoGetHeuristic:14",
	} {
		t.Run("tells_that_"+fail, func(t *testing.T) {
			g, err := Open()
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			t.Setenv("FAKE_FAIL", fail)
			if _, err := g.Routine(devices.HopperF16()).Algorithms(5, 3, 7, 2); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
		})
	}
	t.Run("wants_sizes_of_1_or_more", func(t *testing.T) {
		defer func() {
			if r := fmt.Sprint(recover()); r != "gpu: Algorithms: m = 5, n = 0, l = 7, limit = 2, want at least 1" {
				t.Errorf("panic %q", r)
			}
		}()
		k.Algorithms(5, 0, 7, 2)
	})
}

func TestMultiply_panics(t *testing.T) {
	g := open(t)
	defer g.Close()
	m := func(rows, cols int) blas32.General {
		return blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
	}
	short := m(2, 3)
	short.Data = short.Data[:5]
	narrow, long := m(2, 3), m(2, 3)
	narrow.Stride, long.Rows, long.Stride = 2, 3, math.MaxInt
	for _, c := range []struct {
		want       string
		a, b, c, d blas32.General
		change     func(*Routine)
	}{
		{"op(a) has 3 columns, op(b) has 2 rows", m(2, 3), m(2, 4), m(2, 4), m(2, 4), nil},
		{"d is 2 × 3, want 2 × 4", m(2, 3), m(3, 4), m(2, 4), m(2, 3), nil},
		{"c is 4 × 2, want 2 × 4", m(2, 3), m(3, 4), m(4, 2), m(2, 4), nil},
		{"a is 0 × 3, want at least 1 × 1", m(0, 3), m(3, 4), m(2, 4), m(2, 4), nil},
		{"a has stride 2, want at least its 3 columns", narrow, m(3, 4), m(2, 4), m(2, 4), nil},
		{"a has 6 elements, want at least 18446744073709551616", long, m(3, 4), m(2, 4), m(2, 4), nil},
		{"a has 5 elements, want at least 6", short, m(3, 4), m(2, 4), m(2, 4), nil},
		{"A = e3m2, B = binary16, C = binary32, Output = binary32 do not go together in cuBLASLt", m(2, 3), m(3, 4), m(2, 4), m(2, 4),
			func(k *Routine) { k.A = tcore.E3M2 }},
		{"do not go together in cuBLAS", m(2, 3), m(3, 4), m(2, 4), m(2, 4),
			func(k *Routine) { k.A, k.B, k.Classic = tcore.E4M3, tcore.E4M3, true }},
		{"SplitK = -1", m(2, 3), m(3, 4), m(2, 4), m(2, 4), func(k *Routine) { k.SplitK = -1 }},
		{"Classic with SplitK or Algorithm", m(2, 3), m(3, 4), m(2, 4), m(2, 4), func(k *Routine) { k.Classic, k.SplitK = true, 2 }},
		{"or Rows, which cublasGemmEx does not take", m(2, 3), m(3, 4), m(2, 4), m(2, 4), func(k *Routine) { k.Classic, k.Rows = true, true }},
	} {
		t.Run(c.want, func(t *testing.T) {
			defer func() {
				if r := fmt.Sprint(recover()); !strings.HasPrefix(r, "gpu: GEMM: ") || !strings.Contains(r, c.want) {
					t.Errorf("panic %q, want %q", r, c.want)
				}
			}()
			k := g.Routine(devices.HopperF16())
			if c.change != nil {
				c.change(k)
			}
			k.GEMM(blas.NoTrans, blas.NoTrans, 1, c.a, c.b, 1, c.c, c.d)
		})
	}
}

// Every method of a GPU that was not opened panics with a message that contains
// the name of the method.
func TestGPU_that_was_not_opened(t *testing.T) {
	one, m := []float32{1}, blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: []float32{1}}
	for _, g := range []*GPU{nil, {}} {
		k := g.Routine(devices.HopperF16())
		for call, f := range map[string]func(){
			"Close": func() { g.Close() }, "Info": func() { g.Info() },
			"StreamMAC":   func() { g.StreamMAC(t.Context(), one, one, one, one, 1) },
			"StreamFMA":   func() { g.StreamFMA(t.Context(), one, one, one, one, 1) },
			"StreamMPFMA": func() { g.StreamMPFMA(t.Context(), one, []uint16{1}, []uint16{1}, one, 1) },
			"Multiply":    func() { k.GEMM(blas.NoTrans, blas.NoTrans, 1, m, m, 0, m, m) },
			"Algorithms":  func() { k.Algorithms(1, 1, 1, 1) },
			"Time":        func() { k.Time(t.Context(), m, m, 1, 1) },
		} {
			t.Run(call, func(t *testing.T) { panics.Want(t, "gpu: "+call+": a GPU that was not opened, want one of Open", f) })
		}
	}
}
