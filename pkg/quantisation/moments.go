package quantisation

import "math"

// degree is the number of moments from which generating functions are summed.
const degree = 96

// moments contains E m^i δ^k at [i][k], i + k <= degree, for the number
// m = (x + x̂)/2 and its error δ = x̂ - x, both in units in which they are of
// order 1.
type moments [degree + 1][degree + 1]float64

// add adds a node in these units. What is less than 10^-40 is not added: it is
// multiplied by moments of the other factor, and by powers of t divided by
// factorials, which are below e^degree/2.
func (t *moments) add(n node, size, err float64) {
	const negligible = 1e-40
	m, δ := (n.x+n.delta/2)/size, n.delta/err
	powers := make([]float64, 0, degree+1) // of δ
	for power := 1.0; len(powers) <= degree && math.Abs(power) > negligible; power *= δ {
		powers = append(powers, power)
	}
	power := n.weight
	for i := 0; i <= degree && math.Abs(power) > negligible; i++ {
		row := t[i][:min(len(powers), degree-i+1)]
		for k, x := range powers[:len(row)] {
			row[k] += float64(power * x)
		}
		power *= m
	}
}

// plus adds the moments of u.
func (t *moments) plus(u *moments) {
	for i := range t {
		for k, x := range u[i][:degree-i+1] {
			t[i][k] += x
		}
	}
}

// transposed returns the moments at [k][i].
func (t *moments) transposed() *moments {
	u := new(moments)
	for i := range t {
		for k, x := range t[i][:degree-i+1] {
			u[k][i] = x
		}
	}
	return u
}

// A series contains the coefficients of a power series.
type series [degree + 1]float64

// exponential returns the coefficients of e^(ct).
func exponential(c float64) *series {
	s := &series{1}
	for i := 1; i <= degree; i++ {
		s[i] = s[i-1] * c / float64(i)
	}
	return s
}

// split returns E m^i δ^k / i! k! times left^i right^k.
func (t *moments) split(left, right float64) *moments {
	l, r := exponential(left), exponential(right)
	u := new(moments)
	for i := range t {
		for k, x := range t[i][:degree-i+1] {
			u[i][k] = x * (l[i] * r[k])
		}
	}
	return u
}

// at returns the series of E exp(t(αm + βδ)), where t has been split.
func (t *moments) at(α, β float64) *series {
	s := new(series)
	var powers series // of β
	power := 1.0
	for j := range powers {
		powers[j] = power
		power *= β
	}
	power = 1
	for i := range t {
		sums := s[i:]
		for k, x := range t[i][:len(sums)] {
			sums[k] += float64(x * power * powers[k])
		}
		power *= α
	}
	return s
}

// productSeries adds to s the series Σ t^j E q^j / j! of the moment generating
// function of
//
//	q = âb̂ - ab = share m_a δ_b + (1 - share) m_b δ_a
//
// in units of its greatest value, where a has been split into share and
// 1 - share, and b is transposed. As a and b are independent, the moments of q
// are sums of products of those of a and of b. Nothing cancels here, as it
// would in âb̂ - ab.
func productSeries(s *series, a, b *moments) {
	i := 0
	for ; i+3 <= degree; i += 4 {
		fourRows(s[i:], a[i:], b[i:])
	}
	for ; i <= degree; i++ {
		oneRow(s[i:], &a[i], &b[i])
	}
}

// oneRow adds the products of a row of x and one of y to sums, in order.
func oneRow(sums []float64, x, y *[degree + 1]float64) {
	for k := range sums {
		sums[k] += float64(x[k] * y[k])
	}
}

// fourRows is oneRow for four rows in turn, each of which begins a sum later,
// with sums that are loaded and stored once.
func fourRows(sums []float64, x, y [][degree + 1]float64) {
	oneRow(sums[:3], &x[0], &y[0])
	oneRow(sums[1:3], &x[1], &y[1])
	oneRow(sums[2:3], &x[2], &y[2])
	sums = sums[3:]
	n := len(sums)
	x0, y0 := x[0][3:][:n], y[0][3:][:n]
	x1, y1 := x[1][2:][:n], y[1][2:][:n]
	x2, y2 := x[2][1:][:n], y[2][1:][:n]
	x3, y3 := x[3][:n], y[3][:n]
	for k, sum := range sums {
		sums[k] = sum + float64(x0[k]*y0[k]) + float64(x1[k]*y1[k]) + float64(x2[k]*y2[k]) + float64(x3[k]*y3[k])
	}
}

// shells are the moments of numbers that lie in one interval and not in that
// before, nil if there are none.
type shells []*moments

// add adds a node of shell k.
func (s shells) add(k int, n node, size, err float64) {
	if s[k] == nil {
		s[k] = new(moments)
	}
	s[k].add(n, size, err)
}

