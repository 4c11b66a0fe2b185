package sweep

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// data returns the distribution with a name.
func data(t *testing.T, name string) Generator {
	t.Helper()
	l, err := FindGenerator(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A bound reduced to 99 % of what the largest error needs is seen to be
// violated; with 101 % it is not. This is true of all terms of a constant
// bound, and of the radii of intervals.
func TestJudge_sees_one_percent(t *testing.T) {
	for _, c := range []struct {
		machine tcore.Machine
		data    string
		k       int
	}{
		{Volta, "U(0,1)", 33}, {HopperE4M3, "N(1,1)", 100}, {Paper, "U(-1,1)", 64},
		{HopperF16F16, "N(0,0.01)", 16}, // with results that are subnormal
		{tcore.Machine{Name: "ieee64", Device: devices.IEEEF64()}, "N(0,1)", 129},
		{tcore.Machine{Name: "mxf8", Device: devices.BlackwellMXE4M3()}, "blocks(-127,60,U(0,1))", 100},
	} {
		p := Plan{Machines: []tcore.Machine{c.machine}, Data: []Generator{data(t, c.data)}, M: 4, N: 4, Ks: []int{c.k}, Seeds: []uint64{1}, Confidences: []float64{0.99}, Ranges: true}
		d := p.draw(p.Data[0], c.k, 1)
		z := product{Problem: p.problem(unit{Problem: bound.Problem{Machine: c.machine}}, d.data, c.k), draw: d}
		z.run()
		asked, err := z.ask(p)
		if err != nil {
			t.Fatal(err)
		}
		judged := 0
		for _, q := range asked {
			need := 0.0 // the share of the bound that just contains all errors
			if q.Interval == nil {
				for i, e := range z.errors {
					if l := q.Limit(z.sizes[i]); e != 0 && !math.IsNaN(l) {
						need = max(need, math.Abs(e)/l)
					}
				}
			} else if run, err := z.emulate(0, z.M); err == nil {
				i := 0
				for o := range run {
					z.whole(&o)
					if v := q.Interval(q.kernel, o, q.failure); v.Radius > 1e-9*math.Abs(v.Centre) {
						need = max(need, math.Abs(z.errors[i]-v.Centre)/v.Radius)
					}
					i++
				}
			}
			if need == 0 || math.IsInf(need, 0) || math.IsNaN(need) {
				continue
			}
			judged++
			for _, planted := range []struct {
				share float64
				seen  bool
			}{{0.99 * need, true}, {1.01 * need, false}} {
				r := q
				r.Result.Constant *= planted.share
				r.Absolute *= planted.share
				r.Underflow *= planted.share
				if said := q.Interval; said != nil {
					r.Bound.Interval = func(k bound.Problem, o bound.Entry, f roundoff.Failure) bound.Interval {
						v := said(k, o, f)
						return bound.Interval{Centre: v.Centre, Radius: v.Radius * planted.share}
					}
				}
				if got := z.tallies([]question{r})[0].violations > 0; got != planted.seen {
					t.Errorf("%s on %s, %s: %v of what it says: a fault is seen: %v", q.Name, c.machine.Name, c.data, planted.share, got)
				}
			}
		}
		if judged == 0 {
			t.Errorf("%s, %s: nothing is judged", c.machine.Name, c.data)
		}
	}
}

// The sweep measures the errors of binary64 machines accurately: it does not
// lose them, and no claimed bound fails because of the measurement.
func TestJudge_of_binary64(t *testing.T) {
	p := Plan{Data: []Generator{data(t, "U(-1,1)"), data(t, "U(0,1)"), data(t, "log-uniform(-8,8)"), data(t, "point(0.1)")}, M: 4, N: 4, Ks: []int{1, 3, 129, 1000}, Seeds: []uint64{1, 2}, Confidences: []float64{0.99}, Ranges: true}
	for _, d := range devices.All() {
		if d.C.Precision == tcore.Binary64.Precision {
			p.Machines = append(p.Machines, tcore.Machine{Name: d.Name, Device: d})
		}
	}
	if len(p.Machines) < 8 {
		t.Fatalf("%d machines", len(p.Machines))
	}
	rows := run(t, p)
	for _, r := range Violated(rows, Sure) {
		t.Errorf("%s: %v", r.Bound, CaseOf(r))
	}
	for _, r := range rows {
		if r.Bound == ErrorRow && (r.K == 1 && r.Largest != 0 || r.K >= 129 && !(0 < r.Largest && r.Largest < float64(r.K)*0x1p-53)) {
			t.Errorf("%s, %s, K = %d: errors up to %v", r.Machine, r.Data, r.K, r.Largest)
		}
	}
}

// With block scales the measured errors equal those from sums in binary64 where
// these are exact, and no claimed bound is violated for any scales.
func TestJudge_of_scales(t *testing.T) {
	p := Plan{Data: []Generator{data(t, "blocks(-3,3,U(-1,1))"), data(t, "blocks(-127,127,N(0,1))"), data(t, "blocks(-127,-50,U(0,1))")}, M: 4, N: 4, Ks: []int{33, 128}, Seeds: []uint64{1}, Confidences: []float64{0.99}, Ranges: true}
	for _, d := range []tcore.Device{devices.BlackwellMXE4M3(), devices.BlackwellMXF4(), devices.BlackwellNVF4()} {
		p.Machines = append(p.Machines, tcore.Machine{Name: d.Name, Device: d})
	}
	for _, r := range Violated(run(t, p), Sure) {
		t.Errorf("%s: %v", r.Bound, CaseOf(r))
	}
	told := false
	for _, r := range run(t, p) {
		told = told || r.Bound == bound.Truncation.Name && r.Ranges && r.Outputs > 0
	}
	if !told {
		t.Error("truncation is nowhere judged with the ranges of scales")
	}
	for _, m := range p.Machines {
		d := p.draw(p.Data[0], 128, 1)
		z := product{Problem: p.problem(unit{Problem: bound.Problem{Machine: m}}, d.data, 128), draw: d}
		z.run()
		sx, sy := d.scales(m.Device)
		for i := range 4 {
			for j := range 4 {
				exact, size, x, y := 0.0, 0.0, make([]uint64, 128), make([]uint64, 128)
				for l := range x {
					x[l] = m.Device.A.Encode(float64(d.a.Data[i*128+l]), tcore.ToNearestEven)
					y[l] = m.Device.B.Encode(float64(d.b.Data[l*4+j]), tcore.ToNearestEven)
					b := l / m.Device.ScaleBlock
					v := m.Device.A.Decode(x[l]) * m.Device.B.Decode(y[l]) * m.Device.Scale.Decode(sx.codes[i][b]) * m.Device.Scale.Decode(sy.codes[j][b])
					exact, size = exact+v, size+math.Abs(v)
				}
				e := m.Device.C.Decode(m.Device.DotScaled(x, y, sx.codes[i], sy.codes[j], 0)) - exact
				if at := i*4 + j; z.errors[at] != e || z.sizes[at] != size {
					t.Errorf("%s: error %v of %v, want %v of %v", m.Name, z.errors[at], z.sizes[at], e, size)
				}
			}
		}
	}
}

// The bounds are given the ranges of elements and of scales, each for A and for
// B separately.
func TestDraw_tells_scales(t *testing.T) {
	l := data(t, "blocks(-9,3,U(0,4))×U(0,1)")
	for _, m := range []tcore.Device{devices.BlackwellMXE4M3(), devices.BlackwellNVF4()} {
		p := Plan{M: 4, N: 4, Ks: []int{512}}
		d := p.draw(l, 512, 1)
		k, err := d.tell(bound.Problem{M: 4, N: 4, K: 512, Machine: tcore.Machine{Device: m}}, telling{FromDistribution, true})
		x, y := k.RangeX, k.RangeY
		if err != nil || x.Scale != 8 || x.LeastScale != m.Scale.Round(0x1p-9, tcore.ToNearestEven) || y.Scale != 1 || y.LeastScale != 1 ||
			!(3.9 < x.Max && x.Max <= 4 && 0.9 < y.Max && y.Max <= 1) {
			t.Errorf("%s: %v %v %v and %v %v %v, %v", m.Name, x.Max, x.Scale, x.LeastScale, y.Max, y.Scale, y.LeastScale, err)
		}
	}
}

// The standard plan contains cases that have exposed faults, and every device.
func TestStandard_has(t *testing.T) {
	plans := Standard([]uint64{1})
	for _, c := range []struct {
		machine, data string
		k             int
	}{
		{"cdna2-mfma-binary16-binary32", "U(0,1)", 16},
		{"cdna2-mfma-binary16-binary32", "N(0,1)", 100},
		{"hopper-f16", "U(1,2)", 16},
		{"hopper-e4m3", "N(1,1)", 10000},
		{"hopper", "U(0.09995,0.10000)", 129},
		{"paper-f16", "log-normal", 2047},
		{"paper", "log-uniform(-8,8)", 10000},
		{"hopper-f16", "N(0,0.01)", 16},
		{"ieee-fma-binary64-binary64", "U(-1,1)", 1000},
		{"blackwell-tcgen05-f4ue4m3x16-binary32", "blocks(-9,8.8,U(-1,1))", 129},
	} {
		machine, err := FindMachine(c.machine)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(plans, func(p Plan) bool {
			return slices.Contains(p.Ks, c.k) && slices.ContainsFunc(p.Data, func(l Generator) bool { return l.Name == data(t, c.data).Name }) &&
				slices.ContainsFunc(p.Machines, func(m tcore.Machine) bool { return m.Device.Name == machine.Device.Name })
		}) {
			t.Errorf("%s, %s, K = %d is not in the standard plan", c.machine, c.data, c.k)
		}
	}
	for _, d := range devices.All() {
		if !slices.ContainsFunc(plans[0].Machines, func(m tcore.Machine) bool { return m.Name == d.Name }) {
			t.Errorf("%s is not in the standard plan", d.Name)
		}
	}
	seen := map[string]bool{} // a repeated cell would repeat its seeds
	for _, p := range Standard([]uint64{1}, FromMoments) {
		for _, k := range p.Ks {
			for _, l := range p.Data {
				key := strings.Join([]string{l.Name, string(rune(k)), tellingsOf(p)}, "|")
				if seen[key] {
					t.Errorf("%s, K = %d is twice in the standard plan", l.Name, k)
				}
				seen[key] = true
			}
		}
	}
}

func tellingsOf(p Plan) string {
	s := ""
	for _, t := range p.tellings() {
		s += t.String()
	}
	return s
}

// Bounds that read a distribution are not claimed for dependent data. Bounds
// that have read the matrices are always claimed.
func TestVerdict(t *testing.T) {
	random := func(n bound.Knowledge) question {
		return question{Bound: bound.Bound{Model: bound.Model{Random: true}, Needs: n}, Result: bound.Result{Holds: true}}
	}
	told := random(bound.Nothing)
	told.kernel.X = bound.Uniform(0, 1)
	believing := random(bound.Trace)
	believing.Trusts = true
	truncating := random(bound.Sums)
	truncating.Model = bound.TruncatingRandom
	never := question{Result: bound.Result{Holds: true}}
	refused := question{}
	for _, c := range []struct {
		q    question
		told Told
		data Generator
		want Verdict
	}{
		{random(bound.Moments), FromDistribution, Generator{}, Holds},
		{random(bound.Moments), FromDistribution, Generator{Dependent: "so"}, NotData},
		{random(bound.Trace), FromDistribution, Generator{Dependent: "so"}, NotData},
		{random(bound.Sums), FromDistribution, Generator{Dependent: "so"}, Holds},
		{told, FromDistribution, Generator{Dependent: "so"}, NotData},
		{told, FromDistribution, Generator{Mixed: true}, Holds},
		{truncating, FromDistribution, Generator{Dependent: "so"}, NotData},
		{truncating, FromDistribution, Generator{}, Holds},
		{random(bound.Moments), FromMoments, Generator{Dependent: "so"}, NotData},
		{random(bound.Moments), FromMoments, Generator{Misled: true}, Holds},
		{random(bound.Moments), FromDistribution, Generator{Misled: true}, NotData},
		{random(bound.Trace), FromDistribution, Generator{Misled: true}, Holds},
		{believing, FromDistribution, Generator{Misled: true}, NotData},
		{believing, FromDistribution, Generator{}, Holds},
		{random(bound.Moments), FromFiles, Generator{Dependent: "so", Mixed: true}, Holds},
		{random(bound.Sums), FromDistribution, Generator{Adverse: "so"}, NotData},
		{never, FromDistribution, Generator{Dependent: "so", Adverse: "so"}, Holds},
		{refused, FromFiles, Generator{}, NotMachine},
	} {
		c.q.telling.Told = c.told
		if got := c.q.verdict(c.data); got != c.want {
			t.Errorf("needs %v, told %v, %+v: %s, want %s", c.q.Needs, c.told, c.data.Dependent, got, c.want)
		}
	}
}

// If products have few values or are close to their neighbours, and the bounds
// are not given this, no bound that assumes random rounding errors is claimed:
// with data of one number all errors are equal.
func TestAlikeIsAdverse(t *testing.T) {
	for name, want := range map[string]bool{
		"rows(-3,3,point(0.853))": true, "rows(-3,3,rows(-3,3,point(0.853)))": true, "outliers(0.1,100,grid(0,1,0.01))×k/8": true,
		"rows(-3,3,mix(0.5,point(1),point(0.1)))": true, "rows(-3,3,sparse(0.5,point(1)))": true,
		"sorted(rows(-3,3,N(-1.17,0.03)))": true, "outliers(0.1,10,ar(0.99))×rows(-3,3,sorted(U(0,1)))": true,
		"sorted(rows(-3,3,U(0,1)))×N(0,1)": false, "sorted(U(0,1))": false,
		"point(0.853)": false, "rows(-3,3,U(0,1))": false, "rows(-3,3,signed(point(0.1)))": false, "softmax(1)×point(0.1)": false,
		"rows(-3,3,mix(0.5,point(1),U(0,1)))": false,
	} {
		if got := data(t, name).Adverse; (got != "") != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	p := Plan{Machines: []tcore.Machine{{Name: "f64", Device: devices.IEEEF64()}}, Data: []Generator{data(t, "rows(-3,3,point(0.853))")}, M: 1, N: 1, Ks: []int{62}, Seeds: []uint64{1}, Confidences: []float64{0.99}}
	exceeded := 0
	for _, r := range run(t, p) {
		if r.Violations > 0 {
			exceeded++
			if r.Verdict == Holds {
				t.Errorf("%s: %s", r.Bound, r.Verdict)
			}
		}
	}
	if exceeded == 0 {
		t.Error("no bound is exceeded: it is not tried")
	}
}

// With Ranges the bounds are also evaluated with the sizes of the elements, and
// tested beside those without.
func TestPlan_judges_with_ranges(t *testing.T) {
	p := Plan{Machines: []tcore.Machine{{Name: "cdna2", Device: devices.CDNA2F16()}}, Data: []Generator{data(t, "U(1,2)")}, M: 2, N: 2, Ks: []int{16}, Seeds: []uint64{1}, Confidences: []float64{0.99}, Ranges: true}
	constant := map[bool]float64{}
	for _, r := range run(t, p) {
		if r.Bound == "gamma" {
			constant[r.Ranges] = r.Constant
		}
	}
	if !(0 < constant[true] && constant[true] < constant[false]) {
		t.Errorf("constants %v, want a smaller one with ranges", constant)
	}
}

// If Represented, the rounding of A and B is part of the error.
func TestPlan_represented(t *testing.T) {
	p := Plan{Machines: []tcore.Machine{Paper}, Data: []Generator{Symmetric}, M: 2, N: 2, Ks: []int{64}, Seeds: []uint64{1}, Confidences: []float64{0.99}}
	plain := run(t, p)[0].Largest
	p.Represented = true
	rows := run(t, p)
	if got := rows[0].Largest; !(got > 100*plain) {
		t.Errorf("error %v, and %v with rounding to binary16", plain, got)
	}
	for _, r := range Violated(rows, Sure) {
		t.Errorf("%s: %v", r.Bound, CaseOf(r))
	}
	// e2m1 saturates at 6.
	p.Machines, p.Data = []tcore.Machine{{Name: "fp4", Device: devices.BlackwellE2M1()}}, []Generator{data(t, "U(0,100)")}
	if e := run(t, p)[0]; e.Skipped != 4 || e.Why != "an element of A or B is beyond e2m1" {
		t.Errorf("%d outputs skipped: %s", e.Skipped, e.Why)
	}
}

// FindGenerator finds every distribution by its own name, and rejects malformed
// names.
func TestFindGenerator_of_grammar(t *testing.T) {
	for _, name := range append(slices.Clone(standardData), scaledData...) {
		if l := data(t, name); l.Name != name {
			t.Errorf("%s is %s", name, l.Name)
		}
	}
	if got := data(t, " sparse( 0.50, N(0 ,1) ) * ar(0.9)").Name; got != "sparse(0.5,N(0,1))×ar(0.9)" {
		t.Errorf("%s", got)
	}
	for _, name := range []string{
		"U(1,0)", "N(0,0)", "U(0,1", "U(0,1))", "U(0)", "U(0,1,2)", "U(0,Inf)", "U(0,NaN)", "sparse(1,N(0,1))", "relu(U(0,1))",
		"mix(0.5,ar(0.9),N(0,1))", "ar(1)", "U(0,1)×", "×U(0,1)", "U(0,1)×U(0,1)×U(0,1)", "grid(0,1,0)", "grid(0,1e9,1)", "t(2)",
		"point(0)", "log-normal(1)", "k/8()", "blocks(1,0,N(0,1))", "sorted()", "softmax(0)", "log-uniform(0,1000)",
	} {
		if l, err := FindGenerator(name); err == nil {
			t.Errorf("%s is found, as %s", name, l.Name)
		}
	}
	if m, err := FindMachine("volta/4>bfloat16"); err != nil || m.SplitK != 4 || m.Output != tcore.BFloat16 {
		t.Errorf("%+v, %v", m, err)
	}
	if m, err := FindMachine("hopper@128>bfloat16"); err != nil || m.Promote != 128 || m.Output != tcore.BFloat16 {
		t.Errorf("%+v, %v", m, err)
	}
	for _, name := range []string{"hopper@", "hopper@100", "hopper@128@128", "hopper/2@128", "volta>", "volta>none", "volta>binary16>binary16", "none>binary16"} {
		if _, err := FindMachine(name); err == nil {
			t.Errorf("machine %s is found", name)
		}
	}
}

// Hunt finds a bound that is wrong, and a case in which it fails but no case
// that is simpler in one respect does.
func TestHunt_finds_what_is_planted(t *testing.T) {
	defer func() { evaluate = bound.Evaluate }()
	evaluate = func(k bound.Problem, f roundoff.Failure) ([]bound.Result, error) {
		results, err := bound.Evaluate(k, f)
		for i := range results {
			switch r := &results[i]; {
			case r.Bound == bound.Truncation.Name && k.K >= 9:
				r.Constant, r.Underflow = r.Constant/1e6, 0
			default:
				r.Holds = false
			}
		}
		return results, err
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	trials := 0
	c, err := Hunt(ctx, 5*time.Minute, 1, func(c Catch) {
		if trials = c.Trials; len(c.Found) > 0 {
			stop()
		}
	})
	if err != nil || len(c.Found) == 0 || c.Outputs == 0 || c.Judged == 0 || trials == 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	f := c.Found[0]
	if f.Bound != bound.Truncation.Name || f.Trial.K < 9 || !f.Trial.violates(t.Context(), f.Bound) {
		t.Errorf("%s in %v", f.Bound, f.Trial)
	}
	for _, z := range f.Trial.smaller() {
		if z.violates(t.Context(), f.Bound) {
			t.Errorf("%v is simpler than %v", z, f.Trial)
		}
	}
}

// The same seed gives the same cases, whose distributions FindGenerator finds.
func TestHunt_of_a_seed(t *testing.T) {
	list := func() (s []string) {
		r := newHunter(5)
		for range 200 {
			trial := randomTrial(r, randomData(r))
			if _, err := trial.plan(); err != nil {
				t.Errorf("%v: %v", trial, err)
			}
			s = append(s, trial.String())
		}
		return s
	}
	first := list()
	if !slices.Equal(first, list()) {
		t.Error("trials differ")
	}
	slices.Sort(first)
	if n := len(slices.Compact(first)); n < 190 {
		t.Errorf("%d different trials of 200", n)
	}
}

// No claimed bound fails on random cases, drawn as by Hunt; a failure is
// printed as a command.
func FuzzBounds(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := newHunter(seed)
		trial := randomTrial(r, randomData(r))
		rows, err := trial.run(t.Context())
		if err != nil {
			t.Fatalf("%v: %v", trial, err)
		}
		var c Catch
		c.count(t.Context(), trial, rows)
		for _, z := range c.Found {
			t.Errorf("%s: %v", z.Bound, z.Trial)
		}
	})
}
