package paper

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// GEMMRecord is the product of Section 4.2 as a GPU computed it, in one or more
// ways.
type GEMMRecord struct {
	Provenance
	M            int               `json:"m"`
	N            int               `json:"n"`
	K            int               `json:"k"`
	Distribution string            `json:"distribution"`
	Seed         uint64            `json:"seed"`
	Products     []RecordedProduct `json:"products"`
}

// RecordedProduct is one product with the way it was computed.
type RecordedProduct struct {
	Call        string `json:"call"`                // of the library
	Algorithm   string `json:"algorithm,omitempty"` // in the library's numbers, if it tells
	SplitK      int    `json:"splitk,omitempty"`    // parts of K, if it tells
	Nanoseconds int64  `json:"nanoseconds"`         // on the device's clock
	D           []byte `json:"d"`                   // binary32 codes row by row, the low byte first
}

// Operands returns the matrices of the experiment in the low format.
func (g GEMM) Operands() (a, b blas32.General) {
	a = g.Distribution.Matrix(g.M, g.K, g.Seed, 1)
	b = g.Distribution.Matrix(g.K, g.N, g.Seed, 2)
	g.Core.Low.RoundSlice32(a.Data, a.Data)
	g.Core.Low.RoundSlice32(b.Data, b.Data)
	return a, b
}

// NewRecord returns a record of the experiment without products.
func (g GEMM) NewRecord(from Provenance) *GEMMRecord {
	return &GEMMRecord{Provenance: from, M: g.M, N: g.N, K: g.K, Distribution: g.Slug(), Seed: g.Seed}
}

// File returns the name of the record, which tells the experiment.
func (r *GEMMRecord) File() string {
	return fmt.Sprintf("gemm-%s-%dx%dx%d-%d.json", r.Distribution, r.M, r.K, r.N, r.Seed)
}

// Add appends the product d. It panics unless d is M × N.
func (r *GEMMRecord) Add(call, algorithm string, splitK int, took time.Duration, d blas32.General) {
	if d.Rows != r.M || d.Cols != r.N {
		panic(fmt.Sprintf("paper: d is %d × %d, want %d × %d", d.Rows, d.Cols, r.M, r.N))
	}
	p := RecordedProduct{Call: call, Algorithm: algorithm, SplitK: splitK, Nanoseconds: took.Nanoseconds()}
	for i := range d.Rows {
		for _, v := range d.Data[i*d.Stride:][:d.Cols] {
			p.D = binary.LittleEndian.AppendUint32(p.D, math.Float32bits(v))
		}
	}
	r.Products = append(r.Products, p)
}

// check returns an error unless the record is one of the experiment.
func (r *GEMMRecord) check(g GEMM) error {
	if want := g.NewRecord(r.Provenance).File(); r.File() != want {
		return fmt.Errorf("paper: a record of %s, want %s", r.File(), want)
	}
	if len(r.Products) == 0 {
		return fmt.Errorf("paper: record %s has no products", r.File())
	}
	for _, p := range r.Products {
		if len(p.D) != 4*r.M*r.N {
			return fmt.Errorf("paper: record %s: %s has %d bytes, want %d", r.File(), p.Call, len(p.D), 4*r.M*r.N)
		}
	}
	return nil
}

// matrix returns the product as a matrix of m rows and n columns.
func (p RecordedProduct) matrix(m, n int) blas32.General {
	d := matrix.New(m, n)
	for i := range d.Data {
		d.Data[i] = math.Float32frombits(binary.LittleEndian.Uint32(p.D[4*i:]))
	}
	return d
}

// emulate returns a record of what plays the GPU where there is no record of
// one: the Hopper of package tcore, the generation of the paper's H100. Its
// provenance is empty.
func (g GEMM) emulate(a, b blas32.General) *GEMMRecord {
	r, d := g.NewRecord(Provenance{}), matrix.New(g.M, g.N)
	EmulationOrder{Device: devices.HopperF16(), SplitK: 1}.multiply(a, b, d)
	r.Add("Hopper, emulated", "", 1, 0, d)
	return r
}

// EmulationOrder is how a device comes to its sums: by which instruction, and
// in how many parts of K.
type EmulationOrder struct {
	Device tcore.Device
	SplitK int
}

func (o EmulationOrder) multiply(a, b, d blas32.General) {
	tcore.Machine{Device: o.Device, SplitK: o.SplitK}.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, d)
}

func (o EmulationOrder) String() string {
	if o.SplitK == 1 {
		return o.Device.Name
	}
	return fmt.Sprintf("%s, K in %d parts", o.Device.Name, o.SplitK)
}

// Agreement is how far the emulation in some order gives the bits of a product.
type Agreement struct {
	EmulationOrder
	Equal int // outputs with the same bits
	First int // index of the first other one, row by row; -1 if there is none
}

// nearest returns the order, among those of the devices with K in 1 … 32 parts,
// whose emulation of AB gives the bits of d most often in the first rows; the
// number of parts that is told is tried first, and the first of several that
// agree is taken. Devices that add alike cannot be told apart so.
func nearest(devices []tcore.Device, told int, a, b, d blas32.General) Agreement {
	const few, most = 64, 32
	top := func(m blas32.General) blas32.General { m.Rows = min(m.Rows, few); return m }
	best := Agreement{Equal: -1}
	for _, device := range devices {
		for i := range most + 1 {
			parts := i
			if i == 0 {
				parts = max(told, 1)
			}
			o := EmulationOrder{device, parts}
			if found := o.compare(top(a), b, top(d)); found.Equal > best.Equal {
				best = found
			}
		}
	}
	return best.compare(a, b, d)
}

// compare multiplies in this order and compares the bits with those of d.
func (o EmulationOrder) compare(a, b, d blas32.General) Agreement {
	z, found := matrix.New(a.Rows, b.Cols), Agreement{EmulationOrder: o, First: -1}
	o.multiply(a, b, z)
	for i, v := range z.Data {
		if math.Float32bits(v) == math.Float32bits(d.Data[i]) {
			found.Equal++
		} else if found.First < 0 {
			found.First = i
		}
	}
	return found
}

// candidates returns the devices of an architecture that could have computed
// the product: binary16 factors, binary32 sums. Of an architecture that is not
// known, those of all.
func candidates(architecture string) []tcore.Device {
	var some, all []tcore.Device
	for _, d := range devices.All() {
		if d.A.Name != tcore.Binary16.Name || d.B.Name != tcore.Binary16.Name || d.C.Name != tcore.Binary32.Name {
			continue
		}
		if all = append(all, d); d.Architecture == architecture {
			some = append(some, d)
		}
	}
	if some == nil {
		return all
	}
	return some
}
