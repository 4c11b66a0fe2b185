package course

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Deadline is the total time that one check waits for the functions that it
// calls; for sums, whose every addition may be a question to another process,
// the time that it waits for each.
const Deadline = 15 * time.Second

// FigureDeadline is that of a figure. What it draws an answer in Python may
// compute in some seconds of a processor, which on a full machine are many more
// by the clock.
const FigureDeadline = 45 * time.Second

// watch panics if the function that it returns is not called within the
// deadline.
func watch(name string) (done func()) { return watchFor(Deadline, name) }

func watchFigure(name string) (done func()) { return watchFor(FigureDeadline, name) }

func watchFor(deadline time.Duration, name string) (done func()) {
	late := time.AfterFunc(deadline, func() {
		panic(fmt.Sprintf("course: %s has not returned after %v", name, deadline))
	})
	return func() { late.Stop() }
}

// failf panics with a message that says what is wrong.
func failf(format string, args ...any) { panic("course: " + fmt.Sprintf(format, args...)) }

// same panics unless the call returned exactly the number that is wanted. NaN
// equals NaN.
func same(call string, got, want float64) {
	if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
		failf("%s = %v, want %v", call, got, want)
	}
}

// near panics unless the call returned the number that is wanted, to a relative
// error of 1e-12, which allows for a few roundings in binary64.
func near(call string, got, want float64) {
	if got != want && !(math.Abs(got-want) <= 1e-12*math.Abs(want)) {
		failf("%s = %v, want %v", call, got, want)
	}
}

// some formats the first three of the numbers and their count, or all of at
// most four.
func some(x []float64) string {
	if len(x) <= 4 {
		return fmt.Sprint(x)
	}
	return fmt.Sprintf("[%v %v %v … of %d]", x[0], x[1], x[2], len(x))
}

// random returns the random number generator of a check.
func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// Uniform returns n numbers drawn uniformly from [0, 1) and rounded to the
// format: the data of the assignments. The same seed gives the same numbers on
// every machine. It panics if n is negative.
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

// signed returns n numbers of the format of both signs, uniform on ±2^e with e
// drawn from -4 to 3.
func signed(f tcore.Format, n int, rng *rand.Rand) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = f.Round(math.Ldexp(2*rng.Float64()-1, rng.IntN(8)-4), tcore.ToNearestEven)
	}
	return x
}
