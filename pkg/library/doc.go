// Package library knows which library computes by which plan of package plan:
// tables with their sources, as data.
//
//	p, warning, err := library.FindProfile("cublaslt-13.1", "h100")
//	c, err := library.ParseConfig("66,0,2,2,0,0,35")
//	planned, err := p.Plan(library.Shape{M: 64, N: 64, K: 4096}, library.FP16, c)
//	planned.Plan.GEMM(…)
//
// A [Profile] is one version of cuBLASLt on one architecture. From the
// configuration that cuBLASLt answers for a product, its planner computes the
// order of the sums: by rules and tables that others published and held against
// silicon (bitequiv 2026). It is a pure function. What the tables do not have
// is a [Refusal] that names what is known nearest; nothing is guessed. What
// they have without anyone having measured it is among the Doubts of what is
// [Planned], and is refused too with the option Measured. The command roundoff
// gpu verify -library compares plans with what the library returns on a GPU.
//
// [Plans] lists the orders of other libraries: DeepGEMM, DeepSeek-V3, CUTLASS,
// TransformerEngine, OpenBLAS, NumPy, and those of which no order is known well
// enough, with the reason. [PyTorchReduction] says which configurations an
// option of PyTorch allows.
package library
