package library

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/vectest"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// plans is the folder of published plans, beside $ROUNDOFF_VECTORS.
const plans = "../cublas-plans"

// The planner answers what the published one does: every plan and every reason
// of its four files, whose configurations are read and written as they are.
func TestPublishedPlans(t *testing.T) {
	for _, file := range vectest.Published(t, plans+"/*.json.gz") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			var published struct {
				Capability, Cublaslt [2]int
				Cases                []struct {
					Label, Kind, Reason string
					M, N, K             int
					Config              Config
					Plan                any
				}
			}
			if err := json.NewDecoder(vectest.Open(t, file)).Decode(&published); err != nil {
				t.Fatal(err)
			}
			p, warning, err := FindProfile(
				fmt.Sprintf("cublaslt-%d.%d", published.Cublaslt[0], published.Cublaslt[1]),
				fmt.Sprintf("%d.%d", published.Capability[0], published.Capability[1]))
			if err != nil || warning != "" {
				t.Fatal(warning, err)
			}
			for _, c := range published.Cases {
				k, err := ParseKind(c.Kind)
				if err != nil {
					t.Fatal(err)
				}
				planned, err := p.Plan(Shape{c.M, c.N, c.K}, k, c.Config)
				var refusal *Refusal
				reason := "ok"
				if errors.As(err, &refusal) {
					reason = refusal.Reason
				} else if err != nil {
					t.Fatalf("%s: %v", c.Label, err)
				}
				var got any
				if err == nil {
					got = decoded(t, planned)
					if err := planned.Plan.Check(); err != nil {
						t.Errorf("%s: %v", c.Label, err)
					}
				} else if refusal.Nearest == "" {
					t.Errorf("%s: nothing is known nearest", c.Label)
				}
				if reason != c.Reason || !reflect.DeepEqual(got, c.Plan) {
					t.Errorf("%s: %v %s, want %v %s", c.Label, got, reason, c.Plan, c.Reason)
				}
			}
			if n := len(published.Cases); n < 1482 {
				t.Errorf("%d cases, want 1482 or more", n)
			}
		})
	}
}

// decoded returns the JSON of a plan, as a decoder reads it.
func decoded(t *testing.T, p Planned) (v any) {
	t.Helper()
	text, err := json.Marshal(p)
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// hex is a number in C's notation, such as 0x1.8p-3, as JSON has it in quotes.
type hex float64

func (h *hex) UnmarshalJSON(text []byte) error {
	s, err := strconv.Unquote(string(text))
	if err != nil {
		return err
	}
	v, err := strconv.ParseFloat(s, 64)
	*h = hex(v)
	return err
}

// numbers returns float32 values of hex.
func numbers(h []hex) (z []float32) {
	for _, v := range h {
		z = append(z, float32(v))
	}
	return z
}

// An exact case is one element of D, whose factors at the positions At are not
// +0.
type exactCase struct {
	Name, Profile, Kind, Output string
	M, N                        int
	Products                    int   `json:"K"`
	At                          []int `json:"k"`
	A, B                        []hex
	Config                      Config
	Plan                        any
	Scale                       *hex
	Sum, D                      hex
	Wrong                       []struct {
		Order  string
		Sum, D hex
	}

	// Of the cases beyond those of cuBLASLt.
	SplitK    int
	DBinary32 *hex `json:"d_binary32"`
	Planned   hex
	ScalesOfA []hex `json:"scales_a"`
	ScalesOfB []hex `json:"scales_b"`
}

// factors returns all K factors.
func (c exactCase) factors() (x, y []float64) {
	x, y = make([]float64, c.Products), make([]float64, c.Products)
	for i, at := range c.At {
		x[at], y[at] = float64(c.A[i]), float64(c.B[i])
	}
	return x, y
}

func exactCases(t *testing.T) (cases, extra []exactCase) {
	text, err := os.ReadFile(vectest.Published(t, plans+"/cases.json")[0])
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Cases, Extra []exactCase }
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Cases) < 28 || len(all.Extra) < 6 {
		t.Fatalf("%d and %d cases, want 28 and 6", len(all.Cases), len(all.Extra))
	}
	return all.Cases, all.Extra
}

// Cases that can be followed by hand, and some with all significands full, have
// the sums and results of an exact reference, and not those of mistakes near
// by.
func TestExactCases(t *testing.T) {
	cases, _ := exactCases(t)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			planned := profileOf(t, c.Profile).mustPlan(t, Shape{c.M, c.N, c.Products}, c.Kind, c.Config)
			if got := decoded(t, planned); !reflect.DeepEqual(got, c.Plan) {
				t.Errorf("plan %v, want %v", got, c.Plan)
			}
			if got := planned.Plan.Output.Name; got != c.Output {
				t.Errorf("D of %s, want %s", got, c.Output)
			}
			x, y := c.factors()
			scale := float32(1)
			if c.Scale != nil {
				scale = float32(*c.Scale)
			}
			s, d := sum(planned.Plan, x, y), element(planned.Plan, scale, x, y)
			if !same(s, float64(c.Sum)) || !same(d, float64(c.D)) {
				t.Errorf("sum %x, D %x, want %x and %x", s, d, c.Sum, c.D)
			}
			for _, wrong := range c.Wrong {
				if same(s, float64(wrong.Sum)) && same(d, float64(wrong.D)) {
					t.Errorf("the results are those of %s", wrong.Order)
				}
			}
		})
	}
}

