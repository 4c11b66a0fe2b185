package sweep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/panics"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// run returns the rows of a plan.
func run(t *testing.T, p Plan) []Row {
	t.Helper()
	rows, err := p.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// No bound is violated on a machine and a distribution for which it is claimed.
func TestPlan_finds_that_bounds_hold_where_they_are_to(t *testing.T) {
	all := func(m, n int, ks []int, seeds ...uint64) Plan {
		machines := append(Machines(), tcore.Machine{Name: "cdna3", Device: devices.CDNA3F16()}) // of two stages
		return Plan{Machines: machines, Data: Generators(), M: m, N: n, Ks: ks, Seeds: seeds, Confidences: []float64{0.99}}
	}
	var plans []Plan
	if testing.Short() { // each machine with a fifth of the data, and all data on a fifth of the machines
		for i, m := range all(4, 4, nil).Machines {
			p := all(4, 4, []int{17, 512}, uint64(1+i%2))
			p.Machines, p.Data = []tcore.Machine{m}, nil
			for j, g := range Generators() {
				if (i+j)%5 == 0 {
					p.Data = append(p.Data, g)
				}
			}
			plans = append(plans, p)
		}
	} else {
		long := all(8, 8, []int{32768}, 14)
		long.Machines = slices.DeleteFunc(long.Machines, func(m tcore.Machine) bool {
			return m.Name == HopperF16F16.Name || m.Name == HopperOutputF16.Name // sums end at 65504
		})
		plans = []Plan{long, all(32, 8, []int{256, 4096}, 11)}
	}
	var rows []Row
	for _, p := range plans {
		rows = append(rows, run(t, p)...)
	}
	for _, r := range Violated(rows, Sure) {
		failed, trials := r.Failures()
		t.Errorf("%s on %s, %s, K = %d: %d of %d", r.Bound, r.Machine, r.Data, r.K, failed, trials)
	}
	seen := map[string]bool{}
	for _, r := range rows {
		seen[r.Bound] = true
	}
	for _, b := range bound.Catalogue() {
		if !seen[b.Name] {
			t.Errorf("%s is in no row", b.Name)
		}
	}
}

// Each of these bounds is violated where it is not claimed.
func TestPlan_finds_what_breaks_a_bound(t *testing.T) {
	for _, c := range []struct {
		machine tcore.Machine
		data    Generator
		bound   string
		verdict Verdict
	}{
		{Volta, Positive, "vibea", NotMachine},
		{Hopper, Positive, "half-ulp-bernstein", NotMachine},
		{HopperE4M3, OneTwo, "linear", NotMachine},
		{Paper, Ties, "vibea", NotData},
		{Paper, Ties, "half-ulp-bernstein", NotData},
		{Paper, Pairing, "half-ulp-bernstein", NotData},
		{Paper, Misinformed, "random-data", NotData},
	} {
		rows := run(t, Plan{Machines: []tcore.Machine{c.machine}, Data: []Generator{c.data}, M: 4, N: 2, Ks: []int{32768}, Seeds: []uint64{1}, Confidences: []float64{0.99}})
		i := slices.IndexFunc(rows, func(r Row) bool { return r.Bound == c.bound })
		if r := rows[i]; r.Verdict != c.verdict || r.Violations == 0 || r.Failed != 1 {
			t.Errorf("%s on %s, %s: %s, %d violations, largest %v", c.bound, c.machine.Name, c.data.Name, r.Verdict, r.Violations, r.Largest)
		}
	}
}

// The rows of a plan equal the counts made output by output in exact
// arithmetic.
// The rows of some bounds are those that they have among all, whether they read
// the sums of a run or not; rows of errors are always there.
func TestPlan_of_some_bounds(t *testing.T) {
	p := Plan{Machines: []tcore.Machine{Hopper, Paper}, Data: []Generator{Symmetric}, M: 8, N: 4, Ks: []int{64}, Seeds: []uint64{1, 2}, Confidences: []float64{0.99}, Ranges: true}
	all, err := p.Run(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, bounds := range [][]bound.Bound{{bound.Truncation}, {bound.MartingaleTrace, bound.HalfUlpBernstein}, {bound.MartingaleTrace, bound.Truncation, bound.TruncatedRandomData}} {
		p.Bounds = bounds
		some, err := p.Run(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var want []Row
		for _, r := range all {
			if r.Bound == ErrorRow || slices.ContainsFunc(bounds, func(b bound.Bound) bool { return b.Name == r.Bound }) {
				want = append(want, r)
			}
		}
		for _, rows := range [][]Row{some, want} {
			for i := range rows {
				rows[i].Product, rows[i].Exact = 0, 0
			}
		}
		if len(some) < 3 || fmt.Sprintf("%+v", some) != fmt.Sprintf("%+v", want) {
			t.Errorf("of %d bounds: %+v, want %+v", len(bounds), some, want)
		}
	}
}

func TestPlan_counts_as_one_would_by_hand(t *testing.T) {
	const m, n, k = 3, 2, 64
	f := roundoff.FailureOf(0.9)
	for _, machine := range []tcore.Machine{Volta, Paper, HopperF16F16, {Name: "ieee64", Device: devices.IEEEF64()}} {
		p := Plan{Machines: []tcore.Machine{machine}, Data: []Generator{Symmetric}, M: m, N: n, Ks: []int{k}, Seeds: []uint64{5}, Confidences: []float64{0.9}}
		a, b := Symmetric.Matrices(m, n, k, 5)
		asked := bound.Problem{M: m, N: n, K: k, Machine: machine, X: Symmetric.X, Y: Symmetric.Y}
		results, err := bound.Evaluate(asked, f)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]float64{}
		mean := 0.0
		for i := range m {
			for j := range n {
				x, y := make([]float64, k), make([]float64, k)
				exact, size := new(big.Float).SetPrec(400), new(big.Float).SetPrec(400)
				for l := range k {
					x[l] = machine.Device.A.Round(float64(a.Data[i*k+l]), tcore.ToNearestEven)
					y[l] = machine.Device.B.Round(float64(b.Data[l*n+j]), tcore.ToNearestEven)
					product := new(big.Float).SetPrec(400).Mul(big.NewFloat(x[l]), big.NewFloat(y[l]))
					exact.Add(exact, product)
					size.Add(size, product.Abs(product))
				}
				e, _ := new(big.Float).SetPrec(400).Sub(big.NewFloat(machine.Device.Dot(x, y, 0)), exact).Float64()
				s, _ := size.Float64()
				mean += e / s / (m * n)
				want[ErrorRow] = max(want[ErrorRow], math.Abs(e)/s)
				for i, q := range bound.Catalogue() {
					if r := results[i]; q.Constant != nil {
						want[q.Name] = max(want[q.Name], math.Abs(e)/(min(s*r.Constant, r.Absolute)+r.Underflow))
					}
				}
			}
		}
		for _, r := range run(t, p) {
			if w, ok := want[r.Bound]; ok && math.Abs(r.Tightness-w) > 1e-12*w {
				t.Errorf("%s on %s: τ = %v, want %v", r.Bound, machine.Name, r.Tightness, w)
			}
			if r.Bound == ErrorRow && math.Abs(r.Mean()-mean) > 1e-12*r.Spread() {
				t.Errorf("%s: mean %v, want %v", machine.Name, r.Mean(), mean)
			}
		}
	}
}

// With scales other than 1, the error of an output of a block-scaled machine is
// within the truncation bound.
func TestTruncation_holds_with_scales(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	const k = 1024
	for _, d := range []tcore.Device{devices.BlackwellMXE4M3(), devices.BlackwellMXE2M1(), devices.BlackwellMXF4(), devices.BlackwellNVF4()} {
		β := bound.Truncation.Constant(bound.Problem{M: 1, N: 1, K: k, Machine: tcore.Machine{Device: d}}, -1).Constant
		largest := 0.0
		for range 50 {
			x, y := make([]uint64, k), make([]uint64, k)
			for i := range x {
				x[i] = d.A.Encode(2*r.Float64()-1, tcore.ToNearestEven)
				y[i] = d.B.Encode(2*r.Float64()-1, tcore.ToNearestEven)
			}
			scales := func() []uint64 {
				z := make([]uint64, k/d.ScaleBlock)
				for i := range z {
					z[i] = d.Scale.Encode(math.Ldexp(1, r.IntN(9)-4), tcore.ToNearestEven)
				}
				return z
			}
			sx, sy := scales(), scales()
			exact, size := 0.0, 0.0 // few bits: exact in binary64
			for i := range x {
				p := d.A.Decode(x[i]) * d.B.Decode(y[i]) * d.Scale.Decode(sx[i/d.ScaleBlock]) * d.Scale.Decode(sy[i/d.ScaleBlock])
				exact += p
				size += math.Abs(p)
			}
			computed := d.C.Decode(d.DotScaled(x, y, sx, sy, 0))
			largest = max(largest, math.Abs(computed-exact)/(β*size))
		}
		if !(0 <= largest && largest <= 1) {
			t.Errorf("%s: |error| is %v of the bound", d.Name, largest)
		}
		t.Logf("%s: τ = %.3g", d.Name, largest)
	}
}

func TestPlan_stops_when_told_to(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	p := Plan{Machines: []tcore.Machine{Volta}, Data: []Generator{Symmetric}, M: 2, N: 2, Ks: []int{8}, Seeds: []uint64{1, 2, 3}, Confidences: []float64{0.9}}
	var seen []string
	_, err := p.Run(ctx, func(done, total int) {
		seen = append(seen, fmt.Sprint(done, "/", total))
		stop()
	})
	if !errors.Is(err, context.Canceled) || !slices.Equal(seen, []string{"8/24"}) {
		t.Errorf("%v, %q", err, seen)
	}
}

// Outputs that cannot be judged are counted, with the reason, and the others
// are judged.
func TestPlan_skips_what_is_not_finite(t *testing.T) {
	find := func(name string) Generator {
		l, err := FindGenerator(name)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	for _, c := range []struct {
		machine tcore.Machine
		data    string
		skipped func(n int) bool
		why     string
	}{
		{HopperF16F16, "point(60000)", func(n int) bool { return n == 16 }, "D is beyond binary16"},
		{HopperF16F16, "rows(0,8,U(0,15))", func(n int) bool { return 0 < n && n < 16 }, "D is beyond binary16"},
		{Hopper, "point(100000)", func(n int) bool { return n == 16 }, "an element of A or B is beyond binary16"},
		{Hopper, "blocks(0,1,U(0,1))", func(n int) bool { return n == 16 }, "the machine takes no scales"},
		{Hopper, "point(100)", func(n int) bool { return n == 0 }, ""},
	} {
		rows := run(t, Plan{Machines: []tcore.Machine{c.machine}, Data: []Generator{find(c.data)}, M: 4, N: 4, Ks: []int{8}, Seeds: []uint64{7}, Confidences: []float64{0.9}})
		e := rows[0]
		if e.Bound != ErrorRow || !c.skipped(e.Skipped) || e.Why != c.why || e.Outputs+e.Skipped != 16 || (len(rows) > 1) != (e.Outputs > 0) {
			t.Errorf("%s, %s: %d rows, %d outputs, %d skipped: %s", c.machine.Name, c.data, len(rows), e.Outputs, e.Skipped, e.Why)
		}
		for _, r := range rows[1:] {
			if r.Outputs > e.Outputs {
				t.Errorf("%s, %s: %s is judged on %d outputs of %d", c.machine.Name, c.data, r.Bound, r.Outputs, e.Outputs)
			}
		}
	}
}

// Machines that multiply the same numbers have one exact product, and those of
// other formats have their own, unless it is that of the matrices as drawn.
func TestMachinesShareExactProducts(t *testing.T) {
	d := Plan{M: 2, N: 3}.draw(Symmetric, 4, 1)
	hopper := d.exactly(devices.HopperF16(), false)
	if other := d.exactly(devices.AmpereF16(), false); hopper.err != nil || other.Product != hopper.Product {
		t.Errorf("another product in binary16: %v", hopper.err)
	}
	if other := d.exactly(devices.HopperE4M3(), false); other.Product == hopper.Product {
		t.Error("the product in binary16 is that in e4m3")
	}
	if one, other := d.exactly(devices.HopperF16(), true), d.exactly(devices.HopperE4M3(), true); one.Product != other.Product || one.Product == hopper.Product {
		t.Error("the product of the matrices as drawn is not one of its own")
	}
}

func TestPlan_panics(t *testing.T) {
	ok := Plan{Machines: []tcore.Machine{Volta}, Data: []Generator{Symmetric}, M: 1, N: 1, Ks: []int{1}, Seeds: []uint64{1}, Confidences: []float64{0.9}}
	for want, change := range map[string]func(p *Plan){
		"sweep: 1 machines and orders, 1 kinds of data, 1 Ks, 0 seeds, 1 confidences, want 1 or more of each": func(p *Plan) { p.Seeds = nil },
		"sweep: M = 0, N = 1, K = [1], want 1 or more":                                                        func(p *Plan) { p.M = 0 },
		"sweep: M = 1, N = 1, K = [-3], want 1 or more":                                                       func(p *Plan) { p.Ks = []int{-3} },
		"sweep: seed 1 twice": func(p *Plan) { p.Seeds = []uint64{1, 1} },
	} {
		p := ok
		change(&p)
		panics.Want(t, want, func() { p.Run(t.Context(), nil) })
	}
	panics.Want(t, "sweep: ClopperPearson: 2 of 1, want 0 <= failed <= trials, 1 <= trials", func() { ClopperPearson(2, 1, 0.9) })
	panics.Want(t, "sweep: ClopperPearson: confidence = 1, want 0 < confidence < 1", func() { ClopperPearson(0, 1, 1) })
	panics.Want(t, "sweep: Add(-1), want x >= 0", func() { new(Sketch).Add(-1) })
	panics.Want(t, "sweep: Quantile(2), want 0 <= q <= 1", func() { Sketch{}.Quantile(2) })
}

// At either end of the interval, the observed count or a more extreme one has
// probability (1 - confidence)/2.
func TestClopperPearson_solves_the_binomial_sums(t *testing.T) {
	tail := func(from, to, n int, p float64) float64 { // P(from <= X <= to)
		sum := 0.0
		for x := from; x <= to; x++ {
			c, _ := new(big.Float).SetInt(new(big.Int).Binomial(int64(n), int64(x))).Float64()
			sum += c * math.Pow(p, float64(x)) * math.Pow(1-p, float64(n-x))
		}
		return sum
	}
	for _, n := range []int{1, 10, 100} {
		for _, x := range []int{0, 1, n / 2, n} {
			lo, hi := ClopperPearson(x, n, 0.95)
			if x > 0 && math.Abs(tail(x, n, n, lo)-0.025) > 1e-9 || x == 0 && lo != 0 {
				t.Errorf("%d of %d: lower end %v has tail %v", x, n, lo, tail(x, n, n, lo))
			}
			if x < n && math.Abs(tail(0, x, n, hi)-0.025) > 1e-9 || x == n && hi != 1 {
				t.Errorf("%d of %d: upper end %v has tail %v", x, n, hi, tail(0, x, n, hi))
			}
		}
	}
}

// Sketches of parts, merged in any order, equal the sketch of the whole and
// give its quantiles.
func TestSketch_merges(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		var whole Sketch
		var all []float64
		parts := make([]Sketch, 5)
		for i := range 2000 {
			x := math.Abs(r.NormFloat64()) * math.Ldexp(1, i%3)
			if r.IntN(50) == 0 {
				x = 0
			}
			all = append(all, x)
			whole.Add(x)
			parts[i*i%5].Add(x)
		}
		var merged Sketch
		for _, i := range r.Perm(5) {
			merged.Merge(parts[i])
		}
		if merged != whole {
			t.Errorf("%v\nwant %v", merged, whole)
		}
		slices.Sort(all)
		for _, q := range []float64{0.5, 0.9, 0.999, 1} {
			want := all[int(math.Ceil(q*2000))-1]
			if got := whole.Quantile(q); math.Abs(math.Log2(got/want)) > 0.5/perOctave+1e-9 {
				t.Errorf("quantile %v: %v, want %v", q, got, want)
			}
		}
		if s, err := ParseSketch(whole.String()); err != nil || s != whole {
			t.Errorf("%v, %v", s, err)
		}
	}
	for _, text := range []string{"", "1", "1:2", "x:1|0", "1:0 1|0", "1:-1|0", "1:1|-1"} {
		if _, err := ParseSketch(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// A sweep of four seeds equals the join of its halves, also after writing and
// reading them.
func TestJoin_of_files(t *testing.T) {
	p := Plan{Machines: []tcore.Machine{Volta, Paper}, Data: []Generator{Symmetric, Ties}, M: 8, N: 2, Ks: []int{64, 128}, Seeds: []uint64{1, 2, 3, 4}, Confidences: []float64{0.9, 0.99}}
	whole := run(t, p)
	var joined []Row
	for _, p.Seeds = range [][]uint64{{3, 4}, {1, 2}} {
		var file bytes.Buffer
		if err := Write(&file, "a sweep\nof two lines", run(t, p)); err != nil {
			t.Fatal(err)
		}
		rows, comment, err := Read(&file)
		if err == nil {
			joined, err = Join(joined, rows)
		}
		if err != nil || comment != "a sweep\nof two lines" {
			t.Fatalf("%v, %q", err, comment)
		}
	}
	if len(joined) != len(whole) {
		t.Fatalf("%d rows, want %d", len(joined), len(whole))
	}
	near := func(x, y, scale float64) bool {
		return math.Abs(x-y) <= 5e-3*math.Abs(scale) || math.IsNaN(x) && math.IsNaN(y)
	}
	for i, r := range joined {
		w := whole[i]
		s, u := r.Summary, w.Summary
		s.Tightness, s.Largest, s.Constant = u.Tightness, u.Largest, u.Constant // rounded to three digits
		if r.key() != w.key() || s != u || !near(r.Tightness, w.Tightness, w.Tightness) || !slices.Equal(r.Seeds, w.Seeds) || r.Verdict != w.Verdict {
			t.Errorf("%+v\nwant %+v", r, w)
		}
		if !near(r.Mean(), w.Mean(), w.Spread()) || !near(r.Spread(), w.Spread(), w.Spread()) || !near(r.Slope(), w.Slope(), w.Slope()) {
			t.Errorf("%s %s: %v %v %v, want %v %v %v", r.Machine, r.Data, r.Mean(), r.Spread(), r.Slope(), w.Mean(), w.Spread(), w.Slope())
		}
	}
}

// The command of a row makes the row again, whatever it is of.
func TestCaseOf_repeats_the_row(t *testing.T) {
	p := Plan{Machines: []tcore.Machine{Volta}, Data: []Generator{Positive}, M: 4, N: 4, Ks: []int{16}, Seeds: []uint64{1, 3}, Confidences: []float64{0.9}}
	for _, change := range []func(){func() {}, func() { p.PerOutput = true }, func() { p.Represented = true }, func() { p.Told = []Told{FromMoments} }, func() {
		p.Told, p.PerOutput, p.Represented = []Told{FromMatrices, FromDistribution}, false, false
		p.Machines, p.Recipes = []tcore.Machine{HopperE4M3}, recipes(t, "torchao-e4m3-row:deepgemm-128x128")
	}} {
		change()
		for i, r := range run(t, p) {
			if testing.Short() && i%4 > 0 {
				continue
			}
			again, err := CaseOf(r).plan()
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, s := range run(t, again) {
				found = found || s.Bound == r.Bound && s.Ranges == r.Ranges && s.PerOutput == r.PerOutput && s.Constant == r.Constant && s.Largest == r.Largest
			}
			if !found && r.Told == CaseOf(r).Told {
				t.Errorf("%s, per output %v, told from %v: not in %v", r.Bound, r.PerOutput, r.Told, CaseOf(r))
			}
		}
	}
}

func TestRead_names_the_line(t *testing.T) {
	var file bytes.Buffer
	if err := Write(&file, "x", run(t, Plan{Machines: []tcore.Machine{Volta}, Data: []Generator{Symmetric}, M: 1, N: 1, Ks: []int{8}, Seeds: []uint64{1}, Confidences: []float64{0.9}})); err != nil {
		t.Fatal(err)
	}
	good := file.String()
	for _, c := range []struct{ old, new, want string }{
		{"volta,\"U(-1,1)\",1,1,8", "volta,\"U(-1,1)\",1,one,8", `sweep: line 3, n: strconv.Atoi: parsing "one": invalid syntax`},
		{"machine,data", "data,machine", `sweep: line 2 begins with "data,mac", want "machine,"`},
		{",yes,holds", ",maybe,holds", `sweep: line 3, deterministic: "maybe", want yes or nothing`},
		{",yes,holds", strings.Repeat(",", 50) + "yes,holds", "sweep: line 3 has"},
		{good, "", `sweep: line 1 begins with "", want "machine,"`},
		{",yes,holds", ",yes,Holds", "sweep: line 3, verdict: Holds, want holds, machine or data"},
		{"machine,data,m", "machine,m,data", "sweep: columns"},
	} {
		if _, _, err := Read(strings.NewReader(strings.Replace(good, c.old, c.new, 1))); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// With the same seed, a longer row begins with the elements of a shorter one.
func TestData_of_vectors_have_prefixes(t *testing.T) {
	for _, l := range []Generator{Symmetric, Scaled, LogNormal} {
		a, b := l.Matrices(3, 2, 16, 1)
		c, d := l.Matrices(3, 2, 8, 1)
		for i := range 3 {
			if !slices.Equal(a.Data[i*16:i*16+8], c.Data[i*8:i*8+8]) {
				t.Errorf("%s: rows differ", l.Name)
			}
		}
		if !slices.Equal(b.Data[:16], d.Data) {
			t.Errorf("%s: columns differ", l.Name)
		}
	}
}

// The moments that the bounds are given of a distribution are those of its
// samples.
func TestData_have_the_moments_they_tell(t *testing.T) {
	sets := Generators()
	for _, name := range standardData {
		l, err := FindGenerator(name)
		if err != nil {
			t.Fatal(err)
		}
		sets = append(sets, l)
	}
	for _, l := range sets {
		if l.X.String() == "" || l.Misled || l.Dependent != "" {
			continue
		}
		const n = 1 << 18
		a, b := l.Matrices(1, 1, n, 3)
		for _, m := range []struct {
			data []float32
			told bound.Distribution
		}{{a.Data, l.X}, {b.Data, l.Y}} {
			mean, square, abs, greatest, both := 0.0, 0.0, 0.0, 0.0, 0.0
			for _, x := range m.data {
				x := float64(x)
				mean, square, abs = mean+x/n, square+x*x/n, abs+math.Abs(x)/n
				greatest = max(greatest, math.Abs(x))
				both += math.Copysign(1, x) * min(math.Abs(x), m.told.MeanAbs()) / n
			}
			d := m.told
			err := d.Check()
			if err != nil || math.Abs(mean-d.Mean()) > 0.02*math.Sqrt(d.MeanSquare()) || math.Abs(square/d.MeanSquare()-1) > 0.1 || math.Abs(abs/d.MeanAbs()-1) > 0.02 ||
				greatest > d.MaxAbs()*(1+1e-6) || d.Symmetric() && math.Abs(both) > 0.02*d.MeanAbs() {
				t.Errorf("%s, %s: %v %v %v, at most %v, want %v %v %v, at most %v, %v", l.Name, d, mean, square, abs, greatest, d.Mean(), d.MeanSquare(), d.MeanAbs(), d.MaxAbs(), err)
			}
		}
	}
}

// The distributions that violate assumptions have the properties in their
// descriptions.
func TestData_that_break(t *testing.T) {
	a, b := Pairing.Matrices(4, 4, 64, 1)
	for i := range 4 {
		for j := range 4 {
			for l := range 64 {
				m, _ := math.Frexp(float64(a.Data[i*64+l]))
				w, _ := math.Frexp(float64(b.Data[l*4+j]))
				if p := int(m * w * 0x1p22); p%1024 != 1023 {
					t.Fatalf("pairing: low bits of %d are %b", p, p%1024)
				}
			}
		}
	}
	a, b = Cancelling.Matrices(16, 8, 4096, 1)
	exact, absolute, err := Hopper.Device.ExactGEMMs(a, b)
	if err != nil {
		t.Fatal(err)
	}
	var conditions []float64
	for i, s := range exact.Float64().Data {
		conditions = append(conditions, absolute.Float64().Data[i]/math.Abs(s))
	}
	slices.Sort(conditions)
	if c := conditions[len(conditions)/2]; c < 5e3 || c > 5e4 {
		t.Errorf("condition number %v, want about 1e4", c)
	}
}

func TestFind_refuses(t *testing.T) {
	for _, name := range []string{"", "volta/0", "volta/x", "hopper/16/2", "nothing"} {
		if _, err := FindMachine(name); err == nil {
			t.Errorf("machine %q is found", name)
		}
	}
	if _, err := FindGenerator("nothing"); err == nil {
		t.Error("distribution found")
	}
	for _, m := range Machines() {
		if z, err := FindMachine(m.Name); err != nil || z.Name != m.Name {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
	for _, s := range []string{"", "x", "1:", "2:1", "1,1", "0:1000000", "-1", "1:600000,1000001:1500000", "0:999999,2000000"} {
		if _, err := ParseSeeds(s); err == nil {
			t.Errorf("seeds %q are taken", s)
		}
	}
	if seeds, err := ParseSeeds("0:499999,1000000:1499999"); err != nil || len(seeds) != 1_000_000 {
		t.Errorf("%d of a million seeds: %v", len(seeds), err)
	}
}

// The predictions of the mean (data of one sign), the slope (data of both
// signs) and the spread agree with the errors. There is no prediction if the
// bounds are given a wrong distribution.
func TestPlan_predicts(t *testing.T) {
	promoting, err := FindMachine("hopper@128")
	if err != nil {
		t.Fatal(err)
	}
	p := Plan{Machines: []tcore.Machine{Hopper, promoting}, Data: []Generator{Positive, Symmetric, Misinformed, Scaled}, M: 64, N: 8, Ks: []int{4096}, Seeds: []uint64{1}, Confidences: []float64{0.99}, Predict: true}
	if testing.Short() {
		p.Ks = []int{1024}
	}
	near := func(x, y float64) bool { return math.Abs(x/y-1) < 0.2 }
	for _, r := range run(t, p) {
		if r.Bound != ErrorRow {
			continue
		}
		q := r.Predicted
		ok := near(q.Spread, r.Spread())
		switch r.Data {
		case Positive.Name:
			ok = ok && near(q.Mean, r.Mean())
		case Symmetric.Name:
			ok = ok && near(q.Slope, r.Slope())
		default:
			ok = math.IsNaN(q.Mean) && math.IsNaN(q.Slope) && math.IsNaN(q.Spread)
		}
		if !ok {
			t.Errorf("%s: mean %v, slope %v, spread %v, predicted %v", r.Data, r.Mean(), r.Slope(), r.Spread(), q)
		}
	}
}

// Rows without seeds may be of the same products, and are not joined.
func TestJoin_of_no_seeds(t *testing.T) {
	row := Row{Machine: "paper", Data: "U(0,1)", Bound: "gamma", Verdict: Holds}
	seeded := row
	seeded.Seeds = []uint64{1}
	for _, rows := range [][2]Row{{row, row}, {row, seeded}, {seeded, row}} {
		if _, err := Join(rows[:1], rows[1:]); err == nil || err.Error() != "sweep: paper, U(0,1): a row of no seeds, want those it is of" {
			t.Errorf("error %v", err)
		}
	}
}

// Joined rows have the seeds of both in order, whichever lie between which, and
// none twice; the rows that were joined keep theirs.
func TestJoin_of_seeds_between_others(t *testing.T) {
	of := func(seeds ...uint64) []Row {
		return []Row{{Machine: "paper", Data: "U(0,1)", Bound: "gamma", Verdict: Holds, Seeds: append(make([]uint64, 0, 8), seeds...)}}
	}
	first := of(1, 4)
	for _, c := range []struct {
		rows []Row
		want string
	}{{of(2, 3), "1:4"}, {of(5), "1,4:5"}, {of(0), "0:1,4"}} {
		joined, err := Join(first, c.rows)
		if err != nil || FormatSeeds(joined[0].Seeds) != c.want {
			t.Errorf("%v, %v, want %s", joined, err, c.want)
		}
		if FormatSeeds(first[0].Seeds) != "1,4" || first[0].Seeds[:3][2] != 0 {
			t.Errorf("joined, the first rows have the seeds %v", first[0].Seeds[:3])
		}
	}
	for _, rows := range [][]Row{of(4), of(1), of(2, 4)} {
		if _, err := Join(first, rows); err == nil || !strings.Contains(err.Error(), "is in both") {
			t.Errorf("%v and %v: error %v", first[0].Seeds, rows[0].Seeds, err)
		}
	}
}
