package question

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/roundofflab/roundoff/pkg/library"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tolerance"
	"gonum.org/v1/gonum/blas/blas64"
)

// A Maker is what is known of an implementation, in the words of the flags of
// roundoff tolerance.
type Maker struct {
	Device  string `json:"device"`
	In      string `json:"in"`      // "": the formats of a device that is named in full, else binary16
	Acc     string `json:"acc"`     // "": what a device that is named in full adds in, else binary32
	Out     string `json:"out"`     // of D; "": that in which the device adds
	SplitK  int    `json:"split_k"` // 0: not known
	Promote int    `json:"promote"`
	Parts   int    `json:"parts"`  // the most, where split_k is not known; 0: that of the package
	Orders  string `json:"orders"` // split, mixed, machine or any; "": machine if anything is told of K, else split
	Plan    string `json:"plan"`   // as FindPlan reads it, in place of Device, Acc, SplitK and Promote; "" for none
}

// A Tolerance asks how far outputs may be from the exact ones, and which are
// further.
type Tolerance struct {
	Maker
	Want       *Maker `json:"want"`       // of the other implementation: what its Device is "" it shares; nil for the exact product
	Confidence string `json:"confidence"` // or "always"
	Emulate    string `json:"emulate"`    // "", sums, or bits where parts are added from the first to the last

	Operands       *Operands       `json:"-"`
	ScaleA, ScaleB *blas64.General `json:"-"` // of a device with scales, M × ⌈K/block⌉ and ⌈K/block⌉ × N; nil if they are not known
}

// NewTolerance returns the question of roundoff tolerance without a flag.
func NewTolerance() Tolerance {
	return Tolerance{Maker: Maker{Device: "hopper"}, Confidence: "1-1e-6"}
}

// A Tolerated is the answer: the tolerance of the implementation, that of the
// other one if there is one, and what is found of the outputs if there are any.
type Tolerated struct {
	*tolerance.Tolerance
	Other    *tolerance.Tolerance
	Report   *tolerance.Report
	Emulated int // the number of parts whose emulation fits best; 0 if nothing was emulated
	Rounded  bool
}

// Implementation returns what is known for a product of that size.
func (q Maker) Implementation(m, n, k int) (by tolerance.Implementation, err error) {
	if err := CheckSizes(MostTerms, Size{"split-k", max(1, q.SplitK)}, Size{"parts", max(1, q.Parts)}, Size{"promote", max(1, q.Promote)}); err != nil {
		return by, err
	}
	for _, v := range []Size{{"split-k", q.SplitK}, {"parts", q.Parts}, {"promote", q.Promote}} {
		if v.Value < 0 {
			return by, fmt.Errorf("-%s %d, want 0 or more", v.Name, v.Value)
		}
	}
	told := q.SplitK > 0 || q.Promote > 0 || q.Plan != ""
	orders := q.Orders
	if orders == "" {
		orders = tolerance.UnknownSplit.String()
		if told {
			orders = tolerance.OneMachine.String()
		}
	}
	all := []tolerance.Orders{tolerance.UnknownSplit, tolerance.MixedSplits, tolerance.OneMachine, tolerance.AnyOrder}
	i := slices.IndexFunc(all, func(o tolerance.Orders) bool { return o.String() == orders })
	switch {
	case i < 0:
		return by, fmt.Errorf("-orders %q, want split, mixed, machine or any", q.Orders)
	case told && all[i] != tolerance.OneMachine:
		return by, fmt.Errorf("-orders %s goes without -split-k, -promote and -plan, which tell one", orders)
	case q.Parts > 0 && all[i] != tolerance.UnknownSplit && all[i] != tolerance.MixedSplits:
		return by, fmt.Errorf("-parts %d goes with -orders split and mixed", q.Parts)
	}
	by.Orders, by.MostParts = all[i], q.Parts
	if q.Plan != "" {
		if q.SplitK > 0 || q.Promote > 0 {
			return by, fmt.Errorf("-plan goes without -split-k and -promote")
		}
		return q.planned(by, m, n, k)
	}
	in, acc := tcore.Binary16.Name, tcore.Binary32.Name
	for _, d := range Catalogue() {
		if d.Name == q.Device {
			in, acc = d.A.Name+","+d.B.Name, d.C.Name
		}
	}
	acc = cmp.Or(q.Acc, acc)
	d, err := FindDevice(q.Device, cmp.Or(q.In, in), acc)
	if err != nil {
		return by, err
	}
	if d.C.Name != acc && !SumsIntegers(d) {
		return by, fmt.Errorf("no device %q that accumulates in %s, see roundoff devices", q.Device, acc)
	}
	if SumsIntegers(d) {
		return by, fmt.Errorf("-device %s: %s", q.Device, Exactly(d))
	}
	by.Machine = tcore.Machine{Name: d.Name, Device: d, SplitK: q.SplitK, Promote: q.Promote}
	if by.Machine.Output, err = FindFormat(cmp.Or(q.Out, acc)); err != nil {
		return by, err
	}
	return by, by.Machine.Check()
}

