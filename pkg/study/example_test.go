package study_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/roundofflab/roundoff/pkg/atlas"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/study"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// The ratios of the paper's bounds, and of the tightest of the catalogue, to
// the largest error of the paper's experiment. It runs for about ten seconds.
func ExampleLooseness() {
	t, err := study.Looseness()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Finding())
}

func ExampleCancellationTable() {
	fmt.Println(study.CancellationTable().Finding())
	// Output:
	// Adding the same five numbers, 65 devices find 7 sums; the exact one is −0.875.
}

func ExampleTraceTable() {
	x, y := []float64{-0x1p12, -0.5, -0.25, -0.125}, []float64{0x1p11, 1, 1, 1}
	fmt.Println(study.TraceTable("trace", devices.HopperF16().Trace(x, y, 0x1p23)).Finding())
	// Output:
	// Hopper computes −0.75 where −0.875 is exact.
}

func ExampleSideBySideTable() {
	fmt.Println(study.SideBySideTable().Finding())
	// Output:
	// One dot product on 16 instructions has 7 different results; the 9 that align and truncate are off by −77.6 to −19.5 u.
}

// The mean error of machines that truncate, up to K = 2¹⁶. It runs for some
// seconds.
func ExampleDriftFigure() {
	f, err := study.DriftFigure()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Finding())
}

// The growth of errors, predicted from single steps and measured on products up
// to K = 256.
func ExampleGrowthRates() {
	g := study.DefaultGrowthRates
	g.Data, g.Machines = g.Data[:1], g.Machines[1:2]
	g.Predicted, g.Measured = []int{64, 256}, []int{64, 256}
	curves, err := g.Run()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: order %.1f\n", curves[0].Name, curves[0].Order(g.Predicted))
	fmt.Println(g.Figure(curves).Name())
	fmt.Println(g.ClosedForms(curves).Finding())
	// Output:
	// Volta: order 1.2
	// growth-rates
	// Closed forms give the root mean square error of sums of 256 products to 8 %.
}

func ExampleGrowthCurve() {
	c := study.GrowthCurve{Predicted: []float64{1e-6, 4e-6}}
	fmt.Println(c.Order([]int{1 << 10, 1 << 12}))
	// Output:
	// 1
}

// The violations of the paper's bounds on tensor cores that truncate, with
// factors of one sign.
func ExampleHardware() {
	h := study.DefaultHardware
	h.M, h.K, h.Distribution = 16, 1<<14, paper.UniformUnit
	r, err := h.Run()
	if err != nil {
		log.Fatal(err)
	}
	for _, machine := range []string{"paper's model", "Volta", "Hopper"} {
		fmt.Printf("%-14s %3.0f %% above VIBEA\n", machine, 100*r.Violated(machine, "VIBEA"))
	}
	// Output:
	// paper's model    0 % above VIBEA
	// Volta          100 % above VIBEA
	// Hopper           0 % above VIBEA
}

func ExampleHardwareResult() {
	h := study.DefaultHardware
	h.M, h.K = 16, 1<<10
	r, err := h.Run()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Violated("Volta", "DBEA"), r.Figure().Name(), r.Table().Name())
	// Output:
	// 0 machines-edf-symmetric machines-symmetric
}

func ExampleToleranceFigure() {
	finding, _, _ := strings.Cut(study.ToleranceFigure().Finding(), "; ")
	fmt.Println(finding)
	// Output:
	// Where machines truncate, the guaranteed error grows like K
}

// How long a sum may be.
func ExampleLengths_Run() {
	r, err := study.DefaultLengths.Run()
	fmt.Println(r.Figure().Finding(), err)
	// Output:
	// Hopper, e4m3 guarantees an error of 0.03 |A||B| for K from 162 to 713; promoted every 128 products, from K = 152 on. <nil>
}

func ExampleLengthsResult_Figure() {
	l := study.DefaultLengths
	l.Ks = []int{64, 512}
	r, err := l.Run()
	fmt.Println(r.Figure().Name(), len(r.Machines[0].Errors), err)
	// Output: lengths 2 <nil>
}

// The two errors of a product in 8 bits. The computation takes about three
// seconds.
func ExamplePrecisionFigure() {
	figure, err := study.PrecisionFigure()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(figure.Finding())
}

