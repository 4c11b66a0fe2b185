package roundoff

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A gappaLemma is what the automatic prover Gappa, which has IEEE rounding
// built in and is independent of this package, has to prove of a multiply-add
// of the real numbers A, B and C. Each rounding multiplies its operand by a
// factor 1+e. The computed z is then exactly AB(1+e)(1+f)... + C(1+f).... The
// coefficient of |AB| bounds the first product of factors minus 1, the
// coefficient of |C| the second.
type gappaLemma struct {
	name            string
	bound           MACBound
	steps           string // the operations of the computation, and their relative errors
	normal          string // the operands of the roundings, none subnormal
	product, addend string // the products of factors, minus 1

	// A, B and C for which the error nearly attains the coefficient of |AB|, and
	// for which it nearly attains that of |C|. Zeros where the second rounding
	// changes nothing, so that the lemma is not sharp.
	worstProduct, worstAddend [3]float64
}

// mixed is binary16 inputs, addition in binary32 and results in binary16: every
// rounding of a multiply-add has an effect.
var mixed = Roundoffs{Low: 0x1p-11, High: 0x1p-24, Product: 0x1p-24, Accumulate: 0x1p-24, Output: 0x1p-11}

var gappaLemmas = []gappaLemma{
	{"MAC in binary32", MAC(0x1p-24, DBEA), `
		p = f32(A * B); s = p + C; z = f32(s);
		e = (p - A * B) / (A * B); f = (z - s) / s;`,
		"A * B, s", "(1 + e) * (1 + f) - 1", "f",
		[3]float64{1 + 0x1p-12, 1 - 0x1p-12 + 0x1p-23, 0x1.01p-24}, [3]float64{1, 0x1.01p-24, 1}},
	{"MAC in binary16", MAC(0x1p-11, DBEA), `
		p = f16(A * B); s = p + C; z = f16(s);
		e = (p - A * B) / (A * B); f = (z - s) / s;`,
		"A * B, s", "(1 + e) * (1 + f) - 1", "f",
		[3]float64{0x1.558p0, 0x1.8p-1, 0x1.ff8p-12}, [3]float64{1, 0x1.01p-11, 1}},
	{"FMA", FMA(0x1p-24), `
		s = A * B + C; z = f32(s);
		f = (z - s) / s;`,
		"s", "f", "f",
		[3]float64{1, 1, 0x1.01p-24}, [3]float64{1, 0x1.01p-24, 1}},
	{"FMARepresented", FMARepresented(0x1p-24, DBEA), `
		a = f32(A); b = f32(B); c = f32(C); s = a * b + c; z = f32(s);
		ea = (a - A) / A; eb = (b - B) / B; ec = (c - C) / C; f = (z - s) / s;`,
		"A, B, C, s", "(1 + ea) * (1 + eb) * (1 + f) - 1", "(1 + ec) * (1 + f) - 1",
		[3]float64{1 + 0x1.01p-24, 1 + 0x1.01p-24, 0x1.01p-24}, [3]float64{1, 0x1.01p-24, 1 + 0x1.01p-24}},
	{"MPFMA", MPFMA(mixed), `
		s = A * B + C; t = f32(s); z = f16(t);
		e = (t - s) / s; f = (z - t) / t;`,
		"s, t", "(1 + e) * (1 + f) - 1", "(1 + e) * (1 + f) - 1",
		[3]float64{1, 1, 0x1.004p-11}, [3]float64{1, 0x1.004p-11, 1}},
	{"MPFMA, Table 2, binary16", MPFMA(TensorCoreF16), `
		s = A * B + C; t = f16(s); z = f16(t);
		e = (t - s) / s; f = (z - t) / t;`,
		"s, t", "(1 + e) * (1 + f) - 1", "(1 + e) * (1 + f) - 1",
		[3]float64{}, [3]float64{}},
	{"MPFMA, Table 2, binary32", MPFMA(TensorCoreF32), `
		s = A * B + C; t = f32(s); z = f32(t);
		e = (t - s) / s; f = (z - t) / t;`,
		"s, t", "(1 + e) * (1 + f) - 1", "(1 + e) * (1 + f) - 1",
		[3]float64{}, [3]float64{}},
	{"MPFMASpecial", MPFMASpecial(TensorCoreF32.High), `
		p = A * B; s = p + C; z = f32(s);
		f = (z - s) / s;`,
		"s", "f", "f",
		[3]float64{1, 1, 0x1.01p-24}, [3]float64{1, 0x1.01p-24, 1}},
	{"MPFMARepresented", MPFMARepresented(mixed, DBEA), `
		a = f16(A); b = f16(B); c = f32(C); s = a * b + c; t = f32(s); z = f16(t);
		ea = (a - A) / A; eb = (b - B) / B; ec = (c - C) / C; e = (t - s) / s; f = (z - t) / t;`,
		"A, B, C, s, t", "(1 + ea) * (1 + eb) * (1 + e) * (1 + f) - 1", "(1 + ec) * (1 + e) * (1 + f) - 1",
		[3]float64{1 + 0x1.004p-11, 1 + 0x1.004p-11, 0x1.004p-11}, [3]float64{1, 0x1.004p-11, 1}},
	{"MPFMARepresentedInputs", MPFMARepresentedInputs(mixed, DBEA), `
		a = f16(A); b = f16(B); s = a * b + C; t = f32(s); z = f16(t);
		ea = (a - A) / A; eb = (b - B) / B; e = (t - s) / s; f = (z - t) / t;`,
		"A, B, s, t", "(1 + ea) * (1 + eb) * (1 + e) * (1 + f) - 1", "(1 + e) * (1 + f) - 1",
		[3]float64{1 + 0x1.004p-11, 1 + 0x1.004p-11, 0x1.004p-11}, [3]float64{1, 0x1.004p-11, 1}},
}

