package elsewhere

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/trial"
)

// contexts are the numbers of tokens that attention reads.
var contexts = []int{4096, 32768, 131072}

// attention is the claim that attention in FP8 degrades with the context.
func attention(e Emulation) (Claim, error) {
	c := Claim{
		ID: "attention", File: "pkg/elsewhere/attention.go",
		Says:   "Attention in FP8 degrades on Hopper where the context is long, and a second accumulator in binary32 repairs it",
		Source: "vLLM, issue 23813; flash-attention of vLLM, pull request 104; flash-attention, pull request 2250",
		Data: fmt.Sprintf("PV for 32 queries and 64 channels, seed 1: scores N(0,2), P = 448 exp(score − greatest), V ~ N(mean,1), both in e4m3, Hopper wgmma: rms(error)/rms(D) of accumulation, without promotion and every %d products, and of rounding P and V, contexts of %s",
			e.Promote, typeset.List(words(contexts))),
	}
	type errors struct{ plain, promoted, rounded []float64 }
	var of [2]errors // by the mean of V
	for mean := range of {
		z := &of[mean]
		for _, context := range contexts {
			data := probabilitiesValues(32, 64, context, float64(mean), 1)
			p, err := trial.On(e.Hopper, data.A, data.B)
			if err != nil {
				return Claim{}, err
			}
			rounded, err := rounding(data, p)
			if err != nil {
				return Claim{}, err
			}
			z.plain = append(z.plain, accumulationOf(p.Run(e.hopper(false))).rms)
			z.promoted = append(z.promoted, accumulationOf(p.Run(e.hopper(true))).rms)
			z.rounded = append(z.rounded, rounded)
		}
	}
	for _, mean := range []int{1, 0} {
		z := of[mean]
		for i, context := range contexts {
			c.Numbers = append(c.Numbers, percent(fmt.Sprintf("mean %d, %d", mean, context), z.plain[i]), percent("promoted", z.promoted[i]), percent("rounding", z.rounded[i]))
		}
	}
	one, zero := of[1], of[0]
	return c.judged(slices.IsSorted(one.plain) && one.plain[0] > 0.02 && slices.Max(one.promoted) < 2e-3 && slices.Max(zero.plain) < slices.Min(zero.rounded),
		Conditionally, "if V has a mean. Without one accumulation costs less than rounding P and V to e4m3, at each of these contexts; SageAttention2 subtracts the mean of V")
}

// probabilitiesValues returns P, queries × context, whose rows are
// exponentials of normal scores with deviation 2 and have the maximum 448, and
// V, context × channels, of normal numbers with deviation 1.
func probabilitiesValues(queries, channels, context int, mean float64, seed uint64) trial.Matrices {
	r := rand.New(rand.NewPCG(seed, uint64(context)))
	d := trial.Matrices{A: matrix.New(queries, context), B: matrix.New(context, channels)}
	scores := make([]float64, context)
	for i := range queries {
		for j := range scores {
			scores[j] = 2 * r.NormFloat64()
		}
		greatest := slices.Max(scores)
		row := matrix.Row(d.A, i)
		for j := range row {
			row[j] = float32(tcore.E4M3.Max() * math.Exp(scores[j]-greatest))
		}
	}
	for i := range d.B.Data {
		d.B.Data[i] = float32(mean + r.NormFloat64())
	}
	return d
}

func words(list []int) []string {
	var w []string
	for _, n := range list {
		w = append(w, fmt.Sprint(n))
	}
	return w
}