// planned returns by with the plan.
func (q Maker) planned(by tolerance.Implementation, m, n, k int) (tolerance.Implementation, error) {
	kind, err := FindKind(cmp.Or(q.In, tcore.Binary16.Name))
	if err != nil {
		return by, err
	}
	p, err := FindPlan(q.Plan, PlannedProduct{Shape: library.Shape{M: m, N: n, K: k}, Kind: kind})
	if err != nil {
		return by, fmt.Errorf("-plan %q: %w", q.Plan, err)
	}
	by.Plan = &plan.Plan{Name: p.Name, Order: p.Order, Output: p.Output}
	if q.Out != "" {
		by.Machine.Output, err = FindFormat(q.Out)
	}
	return by, err
}

// failure returns the logarithm of the probability of failure of a confidence,
// or of "always".
func failure(confidence string) (roundoff.Failure, error) {
	if confidence == "always" {
		return roundoff.Never, nil
	}
	return roundoff.ParseConfidence(confidence)
}

// Results returns the tolerance, and the report on got if that is given. want
// are the outputs of the other implementation, nil for the exact ones. The
// matrices are rounded to the formats of the device first, as it converts them.
func (q *Tolerance) Results(got, want *blas64.General) (z Tolerated, err error) {
	f, err := failure(q.Confidence)
	if err != nil {
		return z, err
	}
	if q.Emulate != "" && q.Emulate != "sums" && q.Emulate != "bits" {
		return z, fmt.Errorf("-emulate %q, want sums or bits", q.Emulate)
	}
	if (want != nil) != (q.Want != nil) || want != nil && got == nil {
		return z, fmt.Errorf("want is given with the outputs of another implementation, and these with got: want all or none")
	}
	if z.Tolerance, z.Rounded, err = q.tolerance(q.Maker, f); err != nil || got == nil {
		return z, err
	}
	for _, m := range []struct {
		name string
		*blas64.General
	}{{"got", got}, {"want", want}} {
		if m.General != nil && (m.Rows != z.Limits.Rows || m.Cols != z.Limits.Cols) {
			return z, fmt.Errorf("%s is %d × %d, want %d × %d", m.name, m.Rows, m.Cols, z.Limits.Rows, z.Limits.Cols)
		}
	}
	var r tolerance.Report
	switch {
	case want != nil && q.Emulate != "":
		return z, fmt.Errorf("-emulate goes without another implementation")
	case want != nil:
		other := *q.Want
		if other.Device == "" && other.Plan == "" {
			other.Device, other.In, other.Acc, other.Out = q.Device, cmp.Or(other.In, q.In), cmp.Or(other.Acc, q.Acc), cmp.Or(other.Out, q.Out)
		}
		if z.Other, _, err = q.tolerance(other, f); err != nil {
			return z, fmt.Errorf("want: %w", err)
		}
		r = z.CompareWith(*got, *want, z.Other)
	case q.Emulate != "":
		all, err := z.Emulate()
		if err != nil {
			return z, err
		}
		best := tolerance.Emulation{}
		r, best = z.CompareEmulated(*got, all, q.Emulate == "bits")
		z.Emulated = best.Parts
	default:
		r = z.Compare(*got)
	}
	z.Report = &r
	return z, nil
}

