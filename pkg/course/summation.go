package course

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Add is the addition of a machine, fl(a + b), the only operation that the sums
// of assignment 2 use.
type Add = func(a, b float64) float64

// Adder returns the addition of the format, rounded to nearest, ties to even.
func Adder(f tcore.Format) Add {
	return func(a, b float64) float64 { return f.Add(a, b, tcore.ToNearestEven) }
}

// adder is Adder computed by math/big, for results that do not overflow. It
// counts its calls.
func adder(f tcore.Format, calls *int) Add {
	return func(a, b float64) float64 {
		*calls++
		exact := wide(a)
		rounded, _ := exact.Add(exact, wide(b)).SetPrec(uint(f.Precision)).Float64()
		return rounded
	}
}

// The oracles of the sums, written in a different way than the assignment
// defines them.
func recursive(add Add, x []float64) float64 {
	if len(x) == 1 {
		return x[0]
	}
	last := len(x) - 1
	return add(recursive(add, x[:last]), x[last])
}

func pairwise(add Add, x []float64) float64 {
	if len(x) == 1 {
		return x[0]
	}
	return add(pairwise(add, x[:len(x)/2]), pairwise(add, x[len(x)/2:]))
}

func blocked(add Add, b int, x []float64) float64 {
	var sums []float64
	for block := range slices.Chunk(x, b) {
		sums = append(sums, recursive(add, block))
	}
	return recursive(add, sums)
}

func compensated(add Add, x []float64) float64 {
	s, lost := x[0], 0.0
	for _, v := range x[1:] {
		t := add(s, v)
		e, _ := new(big.Rat).Sub(new(big.Rat).Add(rat(s), rat(v)), rat(t)).Float64()
		s, lost = t, add(lost, e)
	}
	return add(s, lost)
}

// CheckTwoSum checks that twoSum returns s = fl(a+b) and the error e = a + b -
// s of this addition, and that it calls add six times.
func CheckTwoSum(twoSum func(add Add, a, b float64) (s, e float64), seed uint64) {
	defer watch("TwoSum")()
	rng := random(seed)
	for _, f := range []tcore.Format{tcore.Binary16, tcore.BFloat16, tcore.E5M2, tcore.Binary32} {
		x := append([]float64{1, f.UnitRoundoff(), f.UnitRoundoff(), 1, 0, 1}, signed(f, 200, rng)...)
		for i := 0; i < len(x); i += 2 {
			calls := 0
			s, e := twoSum(adder(f, &calls), x[i], x[i+1])
			made := calls
			call := fmt.Sprintf("TwoSum(add, %v, %v)", x[i], x[i+1])
			same("s of "+call, s, adder(f, &calls)(x[i], x[i+1]))
			if !finite(e) || new(big.Rat).Add(rat(s), rat(e)).Cmp(new(big.Rat).Add(rat(x[i]), rat(x[i+1]))) != 0 {
				failf("%s = %v, %v, which do not add up to a + b", call, s, e)
			}
			if made != 6 {
				failf("%s calls add %d times, want 6", call, made)
			}
		}
	}
}

// CheckRecursive checks recursive summation, from left to right.
func CheckRecursive(sum func(add Add, x []float64) float64, seed uint64) {
	checkSum("Recursive(add, %s)", sum, recursive, seed)
}

// CheckPairwise checks pairwise summation: the sum of the first ⌊n/2⌋ numbers
// plus the sum of the others, each computed in the same way.
func CheckPairwise(sum func(add Add, x []float64) float64, seed uint64) {
	checkSum("Pairwise(add, %s)", sum, pairwise, seed)
}

// CheckBlocked checks blocked summation: the recursive sum of the recursive
// sums of blocks of b numbers.
func CheckBlocked(sum func(add Add, b int, x []float64) float64, seed uint64) {
	for _, b := range []int{1, 3, 8, 32} {
		checkSum(fmt.Sprintf("Blocked(add, %d, %%s)", b),
			func(add Add, x []float64) float64 { return sum(add, b, x) },
			func(add Add, x []float64) float64 { return blocked(add, b, x) }, seed)
	}
}

