package network

import (
	"errors"
	"fmt"
	"slices"

	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas/blas32"
)

// Exactly returns ab with sums in binary64, rounded once to binary32. It is a
// [Multiply]; the error is nil.
func Exactly(_ string, a, b blas32.General) (blas32.General, error) {
	d := matrix.Product64(matrix.Float64(a), matrix.Float64(b))
	z := matrix.New(d.Rows, d.Cols)
	for i, v := range d.Data {
		z.Data[i] = float32(v)
	}
	return z, nil
}

// product has two matrices multiplied, of these elements.
func (c *call) product(a, b []float32, m, k, n int) ([]float32, error) {
	if m < 1 || k < 1 || n < 1 {
		return nil, fmt.Errorf("a product of %d × %d and %d × %d, want at least 1 × 1", m, k, k, n)
	}
	if _, err := c.fits([]int{m, n}); err != nil {
		return nil, err
	}
	z, err := c.multiply(c.name, blas32.General{Rows: m, Cols: k, Stride: k, Data: a}, blas32.General{Rows: k, Cols: n, Stride: n, Data: b})
	if err != nil {
		return nil, err
	}
	if z.Rows != m || z.Cols != n || z.Stride != n || len(z.Data) != m*n {
		return nil, fmt.Errorf("a product of %d × %d, with stride %d and %d elements, want %d × %d", z.Rows, z.Cols, z.Stride, len(z.Data), m, n)
	}
	return z.Data, nil
}

// realInputs returns an error if an input is of integers.
func (c *call) realInputs() error {
	for i, x := range c.x {
		if x.Integer {
			return fmt.Errorf("input %d has integers, want binary32", i)
		}
	}
	return nil
}

// matMul multiplies matrices, those of the last two axes. All rows of a are
// multiplied at once by a b that is one matrix.
func matMul(c *call) (Tensor, error) {
	a, b := c.x[0], c.x[1]
	if err := c.realInputs(); err != nil {
		return a, err
	}
	row, column := len(a.Shape) == 1, len(b.Shape) == 1
	if row {
		a.Shape = []int{1, a.Shape[0]}
	}
	if column {
		b.Shape = []int{b.Shape[0], 1}
	}
	p, q := len(a.Shape), len(b.Shape)
	if p < 2 || q < 2 || a.Shape[p-1] != b.Shape[q-2] {
		return a, fmt.Errorf("a of shape %v and b of %v, want matrices whose product is defined", c.x[0].Shape, c.x[1].Shape)
	}
	m, k, n := a.Shape[p-2], a.Shape[p-1], b.Shape[q-1]
	var batch []int
	var z []float32
	if q == 2 {
		var err error
		batch = slices.Clone(a.Shape[:p-2])
		if z, err = c.product(a.Data, b.Data, count(a.Shape[:p-1]), k, n); err != nil {
			return a, err
		}
	} else {
		// Which matrix of a and which of b is next, as numbers to repeat.
		if max(count(a.Shape[:p-2]), count(b.Shape[:q-2])) > 1<<24 {
			return a, fmt.Errorf("a of shape %v and b of %v, want at most 2^24 matrices", a.Shape, b.Shape)
		}
		left, right, shape, err := c.broadcast(numbered(a.Shape[:p-2]), numbered(b.Shape[:q-2]))
		if err != nil {
			return a, err
		}
		batch = slices.Clone(shape)
		if _, err := c.fits(append(slices.Clone(batch), m, n)); err != nil {
			return a, err
		}
		for i := range left {
			d, err := c.product(a.Data[int(left[i])*m*k:][:m*k], b.Data[int(right[i])*k*n:][:k*n], m, k, n)
			if err != nil {
				return a, err
			}
			z = append(z, d...)
		}
	}
	if !row {
		batch = append(batch, m)
	}
	if !column {
		batch = append(batch, n)
	}
	return Tensor{Shape: batch, Data: z}, nil
}

// numbered returns a tensor of the numbers 0, 1, 2, ….
func numbered(shape []int) Tensor {
	x := Tensor{Shape: shape, Data: make([]float32, count(shape))}
	for i := range x.Data {
		x.Data[i] = float32(i)
	}
	return x
}

// turned returns the shape and the elements of a matrix, transposed if wanted.
func turned(x Tensor, transpose bool) (rows, cols int, data []float32) {
	if transpose {
		return x.Shape[1], x.Shape[0], gather(x.Data, []int{x.Shape[1], x.Shape[0]}, []int{1, x.Shape[1]}, 0)
	}
	return x.Shape[0], x.Shape[1], x.Data
}

// gemm computes fl(fl(alpha AB) + fl(beta C)).
func gemm(c *call) (Tensor, error) {
	if err := c.realInputs(); err != nil {
		return Tensor{}, err
	}
	a, b := c.x[0], c.x[1]
	if len(a.Shape) != 2 || len(b.Shape) != 2 {
		return a, fmt.Errorf("a of shape %v and b of %v, want matrices", a.Shape, b.Shape)
	}
	m, k, left := turned(a, c.node.integer("transA", 0) != 0)
	l, n, right := turned(b, c.node.integer("transB", 0) != 0)
	if k != l {
		return a, fmt.Errorf("a of shape %v and b of %v, want matrices whose product is defined", a.Shape, b.Shape)
	}
	data, err := c.product(left, right, m, k, n)
	if err != nil {
		return a, err
	}
	z := Tensor{Shape: []int{m, n}, Data: slices.Clone(data)}
	alpha, beta := c.real("alpha", 1), c.real("beta", 1)
	for i := range z.Data {
		z.Data[i] *= alpha
	}
	if len(c.x) < 3 || c.x[2].Data == nil {
		return z, nil
	}
	_, y, shape, err := c.broadcast(z, c.x[2])
	if err != nil || !slices.Equal(shape, z.Shape) {
		return z, errors.Join(err, fmt.Errorf("c of shape %v for a product of shape %v", c.x[2].Shape, z.Shape))
	}
	for i := range z.Data {
		z.Data[i] += float32(beta * y[i])
	}
	return z, nil
}

