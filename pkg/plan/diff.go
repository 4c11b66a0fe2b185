package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// A Difference is how the results of two plans differ for sums of K products.
type Difference struct {
	K int

	// Equal says that both compute the same, for every input: their orders differ
	// in nothing that K products meet. If it is false they may be equal yet.
	Equal bool

	Words   []string // what differs, in words; nil if Equal
	Example *Example // an input whose results differ, nil if none was found
	Tried   int      // inputs, until one was found
	Random  Spread   // of random inputs
}

// An Example is an input for which two plans differ: At are the positions of
// its products that are not 0, X and Y their factors, and P and Q the results.
type Example struct {
	At   []int
	X, Y []float64
	P, Q float64
}

// A Spread is how far apart two plans are for normal factors, of mean 0 and
// deviation 1, rounded to the formats of both.
type Spread struct {
	Dots    int
	Differ  int     // dots whose results differ
	RMS     float64 // root mean square of the differences of the results
	Largest float64 // |difference|
	ErrorP  float64 // root mean square of the errors of p, against binary64
	ErrorQ  float64
}

// Diff compares two plans for sums of k products. Scales are 1. It looks for
// the least input for which the bits of D differ: one product that is not 0,
// then 2, 3 and 4, at places where the orders part, and then random ones, of
// which what makes no difference is removed. The search is the same at every
// call and gives up after a number of inputs that decreases with k. It panics
// if k < 1 or [Plan.Check] returns an error for one of them.
func Diff(p, q Plan, k int) Difference {
	pkg.Count("k", k)
	for _, z := range []Plan{p, q} {
		if err := z.Check(); err != nil {
			panic(err.Error())
		}
	}
	d := Difference{K: k, Equal: p.normal(k) == q.normal(k)}
	if d.Equal {
		return d
	}
	d.Words = differences(p, q, k)
	s := newSearch(p, q, k)
	for products := 1; products <= min(4, k) && d.Example == nil; products++ {
		d.Example = s.least(products)
	}
	random := s.random(&d.Random)
	if d.Example == nil && random != nil {
		d.Example = s.reduced(random)
	}
	d.Tried = s.tried
	return d
}

// differences tells in words what is different in two plans.
func differences(p, q Plan, k int) []string {
	var words []string
	a, b := p.Device(), q.Device()
	if arithmeticOf(a) != arithmeticOf(b) {
		words = append(words, fmt.Sprintf("The devices differ: %s (%s, terms of %d) and %s (%s, terms of %d).", deviceText(a), a.C.Name, a.BlockTerms(), deviceText(b), b.C.Name, b.BlockTerms()))
	}
	if x, y := p.output(), q.output(); !x.Equal(y) {
		words = append(words, fmt.Sprintf("The results are rounded to %s and %s.", x.Name, y.Name))
	}
	if p.FusedBeta != q.FusedBeta {
		words = append(words, "One applies alpha by an FMA, the other does not: that shows if beta is not 0 alone.")
	}
	if x, y := p.Size(k).Lost, q.Size(k).Lost; x != y {
		words = append(words, fmt.Sprintf("Of %d products the first plan loses %d, the second %d.", k, x, y))
	}
	at := places(p, q, k)
	for _, j := range at {
		for _, i := range at {
			if i >= j {
				break
			}
			if x, y := meet(p.Order, k, i, j), meet(q.Order, k, i, j); x != y {
				return append(words, fmt.Sprintf("Products %d and %d meet %s in the first plan, and %s in the second.", i, j, x, y))
			}
		}
	}
	if normal(p.Order, k) != normal(q.Order, k) {
		words = append(words, "The products that were compared meet in the same places; what is added or rounded there, or after, differs.")
	}
	return words
}

// places returns positions of products where two orders may part: the ends and
// the beginnings of parts, instructions and lanes, ascending.
func places(p, q Plan, k int) []int {
	at := []int{0, 1, 2, 3, k / 2, k - 2, k - 1}
	for _, z := range []Plan{p, q} {
		for _, l := range z.Levels(k) {
			lengths := []int{l.Vector}
			for _, g := range l.Groups {
				lengths = append(lengths, g.Products)
			}
			if parts, ok := l.Order.(Parts); ok {
				lengths = append(lengths, l.Vector*parts.Cut.Lanes)
			}
			for _, n := range lengths[:min(len(lengths), 5)] {
				at = append(at, n-1, n, n+1, 2*n, k-n-1, k-n)
			}
			if l.Lost > 0 {
				at = append(at, l.Products-l.Lost-1, l.Products-l.Lost)
			}
		}
	}
	at = slices.DeleteFunc(at, func(i int) bool { return i < 0 || i >= k })
	slices.Sort(at)
	return slices.Compact(at)
}

