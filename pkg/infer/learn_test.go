package infer

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/probe"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

var whole = flag.Bool("whole", false, "learn all devices of the catalogue and 200 random records, in minutes")

// anonymous hides all of a device but its arithmetic.
func anonymous(d tcore.Device) tcore.Device {
	d.Name, d.Architecture, d.Instruction, d.Convert = "", "", "", 0
	return d
}

// explained learns a device of which only the shape is told, and reports
// whether it finds a record with the same results: on 10,000 questions of
// another seed, and on 2000 operands that another package draws.
func explained(t *testing.T, d tcore.Device, k int) (Learned, bool) {
	t.Helper()
	l, err := Learn(t.Context(), Emulated(anonymous(d), k), 1)
	if err != nil {
		t.Fatal(err)
	}
	if l.Asked > mostQuestions {
		t.Errorf("%d questions, want at most %d", l.Asked, mostQuestions)
	}
	if !l.Explained() {
		t.Logf("%+v is not found: %+v answers %v otherwise", d, l.Closest.Core, l.Against)
		return l, false
	}
	w := newDrawer(l.Shape, 2)
	ask := func(q Dot) bool {
		if got, want := answer(l.Record, q), answer(d, q); got != want {
			t.Logf("found %+v\nfor   %+v\n%v: %#x, want %#x", l.Record.Core, d.Core, q, got, want)
			return false
		}
		return true
	}
	for i := range 10_000 {
		if !ask(w.question(allKinds()[i%int(kinds)])) {
			return l, false
		}
	}
	s := probe.NewSampler(d, 3)
	for i := range 2000 {
		q := w.codes(w.zeros())
		q.C = s.Draw(i%len(probe.Regimes), q.X, q.Y)
		if !ask(q) {
			return l, false
		}
	}
	return l, true
}

// Every device of the catalogue is found with its name hidden; without -whole,
// one of eight is tried.
func TestLearn_finds_the_catalogue(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	learned := map[tcore.Device]bool{}
	for i, d := range devices.All() {
		if !*whole && i%8 != 0 {
			continue
		}
		if k := probe.InstructionK(d); !learned[anonymous(d)] {
			learned[anonymous(d)] = true
			if l, ok := explained(t, d, k); !ok {
				t.Errorf("%s is not found", d.Name)
			} else if testing.Verbose() {
				fmt.Printf("%-44s K = %2d: %d asked, %d tried, %d alike, %T\n", d.Name, k, l.Asked, l.Tried, len(l.Alike), l.Record.Core)
			}
		}
	}
}

// Some devices, one of each kind of core, are found in seconds.
func TestLearn_finds_each_core(t *testing.T) {
	rounded := tcore.TensorCore{Block: 4, MPFMA: tcore.MPFMA{Low: tcore.Binary16, High: tcore.Binary32, Product: tcore.Binary16, Accumulate: tcore.Binary32, Output: tcore.Binary16}}
	for _, d := range []tcore.Device{
		devices.VoltaF16(), devices.HopperBF16(), devices.CDNA1F16(), devices.ArmE4M3(), devices.CDNA2BF16(), devices.CDNA3FP8(), devices.CDNA3F64(),
		devices.AMXBF16(), devices.AVX512BF16(), devices.BlackwellMXE2M1(), devices.BlackwellMXF4(), rounded.Device("rounded"),
	} {
		l, ok := explained(t, d, probe.InstructionK(d))
		if !ok {
			t.Errorf("%s is not found", d.Name)
		}
		if exact, ok := d.Core.(tcore.ExactSum); ok && l.Record.Core != exact {
			t.Errorf("%s: %+v, want %+v", d.Name, l.Record.Core, exact)
		}
		if !l.Explained() || fmt.Sprintf("%T", l.Record.Core) != fmt.Sprintf("%T", d.Core) {
			t.Errorf("%s: %T, want %T", d.Name, l.Record.Core, d.Core)
		}
	}
}

// randomRecord returns a record of the grammar, and a number of products.
func randomRecord(rng *rand.Rand) (tcore.Device, int) {
	for {
		factors := []tcore.Format{tcore.Binary16, tcore.BFloat16, tcore.TF32, tcore.E4M3, tcore.E5M2, tcore.E2M3, tcore.E3M2, tcore.E2M1, tcore.E4M3FNUZ, tcore.E5M2FNUZ}
		sums := []tcore.Format{tcore.Binary32, tcore.Binary32, tcore.Binary16}
		a, c := factors[rng.IntN(len(factors))], sums[rng.IntN(len(sums))]
		d := tcore.Device{Name: "random", A: a, B: a, C: c}
		if c.Equal(tcore.Binary16) && (a.Equal(tcore.BFloat16) || a.Equal(tcore.TF32)) {
			continue
		}
		terms := []int{1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32}[rng.IntN(11)]
		if rng.IntN(3) > 0 {
			d.NaN = 1<<(c.Bits()-1) - 1
		}
		precision := c.Precision - max(0, rng.IntN(16)-8)
		f := tcore.Fused{
			Terms:        terms,
			FractionBits: max(2, precision-1+rng.IntN(10)),
			Result:       narrowed(c, precision),
			Rounding:     tcore.RoundingMode(rng.IntN(int(tcore.ToOdd) + 1)),
			ZeroExponent: max(2*a.Emin, c.Emin) - rng.IntN(12),
		}
		f.ClampAlways, f.NegativeTiny = rng.IntN(4) == 0, rng.IntN(4) == 0
		switch rng.IntN(10) {
		case 0:
			d.Core = tcore.Chain{}
		case 1:
			d.Core = tcore.ExactSum{Terms: terms, SignedZeros: terms%2 == 0}
		case 2:
			d.Core = tcore.Pairwise{Terms: terms}
		case 3:
			d.Core = tcore.EvenOdd{Terms: terms}
		case 4:
			d.Core = tcore.TwoStage{Terms: terms, Parts: 1 + rng.IntN(2)}
		case 5:
			d.Core = tcore.Split{By: f}
		default:
			d.Core = f
		}
		if !a.Equal(tcore.TF32) && rng.IntN(8) == 0 {
			d.A.Subnormals, d.B.Subnormals = tcore.Flushed, tcore.Flushed
		}
		if rng.IntN(8) == 0 {
			d.C.Subnormals = tcore.Flushed
		}
		if k := d.BlockTerms() * (1 + rng.IntN(3)); supported(d) && k <= 64 {
			return d, k
		}
	}
}

