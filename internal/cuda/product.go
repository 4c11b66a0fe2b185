package cuda

import "fmt"

// DataType is a cudaDataType, the type of a matrix or a scalar.
type DataType int

// Types of the elements of matrices.
const (
	Real32 DataType = 0
	Real64 DataType = 1
	Real16 DataType = 2
	BF16   DataType = 14
	E4M3   DataType = 28
	E5M2   DataType = 29
)

// Size returns the size of an element in bytes.
func (t DataType) Size() int {
	switch t {
	case Real64:
		return 8
	case Real32:
		return 4
	case Real16, BF16:
		return 2
	}
	return 1
}

// ComputeType is a cublasComputeType_t, the arithmetic of a product.
type ComputeType int

// Arithmetics, each with the type of alpha and beta.
const (
	Compute16     ComputeType = 64 // alpha and beta are Real16
	Compute32     ComputeType = 68 // they are Real32
	Compute64     ComputeType = 70 // they are Real64
	Compute32TF32 ComputeType = 77 // they are Real32
)

// Scale returns the type of alpha and beta.
func (c ComputeType) Scale() DataType {
	switch c {
	case Compute16:
		return Real16
	case Compute64:
		return Real64
	}
	return Real32
}

// A Product is D = alpha op(A) op(B) + beta D in the convention of cuBLAS: the
// matrices are column-major, op(A) is M × K, op(B) is K × N and D is M × N.
// With cuBLASLt each may be row-major instead, and its leading dimension is
// then the distance between rows.
type Product struct {
	TransA, TransB   bool
	RowA, RowB, RowD bool // the matrix is row-major; cuBLASLt only
	M, N, K          int
	A, B, D          DataType
	LDA, LDB, LDD    int
	Compute          ComputeType
	Alpha, Beta      uint64 // codes in the type of Compute.Scale
	Fast             bool   // 8-bit factors: do not promote running sums to binary32 between steps of K
}

// String returns the shapes, as written in errors.
func (p Product) String() string {
	op := func(t bool) string {
		if t {
			return "T"
		}
		return "N"
	}
	text := fmt.Sprintf("%s%s, m %d, n %d, k %d, types %d, %d, %d, ld %d, %d, %d, compute %d",
		op(p.TransA), op(p.TransB), p.M, p.N, p.K, p.A, p.B, p.D, p.LDA, p.LDB, p.LDD, p.Compute)
	for i, byRows := range p.byRows() {
		if byRows {
			text += fmt.Sprintf(", %c by rows", "ABD"[i])
		}
	}
	return text
}

// byRows tells of A, B and D which are row-major.
func (p Product) byRows() [3]bool { return [3]bool{p.RowA, p.RowB, p.RowD} }

// layouts returns the type, rows, columns and leading dimension of A, B and D
// as stored in memory.
func (p Product) layouts() [3][4]int {
	a := [4]int{int(p.A), p.M, p.K, p.LDA}
	b := [4]int{int(p.B), p.K, p.N, p.LDB}
	if p.TransA {
		a[1], a[2] = a[2], a[1]
	}
	if p.TransB {
		b[1], b[2] = b[2], b[1]
	}
	return [3][4]int{a, b, {int(p.D), p.M, p.N, p.LDD}}
}

// An Algorithm describes how cuBLASLt computes a product: which kernel, of
// which tile, and into how many parts it splits K. The numbers are values of
// the library's own enumerations.
type Algorithm struct {
	opaque                                       [8]uint64
	ID, Tile, SplitK, Reduction, Swizzle, Custom int
	Stages, InnerShape, ClusterShape             int
	Fields                                       int     // of these nine, which the library has: 7 before version 12, without the last two
	Workspace                                    int     // bytes it needs
	Waves                                        float64 // waves of blocks on the device, estimated
}