// A search looks for inputs for which two plans differ.
type search struct {
	p, q   Plan
	k      int
	at     []int
	x, y   []float64 // factors to try, numbers of the formats of both plans
	budget int       // multiply-adds that are left
	tried  int
}

func newSearch(p, q Plan, k int) *search {
	s := &search{p: p, q: q, k: k, at: places(p, q, k), budget: 1 << 30}
	a, b := p.Device(), q.Device()
	greatest := math.Ldexp(1, min(a.A.Emax, b.A.Emax, 40))
	for _, v := range []float64{1, -1, 0x1p-11, 0x1p-24, 0x1p-12, 0x1p-13, 0x1p-25, 1 + 0x1p-10, 1.125, 0x1p-14} {
		if v *= greatest; isNumber(v, a.A) && isNumber(v, b.A) {
			s.x = append(s.x, v)
		}
	}
	for _, v := range []float64{1, 0x1p-10, 0x1p-9, 0x1p-6} {
		if isNumber(v, a.B) && isNumber(v, b.B) && len(s.y) < 2 {
			s.y = append(s.y, v)
		}
	}
	return s
}

func isNumber(x float64, f tcore.Format) bool { return f.Round(x, tcore.ToNearestEven) == x }

// least returns an input of so many products that are not 0, nil if none is
// found: at places where the orders part first.
func (s *search) least(products int) *Example {
	rng := rand.New(rand.NewPCG(uint64(products), uint64(s.k)))
	var parting, others [][]int
	for range 4000 {
		set := rng.Perm(len(s.at))
		if len(set) < products {
			return nil
		}
		at := make([]int, products)
		for i := range at {
			at[i] = s.at[set[i]]
		}
		slices.Sort(at)
		if s.part(at) {
			parting = append(parting, at)
		} else {
			others = append(others, at)
		}
		if len(parting) >= 24 {
			break
		}
	}
	sets := append(parting, others[:min(8, len(others))]...)
	x := s.x[:min(len(s.x), []int{0, 10, 10, 8, 5}[products])]
	share := s.budget / 3
	for _, at := range sets {
		if share <= 0 {
			return nil
		}
		before := s.budget
		if e := s.try(at, x); e != nil {
			return e
		}
		share -= before - s.budget
	}
	return nil
}

// part reports whether two of the products meet elsewhere in the orders.
func (s *search) part(at []int) bool {
	for b, j := range at {
		for _, i := range at[:b] {
			if meet(s.p.Order, s.k, i, j) != meet(s.q.Order, s.k, i, j) {
				return true
			}
		}
	}
	return false
}

// try computes all products at these places of the factors x and s.y: a row for
// each choice of x and a column for each of y.
func (s *search) try(at []int, x []float64) *Example {
	rows, cols := power(len(x), len(at)), power(len(s.y), len(at))
	band := min(rows, max(1, 1<<22/s.k))
	b := matrix.New(s.k, cols)
	for c := range cols {
		for i, digit := range digits(c, len(s.y), len(at)) {
			b.Data[at[i]*cols+c] = float32(s.y[digit])
		}
	}
	for start := 0; start < rows && s.budget > 0; start += band {
		n := min(band, rows-start)
		a := s.rows(at, x, start, n)
		s.budget -= n * cols * s.k
		d, e := s.multiply(s.p, a, b), s.multiply(s.q, a, b)
		for i := range d {
			s.tried++
			if same(d[i], e[i]) {
				continue
			}
			z := &Example{At: at, P: float64(d[i]), Q: float64(e[i])}
			for _, l := range at {
				z.X = append(z.X, float64(a.Data[i/cols*s.k+l]))
				z.Y = append(z.Y, float64(b.Data[l*cols+i%cols]))
			}
			return z
		}
	}
	return nil
}

