package question

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// FindRecipe returns the recipe that -recipe names.
func FindRecipe(name string) (quant.Recipe, error) {
	r, err := quant.Named(name)
	if err != nil {
		return r, fmt.Errorf("-recipe: no recipe %q, see roundoff quantise", name)
	}
	return r, nil
}

// DeviceFor returns the device of the name, or one of the architecture of that
// name that takes the scales of the recipes, scaled, or else their codes.
func DeviceFor(name, acc string, left, right quant.Recipe) (d tcore.Device, scaled bool, err error) {
	for _, r := range []quant.Recipe{left, right} {
		if Integer(r) {
			return d, false, fmt.Errorf("-recipe: %s makes %s, which no device multiplies by fractions; sums of integers are exact, and roundoff quantisation knows the other errors", r.Name, r.Element.Name)
		}
	}
	if d, scaled = blockScaled(name, left, right); !scaled {
		d, err = FindDevice(name, left.Element.Name+","+right.Element.Name, acc)
	}
	return d, scaled, err
}

// blockScaled returns the first device of the catalogue with the name, or of
// the architecture with that name, that takes codes and scales of the recipes.
func blockScaled(name string, left, right quant.Recipe) (tcore.Device, bool) {
	for _, d := range devices.All() {
		if d.ScaleBlock == 0 || Slug(d.Architecture) != Slug(name) && d.Name != name {
			continue
		}
		fits := d.A.Equal(left.Element) && d.Takes(right.Element)
		for _, r := range []quant.Recipe{left, right} {
			fits = fits && r.Scale.Stored.Equal(d.Scale) && r.Block == (quant.Block{Along: d.ScaleBlock, Across: 1})
		}
		if fits {
			d.B = right.Element
			return d, true
		}
	}
	return tcore.Device{}, false
}

// Integer reports whether codes of a recipe are integers.
func Integer(r quant.Recipe) bool {
	return r.Element.Equal(quant.Int8) || r.Element.Equal(quant.MXInt8)
}
