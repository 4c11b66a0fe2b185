package paper

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/roundofflab/roundoff/internal/drawn"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// The results below are artificial and consist of numbers that are all
// different. A figure that draws a series under the name of another one, or a
// table that exchanges two columns, therefore fails the test.

// samples returns x, 1.25 x and 1.5 x.
func samples(x float64) []float64 { return []float64{x, 1.25 * x, 1.5 * x} }

// draws fails unless the x values of the series called name are want.
func draws(t *testing.T, series map[string][]drawn.Point, name string, want []float64) {
	t.Helper()
	if got := drawn.Xs(series[name]); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("%q: %v, want %v", name, got, want)
	}
}

// shows fails unless the row of a table has the cells want.
func shows(t *testing.T, row map[string]string, want map[string]string) {
	t.Helper()
	for column, cell := range want {
		if row[column] != cell {
			t.Errorf("%q: %q, want %q", column, row[column], cell)
		}
	}
}

// figures returns every figure and table of this package, some of small
// experiments.
func figures(t *testing.T) []viz.Figure {
	t.Helper()
	t.Setenv("ROUNDOFF_DEVICE", "")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	product, mac, lemmas := DefaultProduct, DefaultMAC, DefaultLemmas
	product.Trials, mac.Samples, lemmas.Samples = 2000, 2000, 500
	m, p := mac.Run(), Profile{Elements: 1 << 12, Repeats: 1, Seed: 1}.Run()
	all := []viz.Figure{FormatTable(), RoundingFigure(), FigureErrors(), product.Run().Figure(), GrowthFigure(), VarianceFigure(),
		FigureMPFMA(), lemmas.Run().Table(), FigureTensorCoreBlock(), TensorCoreTable(), FigureTensorCoreKernel(), RoundingsTable(),
		TheoremTable(), TheoremFigure(), m.Figure(), m.Table(), p.Table(), ErrataTable(), GemmExTable(), ClaimTable("claims", FormatClaims())}
	for _, d := range []Distribution{UniformSymmetric, UniformUnit} {
		g := smallest
		g.Distribution = d
		r, err := g.Run()
		must(err)
		all = append(all, r.Figure(), r.Table(), r.ExceedanceFigure(), ClaimTable("claims-06", r.Claims()))
	}

	// With silicon: emulated, recorded, recorded with an output that differs.
	r, record := recordOf(t, EmulationOrder{devices.HopperF16(), 3})
	saved := DefaultGPUProfile
	t.Cleanup(func() { DefaultGPUProfile = saved })
	DefaultGPUProfile = Profile{Elements: 1 << 25, Repeats: 10, Seed: Seed}
	streams := DefaultGPUProfile.NewRecord(chip)
	for range profileRows {
		streams.Add(time.Millisecond, DefaultGPUProfile.Elements)
	}
	add := func() {
		gpu, err := r.OnGPU()
		must(err)
		profile, err := p.OnGPU()
		must(err)
		all = append(all, gpu.Figure(), gpu.Table(), profile.Table())
	}
	add()
	inRepository(t, record.File(), record)
	recorded.(fstest.MapFS)["recorded/"+streams.File()] = &fstest.MapFile{Data: encoded(t, streams)}
	add()
	record.Products[0].D[0] ^= 1
	recorded.(fstest.MapFS)["recorded/"+record.File()] = &fstest.MapFile{Data: encoded(t, record)}
	add()
	return all
}

// Every caption can be read at once, and what the paper shows has the name that
// it has there.
func TestCaptions(t *testing.T) {
	all := figures(t)
	drawn.Captions(t, all...)
	for name, of := range map[string]string{
		"fig1": "Figure 1", "fig2": "Figure 2", "fig3": "Figure 3", "fig4": "Figure 4", "fig5": "Figure 5", "fig6-gemm-edf": "Figure 6",
		"table1": "Table 1", "table2": "Table 2", "table3-mac": "Table 3",
	} {
		found := 0
		for _, f := range all {
			if strings.HasPrefix(f.Name(), name+"-") {
				found++
				if !strings.HasPrefix(f.Details(), of+" of the paper") {
					t.Errorf("details of %s do not begin with %s of the paper: %s", f.Name(), of, f.Details())
				}
			}
		}
		if found == 0 {
			t.Errorf("there is no %s", name)
		}
	}
}