// CheckCompensated checks compensated summation: the errors of the additions
// are summed separately and added at the end.
func CheckCompensated(sum func(add Add, x []float64) float64, seed uint64) {
	checkSum("Compensated(add, %s)", sum, compensated, seed)
}

// checkSum compares a sum with its oracle, bit for bit, and checks that it
// calls add at least n-1 times for n numbers.
func checkSum(call string, sum, oracle func(add Add, x []float64) float64, seed uint64) {
	rng := random(seed)
	for _, f := range []tcore.Format{tcore.Binary16, tcore.BFloat16, tcore.E5M2} {
		for _, n := range []int{1, 2, 3, 4, 7, 32, 100, 257} {
			for _, x := range [][]float64{signed(f, n, rng), Uniform(f, n, rng.Uint64())} {
				calls := 0
				got := func() float64 {
					defer watch(call[:len(call)-len("(add, %s)")])()
					return sum(adder(f, &calls), slices.Clone(x))
				}()
				if calls < n-1 {
					failf(call+" calls add %d times, too few", some(x), calls)
				}
				same(fmt.Sprintf(call, some(x)), got, oracle(adder(f, &calls), x))
			}
		}
	}
}

// height returns the largest number of additions that a term of a sum passes
// through. It calls the sum with an addition that computes heights.
func height(n int, sum func(add Add, x []float64) float64) int {
	deeper := func(a, b float64) float64 { return 1 + math.Max(a, b) }
	return int(sum(deeper, make([]float64, n)))
}

// gamma returns hu/(1-hu), computed with fractions.
func gamma(h int, u float64) float64 {
	hu := new(big.Rat).Mul(big.NewRat(int64(h), 1), rat(u))
	rest := new(big.Rat).Sub(big.NewRat(1, 1), hu)
	if rest.Sign() <= 0 {
		return math.Inf(1)
	}
	γ, _ := new(big.Rat).Quo(hu, rest).Float64()
	return γ
}

var (
	someLengths   = []int{2, 3, 5, 8, 100, 1000, 2047, 2048, 2049, 5000}
	someRoundoffs = []float64{0x1p-24, 0x1p-11, 0x1p-8, 0x1p-3}
)

// CheckRecursiveConstant checks the constant γ of the recursive sum of n >= 2
// numbers.
func CheckRecursiveConstant(constant func(n int, u float64) float64) {
	checkConstant("RecursiveConstant", constant, recursive)
}

// CheckPairwiseConstant checks the constant γ of the pairwise sum of n >= 2
// numbers.
func CheckPairwiseConstant(constant func(n int, u float64) float64) {
	checkConstant("PairwiseConstant", constant, pairwise)
}

func checkConstant(name string, constant func(n int, u float64) float64, sum func(Add, []float64) float64) {
	defer watch(name)()
	for _, n := range someLengths {
		for _, u := range someRoundoffs {
			near(fmt.Sprintf("%s(%d, %v)", name, n, u), constant(n, u), gamma(height(n, sum), u))
		}
	}
}

// CheckBlockedConstant checks the constant γ of the blocked sum of n >= 2
// numbers in blocks of b.
func CheckBlockedConstant(constant func(n, b int, u float64) float64) {
	defer watch("BlockedConstant")()
	for _, n := range someLengths {
		for _, b := range []int{1, 2, 3, 7, 32, 64} {
			sum := func(add Add, x []float64) float64 { return blocked(add, b, x) }
			for _, u := range someRoundoffs {
				near(fmt.Sprintf("BlockedConstant(%d, %d, %v)", n, b, u), constant(n, b, u), gamma(height(n, sum), u))
			}
		}
	}
}