// tolerance returns that of an implementation, and whether elements were
// rounded.
func (q *Tolerance) tolerance(of Maker, f roundoff.Failure) (t *tolerance.Tolerance, rounded bool, err error) {
	by, err := of.Implementation(q.Operands.A.Rows, q.Operands.B.Cols, q.Operands.A.Cols)
	if err != nil {
		return nil, false, err
	}
	d := by.Machine.Device
	if by.Plan != nil {
		d = by.Plan.Device()
	}
	data, rounded, err := q.measure(d)
	if err != nil {
		return nil, false, err
	}
	t, err = data.Of(by, f)
	return t, rounded, err
}

// measure returns the data of the matrices on a device, and whether elements
// were rounded.
func (q *Tolerance) measure(d tcore.Device) (data *tolerance.Data, rounded bool, err error) {
	scaled := q.ScaleA != nil || q.ScaleB != nil
	switch {
	case scaled && d.ScaleBlock == 0:
		return nil, false, fmt.Errorf("scale_a, scale_b: %s takes no scales", d.Name)
	case scaled:
		blocks := (q.Operands.A.Cols + d.ScaleBlock - 1) / d.ScaleBlock
		a, roundedA, err := codes("a", q.Operands.A, q.ScaleA, d.A, d, q.Operands.A.Rows, blocks)
		if err != nil {
			return nil, false, err
		}
		b, roundedB, err := codes("b", q.Operands.B, q.ScaleB, d.B, d, blocks, q.Operands.B.Cols)
		if err != nil {
			return nil, false, err
		}
		data, err := tolerance.MeasureScaled(d, a, b)
		return data, roundedA || roundedB, err
	case d.ScaleBlock > 0:
		d.A, d.B = tcore.Binary32, tcore.Binary32 // elements times scales
	}
	a, b, exact, err := q.Operands.Rounded(d)
	if err != nil {
		return nil, false, err
	}
	data, err = tolerance.Measure(a, b)
	return data, !exact, err
}

// codes returns the codes of elements of a format and of their scales, and
// whether elements were rounded. The error names a scale that is none.
func codes(name string, m blas64.General, scales *blas64.General, f tcore.Format, d tcore.Device, rows, cols int) (z tcore.Codes, rounded bool, err error) {
	if scales == nil {
		return z, false, fmt.Errorf("scale_%s is not given, and that of the other matrix is: want both or none", name)
	}
	if scales.Rows != rows || scales.Cols != cols {
		return z, false, fmt.Errorf("scale_%s is %d × %d, want %d × %d", name, scales.Rows, scales.Cols, rows, cols)
	}
	z = tcore.Codes{Rows: m.Rows, Cols: m.Cols, Data: make([]uint8, len(m.Data)), Scales: make([]uint8, len(scales.Data))}
	for i, x := range m.Data {
		y := f.Round(x, d.Convert)
		rounded = rounded || x != y
		z.Data[i] = uint8(f.Encode(y, d.Convert))
	}
	for i, x := range scales.Data {
		if y := d.Scale.Round(x, tcore.ToNearestEven); y != x {
			return z, false, fmt.Errorf("scale_%s[%d, %d] is %v, want a number of %s", name, i/cols, i%cols, x, d.Scale.Name)
		}
		z.Scales[i] = uint8(d.Scale.Encode(x, tcore.ToNearestEven))
	}
	return z, rounded, nil
}

// Constants returns what always holds for products of K terms on the devices,
// but for those of which nothing does, for which why says so.
func (q *Tolerance) Constants(devices []tcore.Device, ks []int) (all []tolerance.Constant, why []string) {
	for _, d := range devices {
		if SumsIntegers(d) {
			continue
		}
		for _, k := range ks {
			of := q.Maker
			of.Device, of.In, of.Acc = d.Name, "", ""
			by, err := of.Implementation(1, 1, k)
			var z tolerance.Constant
			if err == nil {
				z, err = tolerance.ConstantOf(by, k)
			}
			if err != nil {
				why = append(why, err.Error())
				break
			}
			all = append(all, z)
		}
	}
	return all, why
}
