package study

import (
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"sync"
	"testing"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// sentences are those of each notebook that say "all", "none" and the like.
var sentences = map[string][]sentence{
	"01": {
		{"exponent range eight times", formatsGrow, ""},
		{"none of these formats", nil, mathematics},
		{"does this for all $x$", nil, procedure},
		{"Under the kernel of this repository", nil, procedure},
		{"The worst case takes", nil, definition},
		{"with the same $\\varepsilon$ for all", nil, definition},
		{"each number is rounded first", nil, definition},
		{"There is no $\\delta_1$", nil, mathematics},
		{"all changes have the right sign", nil, mathematics},
		{"at most two factors", nil, mathematics},
		{"Each parameter of Table 1", nil, procedure},
		{"every parameter of Table 1", parametersAgree, ""},
	},
	"02": {
		{"Every operation multiplies", nil, definition},
		{"let every $\\delta_i$", nil, procedure},
		{"empirical distribution function", nil, definition},
		{"early all digits cancel", digitsCancel, ""},
		{"for all $u$", nil, procedure},
		{"is a sum of independent terms of mean 0", nil, mathematics},
		{"Take for its terms the", nil, mathematics},
		{"Here is one product of 512 factors", nil, procedure},
	},
	"03": {
		{"nothing can average out", nil, mathematics},
		{"The product loses nothing", nil, mathematics},
		{"bounds of the paper all have the form", nil, definition},
		{"tests every lemma", nil, procedure},
		{"No sample exceeds", lemmasHold, ""},
		{"all of its error is that of 0.1", sumIsExact, ""},
		{"In each pair the probabilistic $P$", twoRoundingsGainNothing, ""},
	},
	"04": {
		{"Each element of $D$", nil, definition},
		{"Every pass adds", nil, definition},
		{"of the next notebooks use", nil, procedure},
		{"Every addition multiplies", nil, mathematics},
		{"No term is rounded by more than", countsAreBounded, ""},
		{"each output from a row of the one", nil, definition},
		{"All sixteen outputs", nil, procedure},
		{"Let a program count", nil, procedure},
		{"The bracket counts", nil, mathematics},
		{"is no power", nil, definition},
		{"the first FMA, $x_1y_1+0$, rounds nothing", firstProductFits, ""},
		{"the ends of blocks round nothing", outputsAreSums, ""},
		{"there is no such rounding here", nil, mathematics},
		{"each of the $K$ terms has two products", nil, definition},
		{"Each product must keep within", nil, definition},
		{"**union bound** adds up", nil, mathematics},
		{"The printed $c_1$ is never below", nil, mathematics},
		{"use up nearly all of the 1 %", fewEventsFail, ""},
		{"the partial sums stay much smaller", nil, mathematics},
		{"Lemma 1 has no bound", lemma1Ends, ""},
		{"which has no such restriction", nil, mathematics},
		{"backward error of every output", nil, definition},
		{"the first addition, to zero", nil, mathematics},
	},
	"06": {
		{"Nothing cancels", nothingCancels, ""},
	},
	"07": {
		{"nothing for a single multiply-add", probabilityGains, ""},
		{"Each row says what shows", errataAreShown, ""},
		{"every leading dimension", dimensionsAreLarge, ""},
	},
	"08": {
		{"to nearest after every addition", modelRoundsEverySum, ""},
		{"No tensor core that", tensorCoresTruncate, ""},
		{"every generation from Ampere on", generationsAnswerAlike, ""},
		{"Every cut goes towards zero", cutsGoTowardsZero, ""},
		{"Volta has no such bits", voltaKeepsWhatFits, ""},
		{"alignment cuts half", nil, mathematics},
		{"More bits do not always help", moreBitsMayHarm, ""},
	},
	"09": {
		{"all $n$ terms of the sum obey", nil, definition},
		{"for every value that you choose", nil, procedure},
	},
	"11": {
		{"of chance: $p$", nil, definition},
		{"tests all of them", boundsAreTested, ""},
		{"every bound whose assumptions are met holds", boundsHold, ""},
		{"hold on all tensor cores", truncationHolds, ""},
		{"CDNA2 rounds every operation", amdRoundsInThreeWays, ""},
		{"`make judge` now puts every bound to every device", devicesAreJudged, ""},
		{"All points lie below the line", coverageIsBelow, ""},
		{"Only probabilistic bounds are exceeded", onlyProbabilisticBreak, ""},
		{"No deterministic bound", deterministicStand, ""},
	},
	"12": {
		{"rounded up clip none of these", roundedUpClipNothing, ""},
	},
}

func formatsGrow(t *testing.T) {
	f := []tcore.Format{tcore.Binary16, tcore.Binary32, tcore.Binary64}
	for i := 1; i < len(f); i++ {
		precision := float64(f[i].Precision) / float64(f[i-1].Precision)
		exponents := float64(f[i].Emax-f[i].Emin+1) / float64(f[i-1].Emax-f[i-1].Emin+1)
		if !(precision > 2 && precision < 2.25 && exponents > 7.9 && exponents < 8.6) {
			t.Errorf("%s: %v times the precision, %v times the exponents", f[i].Name, precision, exponents)
		}
	}
}

func parametersAgree(t *testing.T) {
	for _, c := range paper.FormatClaims() {
		if c.Verdict != paper.Reproduced {
			t.Errorf("%s: %s", c.ID, c.Verdict)
		}
	}
}

func digitsCancel(t *testing.T) {
	u := math.Ldexp(1, -24)
	if off := math.Abs(roundoff.LogVariancePrinted(u)/roundoff.LogVariance(u) - 1); !(off > 1e-3) {
		t.Errorf("the printed formula is off by %v alone", off) // 10⁻¹⁶ if nothing cancelled
	}
}

func lemmasHold(t *testing.T) {
	l := paper.DefaultLemmas
	l.Samples = 10_000
	certain := 0
	for _, r := range l.Run().Rows {
		if r.Bound.Failure != roundoff.Never {
			continue
		}
		if certain++; r.Violations > 0 {
			t.Errorf("%s: %d samples above the bound", r.Name, r.Violations)
		}
	}
	if certain < 2 {
		t.Errorf("%d deterministic lemmas", certain)
	}
}

func sumIsExact(t *testing.T) {
	tenth := tcore.Binary16.Round(0.1, tcore.ToNearestEven)
	if sum := 3*tenth + 1; tcore.Binary32.Round(sum, tcore.ToNearestEven) != sum {
		t.Errorf("3 times 0.1 in binary16, and 1, is %v, which binary32 rounds", sum)
	}
}

func twoRoundingsGainNothing(t *testing.T) {
	for _, f := range []tcore.Format{tcore.Binary16, tcore.Binary32, tcore.Binary64} {
		u := f.UnitRoundoff()
		λ := roundoff.Lambda(roundoff.FailureOf(paper.Confidence), u, 2)
		if tilde, worst := roundoff.GammaTilde(2, u, λ), roundoff.Gamma(2, u); !(tilde > worst) {
			t.Errorf("%s: γ̃_2 = %v, γ_2 = %v", f.Name, tilde, worst)
		}
	}
}

func firstProductFits(t *testing.T) {
	low := tcore.PaperF32.Low.Precision
	if first, second := tcore.PaperF32.Accumulate.Precision, tcore.PaperF16.Accumulate.Precision; 2*low > first || 2*low <= second {
		t.Errorf("products of %d bits, sums of %d and %d", 2*low, first, second)
	}
}

func outputsAreSums(t *testing.T) {
	for _, m := range []tcore.MPFMA{tcore.PaperF32.MPFMA, tcore.PaperF16.MPFMA} {
		if m.Accumulate != m.Output {
			t.Errorf("sums in %s, output in %s", m.Accumulate.Name, m.Output.Name)
		}
	}
}

// Of each output one term meets one addition, and the terms of the last block
// one rounding to the format of the output.
func fewEventsFail(t *testing.T) {
	g := paper.DefaultGEMM.Theorem()
	want := roundoff.FailureOf(paper.Confidence)
	λ := g.Lambda(want, roundoff.Corrected)
	short := roundoff.VIBEAFailure(λ, g.Accumulate, 1).Times(g.Outputs()).Plus(
		roundoff.VIBEAFailure(λ, g.Output, 1).Times(g.Outputs() * float64(g.Block)))
	if share := math.Exp(float64(short - want)); !(share > 0.9 && share <= 1) {
		t.Errorf("products of one factor take %v of the failure", share)
	}
}

func countsAreBounded(t *testing.T) {
	const k = 64
	for _, b := range []int{1, 4, 16, 64} {
		if additions, _ := paper.Roundings(k, b); slices.Max(additions) > k-1 {
			t.Errorf("blocks of %d: a term is rounded %d times", b, slices.Max(additions))
		}
	}
}

func lemma1Ends(t *testing.T) {
	g := paper.DefaultGEMM.Theorem()
	g.Roundoffs = tcore.PaperF16.Roundoffs()
	if z := g.Zeta(roundoff.DBEA); !math.IsInf(z, 1) {
		t.Errorf("ζ = %v with sums in binary16", z)
	}
}

func nothingCancels(t *testing.T) {
	g := paper.DefaultGEMM
	g.M, g.K, g.Distribution = 16, 256, paper.UniformUnit
	r, err := g.Run()
	if err != nil {
		t.Fatal(err)
	}
	if least, most := slices.Min(r.Exact.Conditions), slices.Max(r.Exact.Conditions); least != 1 || most != 1 {
		t.Errorf("|A||B|/|AB| is from %v to %v", least, most)
	}
}

func probabilityGains(t *testing.T) {
	g := paper.DefaultGEMM
	if gain := g.Constant("DBEA").Zeta / g.Constant("VIBEA").Zeta; !(gain > 10) {
		t.Errorf("of a product: a factor of %v", gain)
	}
	u := tcore.Binary32.UnitRoundoff()
	λ := roundoff.Lambda(roundoff.FailureOf(paper.Confidence), u, 2)
	if gain := roundoff.Gamma(2, u) / roundoff.GammaTilde(2, u, λ); gain > 1 {
		t.Errorf("of a multiply-add: a factor of %v", gain)
	}
}

func errataAreShown(t *testing.T) {
	errata, computed := paper.Errata(), 0
	for _, e := range errata {
		if e.Shown == "" {
			t.Errorf("%s: nothing shows it", e.ID)
		}
		if regexp.MustCompile(`\d`).MatchString(e.Shown) {
			computed++
		}
	}
	if 2*computed <= len(errata) {
		t.Errorf("%d of %d errata have a number", computed, len(errata))
	}
}

func dimensionsAreLarge(t *testing.T) {
	c := paper.GemmExCalls(1024, 32768, 8)[0]
	if c.LDA < c.M || c.LDB < c.K || c.LDC < c.M {
		t.Errorf("the library would complain of %+v", c)
	}
}

func modelRoundsEverySum(t *testing.T) {
	x, y := uniformPairs(64)
	sum := 0.0
	for i := range x {
		sum = tcore.Binary32.FMA(x[i], y[i], sum, tcore.ToNearestEven)
	}
	if got := devices.PaperCoreF32().Dot(x, y, 0); got != sum {
		t.Errorf("%v, and %v if rounded after every addition", got, sum)
	}
}

// uniformPairs returns n pairs of binary16 numbers from U(-1,1).
func uniformPairs(n int) (x, y []float64) {
	rng := rand.New(rand.NewPCG(1, 0))
	for range n {
		x = append(x, tcore.Binary16.Round(2*rng.Float64()-1, tcore.ToNearestEven))
		y = append(y, tcore.Binary16.Round(2*rng.Float64()-1, tcore.ToNearestEven))
	}
	return x, y
}

// tensorCores returns the tensor cores, which are NVIDIA's matrix units, that
// add products of numbers of the format in binary32.
func tensorCores(t *testing.T, factors tcore.Format) (list []tcore.Device) {
	chips := []string{"Volta", "Turing", "Ampere", "Ada", "Hopper", "Blackwell", "RTX Blackwell"}
	for _, d := range devices.All() {
		if slices.Contains(chips, d.Architecture) && d.A.Name == factors.Name && d.C.Name == tcore.Binary32.Name && d.ScaleBlock == 0 {
			list = append(list, d)
		}
	}
	if len(list) < 3 {
		t.Fatalf("%d tensor cores for %s", len(list), factors.Name)
	}
	return list
}

func tensorCoresTruncate(t *testing.T) {
	for _, d := range tensorCores(t, tcore.Binary16) {
		if a, ok := (bound.Problem{Machine: tcore.Machine{Device: d}}).Accumulator(); !ok || a.Nearest {
			t.Errorf("%s does not align and truncate", d.Name)
		}
	}
}

func generationsAnswerAlike(t *testing.T) {
	x, y := []float64{-0x1p15, -0.5, -0.25, -0.125}, []float64{0x1p8, 1, 1, 1}
	answers := map[string]float64{}
	for _, f := range []tcore.Format{tcore.Binary16, tcore.BFloat16, tcore.TF32} {
		for _, d := range tensorCores(t, f) {
			if d.Architecture == "Volta" || d.Architecture == "Turing" {
				continue
			}
			z := d.Dot(x, y, 0x1p23)
			if first, ok := answers[d.Architecture]; ok && z != first {
				t.Errorf("%s answers %v, and %v", d.Architecture, z, first)
			}
			answers[d.Architecture] = z
		}
	}
	if len(answers) < 4 {
		t.Errorf("answers of %d generations", len(answers))
	}
}

func cutsGoTowardsZero(t *testing.T) {
	x, y := uniformPairs(256)
	for _, d := range tensorCores(t, tcore.Binary16) {
		for _, b := range d.Trace(x, y, 0).Blocks {
			for _, m := range b.Terms {
				if m.Kept*m.Value < 0 || math.Abs(m.Kept) > math.Abs(m.Value) {
					t.Errorf("%s keeps %v of %v", d.Name, m.Kept, m.Value)
				}
			}
			if b.Result*b.Sum < 0 || math.Abs(b.Result) > math.Abs(b.Sum) {
				t.Errorf("%s makes %v of the sum %v", d.Name, b.Result, b.Sum)
			}
		}
	}
}

// beyond returns how many bits a tensor core aligns with for which its
// accumulator has no place.
func beyond(t *testing.T, d tcore.Device) int {
	f, ok := d.Core.(tcore.Fused)
	if !ok {
		t.Fatalf("%s is not fused", d.Name)
	}
	return f.FractionBits - (f.Result.Precision - 1)
}

func voltaKeepsWhatFits(t *testing.T) {
	if n := beyond(t, devices.VoltaF16()); n != 0 {
		t.Errorf("Volta keeps %d bits that its accumulator has no place for", n)
	}
	for _, d := range []tcore.Device{devices.AmpereF16(), devices.HopperF16()} {
		if beyond(t, d) <= 0 {
			t.Errorf("%s keeps no such bits", d.Name)
		}
	}
}

func moreBitsMayHarm(t *testing.T) {
	s := recordOf(t, RecordedSweep)
	volta, hopper := s.cell("volta", "U(-1,1)", 32768)[0], s.cell("hopper", "U(-1,1)", 32768)[0]
	if !(hopper.Largest > volta.Largest) || beyond(t, devices.HopperF16()) <= beyond(t, devices.VoltaF16()) {
		t.Errorf("errors of up to %v on Hopper, %v on Volta", hopper.Largest, volta.Largest)
	}
}

func recordOf(t *testing.T, read func() (*BoundSweep, error)) *BoundSweep {
	t.Helper()
	s, err := read()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func boundsAreTested(t *testing.T) {
	tested := map[string]bool{}
	for _, read := range []func() (*BoundSweep, error){RecordedSweep, RecordedAMD} {
		for _, r := range recordOf(t, read).Rows {
			tested[r.Bound] = tested[r.Bound] || r.Outputs > 0
		}
	}
	for _, b := range bound.Catalogue() {
		if !tested[b.Name] {
			t.Errorf("%s is in no recorded sweep", b.Name)
		}
	}
}

// held fails if a bound that is claimed was exceeded in the recorded sweep on a
// machine, or if none is claimed there.
func held(t *testing.T, machines []string, of func(bound.Bound) bool) {
	t.Helper()
	s := recordOf(t, RecordedSweep)
	for _, m := range machines {
		claimed := 0
		for _, r := range s.of(func(r sweep.Row) bool { return r.Machine == m && r.Verdict == sweep.Holds && !r.PerOutput }) {
			b, ok := bound.Find(r.Bound)
			if !ok || !of(b) {
				continue
			}
			if claimed++; r.Violations > 0 {
				t.Errorf("%s on %s with %s, K = %d: exceeded on %d outputs", r.Bound, m, r.Data, r.K, r.Violations)
			}
		}
		if claimed == 0 {
			t.Errorf("no bound is claimed on %s", m)
		}
	}
}

func boundsHold(t *testing.T) {
	held(t, []string{"paper"}, func(bound.Bound) bool { return true })
}

func truncationHolds(t *testing.T) {
	machines := distinct(recordOf(t, RecordedSweep), machineOf)[1:] // but the paper's model
	held(t, machines, func(b bound.Bound) bool {
		return b.Model.Name == bound.Truncating.Name || b.Model.Name == bound.TruncatingRandom.Name
	})
}

func amdRoundsInThreeWays(t *testing.T) {
	_, exact := devices.CDNA1F16().Core.(tcore.ExactSum)
	_, pairs := devices.CDNA2F16().Core.(tcore.Pairwise)
	_, stages := devices.CDNA3F16().Core.(tcore.TwoStage)
	if !exact || !pairs || !stages {
		t.Errorf("CDNA1 exact: %v, CDNA2 in pairs: %v, CDNA3 in two stages: %v", exact, pairs, stages)
	}
	// 1 + 2⁻²⁴ + 2⁻²⁴ is a number of binary32, but 1 + 2⁻²⁴ is not.
	x := []float64{1, 0x1p-12, 0x1p-12, 0}
	once, often := devices.CDNA1F16().Dot(x, x, 0), devices.CDNA2F16().Dot(x, x, 0)
	if once != 1+0x1p-23 || often != 1 {
		t.Errorf("CDNA1 makes %v of it, want 1 + 2⁻²³, CDNA2 %v, want 1", once, often)
	}
}

func devicesAreJudged(t *testing.T) {
	judged := map[string]bool{}
	shortest, longest := math.MaxInt, 0
	for _, p := range sweep.Standard([]uint64{101}) {
		for _, m := range p.Machines {
			judged[m.Name] = true
		}
		shortest, longest = min(shortest, slices.Min(p.Ks)), max(longest, slices.Max(p.Ks))
	}
	for _, d := range devices.All() {
		if !judged[d.Name] {
			t.Errorf("%s is not judged", d.Name)
		}
	}
	if shortest != 1 || longest != 10_000 {
		t.Errorf("K from %d to %d", shortest, longest)
	}
}

func coverageIsBelow(t *testing.T) {
	s := recordOf(t, RecordedCoverage)
	bounds, never := 0, 0
	for _, r := range s.of(func(r sweep.Row) bool { return r.PerOutput && r.Verdict == sweep.Holds && !r.Deterministic }) {
		if r.Bound == sweep.ErrorRow {
			continue
		}
		failed, trials := r.Failures()
		if _, most := sweep.ClopperPearson(failed, trials, 0.99); !(most < r.NominalRate()) {
			t.Errorf("%s on %s with %s fails with probability %v at most, and says %v", r.Bound, r.Machine, r.Data, most, r.NominalRate())
		}
		if bounds++; failed == 0 {
			never++
		}
		if trials != 1_000_000 {
			t.Errorf("%s on %s: %d outputs", r.Bound, r.Machine, trials)
		}
	}
	if 2*never <= bounds {
		t.Errorf("%d of %d never fail", never, bounds)
	}
}

// broken is the sweep with data made to break a bound, with shorter sums than
// those of the notebook.
var broken = sync.OnceValues(func() (*BoundSweep, error) {
	p := BreakingSweep
	p.Ks = []int{1024}
	return RunSweep("broken", p)
})

func onlyProbabilisticBreak(t *testing.T) {
	exceeded := 0
	for _, r := range recordOf(t, broken).Rows {
		if r.Violations == 0 || r.Verdict == sweep.NotMachine {
			continue // bounds that are not for this machine at all
		}
		if exceeded++; r.Deterministic || r.Verdict != sweep.NotData {
			t.Errorf("%s on %s with %s: %s, exceeded", r.Bound, r.Machine, r.Data, r.Verdict)
		}
	}
	if exceeded == 0 {
		t.Error("nothing is exceeded")
	}
}

func deterministicStand(t *testing.T) {
	claimed := 0
	for _, r := range recordOf(t, broken).Rows {
		if r.Deterministic && r.Verdict == sweep.Holds && r.Bound != sweep.ErrorRow {
			if claimed++; r.Violations > 0 {
				t.Errorf("%s on %s with %s: exceeded on %d outputs", r.Bound, r.Machine, r.Data, r.Violations)
			}
		}
	}
	if claimed == 0 {
		t.Error("no deterministic bound is claimed")
	}
}