// probable returns γ̃_(n-1)(λ) of Higham & Mary 2019, with λ such that n-1
// events together fail with probability at most 1 - confidence.
func probable(n int, u, confidence float64) float64 {
	k := float64(n - 1)
	λ := math.Sqrt(2*math.Log(2*k/(1-confidence))) / (1 - u)
	return math.Expm1(λ*math.Sqrt(k)*u + k*u*u/(1-u))
}

// CheckProbabilisticConstant checks γ̃_(n-1)(λ), with λ such that the n-1
// bounds of the recursive sum of n >= 2 numbers hold together with the given
// confidence.
func CheckProbabilisticConstant(constant func(n int, u, confidence float64) float64) {
	defer watch("ProbabilisticConstant")()
	for _, n := range someLengths {
		for _, u := range someRoundoffs {
			for _, p := range []float64{0.5, 0.9, 0.99} {
				near(fmt.Sprintf("ProbabilisticConstant(%d, %v, %v)", n, u, p), constant(n, u, p), probable(n, u, p))
			}
		}
	}
}

// backwardError returns |ŝ - Σx|/Σ|x|, with the sums computed in 300 bits, more
// than they need.
func backwardError(sum float64, x []float64) float64 {
	err, size := wide(sum), wide(0)
	for _, v := range x {
		err.Sub(err, wide(v))
		size.Add(size, wide(math.Abs(v)))
	}
	e, _ := err.Quo(err.Abs(err), size).Float64()
	return e
}

// wide returns x with a precision of 300 bits.
func wide(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }

// CheckBackwardError checks a function that returns |ŝ - Σx|/Σ|x| for sums of
// binary16 numbers.
func CheckBackwardError(backward func(sum float64, x []float64) float64, seed uint64) {
	defer watch("BackwardError")()
	rng := random(seed)
	for _, n := range []int{1, 2, 10, 1000, 4096} {
		x := signed(tcore.Binary16, n, rng)
		for _, sum := range []float64{x[0], recursive(Adder(tcore.Binary16), x), pairwise(Adder(tcore.Binary16), x), -1, 0} {
			near(fmt.Sprintf("BackwardError(%v, %s)", sum, some(x)), backward(sum, slices.Clone(x)), backwardError(sum, x))
		}
	}
}

// CheckGrowth checks the chart of assignment 2. It contains, for n = 4², 4³, …,
// 4⁷, the largest backward error of binary16 sums of Uniform(tcore.Binary16, n,
// seed) over seed = 1 to 10, as "recursive", "pairwise" and "blocked" (b = 32),
// and the constants "γ" and "γ̃" (99 %) of the recursive sum.
func CheckGrowth[C Chart](figure func() C) {
	defer watchFigure("Growth")()
	c := figure()
	add, u := Adder(tcore.Binary16), 0x1p-11
	var lengths, γ, tilde []float64
	errs := map[string][]float64{}
	for k := 2; k <= 7; k++ {
		n := 1 << (2 * k)
		lengths = append(lengths, float64(n))
		γ, tilde = append(γ, gamma(n-1, u)), append(tilde, probable(n, u, 0.99))
		worst := map[string]float64{}
		for seed := uint64(1); seed <= 10; seed++ {
			x := Uniform(tcore.Binary16, n, seed)
			for name, sum := range map[string]float64{
				"recursive": recursive(add, x), "pairwise": pairwise(add, x), "blocked": blocked(add, 32, x)} {
				worst[name] = math.Max(worst[name], backwardError(sum, x))
			}
		}
		for name, e := range worst {
			errs[name] = append(errs[name], e)
		}
	}
	for _, name := range []string{"recursive", "pairwise", "blocked"} {
		drawn("Growth", c, name, lengths, errs[name])
	}
	drawn("Growth", c, "γ", lengths, γ)
	drawn("Growth", c, "γ̃", lengths, tilde)
}

// rat returns x as a fraction. It panics if x is not finite.
func rat(x float64) *big.Rat {
	r := new(big.Rat).SetFloat64(x)
	if r == nil {
		failf("%v is no number to compute with", x)
	}
	return r
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
