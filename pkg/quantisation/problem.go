package quantisation

import (
	"fmt"
	"math"
	"strings"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"gonum.org/v1/gonum/blas/blas32"
)

// A Problem is a product of an M × K matrix A by a K × N matrix B, how its
// factors are rounded, and what is known of them.
type Problem struct {
	M, K, N        int
	RoundA, RoundB Rounding

	// The zero value of a law or a matrix stands for one that is not known.
	LawA, LawB Law            // of the elements, which are independent
	A, B       blas32.General // before they are rounded
	Rows       blas32.General // other rows of K elements, exchangeable with those of A

	// Suspect says why elements of A and B do not look independent, as Inspect of
	// package bound finds out, "" if nothing speaks against it. Bounds that
	// assume it are then refused if A and B are known.
	Suspect string
}

// Knowledge is a set of what may be known of a product.
type Knowledge uint8

// What may be known: one factor as a matrix, the law of its elements, or other
// rows of A.
const (
	MatrixA Knowledge = 1 << iota
	MatrixB
	LawOfA
	LawOfB
	OtherRows
)

// String returns the set in words, as in "A, law of B".
func (n Knowledge) String() string {
	var words []string
	for i, word := range []string{"A", "B", "law of A", "law of B", "other rows of A"} {
		if n&(1<<i) != 0 {
			words = append(words, word)
		}
	}
	if words == nil {
		return "nothing"
	}
	return strings.Join(words, ", ")
}

// Knows returns what is known of the factors.
func (p Problem) Knows() Knowledge {
	var n Knowledge
	for i, known := range []bool{p.A.Rows > 0, p.B.Rows > 0, p.LawA.Density != nil, p.LawB.Density != nil, p.Rows.Rows > 0} {
		if known {
			n |= 1 << i
		}
	}
	return n
}

// check panics if the problem is none.
func (p Problem) check(f roundoff.Failure) {
	check.Count("M", p.M)
	check.Count("K", p.K)
	check.Count("N", p.N)
	check.Number("f", float64(f), f < 0 && float64(f) >= -math.MaxFloat64, "-Inf < f < 0")
	shape := func(name string, m blas32.General, rows, cols int) {
		if m.Rows > 0 && (m.Rows != rows || m.Cols != cols || m.Stride < cols || len(m.Data) < (rows-1)*m.Stride+cols) {
			panic(fmt.Sprintf("quantisation: Problem.%s is %d × %d with stride %d and %d elements, want %d × %d and all elements",
				name, m.Rows, m.Cols, m.Stride, len(m.Data), rows, cols))
		}
	}
	shape("A", p.A, p.M, p.K)
	shape("B", p.B, p.K, p.N)
	shape("Rows", p.Rows, p.Rows.Rows, p.K)
}