// rows returns n rows with choices of x at these places, from number start on.
func (s *search) rows(at []int, x []float64, start, n int) blas32.General {
	a := matrix.New(n, s.k)
	for r := range n {
		for i, digit := range digits(start+r, len(x), len(at)) {
			a.Data[r*s.k+at[i]] = float32(x[digit])
		}
	}
	return a
}

// multiply returns the product of a plan, whose scales are 1.
func (s *search) multiply(p Plan, a, b blas32.General) []float32 {
	d := matrix.New(a.Rows, b.Cols)
	var scales Scales
	if length, scaled := p.Scaled(); scaled {
		n := ceil(s.k, length)
		scales = Scales{ones(a.Rows, n), ones(n, b.Cols)}
	}
	p.gemm("Diff", 1, a, b, scales, 0, blas32.General{}, d)
	return d.Data
}

func ones(rows, cols int) blas32.General {
	m := matrix.New(rows, cols)
	for i := range m.Data {
		m.Data[i] = 1
	}
	return m
}

// random fills in the spread of random inputs, and returns one whose results
// differ, nil if there is none.
func (s *search) random(z *Spread) (found *Example) {
	const n = 32
	rng := rand.New(rand.NewPCG(241118747, uint64(s.k)))
	a, b := matrix.New(n, s.k), matrix.New(s.k, n)
	draw := func(data []float32, f, g tcore.Format) {
		for i := range data {
			data[i] = float32(g.Round(f.Round(rng.NormFloat64(), tcore.ToNearestEven), tcore.ToNearestEven))
		}
	}
	draw(a.Data, s.p.Device().A, s.q.Device().A)
	draw(b.Data, s.p.Device().B, s.q.Device().B)
	d, e := s.multiply(s.p, a, b), s.multiply(s.q, a, b)
	z.Dots = n * n
	s.tried += z.Dots
	for i := range d {
		exact := 0.0
		for l := range s.k {
			exact += float64(a.Data[i/n*s.k+l]) * float64(b.Data[l*n+i%n])
		}
		diff := float64(d[i]) - float64(e[i])
		z.RMS += diff * diff
		z.ErrorP += square(float64(d[i]) - exact)
		z.ErrorQ += square(float64(e[i]) - exact)
		z.Largest = max(z.Largest, math.Abs(diff))
		if same(d[i], e[i]) {
			continue
		}
		if z.Differ++; found == nil {
			found = &Example{P: float64(d[i]), Q: float64(e[i])}
			for l := range s.k {
				found.At = append(found.At, l)
				found.X = append(found.X, float64(a.Data[i/n*s.k+l]))
				found.Y = append(found.Y, float64(b.Data[l*n+i%n]))
			}
		}
	}
	mean := func(sum float64) float64 { return math.Sqrt(sum / float64(z.Dots)) }
	z.RMS, z.ErrorP, z.ErrorQ = mean(z.RMS), mean(z.ErrorP), mean(z.ErrorQ)
	return found
}

// reduced removes products from an example as long as the results differ.
func (s *search) reduced(e *Example) *Example {
	for cut := len(e.At); cut > 1 && s.budget > 0; {
		cut = (cut + 1) / 2
		for start := 0; start < len(e.At) && s.budget > 0; {
			end := min(start+cut, len(e.At))
			less := &Example{At: slices.Delete(slices.Clone(e.At), start, end), X: slices.Delete(slices.Clone(e.X), start, end), Y: slices.Delete(slices.Clone(e.Y), start, end)}
			a, b := matrix.New(1, s.k), matrix.New(s.k, 1)
			for i, l := range less.At {
				a.Data[l], b.Data[l] = float32(less.X[i]), float32(less.Y[i])
			}
			s.budget -= s.k * 64
			s.tried++
			p, q := s.multiply(s.p, a, b)[0], s.multiply(s.q, a, b)[0]
			if same(p, q) {
				start = end
				continue
			}
			less.P, less.Q = float64(p), float64(q)
			e = less
		}
	}
	return e
}

// same reports whether two results have the same bits, or are both no numbers.
func same(x, y float32) bool {
	return math.Float32bits(x) == math.Float32bits(y) || x != x && y != y
}

func square(x float64) float64 { return x * x }

func power(base, n int) int {
	z := 1
	for range n {
		z *= base
	}
	return z
}

// digits returns the n digits of a number in a base.
func digits(number, base, n int) []int {
	z := make([]int, n)
	for i := range z {
		z[i], number = number%base, number/base
	}
	return z
}