// profileOf returns the profile of a name such as sm90_lt13_1.
func profileOf(t *testing.T, name string) Profile {
	t.Helper()
	architecture, version, _ := strings.Cut(name, "_lt")
	p, warning, err := FindProfile(strings.ReplaceAll(version, "_", "."), architecture)
	if err != nil || warning != "" {
		t.Fatal(warning, err)
	}
	return p
}

func (p Profile) mustPlan(t *testing.T, s Shape, kind string, c Config) Planned {
	t.Helper()
	k, err := ParseKind(kind)
	if err != nil {
		t.Fatal(err)
	}
	planned, err := p.Plan(s, k, c)
	if err != nil {
		t.Fatal(err)
	}
	return planned
}

// sum returns the sum of a plan in binary32, before it is scaled and rounded.
func sum(p plan.Plan, x, y []float64) float64 {
	p.Output = tcore.Binary32
	return p.Dot(x, y)
}

// element returns an element of D.
func element(p plan.Plan, scale float32, x, y []float64) float64 {
	a, b, d := matrix.New(1, len(x)), matrix.New(len(y), 1), matrix.New(1, 1)
	for k := range x {
		a.Data[k], b.Data[k] = float32(x[k]), float32(y[k])
	}
	p.GEMM(blas.NoTrans, blas.NoTrans, scale, a, b, 0, blas32.General{}, d)
	return float64(d.Data[0])
}

// same compares bits: -0 is not +0.
func same(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }

// The tails that were lost on silicon are lost by the plan that is suspected
// there, and not by the one that is published; the hypothesis foretells more.
// The scaled orders of DeepGEMM and of DeepSeek-V3 differ in their last bit.
func TestExactCasesBeyondThePublishedPlanner(t *testing.T) {
	_, extra := exactCases(t)
	for _, c := range extra {
		t.Run(c.Name, func(t *testing.T) {
			switch {
			case strings.HasPrefix(c.Name, "tail-"):
				c.tail(t)
			case strings.HasPrefix(c.Name, "deepgemm"):
				c.scaled(t, "deepgemm-sm90-1d1d", "deepgemm-sm90-1d2d", "cutlass-fp8-blockwise")
			case strings.HasPrefix(c.Name, "deepseek"):
				c.scaled(t, "deepseek-v3", "cutlass-fp8-blockwise-both")
			default:
				t.Error("no test of it")
			}
		})
	}
}

// tail tests products of ones.
func (c exactCase) tail(t *testing.T) {
	config, k := Config{AlgoID: Some(66), SplitKNum: Some(c.SplitK), StagesID: Some(35)}, FP16
	if strings.Contains(c.Name, "4") {
		config.StagesID, k = Some(36), FP8
	}
	ones := make([]float64, c.Products)
	for i := range ones {
		ones[i] = 1
	}
	for _, p := range Profiles() {
		planned, err := p.PlanWith(Shape{1, 8, c.Products}, k, config, Options{Output: tcore.Binary32})
		if err != nil {
			t.Fatal(err)
		}
		if got := planned.Plan.Dot(ones, ones); got != float64(c.Planned) {
			t.Errorf("%s: %v, want %v", p.Name(), got, c.Planned)
		}
		if lost := planned.Suspected != nil; lost != (k == FP16) {
			t.Errorf("%s: suspected: %v", p.Name(), lost)
		} else if lost {
			if got := planned.Suspected.Plan.Dot(ones, ones); got != float64(*c.DBinary32) || planned.Suspected.Lost != c.Products-int(got) {
				t.Errorf("%s: %v with the suspected plan, want %v; %d lost", p.Name(), got, *c.DBinary32, planned.Suspected.Lost)
			}
		}
		floor, err := p.PlanWith(Shape{1, 8, c.Products}, k, config, Options{Output: tcore.Binary32, Floor: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := floor.Plan.Dot(ones, ones); got != float64(c.Sum) {
			t.Errorf("%s: %v with the hypothesis, want %v", p.Name(), got, c.Sum)
		}
	}
}

// scaled tests that entries of these names have the sum.
func (c exactCase) scaled(t *testing.T, names ...string) {
	x, y := c.factors()
	for _, name := range names {
		e, err := FindPlan(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := e.Plan(Shape{1, 1, c.Products}, FP8)
		if err != nil {
			t.Fatal(err)
		}
		p.Output = tcore.Binary32
		if got := p.DotScaled(x, y, numbers(c.ScalesOfA), numbers(c.ScalesOfB)); !same(got, float64(c.Sum)) {
			t.Errorf("%s: %x, want %x", name, got, c.Sum)
		}
	}
}
