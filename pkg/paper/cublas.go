package paper

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/roundofflab/roundoff/pkg/viz"
)

// GemmEx describes a call of cublasGemmEx without transposition, C = alpha AB +
// beta C, with the argument names of the library's documentation. A is M × K, B
// is K × N and C is M × N. All three are stored column by column; the columns
// of A start LDA elements apart, those of B LDB, those of C LDC.
type GemmEx struct {
	Name          string
	M, N, K       int
	LDA, LDB, LDC int
	Alpha         uint32 // bits of the argument alpha, which the library reads as a float
	Swapped       bool   // the caller's b is passed as A, and its a as B
}

// Two values of the four bytes that the pointer alpha addresses.
const (
	intOne   = 1          // int alpha = 1
	floatOne = 0x3f800000 // float alpha = 1
)

// GemmExCalls returns five calls for the product of an m × t and a t × n
// matrix: the call of the listing in Section 4.2 as printed, the same call with
// each of its two mistakes corrected alone, and the two correct calls. One of
// these is for matrices stored by columns; the other, which package gpu uses,
// is for matrices stored by rows.
func GemmExCalls(m, t, n int) []GemmEx {
	return []GemmEx{
		{Name: "as printed", M: m, N: t, K: n, LDA: m, LDB: t, LDC: m, Alpha: intOne},
		{Name: "float alpha", M: m, N: t, K: n, LDA: m, LDB: t, LDC: m, Alpha: floatOne},
		{Name: "m, n, k in order", M: m, N: n, K: t, LDA: m, LDB: t, LDC: m, Alpha: intOne},
		{Name: "both: right for columns", M: m, N: n, K: t, LDA: m, LDB: t, LDC: m, Alpha: floatOne},
		{Name: "right for rows, a and b swapped", M: n, N: m, K: t, LDA: n, LDB: t, LDC: n, Alpha: floatOne, Swapped: true},
	}
}

// Extent returns the lengths of the memory that the call reads for A and for B
// and writes for C, each in elements from the first accessed element to the
// last.
func (g GemmEx) Extent() (a, b, c int) {
	return (g.K-1)*g.LDA + g.M, (g.N-1)*g.LDB + g.K, (g.N-1)*g.LDC + g.M
}

// Run performs the call on the caller's arrays a and b with beta = 0 and stores
// the result in c. Sums are computed in binary32 in ascending order of k. A
// read beyond the end of an array yields NaN; a write beyond it is discarded.
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

// right returns how many elements of the m × n product the call computes
// correctly. The matrices are random small integers, whose products are exact,
// stored in the order that the call is meant for.
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
	index := func(i, j, rows, cols int) int { // position of element (i, j) in memory
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

// GemmExTable returns a table of the calls at the paper's size: the value that
// the library reads as alpha, the memory read and written compared with the
// length of each array, and how many elements of a small product are correct.
func GemmExTable() *viz.Table {
	g := DefaultGEMM
	const m, t, n = 5, 7, 3 // all different, so that an exchange of dimensions is visible
	calls, small := GemmExCalls(g.M, g.K, g.N), GemmExCalls(m, t, n)
	printed := calls[0]
	_, b, c := printed.Extent()
	table := viz.NewTable("cublas-calls",
		fmt.Sprintf("As printed the call reads %.0f times the length of B, writes %.0f times that of C and multiplies by %s, the integer 1 read as a float.",
			float64(b)/float64(g.K*g.N), float64(c)/float64(g.M*g.N), short(float64(math.Float32frombits(printed.Alpha)))),
		fmt.Sprintf("Lengths at the paper's size, used of existing ones, rounded up to powers of two. Last column: right outputs of %d × %d by %d × %d integers, NaN beyond an array.",
			m, t, t, n),
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
