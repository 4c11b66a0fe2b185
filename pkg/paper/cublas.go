package paper

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/roundofflab/roundoff/pkg/viz"
)

// GemmEx is a call of cublasGemmEx that transposes nothing, by the arguments
// that the library's documentation names: C = alpha AB + beta C, where A is M ×
// K, B is K × N, C is M × N, and all lie in memory column after column, the
// columns of A LDA elements apart.
type GemmEx struct {
	Name          string
	M, N, K       int
	LDA, LDB, LDC int
	Alpha         uint32 // the four bytes that the library reads as a float, since it computes in one
	Swapped       bool   // A is given the caller's b, and B the caller's a
}

// Four bytes that a pointer to alpha can point to.
const (
	intOne   = 1          // int alpha = 1
	floatOne = 0x3f800000 // float alpha = 1
)

// GemmExCalls returns the call of the listing in Section 4.2, for the product
// of an m × t and a t × n matrix, with each of its mistakes put right, and the
// two calls that are right: of matrices in columns, and of matrices in rows,
// which package gpu makes.
func GemmExCalls(m, t, n int) []GemmEx {
	return []GemmEx{
		{Name: "as printed", M: m, N: t, K: n, LDA: m, LDB: t, LDC: m, Alpha: intOne},
		{Name: "float alpha", M: m, N: t, K: n, LDA: m, LDB: t, LDC: m, Alpha: floatOne},
		{Name: "m, n, k in order", M: m, N: n, K: t, LDA: m, LDB: t, LDC: m, Alpha: intOne},
		{Name: "both: right for columns", M: m, N: n, K: t, LDA: m, LDB: t, LDC: m, Alpha: floatOne},
		{Name: "right for rows, a and b swapped", M: n, N: m, K: t, LDA: n, LDB: t, LDC: n, Alpha: floatOne, Swapped: true},
	}
}

// Extent returns how many elements of A and B the call reads from, and of C
// writes to, from the first to the last.
func (g GemmEx) Extent() (a, b, c int) {
	return (g.K-1)*g.LDA + g.M, (g.N-1)*g.LDB + g.K, (g.N-1)*g.LDC + g.M
}

// Run computes the call for arrays a and b of the caller and stores in c. What
// lies beyond the end of an array is NaN when it is read, and is not written.
func (g GemmEx) Run(a, b, c []float32) {
	if g.Swapped {
		a, b = b, a
	}
	at := func(x []float32, i int) float32 {
		if i < len(x) {
			return x[i]
		}
		return float32(math.NaN())
	}
	for j := range g.N {
		for i := range g.M {
			sum := float32(0)
			for k := range g.K {
				sum += float32(at(a, i+k*g.LDA) * at(b, k+j*g.LDB))
			}
			if to := i + j*g.LDC; to < len(c) {
				c[to] = math.Float32frombits(g.Alpha) * sum
			}
		}
	}
}

// right returns how many elements of C the call gets right for matrices of
// small integers, whose products are exact, in the order of memory that it is
// meant for.
func (g GemmEx) right(m, t, n int) int {
	rng := rand.New(rand.NewPCG(Seed, 7))
	draw := func(size int) []float32 {
		x := make([]float32, size)
		for i := range x {
			x[i] = float32(1 + rng.IntN(9))
		}
		return x
	}
	a, b, c := draw(m*t), draw(t*n), make([]float32, m*n)
	g.Run(a, b, c)
	index := func(i, j, rows, cols int) int { // of element (i, j) in memory
		if g.Swapped {
			return i*cols + j
		}
		return i + j*rows
	}
	right := 0
	for i := range m {
		for j := range n {
			want := float32(0)
			for k := range t {
				want += a[index(i, k, m, t)] * b[index(k, j, t, n)]
			}
			if c[index(i, j, m, n)] == want {
				right++
			}
		}
	}
	return right
}

// GemmExTable returns the calls at the paper's size: what each takes for alpha,
// how much memory it reads and writes of how much there is, and what becomes of
// a small product.
func GemmExTable() *viz.Table {
	g := DefaultGEMM
	const m, t, n = 5, 7, 3 // no two alike, so that a wrong order shows
	calls, small := GemmExCalls(g.M, g.K, g.N), GemmExCalls(m, t, n)
	printed := calls[0]
	_, b, c := printed.Extent()
	table := viz.NewTable("cublas-calls",
		fmt.Sprintf("As printed the call reads to %.0f times the length of B, writes %.0f times that of C, and multiplies by %s, the integer 1 read as a float; with one of its two mistakes put right %d or %d of %d elements of a small product are right, with both %d. cublasGemmEx(handle, N, N, m, n, k, &alpha, A, lda, B, ldb, &beta, C, ldc) at the paper's size, elements used of those there are, rounded up to powers of two; the small product is %d × %d by %d × %d, of integers, and memory beyond an array is NaN.",
			float64(b)/float64(g.K*g.N), float64(c)/float64(g.M*g.N), short(float64(math.Float32frombits(printed.Alpha))), small[1].right(m, t, n), small[2].right(m, t, n), m*n, small[3].right(m, t, n), m, t, t, n),
		fmt.Sprintf("The printed type of C, binary16, would add a roundoff of %s. Drawn by paper.GemmExTable.", short(u16)),
		[]string{"Call", "m, n, k", "lda, ldb, ldc", "alpha as read", "A read", "B read", "C written", fmt.Sprintf("right, of %d", m*n)})
	for i, call := range calls {
		a, b, c := call.Extent()
		hasA, hasB := g.M*g.K, g.K*g.N
		if call.Swapped {
			hasA, hasB = hasB, hasA
		}
		of := func(used, has int) string { return fmt.Sprintf("%s of %s", power2(used), power2(has)) }
		table.Row(call.Name, fmt.Sprintf("%d, %d, %d", call.M, call.N, call.K), fmt.Sprintf("%d, %d, %d", call.LDA, call.LDB, call.LDC),
			short(float64(math.Float32frombits(call.Alpha))), of(a, hasA), of(b, hasB), of(c, g.M*g.N), fmt.Sprint(small[i].right(m, t, n)))
	}
	return table
}

// power2 returns a number of elements as text, rounded up to a power of two.
func power2(n int) string { return "2" + superscript(int(math.Ceil(math.Log2(float64(n))))) }