// Gappa proves the bounds of multiply-adds with the coefficients that the
// functions return. Where the worst case is known, it also proves that a
// coefficient smaller by 1 % is no bound, from a multiply-add that violates it.
func TestGappa(t *testing.T) {
	path, err := exec.LookPath("gappa")
	if err != nil {
		t.Skip("gappa is missing: on Debian, apt-get install gappa")
	}
	gappa := func(t *testing.T, steps, claim string) (proved bool, said string) {
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
		defer stop()
		cmd := exec.CommandContext(ctx, path, "-Eno-auto-dichotomy")
		cmd.Stdin = strings.NewReader("@f16 = float<11, -24, ne>;\n@f32 = float<ieee_32, ne>;\n" + steps + "\n{ " + claim + " }\n")
		out, err := cmd.CombinedOutput()
		return err == nil, string(out)
	}
	for _, l := range gappaLemmas {
		proves := func(t *testing.T, product, addend float64) (bool, string) {
			var normal []string
			for x := range strings.SplitSeq(l.normal, ", ") {
				normal = append(normal, fmt.Sprintf("|%s| in [1b-12, 1b15]", x))
			}
			return gappa(t, l.steps, fmt.Sprintf("%s -> |%s| <= %x /\\ |%s| <= %x",
				strings.Join(normal, " /\\ "), l.product, product, l.addend, addend))
		}
		breaks := func(t *testing.T, at [3]float64, product, addend float64) (bool, string) {
			return gappa(t, l.steps, fmt.Sprintf("A = %x /\\ B = %x /\\ C = %x -> |z - (A * B + C)| - (%x * A * B + %x * C) >= 1b-40",
				at[0], at[1], at[2], product, addend))
		}
		t.Run(l.name, func(t *testing.T) {
			// Constants are evaluated in float64, without outward rounding.
			const outward, less = 1 + 0x1p-50, 0.99
			p, c := l.bound.Product, l.bound.Addend
			if ok, said := proves(t, p*outward, c*outward); !ok {
				t.Errorf("not proved: %s", said)
			}
			if l.worstProduct == [3]float64{} {
				return
			}
			if ok, said := breaks(t, l.worstProduct, p*less, c); !ok {
				t.Errorf("the coefficient of |ab| is too large: %s", said)
			}
			if ok, said := breaks(t, l.worstAddend, p, c*less); !ok {
				t.Errorf("the coefficient of |c| is too large: %s", said)
			}
			if ok, _ := proves(t, p*less, c); ok {
				t.Error("proves too much of |ab|")
			}
			if ok, _ := proves(t, p, c*less); ok {
				t.Error("proves too much of |c|")
			}
		})
	}
}