func ExampleScaleTable() {
	table, err := study.ScaleTable()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(table.Finding())
	// Output:
	// Of 9 recipes 5 clip numbers, and 3 make products of positive numbers smaller by more than 0.1 %.
}

// What a network makes of the errors of its products is recorded.
func ExampleRecordedNetwork() {
	runs, err := study.RecordedNetwork()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(runs.Runs))
	// Output:
	// 8
}

func ExampleNetworkRuns() {
	runs, err := study.RecordedNetwork()
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range runs.Runs[0].Products {
		fmt.Printf("%d × %d: %.4f, inherited %.4f\n", p.K, p.N, p.Alone, p.Inherited)
	}
	// Output:
	// 257 × 64: 0.0098, inherited 0.0000
	// 1280 × 512: 0.0103, inherited 0.0086
	// 512 × 214: 0.0119, inherited 0.0132
}

func ExampleNetworkRuns_Figure() {
	runs, err := study.RecordedNetwork()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(runs.Figure().Finding())
	// Output:
	// Errors add up from layer to layer like independent ones: the root of the sum of squares of own and inherited errors is right to 3 %.
}

func ExampleNetworkRuns_Worst() {
	runs, err := study.RecordedNetwork()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(runs.Worst().Finding())
	// Output:
	// The errors of elements predict the error of a product, for these 6 recipes and 3 products, to 3 %.
}

func ExampleNetworkRuns_Decisions() {
	runs, err := study.RecordedNetwork()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(runs.Decisions().Finding())
	// Output:
	// With 4 of 8 ways to compute it the network decides for each of the 16 files as it does exactly.
}

func ExampleAdviceTable() {
	fmt.Println(study.AdviceTable(2e-3).Finding())
	// Output:
	// Of 14 devices 3 guarantee an error of at most 2.0·10⁻³ |A||B|.
}

// A user's own sweep of two machines and one distribution, with its violations.
func ExampleRunSweep() {
	plan := study.ReducedSweep
	plan.Machines, plan.Data, plan.Ks, plan.Seeds, plan.Predict = plan.Machines[:2], plan.Data[1:2], []int{1024}, plan.Seeds[:1], false
	s, err := study.RunSweep("mine", plan)
	if err != nil {
		log.Fatal(err)
	}
	held, _, _ := strings.Cut(s.Counted(), "; ")
	fmt.Println(held)
	fmt.Println(s.Tightness(plan.Data[0].Name, 1024).Name())
	// Output:
	// none of 256 outputs exceeds a bound whose assumptions are met
	// mine-tightness-U-0-1-1024
}

// The sweep of the paper's length is recorded; its figures are those of
// notebook 11.
func ExampleBoundSweep() {
	s, err := study.RecordedSweep()
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range []viz.Figure{s.Tightness("U(0,1)", 32768), s.Best(32768), s.Growth("U(0,1)"), s.Moments(32768)} {
		fmt.Println(f.Name())
	}
	fmt.Println(s.Counted() != "")
	// Output:
	// recorded-tightness-U-0-1-32768
	// recorded-best-32768
	// recorded-growth-U-0-1
	// recorded-moments-32768
	// true
}

func ExampleRecordedSweep() {
	s, err := study.RecordedSweep()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Origin)
	// Output:
	// Recorded in pkg/study/recorded/sweep.csv
}

// On AMD's matrix cores, as on NVIDIA's, no output violates a bound that is
// claimed for the machine.
func ExampleRecordedAMD() {
	s, err := study.RecordedAMD()
	if err != nil {
		log.Fatal(err)
	}
	counted, _, _ := strings.Cut(s.Counted(), ";")
	fmt.Println(counted)
	// Output:
	// none of 55296 outputs exceeds a bound whose assumptions are met
}

func ExampleRecordedScaled() {
	s, err := study.RecordedScaled()
	if err != nil {
		log.Fatal(err)
	}
	counted, _, _ := strings.Cut(s.Counted(), ";")
	fmt.Println(counted)
	// Output:
	// none of 10368 outputs exceeds a bound whose assumptions are met
}

func ExampleRecordedCoverage() {
	s, err := study.RecordedCoverage()
	if err != nil {
		log.Fatal(err)
	}
	finding, _, _ := strings.Cut(s.Coverage().Finding(), ": ")
	fmt.Println(finding)
	// Output:
	// No probabilistic bound fails more often than it states
}