func encoded(t *testing.T, record any) []byte {
	t.Helper()
	data, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestFigure5_draws_each_series_under_its_name(t *testing.T) {
	r := &MACResult{MAC: DefaultMAC,
		Plain: MACVariant{"without FMA", samples(1e-9), samples(2e-9), samples(3e-9)},
		FMA:   MACVariant{"with FMA", samples(1e-8), samples(2e-8), samples(3e-8)},
		Mixed: MACVariant{"with MPFMA", samples(1e-7), samples(2e-7), samples(5e-8)},
	}
	series := drawn.Series(t, r.Figure())
	draws(t, series, "with MPFMA: paper: 10⁴ × FMA's largest", []float64{1e4 * r.FMA.Errors[2]})
	for i, k := range []MACVariant{r.Plain, r.FMA, r.Mixed} {
		draws(t, series, k.Name+": *u*", []float64{0x1p-24})
		draws(t, series, k.Name+": observed", k.Errors)
		draws(t, series, k.Name+": DBEA", k.DBEA)
		draws(t, series, k.Name+": VIBEA 99 %", k.VIBEA)
		above := 0 // counted here, not by violations
		for j, e := range k.Errors {
			if e > k.DBEA[j] {
				above++
			}
			if e > k.VIBEA[j] {
				above++
			}
		}
		shows(t, drawn.Cells(t, r.Table())[i], map[string]string{
			"Algorithm": k.Name, "Largest error": short(k.Errors[2]), "in u": short(k.Errors[2] / 0x1p-24), "DBEA": short(k.DBEA[2]),
			"VIBEA": short(k.VIBEA[2]), "DBEA / error": fmt.Sprintf("%.2f", k.DBEA[2]/k.Errors[2]), "Violations": fmt.Sprint(above),
		})
	}
	if got := drawn.Cells(t, r.Table())[2]["Violations"]; got != "3" {
		t.Errorf("%s violations with MPFMA, want 3", got)
	}
}

func TestFigure6_draws_each_series_under_its_name(t *testing.T) {
	r := &GEMMResult{GEMM: DefaultGEMM,
		Exact:       GEMMErrors{Errors: samples(1e-6), Conditions: samples(10)},
		Represented: GEMMErrors{Errors: samples(1e-4), Conditions: samples(20)},
	}
	theorem := r.Theorem()
	dbea := theorem.Zeta(roundoff.DBEA)
	vibea := roundoff.VIBEA{Lambda: theorem.Lambda(roundoff.FailureOf(r.Confidence), roundoff.Corrected)}
	times := func(ζ float64, x []float64) []float64 {
		z := slices.Clone(x)
		for i := range z {
			z[i] *= ζ
		}
		return z
	}
	series := drawn.Series(t, r.Figure())
	draws(t, series, "Figure 6 of the paper: without representation error: observed", r.Exact.Errors)
	draws(t, series, "Figure 6 of the paper: without representation error: DBEA", times(dbea, r.Exact.Conditions))
	draws(t, series, "Figure 6 of the paper: without representation error: VIBEA 99 %", times(theorem.Zeta(vibea), r.Exact.Conditions))
	draws(t, series, "with representation error: observed", r.Represented.Errors)
	draws(t, series, "with representation error: DBEA", times(theorem.ZetaRepresented(roundoff.DBEA), r.Represented.Conditions))
	draws(t, series, "with representation error: VIBEA 99 %", times(theorem.ZetaRepresented(vibea), r.Represented.Conditions))

	for label, want := range map[string]float64{"paper: 10⁻²": 1e-2, "10": 10, "10²": 100, "10¹¹ *u*": 0x1p-24 * 1e11} {
		draws(t, series, "Figure 6 of the paper: without representation error: "+label, []float64{want})
		draws(t, drawn.Series(t, r.ExceedanceFigure()), "1: "+label, []float64{want})
	}
	least := r.Exact.Conditions[0] // of three, the one at a quarter
	gain := fmt.Sprintf("gain %.1f×, paper: 10×", dbea/theorem.Zeta(vibea))
	draws(t, series, "Figure 6 of the paper: without representation error: "+gain, []float64{theorem.Zeta(vibea) * least, dbea * least})
	for name, largest := range map[string]float64{"observed": r.Exact.Errors[2], "VIBEA 99 %": theorem.Zeta(vibea) * r.Exact.Conditions[2], "DBEA": dbea * r.Exact.Conditions[2]} {
		points := series["Figure 6 of the paper: without representation error: "+name]
		if last := points[len(points)-1]; last.X != largest || last.Y != 1 {
			t.Errorf("the dot of %s is at %v, want %v", name, last, largest)
		}
	}

	positive := *r
	positive.Distribution = UniformUnit
	series = drawn.Series(t, positive.Figure())
	draws(t, series, "without representation error: paper: 10⁻²", []float64{1e-2})
	if len(series["without representation error: 10"]) > 0 {
		t.Error("for U(0,1) the paper states no bound")
	}

	series = drawn.Series(t, r.ExceedanceFigure())
	draws(t, series, "1: observed", r.Exact.Errors)
	draws(t, series, "1: DBEA", times(dbea, r.Exact.Conditions))
	draws(t, series, "1: VIBEA 99 %", times(theorem.Zeta(vibea), r.Exact.Conditions))

	for i, c := range r.Constants() {
		largest := c.Zeta * r.Exact.Conditions[2]
		shows(t, drawn.Cells(t, r.Table())[i], map[string]string{
			"Bound": c.Name, "constant": short(c.Zeta), "with representation": short(c.ZetaRepresented), "largest bound": short(largest),
			"over largest error": short(largest / r.Exact.Errors[2]), "violations": "0", "confidence earned": c.Failure.String(),
		})
	}
	r.Exact.Errors[1], r.Represented.Errors[0], r.Represented.Errors[2] = 1, 1, 1 // larger than every bound
	for _, row := range drawn.Cells(t, r.Table()) {
		shows(t, row, map[string]string{"violations": "3"})
	}
}

func TestTable3_compares_quotients(t *testing.T) {
	r := &ProfileResult{Profile: DefaultProfile, Rows: []ProfileRow{
		profileRows[0].timed(8, 1), profileRows[1].timed(8, 1), profileRows[2].timed(10, 1),
	}}
	rows := drawn.Cells(t, r.Table())
	shows(t, rows[2], map[string]string{"bytes/element": "12", "flop/byte": "0.1667", "paper: flop/byte": "0.02442", "paper: “Flops/s”": "0.00008"})
	shows(t, rows[3], map[string]string{"Algorithm": "MPFMA over FMA", "bytes/element": "0.75×", "flop/byte": "1.33×", "paper: flop/byte": "2.47×",
		"Gflop/s": "1.25×", "GB/s": "0.94×", "paper: “Flops/s”": "2.00×"})
	if got := viz.Caption(r.Table()); !strings.Contains(got, "1.25 times as fast; the paper reports 2 times") {
		t.Error(got)
	}
}

func TestTableOfLemmas_shows_each_field_in_its_column(t *testing.T) {
	r := &LemmasResult{Lemmas: DefaultLemmas, Rows: []LemmaRow{
		{"MPFMA", "VIBEA", roundoff.MACBound{Product: 1e-3, Addend: 2e-3, Failure: roundoff.FailureOf(0.97)}, 0.625, 7},
	}}
	shows(t, drawn.Cells(t, r.Table())[0], map[string]string{
		"Kernel": "MPFMA", "Analysis": "VIBEA", "P": short(1e-3), "C": short(2e-3), "holds": "97 %", "violations": "7", "worst error / bound": "0.625",
	})
}

func TestFigureOfProducts_draws_each_series_under_its_name(t *testing.T) {
	r := &ProductResult{Product: DefaultProduct, Thetas: samples(1e-3), Gamma: 0.25, Tilde: 0.125}
	series := drawn.Series(t, r.Figure())
	draws(t, series, "1: observed", r.Thetas)
	draws(t, series, "1: γₙ", []float64{0.25})
	draws(t, series, "1: γ̃ₙ at 99 %", []float64{0.125})
	if y := drawn.Ys(series["1: 1 − confidence"]); len(y) != 1 || math.Abs(y[0]-0.01) > 1e-15 {
		t.Errorf("1 − confidence at %v, want 0.01", y)
	}
}

func TestFiguresOfConstants_are_the_constants(t *testing.T) {
	series := drawn.Series(t, GrowthFigure())
	for _, f := range []tcore.Format{tcore.Binary16, tcore.Binary32, tcore.Binary64} {
		u := f.UnitRoundoff()
		for _, p := range series["1: γₙ "+f.Name] {
			if want := roundoff.Gamma(int(p.X), u); p.Y != want {
				t.Errorf("γ at n = %v in %s: %v, want %v", p.X, f.Name, p.Y, want)
			}
		}
		for _, p := range series["1: γ̃ₙ "+f.Name] {
			if want := roundoff.GammaTilde(int(p.X), u, roundoff.Lambda(roundoff.FailureOf(0.99), u, int(p.X))); p.Y != want {
				t.Errorf("γ̃ at n = %v in %s: %v, want %v", p.X, f.Name, p.Y, want)
			}
		}
		if len(series["1: γₙ "+f.Name]) < 10 || len(series["1: γ̃ₙ "+f.Name]) < 10 {
			t.Errorf("%d and %d points of %s", len(series["1: γₙ "+f.Name]), len(series["1: γ̃ₙ "+f.Name]), f.Name)
		}
	}
	for _, p := range drawn.Series(t, VarianceFigure())["1: as printed"] {
		u := math.Ldexp(1, -int(p.X))
		if want := max(math.Abs(roundoff.LogVariancePrinted(u)/roundoff.LogVariance(u)-1), 1e-17); p.Y != want {
			t.Errorf("variance at p = %v: %v, want %v", p.X, p.Y, want)
		}
		if zero := roundoff.LogVariancePrinted(u) == 0; (p.Y == 1) != zero {
			t.Errorf("p = %v: the error is %v, and the formula returns 0 is %v; the caption says that they go together", p.X, p.Y, zero)
		}
	}
}