// Of 200 random records, of which none is in the catalogue, at least 198 are
// found; without -whole, 20 are tried.
func TestLearn_finds_random_records(t *testing.T) {
	records, want := 20, 20
	switch {
	case *whole:
		records, want = 200, 198
	case testing.Short():
		records, want = 3, 3
	}
	found, rng := 0, rand.New(rand.NewPCG(16, 16))
	for range records {
		d, k := randomRecord(rng)
		if _, ok := explained(t, d, k); ok {
			found++
		}
	}
	if t.Logf("%d of %d found", found, records); found < want {
		t.Errorf("%d of %d random records found, want %d", found, records, want)
	}
}

// altered is a box whose results are changed by a function.
type altered struct {
	Box
	alter func(i int, q Dot, d uint64) uint64
}

func (b altered) Dots(ctx context.Context, qs []Dot) ([]uint64, error) {
	d, err := b.Box.Dots(ctx, qs)
	for i := range d {
		d[i] = b.alter(i, qs[i], d[i])
	}
	return d, err
}

// A box that computes no sum of the grammar is not explained, and the
// counterexample shows it.
func TestLearn_explains_no_nonsense(t *testing.T) {
	box := Emulated(devices.VoltaF16(), 4)
	for name, alter := range map[string]func(int, Dot, uint64) uint64{
		"zeros":         func(int, Dot, uint64) uint64 { return 0 },
		"nan":           func(int, Dot, uint64) uint64 { return 0x7fffffff },
		"last bit":      func(_ int, q Dot, d uint64) uint64 { return d ^ q.C&1 },
		"wrong product": func(_ int, q Dot, d uint64) uint64 { return d ^ uint64(q.X[3]>>15&q.Y[2]&1) },
	} {
		b := altered{box, alter}
		l, err := Learn(t.Context(), b, 1)
		if err != nil || l.Explained() || l.Against == nil {
			t.Errorf("%s: %v, record %+v, against %v", name, err, l.Record, l.Against)
			continue
		}
		if got, _ := b.Dots(t.Context(), []Dot{l.Against.Dot}); got[0] != l.Against.D || answer(l.Closest, l.Against.Dot) == l.Against.D {
			t.Errorf("%s: %v is no counterexample to %+v", name, l.Against, l.Closest)
		}
	}
}

// zeros is a box of any shape whose results are 0.
type zeros Shape

func (z zeros) Shape() Shape { return Shape(z) }

func (z zeros) Dots(_ context.Context, qs []Dot) ([]uint64, error) {
	return make([]uint64, len(qs)), nil
}

// Boxes that change their answers, or give none, are an error.
func TestLearn_tells_what_is_wrong(t *testing.T) {
	box, asked := Emulated(devices.VoltaF16(), 4), uint64(0)
	for want, b := range map[string]Box{
		"the box changes its answers":        altered{box, func(int, Dot, uint64) uint64 { asked++; return asked }},
		"want a code of binary32 of 32 bits": altered{box, func(int, Dot, uint64) uint64 { return 1 << 32 }},
		"infer: K = 0, want 1 to 256":        emulated{devices.VoltaF16(), 0},
		"infer: K = 257, want 1 to 256":      emulated{devices.VoltaF16(), 257},
		"signed format with infinities":      emulated{tcore.Device{A: tcore.E4M3, B: tcore.E4M3, C: tcore.E4M3, Core: tcore.Chain{}}, 4},
	} {
		if _, err := Learn(t.Context(), b, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	strange := zeros(Shape{A: tcore.Binary64, B: tcore.Binary64, C: tcore.Binary16, Scale: tcore.E8M0, ScaleBlock: 4, K: 4})
	if _, err := Learn(t.Context(), strange, 1); err == nil || !strings.Contains(err.Error(), `no record adds 4 products of binary64 × binary64 in binary16, with scales in "e8m0"`) {
		t.Errorf("error %v of a shape that no record has", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Learn(ctx, box, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}

func TestSignificant(t *testing.T) {
	for x, want := range map[float64]int{0: 0, 1: 1, -3: 2, 0x1.8p-149: 2, 5.5: 4, 0x1.fffffep127: 24, math.Inf(1): 0} {
		if got := significant(x); got != want {
			t.Errorf("significant(%v) = %d, want %d", x, got, want)
		}
	}
}
