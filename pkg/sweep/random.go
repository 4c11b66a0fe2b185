package sweep

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// pick returns one of the arguments at random.
func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// randomTrial returns a random case with the given distribution. It has at most
// some thousand outputs.
func randomTrial(r *rand.Rand, data string) Case {
	devices := devices.All()
	d := devices[r.IntN(len(devices))]
	k := int(math.Exp2(14 * r.Float64() * math.Sqrt(r.Float64())))
	if r.IntN(3) == 0 { // near a multiple of the terms of a block
		w := d.BlockTerms()
		k = max(1, w*(1+r.IntN(12))+r.IntN(3)-1)
	}
	outputs := min(8192, max(16, 1<<19/k))
	n := 1 << r.IntN(1+int(math.Log2(float64(min(outputs, 64)))))
	t := Case{
		Machine: d.Name, Data: data, M: max(1, min(256, outputs/n)), N: n, K: k, Seeds: []uint64{r.Uint64N(1e7) * 100},
		Confidence: pick(r, 0.99, 0.99, 0.99, 0.9, 0.999, 0.5, 0.999999), Told: pick(r, FromDistribution, FromDistribution, FromDistribution, FromDistribution, FromMoments),
		Represented: r.IntN(8) == 0,
	}
	if d.C.Precision <= tcore.Binary32.Precision {
		if r.IntN(8) == 0 {
			t.Machine += fmt.Sprint("/", 2+r.IntN(7))
		}
		if r.IntN(8) == 0 {
			t.Machine += ">" + stored[r.IntN(len(stored))].Name
		}
	}
	if d.ScaleBlock > 0 && r.IntN(2) == 0 {
		lo := float64(r.IntN(255) - 127)
		t.Data = fmt.Sprintf("blocks(%v,%v,%s)", lo, min(127, lo+float64(r.IntN(80))), data)
		t.Told, t.Represented = FromDistribution, false
	}
	if _, err := FindGenerator(t.Data); err != nil { // blocks(...) takes only one factor
		t.Data = data
	}
	return t
}

// randomData returns the name of a random distribution, either of both matrices
// or of each.
func randomData(r *rand.Rand) string {
	for {
		name := randomFactor(r, 2)
		if r.IntN(3) == 0 {
			name += "×" + randomFactor(r, 2)
		}
		if l, err := FindGenerator(name); err == nil {
			return l.Name
		}
	}
}

// randomFactor returns the name of a random factor, with other factors nested
// at most depth deep.
func randomFactor(r *rand.Rand, depth int) string {
	number := func(lo, hi float64) string { return fmt.Sprintf("%.3g", lo+(hi-lo)*r.Float64()) }
	small := func() string { return fmt.Sprintf("%.3g", math.Exp2(-10+13*r.Float64())) }
	if depth == 0 || r.IntN(2) == 0 {
		switch r.IntN(13) {
		case 0, 1:
			x := 4*r.Float64() - 2
			return fmt.Sprintf("U(%.3g,%.3g)", x, x+math.Exp2(-6+8*r.Float64())+0.01)
		case 2:
			return "U(0," + small() + ")"
		case 3:
			return "N(0," + small() + ")"
		case 4:
			return "N(" + number(-2, 2) + "," + small() + ")"
		case 5:
			return "log-normal"
		case 6:
			x := r.IntN(24) - 16
			return fmt.Sprintf("log-uniform(%d,%d)", x, x+1+r.IntN(12))
		case 7:
			return "laplace(" + small() + ")"
		case 8:
			return fmt.Sprintf("t(%d)", 3+r.IntN(5))
		case 9:
			return pick(r, "grid(-1,1,0.1)", "grid(0,1,0.01)", "grid(1,2,0.05)", "k/8", "grid(0,15,1)")
		case 10:
			return "point(" + number(0.01, 2) + ")"
		case 11:
			return "ar(" + pick(r, "0.5", "0.9", "0.99", "0.999") + ")"
		default:
			return "softmax(" + pick(r, "0.5", "1", "4") + ")"
		}
	}
	inner := func() string { return randomFactor(r, depth-1) }
	switch r.IntN(8) {
	case 0:
		return "sparse(" + number(0.05, 0.97) + "," + inner() + ")"
	case 1:
		return "signed(" + inner() + ")"
	case 2:
		return "times(" + small() + "," + inner() + ")"
	case 3:
		return "mix(" + number(0.05, 0.95) + "," + randomFactor(r, 0) + "," + randomFactor(r, 0) + ")"
	case 4:
		return "sorted(" + inner() + ")"
	case 5:
		return "outliers(0.1,100," + inner() + ")"
	case 6:
		return "rows(-3,3," + inner() + ")"
	default:
		return "relu(" + inner() + ")"
	}
}
