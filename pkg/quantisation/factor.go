package quantisation

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A Factor is a matrix of independent elements x of one law, which are rounded
// to x̂ = s fl(x/s) to nearest, where fl(x/s) is a number of Format and s is
// the scale of the element's block. Numbers beyond the format become its
// greatest.
//
// A block is Length elements along the dimension of the sum, and Others besides
// that are not in the same row of A, or column of B, but have the same scale;
// see All. The scale is one of Scales, or, with Aim in their place, amax / Aim,
// where the greatest magnitude amax of the block counts as Least at least.
// Without either, s is 1, and Length is 0. With Tensor, Value and Top of Scales
// are in units of amax / Tensor, where this amax is that of the whole matrix.
type Factor struct {
	Law            Law
	Format         tcore.Format
	Length, Others int
	Scales         []Scale
	Aim, Least     float64
	Tensor         float64

	shells [][2]float64 // see staircase; the last one contains all numbers
}

// A Scale says that s = Value for a block of which the greatest magnitude is at
// most Top and above the Top of the Scale before. The blocks below the first
// Scale have it too, as have those above the last one.
type Scale struct{ Value, Top float64 }

// Quantised returns the factor that a recipe makes of numbers of a law. Scales
// may be those of blocks, or of whole rows, columns or matrices (see All), or
// numbers of e4m3 for blocks with one of binary32 for the matrix besides. It is
// an error if they are others than powers of two, numbers of e4m3 or of
// binary32, if blocks choose between two by their errors, or if the rounding is
// stochastic.
//
// differs: what a recipe computes in binary32 to find a scale, or to divide by
// it, is exact here, with an allowance in bounds where a scale is of binary32.
// Its least amax counts as 0 for other scales, and its range of scales as all
// numbers of e8m0 or binary32, except for the least of e4m3, which may be 0.
// Ties have no probability. Tiles are whole.
func Quantised(l Law, r quant.Recipe) (Factor, error) {
	f := Factor{Law: l, Format: r.Element, Length: r.Block.Along, Others: r.Block.Along * (r.Block.Across - 1)}
	if r.Block.Along == 0 {
		f.Length = All
	}
	if r.Block.Across == 0 {
		f.Others = All
	}
	switch {
	case r.Block.Along == 0 && r.Block.Across > 1:
		return Factor{}, fmt.Errorf("quantisation: recipe %s: one scale for %d whole vectors, want one or all", r.Name, r.Block.Across)
	case r.Second != nil:
		return Factor{}, fmt.Errorf("quantisation: recipe %s: blocks choose between two scales by their errors, want one of amax", r.Name)
	case r.Scale.Amax != 0:
		return Factor{}, fmt.Errorf("quantisation: recipe %s: amax %v of the past, want that of the block", r.Name, r.Scale.Amax)
	case r.Scale.Margin != 0:
		return Factor{}, fmt.Errorf("quantisation: recipe %s: margin %d, want 0", r.Name, r.Scale.Margin)
	case r.Scale.Aim != 0 || r.Scale.Factor != 0:
		return Factor{}, fmt.Errorf("quantisation: recipe %s: aim %v and factor %v, want 0", r.Name, r.Scale.Aim, r.Scale.Factor)
	case r.Stochastic.Bits != 0:
		return Factor{}, fmt.Errorf("quantisation: recipe %s: stochastic rounding, want rounding to nearest", r.Name)
	}
	greatest := r.Element.Max()
	switch q, p := r.Scale.Quotient, r.Scale.Power; {
	case (q == quant.AmaxOverMax || q == quant.AmaxTimesInverse) && (p == quant.Up || p == quant.UpByLog),
		q == quant.MaxOverAmax && (p == quant.Down || p == quant.DownByLog):
		f.Scales = powers(greatest)
	case q == quant.AmaxOverPower && (p == quant.Down || p == quant.DownByLog):
		f.Scales = powers(math.Ldexp(2, r.Element.Emax))
	case q == quant.AmaxOverPower && (p == quant.Up || p == quant.UpByLog):
		f.Scales = powers(math.Ldexp(1, r.Element.Emax))
	case q == quant.AmaxOverPower && p == quant.DownEven:
		// Half an ulp carries the last 2^-(p+1) of a binade into the next one.
		f.Scales = powers(math.Ldexp(2, r.Element.Emax) * (1 - math.Ldexp(1, -r.Element.Precision-1)))
	case q == quant.AmaxOverMax && p == quant.NoPower && r.Scale.Stored.Equal(tcore.UE4M3):
		f.Scales = numbers(r.Scale.Stored, float64(r.Scale.Range[0]), greatest)
	case (q == quant.AmaxOverMax || q == quant.AmaxTimesInverse || q == quant.MaxOverAmax) && p == quant.NoPower && r.Scale.Stored.Equal(tcore.Binary32):
		f.Aim, f.Least = greatest, float64(r.Scale.Least)
	case r.Tensor != nil && ofAmax(*r.Tensor) && p == quant.NoPower && r.Scale.Stored.Equal(tcore.UE4M3):
		f.Scales = numbers(r.Scale.Stored, float64(r.Scale.Range[0]), greatest)
		f.Tensor = greatest * r.Scale.Stored.Max()
	case r.Tensor != nil:
		return Factor{}, fmt.Errorf("quantisation: recipe %s: a scale of the tensor besides those of blocks, want amax of it in binary32 and numbers of e4m3 for blocks", r.Name)
	default:
		return Factor{}, fmt.Errorf("quantisation: recipe %s: scales are neither powers of two nor numbers of e4m3 or binary32", r.Name)
	}
	return f, nil
}