// Data that are constructed to violate bounds, and the bounds that they
// violate.
func ExampleBoundSweep_Broken() {
	plan := study.BreakingSweep
	plan.Machines, plan.Ks, plan.Seeds, plan.Predict = plan.Machines[:1], []int{256}, plan.Seeds[:1], false
	s, err := study.RunSweep("breaking", plan)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Broken().Name())
	// Output:
	// breaking-broken
}

// Figure returns the chart of any setting of the controls.
func ExampleExploreLambda() {
	e := study.ExploreLambda()
	for _, at := range [][]int{e.Start(), {3, 64, 19}} {
		fmt.Println(e.Figure(at...).Finding())
	}
	// Output:
	// At λ = 3 the bound is γ̃ₙ = 0.0238, 0.17 times γₙ, and it holds with a probability of 1 − 2.3·10⁻⁵.
	// At λ = 5 the bound is γ̃ₙ = 7.63·10⁻⁵, 0.019 times γₙ, and it holds with a probability of 1 − 2.1·10⁻¹⁶.
}

func ExampleExploreBounds() {
	e := study.ExploreBounds()
	for _, c := range e.Controls {
		fmt.Printf("%s: %s … %s\n", c.Label, c.Values[0], c.Values[len(c.Values)-1])
	}
	fmt.Println(e.Figure(e.Start()...).Finding())
	// Output:
	// format: binary16 … binary64
	// confidence: 50 % … 1 − 10⁻¹⁵
	// n: 1 … 1048576
	// A dot product of n = 256 terms in binary16 errs by no more than γₙ = 0.143 times |x|ᵀ|y|, and at 99 % no more than γ̃ₙ = 0.0359.
}

func ExampleExploreDevices() {
	e := study.ExploreDevices()
	finding, _, _ := strings.Cut(e.Figure(1, 1, 2).Finding(), ", and ") // Volta, U(0,1), 99 %
	fmt.Println(finding)
	// Output:
	// On Volta with entries ~ U(0,1) the largest error at K = 16384 is 3.3·10⁻⁴ |A||B|
}

func ExampleBoundSweep_Coverage() {
	s, err := study.RecordedCoverage()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Coverage().Name())
	// Output:
	// recorded-coverage
}

func ExampleBoundSweep_Overview() {
	s, err := study.RecordedSweep()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Overview().Name())
	// Output:
	// recorded-overview
}

func ExampleBoundSweep_Summary() {
	s, err := study.RecordedSweep()
	if err != nil {
		log.Fatal(err)
	}
	first, _, _ := strings.Cut(s.Summary(), " up to ")
	fmt.Println(first)
	// Output:
	// With data of both signs the theorem of the paper is
}

// Five bounds on two machines: which holds is told by how the machine rounds.
func ExampleBoundSweep_FiveBounds() {
	plan := study.LessonSweep
	plan.Machines, plan.Ks = plan.Machines[:2], []int{64, 4096}
	s, err := study.RunSweep("lesson", plan)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.FiveBounds("U(0,1)").Name())
	// Output:
	// lesson-five-bounds-U-0-1
}

func ExampleBoundSweep_Nearest() {
	plan := study.LessonSweep
	plan.Machines, plan.Ks = plan.Machines[1:2], []int{64, 4096}
	s, err := study.RunSweep("lesson", plan)
	if err != nil {
		log.Fatal(err)
	}
	sentence, _, _ := strings.Cut(s.Nearest("U(0,1)"), " (")
	fmt.Println(sentence)
	// Output:
	// At K = 4096 the least of the five whose assumptions are met is truncated-random-data on Volta
}

func ExampleBoundReference() {
	for _, line := range strings.Split(study.BoundReference(), "\n") {
		if strings.Contains(line, "`gamma`") {
			fmt.Println(line)
		}
	}
	// Output:
	// | `gamma` | $\gamma_n = \frac{nu}{1-nu}$ | nothing of the data | [Higham 2002, Lemma 3.1](../REFERENCES.md) |
}

// The product of Section 4.2 on this processor's own instructions, or on their
// emulation where it has none: the errors are the same.
func ExampleProcessor() {
	p := study.DefaultProcessor
	p.M, p.K = 16, 1<<10
	r, err := p.Run()
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range r.Rows {
		fmt.Printf("%s: %s, %d above\n", row.Device.Instruction, row.Always.Bound, row.Violations(row.Always.Constant))
	}
	// Output:
	// tdpbf16ps: unrestricted, 0 above
	// vdpbf16ps: unrestricted, 0 above
}