// convolve multiplies the activations below every place of the kernel by the
// filters: a matrix product for each group.
func convolve(c *call) (Tensor, error) {
	if err := c.realInputs(); err != nil {
		return Tensor{}, err
	}
	x, w := c.x[0], c.x[1]
	rank, groups := len(x.Shape)-2, int(c.node.integer("group", 1))
	if rank < 1 || len(w.Shape) != rank+2 || groups < 1 || x.Shape[1]%groups != 0 || w.Shape[1] != x.Shape[1]/groups || w.Shape[0]%groups != 0 {
		return x, fmt.Errorf("activations of shape %v and filters of %v in %d groups", x.Shape, w.Shape, groups)
	}
	s, err := c.places(x.Shape[2:], w.Shape[2:])
	if err != nil {
		return x, err
	}
	if _, err := c.fits(append([]int{x.Shape[0], x.Shape[1]}, s.padded...)); err != nil {
		return x, err
	}
	channels, filters, cells := x.Shape[1]/groups, w.Shape[0]/groups, count(s.out)
	K, rows := channels*count(w.Shape[2:]), x.Shape[0]*cells
	for _, shape := range [][]int{{rows, K}, {rows, w.Shape[0]}} {
		if _, err := c.fits(shape); err != nil {
			return x, err
		}
	}
	bias := make([]float32, w.Shape[0])
	if len(c.x) > 2 && c.x[2].Data != nil {
		if bias = c.x[2].Data; len(bias) != w.Shape[0] {
			return x, fmt.Errorf("%d biases for %d filters", len(bias), w.Shape[0])
		}
	}
	x = s.pad(x)
	z := Tensor{Shape: append([]int{x.Shape[0], w.Shape[0]}, s.out...), Data: make([]float32, rows*w.Shape[0])}
	steps := strides(x.Shape)
	shape, by := append([]int{x.Shape[0]}, s.out...), []int{steps[0]}
	for k, step := range steps[2:] {
		by = append(by, step*s.strides[k])
	}
	shape, by = append(append(shape, channels), w.Shape[2:]...), append(by, steps[1])
	for k, step := range steps[2:] {
		by = append(by, step*s.dilations[k])
	}
	for g := range groups {
		a := gather(x.Data, shape, by, g*channels*steps[1])
		b := gather(w.Data, []int{K, filters}, []int{1, K}, g*filters*K)
		d, err := c.product(a, b, rows, K, filters)
		if err != nil {
			return x, err
		}
		for i := range rows {
			for j := range filters {
				f := g*filters + j
				z.Data[(i/cells*w.Shape[0]+f)*cells+i%cells] = d[i*filters+j] + bias[f]
			}
		}
	}
	return z, nil
}

// places says where a kernel lies: along each axis by how much it moves, how
// far apart its elements are, the zeros before, the size with all zeros, and
// the number of places.
type places struct {
	strides, dilations, before, padded, out []int
}

func (c *call) places(size, kernel []int) (s places, err error) {
	if auto := c.text["auto_pad"]; auto != "" && auto != "NOTSET" && auto != "VALID" {
		return s, fmt.Errorf("auto_pad %s is not computed", auto)
	}
	rank := len(size)
	take := func(name string, n, otherwise, least int) []int {
		v := ints(c.integers[name])
		if v == nil {
			v = slices.Repeat([]int{otherwise}, n)
		}
		if len(v) != n || slices.Min(v) < least || slices.Max(v) > c.most {
			err = fmt.Errorf("%s %v, want %d numbers of at least %d", name, v, n, least)
			return slices.Repeat([]int{1}, n)
		}
		return v
	}
	s.strides, s.dilations = take("strides", rank, 1, 1), take("dilations", rank, 1, 1)
	pads := take("pads", 2*rank, 0, 0)
	if len(c.integers["kernel_shape"]) > 0 && !slices.Equal(ints(c.integers["kernel_shape"]), kernel) {
		err = fmt.Errorf("kernel_shape %v for filters of %v", c.integers["kernel_shape"], kernel)
	}
	if err != nil {
		return s, err
	}
	s.before = pads[:rank]
	for k := range rank {
		if kernel[k] < 1 {
			return s, fmt.Errorf("a kernel of %v, want sizes of at least 1", kernel)
		}
		padded := size[k] + pads[k] + pads[rank+k]
		room := padded - (kernel[k]-1)*s.dilations[k] - 1
		if room < 0 {
			return s, fmt.Errorf("a kernel of %v, with dilations %v, does not fit into %v with pads %v", kernel, s.dilations, size, pads)
		}
		s.padded, s.out = append(s.padded, padded), append(s.out, room/s.strides[k]+1)
	}
	return s, nil
}

// pad returns x with zeros around the axes after the first two.
func (s places) pad(x Tensor) Tensor {
	if slices.Equal(x.Shape[2:], s.padded) {
		return x
	}
	shape := append(slices.Clone(x.Shape[:2]), s.padded...)
	z := Tensor{Shape: shape, Data: make([]float32, count(shape))}
	index, steps := make([]int, len(x.Shape)), strides(shape)
	for _, v := range x.Data {
		at := 0
		for k, i := range index {
			if k > 1 {
				i += s.before[k-2]
			}
			at += i * steps[k]
		}
		z.Data[at] = v
		for k := len(index) - 1; k >= 0; k-- {
			if index[k]++; index[k] < x.Shape[k] {
				break
			}
			index[k] = 0
		}
	}
	return z
}
