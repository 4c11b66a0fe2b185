package probe

import (
	"context"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// exactSum returns c plus all products, as a number that did not wrap.
func exactSum(d tcore.Device, x, y []uint64, c uint64) int64 {
	number := func(code uint64, signed bool) int64 {
		if signed {
			return int64(int8(code))
		}
		return int64(code)
	}
	signedA, signedB := d.A.Sign == tcore.TwosComplement, d.B.Sign == tcore.TwosComplement
	sum := int64(int32(c))
	for k := range x {
		sum += number(x[k], signedA) * number(y[k], signedB)
	}
	return sum
}

// wraps reports whether a sum is beyond int32.
func wraps(sum int64) bool { return sum != int64(int32(sum)) }

// Operands of integers are codes of their formats, and every regime meets what
// it is for.
func TestDrawIntegers(t *testing.T) {
	for _, d := range devices.Integers() {
		const rows = 400
		s, k := NewSampler(d, 7), InstructionK(d)
		signed := d.A.Sign == tcore.TwosComplement || d.B.Sign == tcore.TwosComplement
		var wrapped, zero, cancelled [16]int
		seen := [2][256]bool{}
		ends, greatest := map[uint64]int{}, int64(0)
		for i := range rows * len(Regimes) {
			x, y := make([]uint64, k), make([]uint64, k)
			regime := i % len(Regimes)
			c := s.Draw(regime, x, y)
			if c>>32 != 0 {
				t.Fatalf("%s: c = %#x", d.Name, c)
			}
			for l := range x {
				seen[0][x[l]], seen[1][y[l]] = true, true
			}
			sum := exactSum(d, x, y, c)
			if wraps(sum) {
				wrapped[regime]++
			}
			products := sum - int64(int32(c))
			greatest = max(greatest, products, -products)
			if products == 0 {
				zero[regime]++
			}
			if max(products, -products) <= 32*255 {
				cancelled[regime]++
			}
			if Regimes[regime] == "ties" {
				ends[c]++
			}
		}
		if slices.Contains(seen[0][:], false) || slices.Contains(seen[1][:], false) {
			t.Errorf("%s: not all codes were drawn", d.Name)
		}
		for _, c := range []uint64{1 << 31, 1<<31 + 1, 1<<31 - 1, 1<<31 - 2} {
			if ends[c] < rows/8 {
				t.Errorf("%s: %d of c = %#x, want more", d.Name, ends[c], c)
			}
		}
		at := func(regime string) int { return slices.Index(Regimes, regime) }
		if n := wrapped[at("overflow")]; n < rows/20 {
			t.Errorf("%s: %d of overflow wrap, want more", d.Name, n)
		}
		if n := wrapped[at("ties")]; n < rows/20 {
			t.Errorf("%s: %d of ties wrap, want more", d.Name, n)
		}
		if n := zero[at("zeros")]; n < rows/8 {
			t.Errorf("%s: %d sums of zeros alone, want more", d.Name, n)
		}
		if n := cancelled[at("cancel")]; signed && n < rows/2 {
			t.Errorf("%s: %d sums cancel, want more", d.Name, n)
		}
		most := func(f tcore.Format) float64 {
			if f.Sign == tcore.TwosComplement {
				return -f.Round(math.Inf(-1), tcore.ToNearestEven)
			}
			return f.Max()
		}
		if float64(greatest) != float64(k)*most(d.A)*most(d.B) {
			t.Errorf("%s: products of up to %d, want all of the greatest magnitude", d.Name, greatest)
		}
	}
}

// integerUnit computes by a function of codes.
type integerUnit struct {
	Unit
	dot func(d tcore.Device, x, y []uint64, c uint64) uint64
}

func (u integerUnit) Dots(ctx context.Context, x, y, c, d []uint64) error {
	k := u.K()
	for i := range d {
		d[i] = u.dot(u.Device(), x[i*k:(i+1)*k], y[i*k:(i+1)*k], c[i])
	}
	return ctx.Err()
}

func (u integerUnit) Grid(ctx context.Context, x, y, c, d []uint64) error {
	k, n := u.K(), len(y)/u.K()
	for i := range d {
		d[i] = u.dot(u.Device(), x[i/n*k:][:k], y[i%n*k:][:k], c[i])
	}
	return ctx.Err()
}

func wrapping(d tcore.Device, x, y []uint64, c uint64) uint64 {
	return uint64(uint32(exactSum(d, x, y, c)))
}

// wrong are units that are not those of the catalogue, each by one property.
var wrong = map[string]func(d tcore.Device, x, y []uint64, c uint64) uint64{
	"2^31 - 1 + 1": func(d tcore.Device, x, y []uint64, c uint64) uint64 { // saturates
		return uint64(uint32(min(max(exactSum(d, x, y, c), math.MinInt32), math.MaxInt32)))
	},
	"A": func(d tcore.Device, x, y []uint64, c uint64) uint64 {
		d.A = map[string]tcore.Format{"int8": tcore.UINT8, "uint8": tcore.INT8}[d.A.Name]
		return wrapping(d, x, y, c)
	},
	"B": func(d tcore.Device, x, y []uint64, c uint64) uint64 {
		d.B = map[string]tcore.Format{"int8": tcore.UINT8, "uint8": tcore.INT8}[d.B.Name]
		return wrapping(d, x, y, c)
	},
	"block": func(d tcore.Device, x, y []uint64, c uint64) uint64 {
		return wrapping(d, x[1:], y[1:], c)
	},
	"sums of products": func(d tcore.Device, x, y []uint64, c uint64) uint64 { // pairs saturate at 16 bits
		sum := int64(int32(c))
		for k := 0; k < len(x); k += 2 {
			sum += min(max(exactSum(d, x[k:k+2], y[k:k+2], 0), math.MinInt16), math.MaxInt16)
		}
		return uint64(uint32(sum))
	},
}

// Every one of the wrong units differs from its emulation, in grids and single
// dot products, and in the property by which it is wrong; the right ones do
// not.
func TestIntegersVerified(t *testing.T) {
	for _, d := range devices.Integers() {
		builtin, err := Infer(t.Context(), Emulate(d))
		if err != nil || !builtin.Explained() || builtin.Core != d.Core {
			t.Fatalf("%+v, %v, want %+v", builtin, err, d.Core)
		}
		count := len(gridRegimes) * gridSide * gridSide
		v, err := VerifyDots(t.Context(), integerUnit{Emulate(d), wrapping}, d, count, 1)
		if err != nil || v.Dots != count || v.Agreed != count || len(v.Regimes) != len(gridRegimes) {
			t.Errorf("%s: %+v, %v, want that all agree", d.Name, v, err)
		}
		for property, dot := range wrong {
			if property == "sums of products" && d.A.Equal(tcore.INT8) && d.B.Equal(tcore.INT8) {
				continue // two products reach 2^15 only where all factors are -128
			}
			u := integerUnit{Emulate(d), dot}
			r, err := Infer(t.Context(), u)
			if err != nil || r.Explained() || r.Compare(io.Discard, builtin) == 0 {
				t.Errorf("%s, wrong by %s: %+v, %v", d.Name, property, r, err)
			}
			if property != "A" && property != "B" && r.Core != nil {
				t.Errorf("%s, wrong by %s: %+v", d.Name, property, r.Core)
			}
			for i, p := range r.Properties {
				if p.Name == property && p.Value == builtin.Properties[i].Value {
					t.Errorf("%s, wrong by %s: measured %s", d.Name, property, p.Value)
				}
			}
			single := struct{ Unit }{u} // without grids
			for i, u := range []Unit{u, single} {
				v, err := VerifyDots(t.Context(), u, d, []int{count, 4000}[i], 1)
				if err != nil || v.Agreed == v.Dots || v.First == nil {
					t.Errorf("%s, wrong by %s: %d of %d agree, %v", d.Name, property, v.Agreed, v.Dots, err)
				}
			}
		}
	}
}

// The regimes of grids alone end within two units of what they are for.
func TestGridsOfIntegers(t *testing.T) {
	for _, d := range devices.Integers() {
		k, s := InstructionK(d), newGridSampler(d, 3, 1)
		for _, name := range []string{"threshold", "opposite"} {
			g := s.grid(slices.Index(gridRegimes, name), k)
			counts := map[int64]int{}
			for i, c := range g.c {
				z := exactSum(d, g.x[i/gridSide*k:][:k], g.y[i%gridSide*k:][:k], c)
				if name == "threshold" {
					z += 1 << 31
				}
				counts[int64(int32(uint32(z)))]++
			}
			for away := int64(-2); away <= 2; away++ {
				if n := len(g.c); counts[away] < n/6 || len(counts) != 5 {
					t.Errorf("%s, %s: %d sums %d away from it, of %d", d.Name, name, counts[away], away, n)
				}
			}
		}
	}
}
