package gpu

import (
	"fmt"
	"math"
	"slices"

	"github.com/roundofflab/roundoff/internal/cuda"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Routine is a GEMM of cuBLASLt, or of cuBLAS, on a GPU. It is the counterpart
// of [tcore.Machine] in silicon, and like it a [tcore.GEMMer].
//
// These go together, where Output may be left out if it is C:
//
//	A, B                          C         Output
//	binary16                      binary32  binary32, binary16
//	binary16                      binary16  binary16
//	bfloat16                      binary32  binary32
//	tf32                          binary32  binary32
//	e4m3 and e4m3, e5m2, or back  binary32  binary32, binary16
//	binary64                      binary64  binary64
//
// The C of an 8-bit format is that of the library, which wants compute
// capability 8.9 or later.
type Routine struct {
	GPU    *GPU
	A, B   tcore.Format // of the factors
	C      tcore.Format // in which products are accumulated
	Output tcore.Format // of D, and of the matrix C before it is used

	SplitK    int        // parts of K; 0 lets the library choose
	Algorithm *Algorithm // one of an earlier Report or of Algorithms; nil lets the library choose
	Classic   bool       // cublasGemmEx, as the paper: the library alone chooses, and does not tell
	Fast      bool       // 8-bit factors: never promote sums to binary32 between steps of K
	Workspace int        // bytes for the library; 0 is 32 MiB
	MaxBytes  int        // of device memory to use; 0 is nearly all that is free

	err error // of GEMM
}

// Algorithm is how cuBLASLt computes a product: a kernel with its tile, and in
// how many parts it takes K. The numbers are those of the library, in its own
// enumerations.
type Algorithm = cuda.Algorithm

// Routine returns the kernel for the formats of an emulated device, to compare
// with it. It splits K as the library likes.
func (g *GPU) Routine(d tcore.Device) *Routine {
	return &Routine{GPU: g, A: d.A, B: d.B, C: d.C}
}

// arithmetic is formats that go together, and how cuBLAS names them.
type arithmetic struct {
	a, b, c, output tcore.Format
	ta, tb, td      cuda.DataType
	compute         cuda.ComputeType
}

// families are the formats that go together, each with the results that they
// can be rounded to.
var families = []struct {
	a, b, c tcore.Format
	compute cuda.ComputeType
	outputs []tcore.Format
}{
	{tcore.Binary16, tcore.Binary16, tcore.Binary32, cuda.Compute32, []tcore.Format{tcore.Binary32, tcore.Binary16}},
	{tcore.Binary16, tcore.Binary16, tcore.Binary16, cuda.Compute16, []tcore.Format{tcore.Binary16}},
	{tcore.BFloat16, tcore.BFloat16, tcore.Binary32, cuda.Compute32, []tcore.Format{tcore.Binary32}},
	{tcore.TF32, tcore.TF32, tcore.Binary32, cuda.Compute32TF32, []tcore.Format{tcore.Binary32}},
	{tcore.E4M3, tcore.E4M3, tcore.Binary32, cuda.Compute32, []tcore.Format{tcore.Binary32, tcore.Binary16}},
	{tcore.E4M3, tcore.E5M2, tcore.Binary32, cuda.Compute32, []tcore.Format{tcore.Binary32, tcore.Binary16}},
	{tcore.E5M2, tcore.E4M3, tcore.Binary32, cuda.Compute32, []tcore.Format{tcore.Binary32, tcore.Binary16}},
	{tcore.Binary64, tcore.Binary64, tcore.Binary64, cuda.Compute64, []tcore.Format{tcore.Binary64}},
}

// dataTypes are the types of matrices. A tf32 number is a binary32 one whose
// last bits do not count.
var dataTypes = map[tcore.Format]cuda.DataType{
	tcore.Binary16: cuda.Real16, tcore.BFloat16: cuda.BF16, tcore.TF32: cuda.Real32, tcore.Binary32: cuda.Real32,
	tcore.Binary64: cuda.Real64, tcore.E4M3: cuda.E4M3, tcore.E5M2: cuda.E5M2,
}

// Check returns an error that names the formats if they do not go together.
func (k *Routine) Check() error {
	_, err := k.find()
	return err
}

// arithmetic panics unless the formats go together.
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

// scalar returns alpha or beta as the library wants it: of the type of the
// arithmetic, not an int.
func (a arithmetic) scalar(x float32) uint64 {
	switch a.compute.Scale() {
	case cuda.Real16:
		return tcore.Binary16.Encode(float64(x), tcore.ToNearestEven)
	case cuda.Real64:
		return math.Float64bits(float64(x))
	}
	return uint64(math.Float32bits(x))
}

// eight reports whether the factors have 8 bits, for which both must have K
// contiguous and all sizes must be multiples of 16.
func (a arithmetic) eight() bool { return a.ta.Size() == 1 }
