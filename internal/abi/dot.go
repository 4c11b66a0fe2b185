package abi

import (
	"fmt"

	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Dot stores in row i of d, of one column, the sum of c and the products of row
// i of x and row i of y as a device adds them. Elements that are of the
// device's own formats are codes, and so are scales, of which a row has one for
// every block of a block-scaled device. scaleX, scaleY and c may be nil: scales
// of 1, and 0. The answer has the name of the device.
func Dot(text string, x, y, scaleX, scaleY, c, d *Matrix, cancelled func() bool) (string, error) {
	q := newMachine()
	if err := read(text, &q); err != nil {
		return "", err
	}
	if err := x.check("x"); err != nil {
		return "", err
	}
	if err := shaped("y", y, x.Rows, x.Columns); err != nil {
		return "", err
	}
	scaled := scaleX != nil || scaleY != nil
	m, err := q.find()
	if err != nil {
		return "", err
	}
	dev := m.Device
	if !m.Output.Equal(dev.C) {
		return "", fmt.Errorf("out is %s, and %s adds in %s", m.Output.Name, dev.Name, dev.C.Name)
	}
	split := q.SplitK > 1 || q.Promote > 0
	if split && (scaled || c != nil) {
		return "", fmt.Errorf("split_k is %d and promote %d, which go without c and scales", q.SplitK, q.Promote)
	}
	blocks := 0
	if dev.ScaleBlock > 0 {
		blocks = (x.Columns + dev.ScaleBlock - 1) / dev.ScaleBlock
	} else if scaled {
		return "", fmt.Errorf("scale_x, scale_y: %s takes no scales", dev.Name)
	}
	for _, s := range []struct {
		name string
		m    *Matrix
	}{{"scale_x", scaleX}, {"scale_y", scaleY}} {
		if s.m == nil {
			continue
		}
		if err := shaped(s.name, s.m, x.Rows, blocks); err != nil {
			return "", err
		}
	}
	if c != nil {
		if err := shaped("c", c, x.Rows, 1); err != nil {
			return "", err
		}
	}
	if err := d.checkOutput("d", x, y, scaleX, scaleY, c); err != nil {
		return "", err
	}
	if err := shaped("d", d, x.Rows, 1); err != nil {
		return "", err
	}
	if d.Format != dev.C.Name && d.Format != tcore.Binary32.Name && d.Format != tcore.Binary64.Name {
		return "", fmt.Errorf("d is of %s, want one of binary32, binary64 or %s", d.Format, dev.C.Name)
	}
	for _, m := range []struct {
		name string
		m    *Matrix
	}{{"x", x}, {"y", y}, {"scale_x", scaleX}, {"scale_y", scaleY}, {"c", c}} {
		if m.m != nil {
			if err := m.m.checkCodes(m.name); err != nil {
				return "", err
			}
		}
	}
	err = bands(x.Rows, x.Columns, cancelled, func(lo, hi int) error {
		parallel.Each(hi-lo, func(i int) {
			i += lo
			if split {
				u, v := make([]float64, x.Columns), make([]float64, x.Columns)
				x.row(i, u)
				y.row(i, v)
				d.put(i, 0, m.Dot(u, v, 0))
				return
			}
			code := dev.DotScaled(x.codes(i, dev.A, dev.Convert), y.codes(i, dev.B, dev.Convert),
				scaleX.scales(i, blocks, dev.Scale), scaleY.scales(i, blocks, dev.Scale), c.addend(i, dev.C))
			if d.Format == dev.C.Name {
				d.set(i, 0, code)
			} else {
				d.put(i, 0, dev.C.Decode(code))
			}
		})
		return nil
	})
	if err != nil {
		return "", err
	}
	return write(map[string]string{"device": dev.Name})
}

// put stores a number, to nearest even.
func (m *Matrix) put(i, j int, x float64) { m.set(i, j, m.encode(x, tcore.ToNearestEven)) }

// codes returns the codes of f of row i, rounded by the mode if they are not of
// f already.
func (m *Matrix) codes(i int, f tcore.Format, mode tcore.RoundingMode) []uint64 {
	z := make([]uint64, m.Columns)
	to := stored[f.Name]
	for j := range z {
		z[j] = m.code(i, j)
		if m.Format != f.Name {
			z[j] = to.encode(m.decode(z[j]), mode)
		}
	}
	return z
}

// scales returns the codes of the scales of row i, ones if there is no matrix.
func (m *Matrix) scales(i, blocks int, f tcore.Format) []uint64 {
	if m != nil {
		return m.codes(i, f, tcore.ToNearestEven)
	}
	z := make([]uint64, blocks)
	for j := range z {
		z[j] = f.Encode(1, tcore.ToNearestEven)
	}
	return z
}

// addend returns the code of element i of one column, 0 if there is no matrix.
func (m *Matrix) addend(i int, f tcore.Format) uint64 {
	if m == nil {
		return f.Encode(0, tcore.ToNearestEven)
	}
	return m.codes(i, f, tcore.ToNearestEven)[0]
}