// ofAmax reports whether the scale of a tensor is amax / qmax in binary32, or
// its inverse.
func ofAmax(s quant.Scaling) bool {
	quotient := s.Quotient == quant.AmaxOverMax || s.Quotient == quant.MaxOverAmax
	return quotient && s.Stored.Equal(tcore.Binary32) && s.Power == quant.NoPower &&
		s.Amax == 0 && s.Aim == 0 && s.Factor == 0 && s.Margin == 0 && s.Least == 0
}

// powers returns the powers of two of binary32 as scales, 2^e for the blocks
// whose greatest magnitude lies between 2^e top/2 and 2^e top.
func powers(top float64) []Scale {
	var list []Scale
	for e := -127; e <= 127; e++ {
		list = append(list, Scale{math.Ldexp(1, e), math.Ldexp(top, e)})
	}
	return list
}

// numbers returns the numbers of a format from least on as scales: the number
// to which amax / greatest is rounded. In place of 0 it is one of which no
// number of the block is a quarter, so that all become 0.
func numbers(f tcore.Format, least, greatest float64) []Scale {
	edges := codeEdges(f, greatest)
	var list []Scale
	for i, top := range edges {
		value := f.MinSubnormal() // on [edge i, edge i+1) the number is that above edge i
		if i > 0 {
			value = f.Round((edges[i-1]+top)/2/greatest, tcore.ToNearestEven)
		}
		if i == 0 && least == 0 {
			value = 8 * top
		}
		if value = max(value, least); len(list) > 0 && list[len(list)-1].Value == value {
			list = list[:len(list)-1]
		}
		list = append(list, Scale{value, top})
	}
	return append(list, Scale{f.Max(), math.Inf(1)})
}

// block returns the length of blocks.
func (x Factor) block() int {
	if !x.scaled() {
		return 1
	}
	return x.Length
}

func (x Factor) check(name string) {
	check.Index(name+".Others", x.Others)
	if x.Aim != 0 {
		check.Positive(name+".Aim", x.Aim)
		check.Number(name+".Least", x.Least, x.Least >= 0 && x.Least <= math.MaxFloat64, "a finite number of at least 0")
		check.Number("len("+name+".Scales)", float64(len(x.Scales)), len(x.Scales) == 0, "0 with Aim")
	} else {
		check.Number(name+".Least", x.Least, x.Least == 0, "0 without Aim")
	}
	if !x.scaled() {
		check.Number(name+".Length", float64(x.Length), x.Length == 0, "0 without Scales")
	} else {
		check.Count(name+".Length", x.Length)
	}
	if x.Tensor != 0 {
		check.Positive(name+".Tensor", x.Tensor)
		check.Number("len("+name+".Scales)", float64(len(x.Scales)), len(x.Scales) > 0, "scales of blocks with Tensor")
	}
	for i, s := range x.Scales {
		check.Positive(name+".Scales.Value", s.Value)
		check.Number(name+".Scales.Top", s.Top, s.Top > 0 && (i == 0 || s.Top > x.Scales[i-1].Top), "positive and ascending")
	}
	f := x.Format
	check.Number(name+".Format.Subnormals", float64(f.Subnormals), f.Subnormals == tcore.Kept, "a format with subnormals")
	check.Number(name+".Format.Sign", float64(f.Sign), f.Sign == tcore.Signed, "a format with a sign")
}
