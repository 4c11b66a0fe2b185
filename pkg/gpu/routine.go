package gpu

import (
	"fmt"
	"math"
	"slices"

	"github.com/roundofflab/roundoff/internal/cuda"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Routine is a GEMM of cuBLASLt, or of cuBLAS, on a GPU. It is the counterpart
// in hardware of [tcore.Machine] and, like it, implements [tcore.GEMMer].
//
// These combinations of formats are supported. Output may be left zero, which
// means C:
//
//	A, B                          C         Output
//	binary16                      binary32  binary32, binary16
//	binary16                      binary16  binary16
//	bfloat16                      binary32  binary32, bfloat16
//	tf32                          binary32  binary32
//	e4m3 and e4m3, e5m2, or back  binary32  binary32, binary16
//	binary64                      binary64  binary64
//
// For 8-bit factors, C is the format that the library declares for its
// accumulator; see Fast. They require compute capability 8.9 or later.
type Routine struct {
	GPU    *GPU
	A, B   tcore.Format // of the factors
	C      tcore.Format // in which products are accumulated
	Output tcore.Format // of D, and of the matrix C, which is rounded to it

	SplitK    int        // parts of K; 0 lets the library choose
	Algorithm *Algorithm // one of an earlier Report or of Algorithms; nil lets the library choose
	Classic   bool       // cublasGemmEx, as in the paper: the library chooses and does not report
	Fast      bool       // 8-bit factors: do not promote running sums to binary32 between steps of K
	Rows      bool       // describe matrices as row-major ones without padding; see Rows and columns
	Workspace int        // bytes of workspace for the library; 0 is 32 MiB
	MaxBytes  int        // bytes of device memory to use; 0 is 15/16 of the free memory

	err error // the first error of GEMM
}

// Algorithm describes how cuBLASLt computes a product: which kernel, of which
// tile, and into how many parts it splits K. The numbers are values of the
// library's own enumerations.
type Algorithm = cuda.Algorithm

// Routine returns the routine with the formats of an emulated device, so that
// both can be compared. The library chooses the algorithm and how to split K.
func (g *GPU) Routine(d tcore.Device) *Routine {
	return &Routine{GPU: g, A: d.A, B: d.B, C: d.C}
}

// arithmetic is a supported combination of formats, with the names that cuBLAS
// gives them.
type arithmetic struct {
	a, b, c, output tcore.Format
	ta, tb, td      cuda.DataType
	compute         cuda.ComputeType
}

// families are the supported combinations of factors and accumulator, each with
// the formats to which results can be rounded.
var families = []struct {
	a, b, c tcore.Format
	compute cuda.ComputeType
	outputs []tcore.Format
}{
	{tcore.Binary16, tcore.Binary16, tcore.Binary32, cuda.Compute32, []tcore.Format{tcore.Binary32, tcore.Binary16}},
	{tcore.Binary16, tcore.Binary16, tcore.Binary16, cuda.Compute16, []tcore.Format{tcore.Binary16}},
	{tcore.BFloat16, tcore.BFloat16, tcore.Binary32, cuda.Compute32, []tcore.Format{tcore.Binary32, tcore.BFloat16}},
	{tcore.TF32, tcore.TF32, tcore.Binary32, cuda.Compute32TF32, []tcore.Format{tcore.Binary32}},
	{tcore.E4M3, tcore.E4M3, tcore.Binary32, cuda.Compute32, []tcore.Format{tcore.Binary32, tcore.Binary16}},
	{tcore.E4M3, tcore.E5M2, tcore.Binary32, cuda.Compute32, []tcore.Format{tcore.Binary32, tcore.Binary16}},
	{tcore.E5M2, tcore.E4M3, tcore.Binary32, cuda.Compute32, []tcore.Format{tcore.Binary32, tcore.Binary16}},
	{tcore.Binary64, tcore.Binary64, tcore.Binary64, cuda.Compute64, []tcore.Format{tcore.Binary64}},
}

// dataTypes are the types of matrices in cuBLAS. A tf32 number is stored as a
// binary32 number whose last 13 bits are ignored.
var dataTypes = map[tcore.Format]cuda.DataType{
	tcore.Binary16: cuda.Real16, tcore.BFloat16: cuda.BF16, tcore.TF32: cuda.Real32, tcore.Binary32: cuda.Real32,
	tcore.Binary64: cuda.Real64, tcore.E4M3: cuda.E4M3, tcore.E5M2: cuda.E5M2,
}

// Check returns an error that names the formats if their combination is not
// supported.
func (k *Routine) Check() error {
	_, err := k.find()
	return err
}

// arithmetic returns the arithmetic of the routine. It panics if its formats
// are not supported.
func (k *Routine) arithmetic() arithmetic {
	a, err := k.find()
	if err != nil {
		panic(err.Error())
	}
	return a
}

func (k *Routine) find() (arithmetic, error) {
	output, library := k.Output, "cuBLASLt"
	if output == (tcore.Format{}) {
		output = k.C
	}
	if k.Classic {
		library = "cuBLAS"
	}
	for _, f := range families {
		a := arithmetic{f.a, f.b, f.c, output, dataTypes[f.a], dataTypes[f.b], dataTypes[output], f.compute}
		if f.a == k.A && f.b == k.B && f.c == k.C && slices.Contains(f.outputs, output) && !(k.Classic && a.eight()) {
			return a, nil
		}
	}
	return arithmetic{}, fmt.Errorf("gpu: GEMM: A = %s, B = %s, C = %s, Output = %s do not go together in %s",
		k.A.Name, k.B.Name, k.C.Name, output.Name, library)
}

// scalar returns the code of alpha or beta in the type that the library
// requires for the arithmetic, which is never an integer type.
func (a arithmetic) scalar(x float32) uint64 {
	switch a.compute.Scale() {
	case cuda.Real16:
		return tcore.Binary16.Encode(float64(x), tcore.ToNearestEven)
	case cuda.Real64:
		return math.Float64bits(float64(x))
	}
	return uint64(math.Float32bits(x))
}

// eight reports whether the factors have 8 bits. Then both must have K
// contiguous in memory, and all sizes must be multiples of 16.
func (a arithmetic) eight() bool { return a.ta.Size() == 1 }
