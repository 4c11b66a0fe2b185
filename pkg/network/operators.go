package network

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// A call is a node with its inputs. One that is left out has no shape and no
// data.
type call struct {
	*node
	*run
	x []Tensor
}

// An operator computes the output of a node from least to most inputs.
type operator struct {
	least, most int
	do          func(c *call) (Tensor, error)
}

// operators are those that are computed.
var operators map[string]operator

func init() {
	operators = map[string]operator{
		"MatMul": {2, 2, matMul}, "Gemm": {2, 3, gemm}, "Conv": {2, 3, convolve},

		"Add": {2, 2, pairs(func(x, y float64) float64 { return x + y })},
		"Sub": {2, 2, pairs(func(x, y float64) float64 { return x - y })},
		"Mul": {2, 2, pairs(func(x, y float64) float64 { return x * y })},
		"Div": {2, 2, pairs(func(x, y float64) float64 { return x / y })},
		"Pow": {2, 2, pairs(math.Pow)},
		"Max": {1, math.MaxInt, pairs(func(x, y float64) float64 { return max(x, y) })},
		"Min": {1, math.MaxInt, pairs(func(x, y float64) float64 { return min(x, y) })},

		"Equal": {2, 2, equal}, "Expand": {2, 2, expand},

		"Abs":        {1, 1, each(math.Abs)},
		"Neg":        {1, 1, each(func(x float64) float64 { return -x })},
		"Sqrt":       {1, 1, each(math.Sqrt)},
		"Reciprocal": {1, 1, each(func(x float64) float64 { return 1 / x })},
		"Exp":        {1, 1, each(math.Exp)},
		"Tanh":       {1, 1, each(math.Tanh)},
		"Erf":        {1, 1, each(math.Erf)},
		"Sigmoid":    {1, 1, each(func(x float64) float64 { return 1 / (1 + math.Exp(-x)) })},
		"Relu":       {1, 1, each(func(x float64) float64 { return max(x, 0) })},
		"Identity":   {1, 1, each(func(x float64) float64 { return x })},

		"ReduceSum": {1, 2, reduce(sum)}, "ReduceMean": {1, 2, reduce(mean)}, "ReduceMax": {1, 2, reduce(slices.Max[[]float32])},
		"GlobalMaxPool": {1, 1, pool(slices.Max[[]float32])}, "GlobalAveragePool": {1, 1, pool(mean)},
		"Softmax": {1, 1, softmax},

		"Constant": {0, 0, constantNode}, "Shape": {1, 1, shapeOf}, "Cast": {1, 1, castTo}, "Gather": {2, 2, pick}, "Flatten": {1, 1, flatten},
		"Transpose": {1, 1, moved}, "Reshape": {2, 2, moved}, "Squeeze": {1, 2, moved}, "Unsqueeze": {1, 2, moved}, "Slice": {1, 5, moved},
		"Concat": {1, math.MaxInt, moved},
	}
}

// moved computes an operator that moves elements as it moves those of weights.
func moved(c *call) (Tensor, error) {
	for i, x := range c.x {
		if c.operator == "Concat" && x.Integer != c.x[0].Integer {
			return Tensor{}, fmt.Errorf("input %d: integers: %v, want %v", i, x.Integer, c.x[0].Integer)
		}
	}
	z, err := moves[c.operator](c.graph, c.node, tensor{c.x[0].Shape, func() ([]float32, error) { return c.x[0].Data, nil }})
	if err != nil {
		return Tensor{}, err
	}
	if _, err := c.fits(z.shape); err != nil {
		return Tensor{}, err
	}
	data, err := z.read()
	return Tensor{z.shape, data, c.x[0].Integer}, err
}

// each computes a function of each number, and rounds it.
func each(f func(x float64) float64) func(*call) (Tensor, error) {
	return func(c *call) (Tensor, error) {
		x := c.x[0]
		z := Tensor{x.Shape, make([]float32, len(x.Data)), x.Integer}
		for i, v := range x.Data {
			z.Data[i] = float32(f(float64(v)))
		}
		return z, z.checked()
	}
}

// checked returns an error if z is of integers and has other numbers.
func (z Tensor) checked() error {
	if z.Integer {
		return whole(z.Data)
	}
	return nil
}

// pairs computes a function of two numbers, and rounds it: of all elements of
// the inputs, which are repeated along axes of size 1. More inputs follow one
// after the other.
func pairs(f func(x, y float64) float64) func(*call) (Tensor, error) {
	return func(c *call) (Tensor, error) {
		z := c.x[0]
		for _, y := range c.x[1:] {
			if z.Integer != y.Integer {
				return z, fmt.Errorf("integers: %v and %v, want both or none", z.Integer, y.Integer)
			}
			x, y, shape, err := c.broadcast(z, y)
			if err != nil {
				return z, err
			}
			z = Tensor{shape, make([]float32, len(x)), z.Integer}
			for i := range x {
				v := f(float64(x[i]), float64(y[i]))
				if z.Integer {
					v = math.Trunc(v) // quotients
				}
				z.Data[i] = float32(v)
			}
		}
		return z, z.checked()
	}
}

func equal(c *call) (Tensor, error) {
	if c.x[0].Integer != c.x[1].Integer {
		return Tensor{}, fmt.Errorf("integers: %v and %v, want both or none", c.x[0].Integer, c.x[1].Integer)
	}
	x, y, shape, err := c.broadcast(c.x[0], c.x[1])
	z := Tensor{shape, make([]float32, len(x)), true}
	for i := range x {
		if x[i] == y[i] {
			z.Data[i] = 1
		}
	}
	return z, err
}

