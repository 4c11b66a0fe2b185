package library

import (
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Every entry has a plan that can be computed, with its source, for the kind
// that it is known for, or is a refusal that names what is nearest.
func TestPlans(t *testing.T) {
	references, err := os.ReadFile("../../REFERENCES.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, e := range Plans() {
		if seen[e.Name] || e.Doc == "" {
			t.Errorf("%s stands twice or has no doc", e.Name)
		}
		seen[e.Name] = true
		if !strings.Contains(string(references), "- **"+strings.ReplaceAll(e.Source, ", pull requests 153095 and 164766", "")) {
			t.Errorf("%s: %q is not in REFERENCES.md", e.Name, e.Source)
		}
		planned := 0
		for k := FP16; k <= FP32; k++ {
			p, err := e.Plan(Shape{4, 4, 300}, k)
			var r *Refusal
			switch {
			case errors.As(err, &r):
				if r.Nearest == "" || !strings.HasPrefix(r.Reason, "library: ") {
					t.Errorf("%s: %+v", e.Name, r)
				}
				continue
			case err != nil:
				t.Fatal(err)
			}
			planned++
			if err := p.Check(); err != nil || p.Name != e.Name || !strings.Contains(p.Doc, e.Source) || !p.Device().A.Equal(k.Factors()) {
				t.Errorf("%s of %v: %v, %+v", e.Name, k, err, p)
			}
		}
		if want := 1; planned != want && !(planned == 0 && strings.Contains(e.Name, "-s")) {
			t.Errorf("%s: %d kinds, want %d", e.Name, planned, want)
		}
		if _, err := e.Plan(Shape{4, 0, 300}, FP8); err == nil || !strings.Contains(err.Error(), "N = 0") {
			t.Errorf("%s: %v", e.Name, err)
		}
		if _, err := e.Plan(Shape{4, 4, 300}, Kind(-1)); err == nil {
			t.Errorf("%s plans Kind(-1)", e.Name)
		}
	}
	if _, err := FindPlan("cublas"); err == nil || !strings.Contains(err.Error(), "deepseek-v3") {
		t.Errorf("%v", err)
	}
}

// Promotion by hand: 2^8 and 2^-8 are 16 binades apart, which one accumulator
// of Hopper does not hold; when they meet depends on the interval.
func TestPromotion(t *testing.T) {
	x, y := make([]float64, 512), make([]float64, 512)
	x[0], y[0], x[300], y[300], x[511], y[511] = 16, 16, 0x1p-4, 0x1p-4, -16, 16
	for _, c := range []struct {
		interval int
		want     float64
	}{{4, 0x1p-8}, {8, 0}, {16, 0}} {
		e, err := CUTLASSPromoted(c.interval)
		if err != nil {
			t.Fatal(err)
		}
		p, err := e.Plan(Shape{1, 1, 512}, FP8)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Dot(x, y); got != c.want {
			t.Errorf("%s: %v, want %v", e.Name, got, c.want)
		}
	}
	for n, nearest := range map[int]string{0: "= 4", -1: "= 4", 3: "= 4", 5: "= 8", 1 << 20: "= 65536"} {
		var r *Refusal
		if _, err := CUTLASSPromoted(n); !errors.As(err, &r) || !strings.HasSuffix(r.Nearest, nearest) {
			t.Errorf("%d: %+v, want %s", n, r, nearest)
		}
	}
}

// The fast and the split accumulator of TransformerEngine are cuBLASLt's plans
// without and with totals every 128.
func TestTransformerEngineIsCublasLt(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 0))
	split := profiles[0].mustPlan(t, Shape{64, 64, 400}, "fp8", config(66, 1, 0, 0, 36)).Plan
	e, err := FindPlan("transformer-engine-split")
	if err != nil {
		t.Fatal(err)
	}
	p, err := e.Plan(Shape{64, 64, 400}, FP8)
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		x, y := drawn(rng, tcore.E4M3, 400)
		if got, want := p.Dot(x, y), split.Dot(x, y); !same(got, want) {
			t.Fatalf("%x, want %x", got, want)
		}
	}
}

// pairwise is the sum of NumPy's loops, term by term.
func pairwise(x []float32) float32 {
	n := len(x)
	switch {
	case n < 8:
		s := float32(0)
		for _, v := range x {
			s += v
		}
		return s
	case n <= 128:
		var r [8]float32
		copy(r[:], x)
		i := 8
		for ; i < n-n%8; i += 8 {
			for l := range r {
				r[l] += x[i+l]
			}
		}
		s := ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
		for ; i < n; i++ {
			s += x[i]
		}
		return s
	}
	half := n / 2
	half -= half % 8
	return pairwise(x[:half]) + pairwise(x[half:])
}

// The plan of NumPy's sum is its recursion.
func TestNumPySum(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 0))
	e, err := FindPlan("numpy-sum")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 2, 7, 8, 9, 15, 16, 40, 127, 128, 129, 136, 143, 144, 255, 256, 257, 300, 1000, 1025, 4099} {
		p, err := e.Plan(Shape{1, 1, n}, FP32)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			x, terms, ones := make([]float64, n), make([]float32, n), make([]float64, n)
			for i := range x {
				terms[i] = float32(rng.NormFloat64())
				x[i], ones[i] = float64(terms[i]), 1
			}
			if got, want := p.Dot(x, ones), float64(pairwise(terms)); !same(got, want) {
				t.Fatalf("n = %d: %x, want %x", n, got, want)
			}
		}
	}
}

// What PyTorch's options allow.
func TestPyTorchReduction(t *testing.T) {
	plain, serial, wide, rounded := config(24, 1, 0, 0, 7), config(24, 2, 1, 0, 7), config(24, 2, 2, 0, 7), config(24, 2, 4, 0, 7)
	missing := Config{AlgoID: Some(24), SplitKNum: Some(2)}
	for _, c := range []struct {
		reduced, splitK bool
		allowed         []Config
		refused         []Config
	}{
		{true, true, []Config{plain, serial, wide, rounded, missing, {}}, nil},
		{false, true, []Config{plain, wide, {}}, []Config{serial, rounded, missing}},
		{false, false, []Config{plain, {}}, []Config{serial, wide, rounded, missing}},
	} {
		o, err := PyTorchReduction(c.reduced, c.splitK)
		if err != nil {
			t.Fatal(err)
		}
		for _, config := range c.allowed {
			if err := o.Allows(config); err != nil {
				t.Errorf("%s: %v: %v", o.Name, config, err)
			}
		}
		for _, config := range c.refused {
			var r *Refusal
			if err := o.Allows(config); !errors.As(err, &r) || r.Nearest == "" {
				t.Errorf("%s allows %v", o.Name, config)
			}
		}
	}
	if _, err := PyTorchReduction(true, false); err == nil {
		t.Error("(true, false) is allowed")
	}
}
