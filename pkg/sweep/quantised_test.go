package sweep

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// recipes returns the recipes of the names.
func recipes(t *testing.T, names ...string) (list []bound.Recipes) {
	t.Helper()
	for _, name := range names {
		r, err := FindRecipes(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

// on returns the machine of a device.
func on(d tcore.Device) tcore.Machine { return tcore.Machine{Name: d.Name, Device: d} }

// quantisedPlan returns a plan with recipes for devices that take scales, that
// take none, and for sums of integers.
func quantisedPlan(t *testing.T) Plan {
	return Plan{
		Machines: []tcore.Machine{HopperE4M3, on(devices.BlackwellMXE4M3()), on(devices.BlackwellNVF4()), Integers},
		Recipes:  recipes(t, "torchao-e4m3-row", "deepgemm-1x128:deepgemm-128x128", "mxe4m3-floor", "nvfp4-te-1x16", "int8-row"),
		Data:     []Generator{Symmetric, Positive}, M: 4, N: 3, Ks: []int{128}, Seeds: []uint64{1, 2}, Confidences: []float64{0.99},
		Told: []Told{FromDistribution, FromMatrices},
	}
}

// bigProduct returns element (i, j) of the product of matrices, and that of
// their magnitudes.
func bigProduct(a, b blas64.General, i, j int) (value, size *big.Float) {
	value, size = new(big.Float).SetPrec(2000), new(big.Float).SetPrec(2000)
	for l := range a.Cols {
		p := new(big.Float).SetPrec(2000).SetFloat64(a.Data[i*a.Stride+l])
		p.Mul(p, big.NewFloat(b.Data[l*b.Stride+j]))
		value.Add(value, p)
		size.Add(size, p.Abs(p))
	}
	return value, size
}

// Errors and their two parts are what one finds with long numbers: of the
// kernel that a library has, of what its recipes make, and of AB as it was
// drawn.
func TestPlan_splits_errors_as_one_would_by_hand(t *testing.T) {
	near := func(got, want float64) bool { return math.Abs(got-want) <= 1e-9*math.Abs(want)+1e-22 }
	hopper, blackwell := devices.HopperE4M3(), on(devices.BlackwellNVF4())
	for _, c := range []struct {
		machine tcore.Machine
		name    string
		kernel  quant.Kernel
	}{
		{HopperE4M3, "torchao-e4m3-row", quant.EpilogueKernel(tcore.Machine{Device: hopper})},
		{tcore.Machine{Name: "hopper-e4m3@64", Device: hopper, Promote: 64}, "torchao-e4m3-row", quant.EpilogueKernel(tcore.Machine{Device: hopper, Promote: 64})},
		{tcore.Machine{Name: "hopper-e4m3>bfloat16", Device: hopper, Output: tcore.BFloat16}, "torchao-e4m3-tensor", quant.EpilogueKernel(tcore.Machine{Device: hopper, Output: tcore.BFloat16})},
		{HopperE4M3, "deepgemm-1x128:deepgemm-128x128", quant.DeepGEMMKernel(tcore.Machine{Device: hopper})},
		{blackwell, "nvfp4-te-1x16", quant.AlphaKernel(blackwell)},
		{Integers, "int8-row", quant.EpilogueKernel(tcore.Machine{})},
	} {
		const m, n, k = 3, 2, 256
		p := Plan{Machines: []tcore.Machine{c.machine}, Recipes: recipes(t, c.name), Data: []Generator{Positive}, M: m, N: n, Ks: []int{k}, Seeds: []uint64{7, 8}, Confidences: []float64{0.9}}
		row := run(t, p)[0]
		parts := [3][]float64{} // all of the error, quantised, accumulated
		for _, seed := range p.Seeds {
			a, b := Positive.Matrices(m, n, k, seed)
			x, err := p.Recipes[0].A.Quantise(a, quant.Left)
			if err != nil {
				t.Fatal(err)
			}
			y, err := p.Recipes[0].B.Quantise(b, quant.Right)
			if err != nil {
				t.Fatal(err)
			}
			d, err := c.kernel.Multiply(x, y)
			if err != nil {
				t.Fatal(err)
			}
			for i := range m {
				for j := range n {
					exact, size := bigProduct(matrix.Float64(a), matrix.Float64(b), i, j)
					between, _ := bigProduct(x.Values(), y.Values(), i, j)
					computed := new(big.Float).SetPrec(2000).SetFloat64(float64(d.Data[i*n+j]))
					for of, pair := range [][2]*big.Float{{computed, exact}, {between, exact}, {computed, between}} {
						e := new(big.Float).SetPrec(2000).Sub(pair[0], pair[1])
						v, _ := e.Quo(e, size).Float64()
						parts[of] = append(parts[of], v)
					}
				}
			}
		}
		for of, got := range []struct{ mean, spread, largest float64 }{
			{row.Mean(), row.Spread(), row.Largest},
			{row.Quantised.Mean(), row.Quantised.Spread(), row.Quantised.Largest},
			{row.Accumulated.Mean(), row.Accumulated.Spread(), row.Accumulated.Largest},
		} {
			mean, square, largest := 0.0, 0.0, 0.0
			for _, v := range parts[of] {
				mean += v / (2 * m * n)
				largest = max(largest, math.Abs(v))
			}
			for _, v := range parts[of] {
				square += (v - mean) * (v - mean) / (2*m*n - 1)
			}
			if !near(got.mean, mean) || math.Abs(got.spread-math.Sqrt(square)) > 1e-6*math.Sqrt(square)+1e-14 || !near(got.largest, largest) {
				t.Errorf("%s, %s, part %d: %+v, want mean %v, spread %v, largest %v", c.machine.Name, c.name, of, got, mean, math.Sqrt(square), largest)
			}
		}
		if !row.Represented || row.Recipe != c.name || row.Outputs != 2*m*n {
			t.Errorf("%s, %s: row %+v", c.machine.Name, c.name, row)
		}
	}
}

// Every machine has the recipes that it takes, no claimed bound fails, what is
// told the matrices has the tighter bound on what recipes lose, and a bound of
// nine tenths is seen to fail: that on quantisation, and those on the whole
// where sums lose next to nothing.
func TestPlan_judges_bounds_on_quantised_products(t *testing.T) {
	p := quantisedPlan(t)
	rows := run(t, p)
	if bad := Violated(rows, Sure); len(bad) > 0 {
		t.Errorf("%s on %s, %s fails", bad[0].Bound, bad[0].Machine, bad[0].Recipe)
	}
	pairs, lost := map[string]bool{}, map[string][2]float64{}
	for _, r := range rows {
		at := r.Machine + ", " + r.Recipe
		pairs[at] = true
		if r.Bound == QuantisationRow {
			z := lost[at+r.Data]
			z[0] = max(z[0], r.Constant)
			if r.Told == FromMatrices {
				z[1] = r.Constant
			}
			lost[at+r.Data] = z
		}
		law, matrices := r.Told == FromDistribution, r.Told == FromMatrices
		switch {
		case r.Bound == ErrorRow:
		case r.Bound == QuantisationRow && math.Abs(r.Conversion-r.Constant) > 1e-12*r.Constant:
			t.Errorf("%s: constant %v, and of it %v for quantisation, want all", at, r.Constant, r.Conversion)
		case law && r.Deterministic, matrices && r.Bound == QuantisationRow && !r.Deterministic:
			t.Errorf("%s: %s told %v, deterministic %v", at, r.Bound, r.Told, r.Deterministic)
		case r.Conversion > r.Constant*(1+1e-12) || r.Conversion == 0:
			t.Errorf("%s: %s has constant %v and of it %v for quantisation", at, r.Bound, r.Constant, r.Conversion)
		case r.Machine == Integers.Name && r.Bound != QuantisationRow:
			t.Errorf("%s: %s is claimed of sums of integers, which no device makes", at, r.Bound)
		}
	}
	want := []string{
		"blackwell-tcgen05-f4ue4m3x16-binary32, nvfp4-te-1x16", "blackwell-tcgen05-mxe4m3-binary32, mxe4m3-floor",
		"hopper-e4m3, deepgemm-1x128:deepgemm-128x128", "hopper-e4m3, torchao-e4m3-row", "int32, int8-row",
	}
	if got := slices.Sorted(keys(pairs)); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if len(lost) != len(want)*len(p.Data) {
		t.Errorf("%d bounds on what recipes lose, want one for each of %d pairs and %d kinds of data", len(lost), len(want), len(p.Data))
	}
	for at, z := range lost {
		if z[1] == 0 || z[1] > z[0] {
			t.Errorf("%s: told the matrices %v, and of all %v at most", at, z[1], z[0])
		}
	}

	defer func() { evaluate = bound.Evaluate }()
	evaluate = func(k bound.Problem, f roundoff.Failure) ([]bound.Result, error) {
		results, err := bound.Evaluate(k, f)
		for i := range results {
			if k.Given != nil {
				results[i].Constant *= 0.9
				results[i].Parts.Conversion *= 0.9
			}
		}
		return results, err
	}
	found := map[string]bool{}
	for _, r := range Violated(run(t, p), Sure) {
		if r.Told != FromMatrices {
			t.Errorf("%s fails told %v", r.Bound, r.Told)
		}
		found[r.Machine+", "+r.Bound] = true
	}
	for _, at := range []string{"hopper-e4m3, quantisation", "int32, quantisation", "blackwell-tcgen05-mxe4m3-binary32, truncation"} {
		if !found[at] {
			t.Errorf("nine tenths of a bound holds: %s", at)
		}
	}
}

// keys yields the keys of a set.
func keys(set map[string]bool) func(func(string) bool) {
	return func(yield func(string) bool) {
		for key := range set {
			if !yield(key) {
				return
			}
		}
	}
}

// What is told laws is not claimed of data that are not so, and what is told
// the matrices is.
func TestVerdict_of_recipes(t *testing.T) {
	p := quantisedPlan(t)
	p.Machines, p.Recipes, p.Ks, p.Seeds = p.Machines[:1], p.Recipes[:1], []int{128}, []uint64{1}
	dependent := Symmetric
	dependent.Name, dependent.Dependent = "dependent", "so"
	mixed := Symmetric
	mixed.Name, mixed.Mixed = "mixed", true
	p.Data = []Generator{Symmetric, Misinformed, dependent, mixed, Scaled, Constant}
	seen := map[string]bool{}
	for _, r := range run(t, p) {
		want := Holds
		if r.Told == FromDistribution && slices.Contains([]string{"dependent", "mixed", Misinformed.Name}, r.Data) {
			want = NotData
		}
		if r.Bound != ErrorRow && r.Verdict != want {
			t.Errorf("%s of %s told %v: %s, want %s", r.Bound, r.Data, r.Told, r.Verdict, want)
		}
		seen[r.Data+", "+r.Bound+", "+r.Told.String()] = true
	}
	for _, l := range p.Data {
		for told, want := range map[Told]bool{FromDistribution: l.Name != Scaled.Name && l.Name != Constant.Name, FromMatrices: true} {
			if got := seen[l.Name+", "+QuantisationRow+", "+told.String()]; got != want {
				t.Errorf("%s told %v: a bound %v, want %v", l.Name, told, got, want)
			}
		}
	}
}

// The joined rows are the same bytes for every number of shards, and those of
// the undivided plans, one of them without recipes; reading them loses nothing.
func TestShards_of_recipes(t *testing.T) {
	p := quantisedPlan(t)
	plain := Plan{Machines: []tcore.Machine{Volta}, Data: []Generator{Positive}, M: 2, N: 2, Ks: []int{8}, Seeds: []uint64{1, 2, 3}, Confidences: []float64{0.9}}
	whole := append(run(t, plain), run(t, p)...)
	for i := range whole {
		whole[i].Product, whole[i].Exact = 0, 0
	}
	var undivided bytes.Buffer
	if err := Write(&undivided, "c", whole); err != nil {
		t.Fatal(err)
	}
	want := undivided.String()
	for n := 1; n <= 4; n++ {
		rows, err := JoinParts(parts(t, n, plain, p))
		if err != nil {
			t.Fatal(err)
		}
		var file, again bytes.Buffer
		if err := Write(&file, "c", rows); err != nil {
			t.Fatal(err)
		}
		text := file.String()
		read, _, err := Read(&file)
		if err != nil {
			t.Fatal(err)
		}
		if err := Write(&again, "c", read); err != nil || again.String() != text {
			t.Errorf("%d shards: rows change when they are read, %v", n, err)
		}
		if text != want {
			t.Errorf("%d shards join to other rows than the plan has", n)
		}
	}
	if !strings.Contains(want, "deepgemm-1x128:deepgemm-128x128") {
		t.Errorf("no recipes in %.300s", want)
	}
}

// A row of one recipe is not joined with that of another.
func TestJoin_keeps_recipes_apart(t *testing.T) {
	p := quantisedPlan(t)
	p.Ks, p.Data, p.Recipes = p.Ks[:1], p.Data[:1], p.Recipes[:1]
	a := run(t, p)
	p.Recipes = recipes(t, "deepgemm-1x128:deepgemm-128x128")
	b := run(t, p)
	if all, err := Join(a, b); err != nil || len(all) != len(a)+len(b) {
		t.Errorf("%d and %d rows become %d, %v", len(a), len(b), len(all), err)
	}
}

// A device that computes as another by another name is not computed again.
func TestTwins_of_recipes(t *testing.T) {
	other := HopperE4M3
	other.Name, other.Device.Name = "other", "other"
	p := quantisedPlan(t)
	p.Machines = []tcore.Machine{HopperE4M3, other}
	units, err := p.units()
	if err != nil {
		t.Fatal(err)
	}
	if got := twins(units); !slices.Equal(got, []int{0, 1, 0, 1}) {
		t.Errorf("%v, want that the second machine computes as the first", got)
	}
}

func TestPlan_refuses_what_recipes_cannot_have(t *testing.T) {
	split := HopperE4M3
	split.SplitK = 2
	for _, c := range []struct {
		change func(p *Plan)
		want   string
	}{
		{func(p *Plan) { p.PerOutput = true }, "PerOutput with recipes"},
		{func(p *Plan) { p.Told = []Told{FromFiles} }, "told files with recipes, want distribution or matrices"},
		{func(p *Plan) { p.Orders = []plan.Plan{{Name: "o"}} }, `plan "o" with recipes`},
		{func(p *Plan) { p.Machines = []tcore.Machine{split} }, `machine "hopper-e4m3" with recipes`},
		{func(p *Plan) { p.Recipes = append(p.Recipes, p.Recipes[0]) }, `recipe "torchao-e4m3-row" twice`},
		{func(p *Plan) { p.Machines = []tcore.Machine{Volta, Ampere} }, "none of 2 machines takes what one of 5 recipes makes"},
		{func(p *Plan) { p.Recipes = nil }, `machine "int32" without recipes`},
	} {
		p := quantisedPlan(t)
		c.change(&p)
		if _, err := p.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	if _, err := FindMachine("int32@128"); err == nil {
		t.Error("sums of integers are promoted")
	}
}

// Sums that leave a device are those of a machine that promotes: where scales
// take them away, every so many products, and where the machine does so by
// itself, if that is as often.
func TestUnits_promote(t *testing.T) {
	promoting := HopperE4M3
	promoting.Name, promoting.Promote = "hopper-e4m3@64", 64
	p := quantisedPlan(t)
	p.Machines = []tcore.Machine{HopperE4M3, promoting}
	units, err := p.units()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, u := range units {
		got = append(got, fmt.Sprint(u.Name, " ", u.recipe, " ", u.Promote))
	}
	if want := []string{"hopper-e4m3 torchao-e4m3-row 0", "hopper-e4m3 deepgemm-1x128:deepgemm-128x128 128", "hopper-e4m3@64 torchao-e4m3-row 64"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// What cannot be multiplied has the reason in its row.
func TestPlan_says_why_it_does_not_judge_quantised_products(t *testing.T) {
	p := quantisedPlan(t)
	p.Machines, p.Ks, p.Seeds = []tcore.Machine{on(devices.BlackwellMXE4M3())}, []int{40}, []uint64{1}
	infinite := Symmetric
	infinite.Name = "infinite"
	infinite.Draw = func(m, n, k int, seed uint64) (a, b blas32.General) {
		a, b = Symmetric.Draw(m, n, k, seed)
		a.Data[3] = float32(math.Inf(1))
		return a, b
	}
	p.Data = []Generator{infinite, data(t, "blocks(-4,4,N(0,1))")}
	for i, r := range run(t, p) {
		if r.Bound != ErrorRow || r.Outputs != 0 || r.Skipped != 12 || r.Why == "" {
			t.Errorf("row %d: %+v, want one that says why it is not judged", i, r)
		}
	}
}

// The product of matrices whose elements have more bits than binary32 is exact,
// and of those with too many there is none.
func TestExactly64(t *testing.T) {
	x := blas64.General{Rows: 1, Cols: 2, Stride: 2, Data: []float64{1 + 0x1p-40, 3}}
	y := blas64.General{Rows: 2, Cols: 1, Stride: 1, Data: []float64{1 - 0x1p-40, -0x1p-30}}
	z, err := exactly64(x, y)
	want, _ := bigProduct(x, y, 0, 0)
	if err != nil || z.At(0, 0).Cmp(want) != 0 {
		t.Errorf("%v, %v, want %v", z.At(0, 0), err, want)
	}
	for _, v := range []float64{1 + 0x1p-52, 0x1p-200, 0x1p200} {
		y.Data[1] = v
		if _, err := exactly64(x, y); err == nil && v != 1+0x1p-52 || err != nil && !strings.Contains(err.Error(), "an element of B is quantised to") {
			t.Errorf("%v: %v", v, err)
		}
	}
}

// The plan of the atlas has each machine and recipe once, all recipes, and sums
// in binary32 alone.
func TestAtlas_of_recipes(t *testing.T) {
	p := Atlas([]uint64{1})[2]
	units, err := p.units()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for i, at := range twins(units) {
		if at != i {
			t.Errorf("%s with %s computes as %s", units[i].Name, units[i].recipe, units[at].Name)
		}
		found[units[i].recipe] = true
		if units[i].kernel.Machine.Device.C != tcore.Binary32 {
			t.Errorf("%s adds in %s", units[i].Name, units[i].Device.C.Name)
		}
	}
	if len(found) != len(atlasRecipes) {
		t.Errorf("%d recipes are taken by a device, want %d", len(found), len(atlasRecipes))
	}
}