// broadcast returns the elements of x and y in the shape that both fit, in
// which axes of size 1 are repeated. The last axes correspond.
func (r *run) broadcast(x, y Tensor) (a, b []float32, shape []int, err error) {
	shape = slices.Repeat([]int{1}, max(len(x.Shape), len(y.Shape)))
	for _, t := range []Tensor{x, y} {
		for k, s := range t.Shape {
			at := &shape[len(shape)-len(t.Shape)+k]
			if *at != 1 && s != 1 && *at != s {
				return nil, nil, nil, fmt.Errorf("shapes %v and %v do not fit", x.Shape, y.Shape)
			}
			if s != 1 {
				*at = s
			}
		}
	}
	if _, err := r.fits(shape); err != nil {
		return nil, nil, nil, err
	}
	return repeated(x, shape), repeated(y, shape), shape, nil
}

// repeated returns the elements of x in a shape that it fits.
func repeated(x Tensor, shape []int) []float32 {
	if slices.Equal(x.Shape, shape) {
		return x.Data
	}
	steps := make([]int, len(shape))
	for k, s := range strides(x.Shape) {
		if x.Shape[k] != 1 {
			steps[len(shape)-len(x.Shape)+k] = s
		}
	}
	return gather(x.Data, shape, steps, 0)
}

func expand(c *call) (Tensor, error) {
	to, err := c.x[1].list()
	if err != nil {
		return Tensor{}, err
	}
	ones := Tensor{Shape: ints(to)}
	n, err := c.fits(ones.Shape)
	if err != nil {
		return Tensor{}, err
	}
	ones.Data = make([]float32, n)
	data, _, shape, err := c.broadcast(c.x[0], ones)
	return Tensor{shape, data, c.x[0].Integer}, err
}

// list returns the integers of a short list, ends of slices as great as can be.
func (x Tensor) list() ([]int64, error) {
	if !x.Integer || len(x.Shape) > 1 || len(x.Data) > mostIntegers {
		return nil, fmt.Errorf("a tensor of shape %v, integers: %v, want a short list of integers", x.Shape, x.Integer)
	}
	list := make([]int64, len(x.Data))
	for i, v := range x.Data {
		list[i] = int64(max(-1<<62, min(float64(v), 1<<62)))
	}
	return list, nil
}

func constantNode(c *call) (Tensor, error) {
	if v, ok := c.integers["value_ints"]; ok {
		return integersTensor(v, len(v))
	}
	if v, ok := c.integers["value_int"]; ok {
		return integersTensor(v)
	}
	if v, ok := c.reals["value_float"]; ok {
		return Tensor{nil, []float32{v}, false}, nil
	}
	if c.node.value == nil {
		return Tensor{}, errors.New("not stored as a tensor or as integers")
	}
	return c.load(c.node.value)
}

// integersTensor returns integers as a tensor of a shape.
func integersTensor(v []int64, shape ...int) (Tensor, error) {
	z := Tensor{shape, make([]float32, len(v)), true}
	if count(shape) != len(v) {
		return z, fmt.Errorf("%d integers, want those of shape %v", len(v), shape)
	}
	for i, x := range v {
		z.Data[i] = float32(x)
	}
	return z, whole(z.Data)
}

func shapeOf(c *call) (Tensor, error) {
	var v []int64
	for _, s := range c.x[0].Shape {
		v = append(v, int64(s))
	}
	return integersTensor(v, len(v))
}

func castTo(c *call) (Tensor, error) {
	x := c.x[0]
	switch to := c.integer("to", 0); to {
	case 6, 7: // int32, int64
		z, err := each(math.Trunc)(&call{node: c.node, run: c.run, x: []Tensor{{x.Shape, x.Data, false}}})
		z.Integer = true
		return z, errors.Join(err, z.checked())
	case 9: // bool
		z, err := each(func(x float64) float64 {
			if x != 0 {
				return 1
			}
			return 0
		})(c)
		z.Integer = true
		return z, err
	default:
		z, err := moved(c)
		z.Integer = false
		return z, err
	}
}

// pick takes the slices of an axis that indices name.
func pick(c *call) (Tensor, error) {
	x, index := c.x[0], c.x[1]
	k, err := axis(c.integer("axis", 0), len(x.Shape))
	if err != nil || !index.Integer {
		return Tensor{}, fmt.Errorf("axis %d of shape %v, by integers: %v", c.integer("axis", 0), x.Shape, index.Integer)
	}
	shape := slices.Concat(x.Shape[:k], index.Shape, x.Shape[k+1:])
	n, err := c.fits(shape)
	if err != nil {
		return Tensor{}, err
	}
	z, step := make([]float32, 0, n), count(x.Shape[k+1:])
	for block := range count(x.Shape[:k]) {
		for _, v := range index.Data {
			i, err := axis(int64(v), x.Shape[k])
			if err != nil {
				return Tensor{}, fmt.Errorf("index %v along axis %d of shape %v", v, k, x.Shape)
			}
			z = append(z, x.Data[(block*x.Shape[k]+i)*step:][:step]...)
		}
	}
	return Tensor{shape, z, x.Integer}, nil
}

func flatten(c *call) (Tensor, error) {
	x := c.x[0]
	k := int(c.integer("axis", 1))
	if k < 0 {
		k += len(x.Shape)
	}
	if k < 0 || k > len(x.Shape) {
		return Tensor{}, fmt.Errorf("axis %d of shape %v", c.integer("axis", 1), x.Shape)
	}
	return Tensor{[]int{count(x.Shape[:k]), count(x.Shape[k:])}, x.Data, x.Integer}, nil
}
