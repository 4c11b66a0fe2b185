package question

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// Catalogue returns all devices, those of integers last.
func Catalogue() []tcore.Device { return slices.Concat(devices.All(), devices.Integers()) }

// FindDevice returns the first device of the catalogue with the name, or of the
// architecture with that name, that takes the formats in. It prefers a device
// that accumulates in format out to one that accumulates in binary32.
func FindDevice(name, in, out string) (tcore.Device, error) {
	inA, inB, two := strings.Cut(in, ",")
	if !two {
		inB = inA
	}
	a, errA := FindFactor(inA)
	b, errB := FindFactor(inB)
	o, errO := tcore.INT32, error(nil)
	if out != o.Name {
		o, errO = FindFormat(out)
	}
	if err := cmp.Or(errA, errB, errO); err != nil {
		return tcore.Device{}, err
	}
	all := Catalogue()
	ieee := name == "ieee" && a.Sign == tcore.Signed && b.Sign == tcore.Signed && o.Sign == tcore.Signed
	for _, accumulate := range []tcore.Format{o, tcore.Binary32, tcore.INT32} {
		for _, d := range all {
			if ieee && d.Name == devices.IEEEF32().Name {
				d.A, d.B, d.C = a, b, accumulate
				d.Name = fmt.Sprintf("ieee-fma-%s-%s", in, accumulate.Name)
			}
			if (Slug(d.Architecture) != Slug(name) && d.Name != name) || d.A != a || d.C != accumulate || !d.Takes(b) {
				continue
			}
			d.B = b
			return d, nil
		}
	}
	for _, d := range devices.Integers() {
		if d.Name == name {
			return tcore.Device{}, fmt.Errorf("%s multiplies integers, want -in %s,%s", name, d.A.Name, d.B.Name)
		}
	}
	return tcore.Device{}, fmt.Errorf("no device %q for %s, see roundoff devices; architectures are %s", name, in, Architectures(all))
}

// FindDevices returns the devices of names or architectures that take formats,
// each a list with commas; all if none is named.
func FindDevices(device, in string) (found []tcore.Device, err error) {
	names, formats := Words(device), Words(in)
	for _, name := range formats {
		if _, err := FindFactor(name); err != nil {
			return nil, err
		}
	}
	all := Catalogue()
	for _, name := range names {
		if !slices.ContainsFunc(all, func(d tcore.Device) bool { return d.Name == name || Named(d, []string{name}) }) {
			return nil, fmt.Errorf("no device %q, see roundoff devices; architectures are %s", name, Architectures(all))
		}
	}
	for _, d := range all {
		if SumsIntegers(d) && !slices.Contains(names, d.Name) && !slices.Contains(formats, d.A.Name) {
			continue // asked for by name, or by format
		}
		if (names == nil || slices.Contains(names, d.Name) || Named(d, names)) && (formats == nil || slices.Contains(formats, d.A.Name)) {
			found = append(found, d)
		}
	}
	if found == nil {
		return nil, fmt.Errorf("no device of %s takes %s", device, in)
	}
	return found, nil
}

// Named reports whether the architecture of d is in the list.
func Named(d tcore.Device, architectures []string) bool {
	for _, a := range architectures {
		if Slug(d.Architecture) == Slug(a) {
			return true
		}
	}
	return false
}

// HasArchitecture reports whether one of the devices is of that architecture.
func HasArchitecture(all []tcore.Device, name string) bool {
	for _, d := range all {
		if Named(d, []string{name}) {
			return true
		}
	}
	return false
}

// Architectures returns the architectures of the devices, in the form that
// flags use.
func Architectures(all []tcore.Device) string {
	var names []string
	for _, d := range all {
		if n := Slug(d.Architecture); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return strings.Join(names, ", ")
}

// Slug returns a name as typed on a command line: rtxblackwell.
func Slug(name string) string {
	return strings.ToLower(strings.ReplaceAll(name, " ", ""))
}

// SumsIntegers reports whether a device adds integers.
func SumsIntegers(d tcore.Device) bool {
	_, ok := d.Core.(tcore.WrappedSum)
	return ok
}

// Exactly is a sentence on the errors of a device of integers.
func Exactly(d tcore.Device) string {
	return fmt.Sprintf("%s rounds nothing: the error of a sum is 0 unless the sum wraps at 2^31, which none of at most %d products does",
		d.Name, bound.LongestIntegerSum(d))
}
