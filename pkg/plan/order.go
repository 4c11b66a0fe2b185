package plan

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// An Order says how a sum of products is computed in binary32. It is a [Run] or
// [Parts].
type Order interface {
	// check returns an error that names the field of an order which is at the path
	// at. within says that the order is that of parts.
	check(at string, within bool) error
}

// checkOrder returns an error that names the field of an order, also of one
// that is of no type of this package.
func checkOrder(o Order, at string, within bool) error {
	switch o.(type) {
	case Run, Parts:
		return o.check(at, within)
	case nil:
		return fmt.Errorf("%s = nil, want a Run or Parts", at)
	}
	return fmt.Errorf("%s is a %T, want a Run or Parts", at, o)
}

// A Run is a leaf: one accumulator, from +0, to which a device adds products
// from left to right, every instruction to the result of the one before.
type Run struct {
	Device tcore.Device // C must be no wider than binary32

	// Group products are added by one instruction, the rest of its block being 0 ×
	// 0. 0 means a full block.
	Group int

	// Tile > 0 says that the products which are left when K is cut into tiles come
	// first, so that their last group is short, neither first nor last
	// (kernels of CUTLASS).
	Tile int
}

// Parts is an inner node: a sum is cut, each part computed by itself, and the
// parts are merged.
type Parts struct {
	Cut   Cut
	Each  Order
	Merge Merge
}

func (r Run) check(at string, _ bool) error {
	computes := func() error { return complaint(func() { r.Device.Dot([]float64{0}, []float64{0}, 0) }) }
	switch {
	case r.Device.Core == nil:
		return fmt.Errorf("%s.Device has no core, want a device of package devices", at)
	case r.Device.ScaleBlock > 0:
		return fmt.Errorf("%s.Device = %q, want a device without scales", at, r.Device.Name)
	case r.Device.C.Precision > tcore.Binary32.Precision:
		return fmt.Errorf("%s.Device = %q has results of %s, want binary32 or less", at, r.Device.Name, r.Device.C.Name)
	case computes() != nil:
		return fmt.Errorf("%s.Device = %q, which computes nothing: %w", at, r.Device.Name, computes())
	case r.Group < 0 || r.Group > r.Device.BlockTerms():
		return fmt.Errorf("%s.Group = %d, want 0 to %d, the products that device %q adds at once", at, r.Group, r.Device.BlockTerms(), r.Device.Name)
	case r.Tile < 0 || r.Tile%r.group() != 0:
		return fmt.Errorf("%s.Tile = %d, want a multiple of %d, the products of an instruction", at, r.Tile, r.group())
	}
	return nil
}

func (p Parts) check(at string, within bool) error {
	if err := p.Cut.check(at + ".Cut"); err != nil {
		return err
	}
	if err := p.Merge.check(at+".Merge", p.Cut); err != nil {
		return err
	}
	if within && p.Merge.Scale != Unscaled {
		return fmt.Errorf("%s.Merge.Scale = %v in parts of parts, want scales in the outermost alone", at, p.Merge.Scale)
	}
	return checkOrder(p.Each, at+".Each", true)
}

// complaint returns what a call panics with, as an error.
func complaint(call func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	call()
	return nil
}

// group returns the number of products of an instruction.
func (r Run) group() int {
	if r.Group == 0 {
		return r.Device.BlockTerms()
	}
	return r.Group
}

// padding is the position of a product 0 × 0.
const padding = -1

// steps returns the positions in k in the order in which the device adds them,
// whole blocks of it, with padding.
func (r Run) steps(k []int) []int {
	width, group := r.Device.BlockTerms(), r.group()
	residue := 0
	if r.Tile > 0 {
		residue = len(k) % r.Tile
	}
	if group == width && residue%group == 0 {
		return k // the device pads the last block itself
	}
	steps := make([]int, 0, (len(k)+group)/group*width+width)
	add := func(part []int) {
		for start := 0; start < len(part); start += group {
			steps = append(steps, part[start:min(start+group, len(part))]...)
			for len(steps)%width != 0 {
				steps = append(steps, padding)
			}
		}
	}
	add(k[:residue])
	add(k[residue:])
	return steps
}

// leaf returns the run of an order. There is one, since all parts of a node are
// computed alike.
func leaf(o Order) Run {
	for {
		switch n := o.(type) {
		case Run:
			return n
		case Parts:
			o = n.Each
		default:
			panic(fmt.Sprintf("plan: order %T, want a Run or Parts", o))
		}
	}
}