// union returns the moments of the numbers of s and t.
func (s shells) union(t shells) shells {
	u := make(shells, len(s))
	for i := range s {
		switch {
		case s[i] != nil && t[i] != nil:
			sum := *s[i]
			sum.plus(t[i])
			u[i] = &sum
		case s[i] != nil:
			u[i] = s[i]
		default:
			u[i] = t[i]
		}
	}
	return u
}

// split returns the split moments of all shells.
func (s shells) split(left, right float64) shells {
	z := make(shells, len(s))
	for i, t := range s {
		if t != nil {
			z[i] = t.split(left, right)
		}
	}
	return z
}

// inner returns the moments of the first i+1 shells at [i], transposed.
func (s shells) inner() shells {
	sums := make(shells, len(s))
	for i, t := range s {
		switch {
		case t != nil:
			sums[i] = t.transposed()
			if i > 0 && sums[i-1] != nil {
				sums[i].plus(sums[i-1])
			}
		case i > 0:
			sums[i] = sums[i-1]
		}
	}
	return sums
}

// times returns the sum of productSeries over the shells i of a and j of b with
// i + j below the number of shells, which leaves out the pairs that are both
// extreme. inner is that of b.
func (a shells) times(inner shells) *series {
	sum := new(series)
	for i, t := range a {
		if u := inner[len(a)-1-i]; t != nil && u != nil {
			productSeries(sum, t, u)
		}
	}
	return sum
}

// A jet contains the Taylor coefficients of a function at one point, f⁽ⁱ⁾/i!.
type jet [5]float64

// terms returns the number of the last term of the series of e^t that is above
// 10^-24, or a later one. Moments are at most 1, so that it is enough for them.
func terms(t float64) int {
	term := 1.0
	for j := 1; j < degree; j++ {
		if term *= math.Abs(t) / float64(j); term < 1e-24 && float64(j) > math.Abs(t) {
			return j
		}
	}
	return degree
}

// most returns the greatest |t| at which terms are below 10^-16 from the last
// one on: t^degree E|q|^degree / degree! = 10^-16.
func (s *series) most() float64 { return math.Pow(1e-16/math.Abs(s[degree]), 1./degree) }

// at returns the jet of the sum of the first n+1 terms of the series at t.
func (s *series) at(t float64, n int) jet {
	var f0, f1, f2, f3, f4 float64
	for j := n; j >= 0; j-- {
		f4 = float64(f4*t) + f3
		f3 = float64(f3*t) + f2
		f2 = float64(f2*t) + f1
		f1 = float64(f1*t) + f0
		f0 = float64(f0*t) + s[j]
	}
	return jet{f0, f1, f2, f3, f4}
}

// complex returns the sum of the first n+1 terms of the series at t: those of
// even powers and those of odd ones, which do not wait for each other.
func (s *series) complex(t complex128, n int) complex128 {
	var even, odd complex128
	square := t * t
	for j := n | 1; j > 0; j -= 2 {
		even = even*square + complex(s[j-1], 0)
		if j <= n {
			odd = odd*square + complex(s[j], 0)
		}
	}
	return even + t*odd
}

// power returns f^n.
func power(f complex128, n int) complex128 {
	p := 1 + 0i
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			p *= f
		}
		f *= f
	}
	return p
}

// power returns the jet of f^n, from n f' f^n = f (f^n)'.
func (f jet) power(n int) jet {
	var p jet
	if n == 1 || f[0] == 0 {
		return f // nothing is positive where the probability is 0
	}
	p[0] = math.Pow(f[0], float64(n))
	for i := 1; i < len(p); i++ {
		for k := 1; k <= i; k++ {
			p[i] += float64(float64(k*n-i+k) * f[k] * p[i-k])
		}
		p[i] /= float64(i) * f[0]
	}
	return p
}

// times returns the jet of fg.
func (f jet) times(g jet) jet {
	var p jet
	for i := range p {
		for k := range i + 1 {
			p[i] += float64(f[k] * g[i-k])
		}
	}
	return p
}

// log returns the jet of log f, from f (log f)' = f'. less is f[0] - 1.
func (f jet) log(less float64) jet {
	l := jet{math.Log1p(less)}
	for i := 1; i < len(l); i++ {
		l[i] = float64(i) * f[i]
		for k := 1; k < i; k++ {
			l[i] -= float64(float64(k) * l[k] * f[i-k])
		}
		l[i] /= float64(i) * f[0]
	}
	return l
}

// scaled returns the jet of f(ct) as a function of t.
func (f jet) scaled(c float64) jet {
	power := 1.0
	for i := range f {
		f[i] *= power
		power *= c
	}
	return f
}

// plus returns f + c g.
func (f jet) plus(c float64, g jet) jet {
	for i := range f {
		f[i] += float64(c * g[i])
	}
	return f
}
