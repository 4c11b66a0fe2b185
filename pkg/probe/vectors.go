package probe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/roundofflab/roundoff/internal/tcvec"
)

// Provenance says where recorded results come from: the GPU, its driver and library, the date, the seed
// of the operands, or the name of the device that played the silicon.
type Provenance = tcvec.Provenance

// WriteVectors computes count random dot products on the unit, from all regimes in turn, and writes them to
// a file of test vectors (tcvec1) with its provenance, whole or not at all. The seed of the operands is
// that of the provenance; the expected result is the unit's. The results of a GPU are of kind silicon.
// It panics if count is negative.
func WriteVectors(ctx context.Context, path string, u Unit, count int, from Provenance) (err error) {
	if count < 0 {
		panic(fmt.Sprintf("probe: WriteVectors: count = %d, want 0 or more", count))
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			file.Close()
			os.Remove(file.Name())
		}
	}()
	if err := writeRows(ctx, file, u, count, from); err != nil {
		return err
	}
	if err := errors.Join(file.Chmod(0o644), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

func writeRows(ctx context.Context, file *os.File, u Unit, count int, from Provenance) error {
	kind := "silicon"
	if from.Emulated != "" {
		kind = "T"
	}
	d, k := u.Device(), u.K()
	w, err := tcvec.NewWriter(file, tcvec.HeaderOf(d, kind, k, count), from)
	if err != nil {
		return err
	}
	s := NewSampler(d, from.Seed)
	const batch = 1000 * 10 // a multiple of the number of regimes
	for done := 0; done < count; done += batch {
		r, err := compute(ctx, u, s, min(batch, count-done))
		if err != nil {
			return err
		}
		for i := range r.d {
			row := tcvec.Row{Flags: flagAlone, Regime: byte(r.regime[i]), A: r.x[i*k : (i+1)*k], B: r.y[i*k : (i+1)*k],
				C: r.c[i], D: r.d[i], Second: r.d[i]}
			if z := d.C.Decode(r.d[i]); z != z {
				row.Flags |= flagNaN
			}
			if err := w.Write(row); err != nil {
				return err
			}
		}
	}
	return w.Close()
}

// Flags of a row: there is no second opinion; the result is a NaN.
const (
	flagAlone = 4
	flagNaN   = 32
)
