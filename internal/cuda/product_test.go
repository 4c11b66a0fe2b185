package cuda

import "testing"

func TestProduct_tells_its_shapes(t *testing.T) {
	p := Product{TransA: true, M: 2, N: 3, K: 4, A: E4M3, B: E5M2, D: Real32, LDA: 16, LDB: 32, LDD: 48, Compute: Compute32}
	if got, want := p.String(), "TN, m 2, n 3, k 4, types 28, 29, 0, ld 16, 32, 48, compute 68"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	// A transposed A is stored as K × M.
	if got, want := p.layouts(), [3][4]int{{28, 4, 2, 16}, {29, 4, 3, 32}, {0, 2, 3, 48}}; got != want {
		t.Errorf("%v, want %v", got, want)
	}
	p.RowA, p.RowD = true, true
	if got, want := p.String(), "TN, m 2, n 3, k 4, types 28, 29, 0, ld 16, 32, 48, compute 68, A by rows, D by rows"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	p.TransA, p.TransB = false, true
	if got, want := p.layouts(), [3][4]int{{28, 2, 4, 16}, {29, 3, 4, 32}, {0, 2, 3, 48}}; got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestTypes(t *testing.T) {
	for d, want := range map[DataType]int{Real64: 8, Real32: 4, Real16: 2, BF16: 2, E4M3: 1, E5M2: 1} {
		if d.Size() != want {
			t.Errorf("type %d has %d bytes, want %d", d, d.Size(), want)
		}
	}
	for c, want := range map[ComputeType]DataType{Compute16: Real16, Compute32: Real32, Compute64: Real64, Compute32TF32: Real32} {
		if c.Scale() != want {
			t.Errorf("arithmetic %d has scalars of type %d, want %d", c, c.Scale(), want)
		}
	}
}
