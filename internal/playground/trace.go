package playground

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A Trace is what a device does to every term of a dot product, as bits that
// the page draws below each other.
type Trace struct {
	Device string  `json:"device"`
	Blocks []Block `json:"blocks"`
}

// A Block is one step. A column is a power of two: the first is that of
// Top, the others follow downwards.
type Block struct {
	Top   int    `json:"top"`  // exponent of the first column
	Last  int    `json:"last"` // exponent of the last column that is kept; above Top if all are
	Terms []Term `json:"terms"`
	Sum   string `json:"sum"`    // of what is kept
	Done  string `json:"result"` // the running sum after rounding
}

// A Term is a product or the running sum.
type Term struct {
	Name string `json:"name"` // "x₁ y₁", or "c"
	Sign string `json:"sign"`
	Bits string `json:"bits"` // 0 and 1 from the column of Top on, as far as there is a 1
	Kept int    `json:"kept"` // how many of them are kept
	Lost string `json:"lost"` // what is cut off, "" if nothing is
}

// mostColumns limits how many columns a block has; terms that are farther from
// the greatest are cut off in the picture.
const mostColumns = 96

// newTrace returns the picture of a trace.
func newTrace(d tcore.Device, t tcore.Trace) *Trace {
	z := &Trace{Device: d.Name}
	for _, b := range t.Blocks {
		top := math.MinInt
		for _, m := range b.Terms {
			if m.Value != 0 && !math.IsInf(m.Value, 0) && !math.IsNaN(m.Value) {
				top = max(top, math.Ilogb(m.Value))
			}
		}
		if top == math.MinInt {
			top = 0
		}
		block := Block{Top: max(top, b.Exponent), Sum: text(b.Sum), Done: text(b.Result)}
		if b.Unit == 0 {
			block.Top = top
		}
		block.Last = block.Top + 1
		if b.Unit > 0 {
			block.Last = math.Ilogb(b.Unit)
		}
		for _, m := range b.Terms {
			if m.Value == 0 || math.IsInf(m.Value, 0) || math.IsNaN(m.Value) {
				continue
			}
			block.Terms = append(block.Terms, newTerm(block, m))
		}
		z.Blocks = append(z.Blocks, block)
	}
	return z
}

// newTerm returns the bits of a term in the columns of a block.
func newTerm(b Block, m tcore.TraceTerm) Term {
	t := Term{Name: "c", Sign: "+"}
	if m.Index >= 0 {
		t.Name = "x" + subscript(m.Index+1) + " y" + subscript(m.Index+1)
	}
	if math.Signbit(m.Value) {
		t.Sign = "−"
	}
	if m.Lost != 0 {
		t.Lost = text(m.Lost)
	}
	bits := []byte{}
	rest := math.Abs(m.Value)
	for e := b.Top; rest != 0 && len(bits) < mostColumns; e-- {
		bit := math.Ldexp(1, e)
		if rest >= bit {
			bits, rest = append(bits, '1'), rest-bit
		} else {
			bits = append(bits, '0')
		}
	}
	t.Bits, t.Kept = string(bits), len(bits)
	if b.Last <= b.Top {
		t.Kept = min(len(bits), b.Top-b.Last+1)
	}
	return t
}

// subscript returns n in small digits below the line.
func subscript(n int) string {
	if n < 10 {
		return string(rune('₀' + n))
	}
	return subscript(n/10) + subscript(n%10)
}