func ExampleProcessorResult() {
	p := study.DefaultProcessor
	p.M, p.K = 16, 1<<10
	r, err := p.Run()
	if err != nil {
		log.Fatal(err)
	}
	if !r.Live() {
		log.Print("this is the emulation")
	}
	fmt.Println(r.Figure().Name(), r.Table().Name())
	// Output:
	// processor-edf-symmetric processor-symmetric
}

func ExampleProcessorMAC() {
	t, err := study.ProcessorMAC(1000)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Finding())
	// Output:
	// One product and a sum are rounded once: the largest error is 0.998405 u.
}

// Rates of this processor in binary32 and, where it has the instructions, with
// factors in bfloat16.
func ExampleProcessorRates() {
	fmt.Println(study.ProcessorRates(64).Name())
	// Output:
	// processor-rates
}

// Which dot-product instructions this processor has.
func ExampleInstructionTable() {
	fmt.Println(study.InstructionTable().Name())
	// Output:
	// instructions
}

// The first bit in which other machines part from Intel's matrix unit.
func ExamplePartingTable() {
	t, err := study.PartingTable(100)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Finding())
	// Output:
	// Ampere mma has other bits from dot product 1 on.
}

// Intel's matrix unit adds even and odd products apart, then c.
func ExampleTreeOf() {
	t, err := study.TreeOf(devices.AMXBF16(), 32)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t, t.Asked)
	// Output:
	// ((0, 2, …, 30), (1, 3, …, 31), c) 528
}

// Hopper adds the 16 products of a block and c at once.
func ExampleSumTree() {
	t, err := study.TreeOf(devices.HopperBF16(), 16)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Figure().Finding())
	// Output:
	// Hopper wgmma adds {0, 1, …, 15, c}.
}

// The arithmetic of VDPBF16PS, found out of its answers.
func ExampleLearnedTable() {
	t, err := study.LearnedTable(context.Background(), devices.AVX512BF16())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Name())
	// Output:
	// learned-sapphirerapids-vdpbf16ps-bfloat16-binary32
}

func ExampleOrdersTable() {
	table, err := study.OrdersTable()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(table.Finding())
	// Output:
	// Of 8 ways to compute one product, 1 other than the first have all its bits.
}

func ExampleBatchTable() {
	table, err := study.BatchTable()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(table.Finding())
	// Output:
	// By its batch, one row of A has up to 23 of 4096 results with other bits in binary16, 4043 in binary32.
}

func ExampleAnyOrderTable() {
	table, err := study.AnyOrderTable()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(table.Finding())
	// Output:
	// Two orders differ by at most 0.038 of the bound for every order.
}

func ExampleTailTable() {
	table, err := study.TailTable()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(table.Finding())
	// Output:
	// The loss of 8 of 8648 products is seen in 8 of 8 results by the bound for the order.
}

// What cutting K costs and gains on an A100, with less data than in the
// notebook.
func ExampleSplits_Run() {
	s := study.DefaultSplits
	s.Device, s.Data, s.K, s.Parts = devices.AmpereF16(), s.Data[:1], 4096, []int{1, 16}
	results, err := s.Run()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Figure(results).Finding())
}

func ExampleSplits_Figure() {
	s := study.DefaultSplits
	s.Data, s.K, s.Parts = s.Data[:1], 4096, []int{1, 16}
	results, err := s.Run()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Figure(results).Name())
	// Output: splits
}

// Two swapped rows are caught on Volta, and no sound product is refused.
func ExamplePlant() {
	all, err := study.Plant(devices.VoltaF16(), "N(0,1)", 1)
	if err != nil {
		panic(err)
	}
	for _, p := range all {
		if p.Fault == study.NoFault || p.Fault == study.Swapped {
			fmt.Printf("%s: %d of %d above rounding size, the tolerance refuses %d\n", p.Fault, p.Above, p.Faults, p.Caught[0])
		}
	}
	// Output:
	// none: 0 of 6 above rounding size, the tolerance refuses 0
	// rows: 6 of 6 above rounding size, the tolerance refuses 6
}

