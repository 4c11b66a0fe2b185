package bound

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// lines are the rows of A or the columns of B, the vectors along K.
type lines struct {
	matrix, name string // "A", "row"
	n, k         int
	m            blas64.General
	columns      bool
}

func newLines(matrix, name string, m blas64.General, columns bool) lines {
	l := lines{matrix, name, m.Rows, m.Cols, m, columns}
	if columns {
		l.n, l.k = m.Cols, m.Rows
	}
	return l
}

func (l lines) at(i, k int) float64 {
	if l.columns {
		return l.m.Data[k*l.m.Stride+i]
	}
	return l.m.Data[i*l.m.Stride+k]
}

// line returns a copy of line i.
func (l lines) line(i int) []float64 {
	x := make([]float64, l.k)
	for k := range x {
		x[k] = l.at(i, k)
	}
	return x
}

// choose returns the indices of at most a given number of lines. Half of them
// are the first ones, so that rows of A and columns of B with the same index
// are both included. The others are chosen at random.
func (l lines) choose(most int, rng *rand.Rand) []int {
	if l.n <= most {
		return sequence(l.n)
	}
	first := most / 2
	z := sequence(first)
	for _, i := range sample(rng, l.n-first, most-first) {
		z = append(z, first+i)
	}
	return z
}

func sequence(n int) []int {
	z := make([]int, n)
	for i := range z {
		z[i] = i
	}
	return z
}

// sample returns m of the numbers 0 to n-1, in ascending order. All sets of m
// numbers are equally likely.
func sample(rng *rand.Rand, n, m int) []int {
	if m >= n {
		return sequence(n)
	}
	in := make(map[int]bool, m)
	for i := n - m; i < n; i++ { // Floyd's algorithm
		z := rng.IntN(i + 1)
		if in[z] {
			z = i
		}
		in[z] = true
	}
	z := make([]int, 0, m)
	for i := range in {
		z = append(z, i)
	}
	slices.Sort(z)
	return z
}

// A series is some lines of a matrix, or the products of some outputs.
type series [][]float64

// chosen contains the lines of A and of B that are tested.
type chosen struct{ a, b series }

// outputs chooses the lines of A and of B that are tested.
func (l lines) outputs(o lines) chosen {
	const elements, most = 1 << 18, 64
	rng := rand.New(rand.NewPCG(dataSeed, 3))
	n := min(max(elements/l.k, 1), most)
	var c chosen
	for _, i := range l.choose(n, rng) {
		c.a = append(c.a, l.line(i))
	}
	for _, j := range o.choose(n, rng) {
		c.b = append(c.b, o.line(j))
	}
	return c
}

// pair returns the lines of A and B of output i, for 0 <= i < max(len(a),
// len(b)). It repeats the shorter list.
func (c chosen) pair(i int) (x, y []float64) { return c.a[i%len(c.a)], c.b[i%len(c.b)] }

// products returns the products of max(len(a), len(b)) outputs, which use every
// line at least once.
func (c chosen) products() series {
	s := make(series, max(len(c.a), len(c.b)))
	for i := range s {
		x, y := c.pair(i)
		s[i] = make([]float64, len(x))
		for k := range x {
			s[i][k] = x[k] * y[k]
		}
	}
	return s
}

// sizes returns the sizes of the numbers.
func (s series) sizes() series {
	z := make(series, len(s))
	for i, x := range s {
		z[i] = make([]float64, len(x))
		for k, v := range x {
			z[i][k] = math.Abs(v)
		}
	}
	return z
}

// ranks returns the rank of each number within its line, scaled to [-1/2, 1/2].
// Equal numbers have the mean of their ranks. The mean over a line is 0.
func (s series) ranks() series {
	type element struct {
		x float64
		k int
	}
	z := make(series, len(s))
	for i, line := range s {
		order := make([]element, len(line))
		for k, x := range line {
			order[k] = element{x, k}
		}
		slices.SortFunc(order, func(a, b element) int { return cmp.Compare(a.x, b.x) })
		z[i] = make([]float64, len(line))
		n := float64(len(line))
		for lo := 0; lo < len(order); {
			hi := lo + 1
			for hi < len(order) && order[hi].x == order[lo].x {
				hi++
			}
			for _, e := range order[lo:hi] {
				z[i][e.k] = (float64(lo+hi)/2 - n/2) / n
			}
			lo = hi
		}
	}
	return z
}

// sums returns the sum over all lines at each position along K.
func (s series) sums() []float64 {
	z := make([]float64, len(s[0]))
	for _, line := range s {
		for k, v := range line {
			z[k] += v
		}
	}
	return z
}

// leastOf returns the least nonzero |A||B|, with an allowance for rounding
// errors. It returns 0 if all are 0, or if the computation would take long.
func leastOf(a, b blas64.General) float64 {
	const operations = 1 << 32
	if float64(a.Rows)*float64(a.Cols)*float64(b.Cols) > operations {
		return 0
	}
	a, b = matrix.Map64(math.Abs, a), matrix.Map64(math.Abs, b)
	least, kept := math.Inf(1), matrix.New64(min(a.Rows, bandRows(b.Cols)), b.Cols)
	for lo, hi := range bands(a.Rows, b.Cols) {
		z := matrix.Rows64(kept, 0, hi-lo)
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, matrix.Rows64(a, lo, hi), b, 0, z)
		for _, sum := range z.Data[:z.Rows*z.Stride] {
			if sum > 0 {
				least = min(least, sum)
			}
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return max(0, least*(1-float64(a.Cols+2)*0x1p-52))
}
