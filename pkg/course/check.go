package course

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Deadline is how long a check waits for the functions that it calls, all
// together.
const Deadline = 15 * time.Second

// watch panics unless the function it returns is called within the deadline.
func watch(name string) (done func()) {
	late := time.AfterFunc(Deadline, func() {
		panic(fmt.Sprintf("course: %s has not returned after %v", name, Deadline))
	})
	return func() { late.Stop() }
}

// failf panics with what is wrong.
func failf(format string, args ...any) { panic("course: " + fmt.Sprintf(format, args...)) }

// same panics unless the call returned the very number that is wanted.
func same(call string, got, want float64) {
	if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
		failf("%s = %v, want %v", call, got, want)
	}
}

// near panics unless the call returned the number that is wanted, but for the
// rounding of a few operations in binary64.
func near(call string, got, want float64) {
	if got != want && !(math.Abs(got-want) <= 1e-12*math.Abs(want)) {
		failf("%s = %v, want %v", call, got, want)
	}
}

// some shows the first of the numbers and how many there are.
func some(x []float64) string {
	if len(x) <= 4 {
		return fmt.Sprint(x)
	}
	return fmt.Sprintf("[%v %v %v … of %d]", x[0], x[1], x[2], len(x))
}

// random returns the generator of a check.
func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// Uniform returns n numbers drawn uniformly from [0, 1) and rounded to the
// format: the data of the assignments. The same seed gives the same numbers
// everywhere. It panics if n is negative.
func Uniform(f tcore.Format, n int, seed uint64) []float64 {
	if n < 0 {
		failf("Uniform: n = %d, want 0 or more", n)
	}
	rng, x := random(seed), make([]float64, n)
	for i := range x {
		x[i] = f.Round(rng.Float64(), tcore.ToNearestEven)
	}
	return x
}

// signed returns n numbers of the format of both signs, spread over eight
// binades.
func signed(f tcore.Format, n int, rng *rand.Rand) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = f.Round(math.Ldexp(2*rng.Float64()-1, rng.IntN(8)-4), tcore.ToNearestEven)
	}
	return x
}