func ExamplePlanted_Plus() {
	p := study.Planted{Faults: 2, Caught: []int{1, 2}}
	fmt.Println(p.Plus(p).Faults, p.Plus(p).Caught)
	// Output: 4 [2 4]
}

func ExamplePlantedDevices() {
	all := study.PlantedDevices()
	fmt.Println(all[0].Name, all[len(all)-1].Architecture)
	// Output: volta-mma-binary16-binary32 RTX Blackwell
}

// aPlanted are rows with one fault.
func aPlanted() []study.Planted {
	return []study.Planted{
		{Device: "d", Fault: study.NoFault, Faults: 2, Outputs: 8, Caught: []int{0, 0, 1, 0, 2}, Seen: make([]int, 5), Alarms: []int{0, 0, 2, 0, 8}},
		{Device: "d", Fault: study.Swapped, Faults: 4, Above: 2, Far: 1, Caught: []int{2, 2, 1, 0, 2}, Seen: []int{1, 1, 1, 0, 1}, Named: 1, Alarms: make([]int, 5)},
	}
}

func ExamplePlantedTable() {
	fmt.Println(strings.Split(study.PlantedTable(aPlanted(), false), "\n")[5])
	// Output: | two swapped rows | 4 | 50.0 % | 2 | 100 % | – | 50.0 % | 0 % | 100 % |
}

func ExamplePlantedNamed() {
	fmt.Println(strings.Contains(study.PlantedNamed(aPlanted()), "two swapped rows 50.0 %"))
	// Output: true
}

func ExamplePlantedDevicesTable() {
	fmt.Println(strings.Split(study.PlantedDevicesTable(aPlanted()), "\n")[2])
	// Output: | d | 2 | 100 % | 0 | – | – | 0 % | 25.0 % | 0 % | 100 % |
}

func ExampleWritePlanted() {
	var b strings.Builder
	err := study.WritePlanted(&b, aPlanted()[1:])
	fmt.Println(strings.Split(b.String(), "\n")[1], err)
	// Output: d,,rows,false,4,2,1,0,1,0,2,2,1,0,2,1,1,1,0,1,0,0,0,0,0 <nil>
}

func ExampleRecordedPlanted() {
	all, err := study.RecordedPlanted()
	fmt.Println(all[0].Device, all[0].Fault, err)
	// Output: volta-mma-binary16-binary32 none <nil>
}

func ExampleAtlasErrors() {
	a, err := atlas.Recorded()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(study.AtlasErrors(a, "U(0,1)").Name())
	fmt.Println(study.AtlasTightness(a, 1024, bound.Moments).Name())
	fmt.Println(study.AtlasTightness(a, 1024, bound.Trace).Name())
	// Output:
	// atlas-errors
	// atlas-tightness
	// atlas-tightness-run
}

func ExampleAtlasRecipes() {
	a, err := atlas.Recorded()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(study.AtlasRecipes(a, "U(0,1)").Finding())
	// Output:
	// With entries from U(0,1) and K = 8192, sums on Hopper lose 328 times as much as quantisation to e4m3 by rows does, and 1.1 times as much if they leave it every 128 products.
}

func ExampleAtlasShares() {
	a, err := atlas.Recorded()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(study.AtlasShares(a, 8192).Finding())
	// Output:
	// At K = 8192 sums make more than half of the mean square error for 7 of 192 recipes and distributions, and never a thousandth for 17 of 24 recipes.
}

func ExampleAtlasTightness() {
	a, err := atlas.Recorded()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(study.AtlasTightness(a, 128, bound.Moments).Finding())
	// Output:
	// At K = 128 the tightest bound that holds and needs the distribution of the data at most has τ from 8.6·10⁻⁵ to 0.30.
}

func ExampleAtlasCertain() {
	a, err := atlas.Recorded()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(study.AtlasCertain(a).Finding())
	// Output:
	// In 481 of 1745 cells with errors no probabilistic bound holds, even if it may read the run.
}

func ExampleExploreAtlas() {
	a, err := atlas.Recorded()
	if err != nil {
		log.Fatal(err)
	}
	e := study.ExploreAtlas(a)
	fmt.Println(e.Figure(e.Start()...).Finding())
	// Output:
	// On Volta with entries ~ N(0,1) the largest error at K = 8192 is 1.5·10⁻⁷ |A||B|; of the bounds that hold before the product the tightest, truncated-random-data, has τ = 0.022.
}
