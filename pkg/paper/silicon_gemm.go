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

// GEMMRecord contains the product of Section 4.2 as a GPU computed it, by one
// or several calls.
type GEMMRecord struct {
	Provenance
	M            int               `json:"m"`
	N            int               `json:"n"`
	K            int               `json:"k"`
	Distribution string            `json:"distribution"`
	Seed         uint64            `json:"seed"`
	Products     []RecordedProduct `json:"products"`
}

// RecordedProduct is one computed product with the call that computed it.
type RecordedProduct struct {
	Call        string `json:"call"`                // the call of the library
	Algorithm   string `json:"algorithm,omitempty"` // the library's number of its algorithm, if known
	SplitK      int    `json:"splitk,omitempty"`    // number of parts of K, if known
	Nanoseconds int64  `json:"nanoseconds"`         // time on the device's clock
	D           []byte `json:"d"`                   // the product in binary32, row by row, little-endian
}

// Operands returns the M × K matrix A and the K × N matrix B of the experiment,
// rounded to the low format of the tensor core. It panics as
// [Distribution.Matrix] does.
func (g GEMM) Operands() (a, b blas32.General) {
	a = g.Distribution.Matrix(g.M, g.K, g.Seed, 1)
	b = g.Distribution.Matrix(g.K, g.N, g.Seed, 2)
	g.Core.Low.RoundSlice32(a.Data, a.Data)
	g.Core.Low.RoundSlice32(b.Data, b.Data)
	return a, b
}

// NewRecord returns a record of the experiment that contains no products yet.
func (g GEMM) NewRecord(from Provenance) *GEMMRecord {
	return &GEMMRecord{Provenance: from, M: g.M, N: g.N, K: g.K, Distribution: g.Slug(), Seed: g.Seed}
}

// File returns the file name of the record, which identifies the experiment by
// distribution, sizes and seed.
func (r *GEMMRecord) File() string {
	return fmt.Sprintf("gemm-%s-%dx%dx%d-%d.json", r.Distribution, r.M, r.K, r.N, r.Seed)
}

// Add appends the product d with the name of the call, the algorithm, the
// number of parts of K and the time. It panics unless d is M × N.
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

// check returns an error unless r is a complete record of the experiment g.
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

// matrix returns the product as an m × n matrix.
func (p RecordedProduct) matrix(m, n int) blas32.General {
	d := matrix.New(m, n)
	for i := range d.Data {
		d.Data[i] = math.Float32frombits(binary.LittleEndian.Uint32(p.D[4*i:]))
	}
	return d
}

// emulate returns a record that replaces the GPU's where there is none. It
// contains the product of package tcore's Hopper, the generation of the paper's
// H100. Its provenance is empty.
func (g GEMM) emulate(a, b blas32.General) *GEMMRecord {
	r, d := g.NewRecord(Provenance{}), matrix.New(g.M, g.N)
	EmulationOrder{Device: devices.HopperF16(), SplitK: 1}.multiply(a, b, d)
	r.Add("Hopper, emulated", "", 1, 0, d)
	return r
}

// EmulationOrder is an order of summation of an emulated device: that of its
// matrix instruction, with K divided into SplitK parts.
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

// Agreement is how many outputs of a product the emulation in some order of
// summation reproduces bit for bit.
type Agreement struct {
	EmulationOrder
	Equal int // number of outputs with the same bits
	First int // index of the first output with other bits, row by row; -1 if there is none
}

// NearestOrder returns the order of summation whose emulation of AB agrees with
// d bit for bit in the most outputs. It tries each device with K in told parts
// (the number that the library reports, or 0) and in 1 to 32 parts, and
// compares the first 64 rows. Of several orders with equal agreement it returns
// the first. Devices with the same order of summation cannot be distinguished
// in this way. It panics if there is no device or the matrices do not fit.
func NearestOrder(devices []tcore.Device, told int, a, b, d blas32.General) Agreement {
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
			found := o.compare(top(a), b, top(d))
			if found.Equal > best.Equal {
				best = found
			}
			if found.First < 0 { // none can agree in more
				return best.compare(a, b, d)
			}
		}
	}
	return best.compare(a, b, d)
}

// compare multiplies a and b in this order of summation and compares the bits
// of the result with d.
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

// candidates returns the devices of an architecture that multiply binary16
// factors and sum in binary32. If the architecture has no such device in the
// catalogue, it returns those of all architectures.
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
