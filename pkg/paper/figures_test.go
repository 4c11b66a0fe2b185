package paper

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/roundofflab/roundoff/internal/drawn"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
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

func TestFigure5_draws_each_series_under_its_name(t *testing.T) {
	r := &MACResult{MAC: DefaultMAC,
		Plain: MACVariant{"without FMA", samples(1e-9), samples(2e-9), samples(3e-9)},
		FMA:   MACVariant{"with FMA", samples(1e-8), samples(2e-8), samples(3e-8)},
		Mixed: MACVariant{"with MPFMA", samples(1e-7), samples(2e-7), samples(5e-8)},
	}
	series := drawn.Series(t, r.Figure())
	for i, k := range []MACVariant{r.Plain, r.FMA, r.Mixed} {
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
	draws(t, series, "without representation error: observed", r.Exact.Errors)
	draws(t, series, "without representation error: DBEA", times(dbea, r.Exact.Conditions))
	draws(t, series, "without representation error: VIBEA 99 %", times(theorem.Zeta(vibea), r.Exact.Conditions))
	draws(t, series, "with representation error: observed", r.Represented.Errors)
	draws(t, series, "with representation error: DBEA", times(theorem.ZetaRepresented(roundoff.DBEA), r.Represented.Conditions))
	draws(t, series, "with representation error: VIBEA 99 %", times(theorem.ZetaRepresented(vibea), r.Represented.Conditions))

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
	}
}
