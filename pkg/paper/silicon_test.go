package paper

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// If STAND_IN is set, the test binary plays the command roundoff: it exits with
// that status, or copies the file of that name to the folder in its arguments.
func TestMain(m *testing.M) {
	switch does := os.Getenv("STAND_IN"); does {
	case "":
		os.Exit(m.Run())
	case "3":
		os.Exit(3)
	case "1":
		fmt.Fprintln(os.Stderr, "out of order")
		os.Exit(1)
	default:
		dir := os.Args[len(os.Args)-2]
		data, err := os.ReadFile(does)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(does)), data, 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// standIn puts the test binary into PATH as the command roundoff.
func standIn(t *testing.T, does string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "roundoff")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	t.Setenv("STAND_IN", does)
	t.Setenv("ROUNDOFF_DEVICE", "gpu")
}

// inRepository makes the record the only one of the repository during the test.
func inRepository(t *testing.T, name string, record any) {
	t.Helper()
	data, ok := record.([]byte)
	if !ok {
		var err error
		if data, err = json.Marshal(record); err != nil {
			t.Fatal(err)
		}
	}
	saved := recorded
	t.Cleanup(func() { recorded = saved })
	recorded = fstest.MapFS{"recorded/" + name: {Data: data}}
}

var chip = Provenance{GPU: "A chip, compute capability 9.0", Architecture: "Hopper", Driver: "12.8", Library: "cuBLAS 12.8.3", Date: "2026-01-02"}

// smallest is a product whose result depends on the order of summation.
var smallest = GEMM{M: 9, N: 4, K: 1 << 10, Core: tcore.PaperF32, Distribution: UniformSymmetric, Confidence: Confidence, Seed: 7}

// recordOf returns a record of the experiment smallest, with one product
// computed in each order of summation.
func recordOf(t *testing.T, orders ...EmulationOrder) (*GEMMResult, *GEMMRecord) {
	t.Helper()
	r, err := smallest.Run()
	if err != nil {
		t.Fatal(err)
	}
	a, b := smallest.Operands()
	record := smallest.NewRecord(chip)
	for i, o := range orders {
		d := matrix.New(smallest.M, smallest.N)
		o.multiply(a, b, d)
		record.Add(fmt.Sprint("call ", i), "5, tile 6", i*o.SplitK, 1500*time.Microsecond, d)
	}
	return r, record
}

func TestOnGPU(t *testing.T) {
	t.Setenv("ROUNDOFF_DEVICE", "")
	orders := []EmulationOrder{{devices.HopperF16(), 3}, {devices.HopperF16(), 1}}
	r, record := recordOf(t, orders...)
	contains := func(t *testing.T, s *SiliconGEMM, wants ...string) {
		t.Helper()
		text := viz.Caption(s.Table()) + s.Table().Markdown() + viz.Caption(s.Figure())
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in %s", want, text)
			}
		}
	}
	t.Run("without_a_record_is_the_emulation_and_says_so", func(t *testing.T) {
		s, err := r.OnGPU()
		if err != nil || !s.Emulated() || len(s.Products) != 1 {
			t.Fatalf("%+v, %v", s, err)
		}
		contains(t, s, "No GPU has been asked this: it is the emulation", "Hopper, emulated", "Truncation costs")
		if strings.Contains(viz.Caption(s.Table()), "Measured on") || strings.Contains(viz.Caption(s.Table()), "Recorded on") {
			t.Errorf("%s pretends", viz.Caption(s.Table()))
		}
	})
	t.Run("is_the_record_of_the_repository", func(t *testing.T) {
		inRepository(t, record.File(), record)
		s, err := r.OnGPU()
		if err != nil || s.Measured || s.Missed || s.GPU != chip.GPU || len(s.Products) != 2 {
			t.Fatalf("%+v, %v", s, err)
		}
		for i, p := range s.Products {
			if p.Equal != 36 || p.First != -1 || p.EmulationOrder.String() != orders[i].String() {
				t.Errorf("%d: %d equal, first %d, %s, want 36, -1, %s", i, p.Equal, p.First, p.EmulationOrder, orders[i])
			}
		}
		contains(t, s, "All 36 outputs of call 0 have the bits of the emulation, hopper-wgmma-binary16-binary32, K in 3 parts",
			"Recorded on A chip, compute capability 9.0, CUDA 12.8, cuBLAS 12.8.3, 2026-01-02; no GPU was asked here",
			"call 1, algorithm 5, tile 6, K in 1 parts", "1.500")
	})
	t.Run("is_measured_if_a_GPU_is_asked_for", func(t *testing.T) {
		dir := t.TempDir()
		if err := WriteRecord(dir, record); err != nil {
			t.Fatal(err)
		}
		standIn(t, filepath.Join(dir, record.File()))
		s, err := r.OnGPU()
		if err != nil || !s.Measured || s.Products[0].Equal != 36 {
			t.Fatalf("%+v, %v", s, err)
		}
		contains(t, s, "Measured on A chip")
	})
	t.Run("is_the_record_if_there_is_no_GPU", func(t *testing.T) {
		standIn(t, "3")
		inRepository(t, record.File(), record)
		s, err := r.OnGPU()
		if err != nil || s.Measured || !s.Missed {
			t.Fatalf("%+v, %v", s, err)
		}
		contains(t, s, "ROUNDOFF_DEVICE asks for a GPU, and there is none here. Recorded on A chip")
	})
	t.Run("tells_the_first_bit_that_differs", func(t *testing.T) {
		r, record := recordOf(t, EmulationOrder{devices.HopperF16(), 1})
		record.Products[0].D[4*17] ^= 1
		inRepository(t, record.File(), record)
		s, err := r.OnGPU()
		if err != nil || s.Products[0].Equal != 35 || s.Products[0].First != 17 {
			t.Fatalf("%+v, %v", s, err)
		}
		contains(t, s, "Of 36 outputs of call 0, 35 have the bits of the nearest emulation, hopper-wgmma-binary16-binary32; the first other one is in row 4, column 1")
	})
	t.Run("wants_binary32_sums", func(t *testing.T) {
		defer func() {
			if got := fmt.Sprint(recover()); got != "paper: OnGPU of binary16 to binary16, want binary16 to binary32" {
				t.Errorf("panic %q", got)
			}
		}()
		g := *r
		g.Core = tcore.PaperF16
		_, _ = g.OnGPU()
	})
}

func TestOnGPU_tells_what_is_wrong(t *testing.T) {
	r, record := recordOf(t, EmulationOrder{devices.HopperF16(), 1})
	name := record.File()
	change := func(f func(*GEMMRecord)) *GEMMRecord {
		other := *record
		other.Products = append([]RecordedProduct(nil), record.Products...)
		f(&other)
		return &other
	}
	for _, c := range []struct {
		name   string
		record any
		want   string
	}{
		{"a record that is no JSON", []byte("{"), "record " + name + ": unexpected end of JSON"},
		{"a record of nothing", change(func(r *GEMMRecord) { r.GPU = "" }), "record " + name + " names no GPU"},
		{"a record of another size", change(func(r *GEMMRecord) { r.M++ }), "a record of gemm-symmetric-10x1024x4-7.json, want " + name},
		{"a record of other numbers", change(func(r *GEMMRecord) { r.Seed++ }), "a record of gemm-symmetric-9x1024x4-8.json"},
		{"a record without products", change(func(r *GEMMRecord) { r.Products = nil }), "has no products"},
		{"a product that is short", change(func(r *GEMMRecord) { r.Products[0].D = r.Products[0].D[1:] }), "call 0 has 143 bytes, want 144"},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			t.Setenv("ROUNDOFF_DEVICE", "")
			inRepository(t, name, c.record)
			if s, err := r.OnGPU(); err == nil || !strings.HasPrefix(err.Error(), "paper: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v, %v, want %q", s, err, c.want)
			}
		})
	}
	for _, c := range []struct{ does, device, want string }{
		{"1", "gpu", ": exit status 1: out of order"},
		{"no/such/file", "gpu", "exit status 1: open no/such/file"},
		{"3", "tpu", `ROUNDOFF_DEVICE = "tpu", want gpu or nothing`},
	} {
		standIn(t, c.does)
		t.Setenv("ROUNDOFF_DEVICE", c.device)
		if _, err := r.OnGPU(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s: %v, want %q", c.does, c.device, err, c.want)
		}
	}
	t.Setenv("ROUNDOFF_DEVICE", "gpu")
	t.Setenv("PATH", t.TempDir())
	if _, err := r.OnGPU(); err == nil || !strings.Contains(err.Error(), "takes the command roundoff, go build -o .bin/ ./cmd/roundoff") {
		t.Errorf("without the command: %v", err)
	}
}

// Every record in the repository is complete and comes from a real GPU.
func TestRecorded(t *testing.T) {
	t.Setenv("ROUNDOFF_DEVICE", "")
	if data, err := fs.ReadFile(recorded, "recorded/README.md"); err != nil || !strings.Contains(string(data), "roundoff gpu experiment") {
		t.Errorf("the folder does not tell how records are made: %v", err)
	}
	files, err := fs.Glob(recorded, "recorded/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		var from Provenance
		data, err := fs.ReadFile(recorded, file)
		if err == nil {
			err = decodeRecord(file, data, &map[string]any{}, &from)
		}
		if err != nil || from.Date == "" || from.Driver == "" || strings.Contains(from.GPU, "Fake") || len(data) > 1<<20 {
			t.Errorf("%s: %+v, %d bytes, %v", file, from, len(data), err)
		}
	}
}

// The search, which compares some rows, finds nearly as many equal outputs as
// an exhaustive search, and all of them if the order is among the candidates.
func TestNearest_finds_the_order_or_comes_close(t *testing.T) {
	g := smallest
	g.M = 70
	a, b := g.Operands()
	units := candidates("Hopper")
	for _, made := range []EmulationOrder{{devices.HopperF16(), 5}, {units[1], 1}, {devices.AmpereF16(), 2}, {devices.PaperCoreF32(), 1}} {
		d := matrix.New(g.M, g.N)
		made.multiply(a, b, d)
		most := 0
		for _, device := range units {
			for parts := 1; parts <= 32; parts++ {
				z, equal := matrix.New(g.M, g.N), 0
				EmulationOrder{device, parts}.multiply(a, b, z)
				for i := range z.Data {
					if math.Float32bits(z.Data[i]) == math.Float32bits(d.Data[i]) {
						equal++
					}
				}
				most = max(most, equal)
			}
		}
		found := NearestOrder(units, 0, a, b, d)
		if found.Equal < most*9/10 || found.compare(a, b, d) != found {
			t.Errorf("%s: %s with %d equal, the best has %d", made, found.EmulationOrder, found.Equal, most)
		}
		if made.Device.Architecture == "Hopper" && found.Equal != g.M*g.N {
			t.Errorf("%s: %d of %d equal", made, found.Equal, g.M*g.N)
		}
	}
	if n := len(candidates("Hopper")); n != 2 {
		t.Errorf("%d candidates on a Hopper, want wgmma and mma", n)
	}
	if n := len(candidates("Pascal")); n < 10 {
		t.Errorf("%d candidates on an unknown architecture, want all", n)
	}
}

func TestProfileOnGPU(t *testing.T) {
	t.Setenv("ROUNDOFF_DEVICE", "")
	saved := DefaultGPUProfile
	defer func() { DefaultGPUProfile = saved }()
	DefaultGPUProfile = Profile{Elements: 1000, Repeats: 2, Seed: 3}
	r := Profile{Elements: 1 << 10, Repeats: 1, Seed: 1}.Run()
	s, err := r.OnGPU()
	if err != nil || !s.Emulated() || !strings.Contains(viz.Caption(s.Table()), "No GPU has been asked this") ||
		strings.Count(s.Table().Markdown(), "–") != 9 {
		t.Errorf("without a record: %s, %v", s.Table().Markdown(), err)
	}

	record := DefaultGPUProfile.NewRecord(chip)
	for i, ns := range []time.Duration{4000, 4000, 2000} {
		record.Add(ns, 1000-i)
	}
	inRepository(t, record.File(), record)
	s, err = r.OnGPU()
	if err != nil {
		t.Fatal(err)
	}
	text := viz.Caption(s.Table()) + s.Table().Markdown()
	// 2000 operations in 4 and 2 μs, 16 and 12 bytes per element.
	for _, want := range []string{"MPFMA is 2.00 times as fast as FMA on the GPU", "Recorded on A chip",
		"| 0.50 | 4.0 | 1000 |", "| 0.50 | 4.0 | 999 |", "| 1.00 | 6.0 | 998 |"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	for want, bad := range map[string]func(*ProfileRecord){
		"has 2 kernels, want 3":             func(r *ProfileRecord) { r.Kernels = r.Kernels[:2] },
		"a record of profile-5-3.json":      func(r *ProfileRecord) { r.Elements = 5 },
		"kernel 0: 0 ns":                    func(r *ProfileRecord) { r.Kernels = append([]RecordedStream{{0, 1}}, r.Kernels[1:]...) },
		"4000 ns, 1001 of 1000 results equ": func(r *ProfileRecord) { r.Kernels = append([]RecordedStream{{4000, 1001}}, r.Kernels[1:]...) },
	} {
		other := *record
		bad(&other)
		inRepository(t, record.File(), &other)
		if _, err := r.OnGPU(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestRecord_is_checked_when_it_is_made(t *testing.T) {
	record := smallest.NewRecord(chip)
	if err := WriteRecord("no/such/folder", record); err == nil || !strings.Contains(err.Error(), "paper: writing "+record.File()) {
		t.Errorf("error %v", err)
	}
	defer func() {
		if got := fmt.Sprint(recover()); got != "paper: d is 4 × 9, want 9 × 4" {
			t.Errorf("panic %q", got)
		}
	}()
	record.Add("", "", 0, 0, matrix.New(4, 9))
}

// The claim about the paper's GPU is reproduced by the results of an H100 that
// have the bits of the emulation, not by others, and cannot be tested without.
func TestClaimH100(t *testing.T) {
	t.Setenv("ROUNDOFF_DEVICE", "")
	for _, c := range []struct {
		name, gpu string
		wrong     int // bits of the first result to flip
		want      Verdict
		why       string
	}{
		{"an H100", "NVIDIA H100 80GB HBM3", 0, Reproduced, "All 36 outputs of call 0 have the bits of the emulation, hopper-wgmma-binary16-binary32, K in 3 parts"},
		{"another bit", "NVIDIA H100 80GB HBM3", 1, Differs, "Of 36 outputs of call 0, 35 have the bits"},
		{"another GPU", "NVIDIA B200", 0, CannotBeTested, "the results are those of NVIDIA B200"},
		{"no record", "", 0, CannotBeTested, "there is no record of this experiment"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, record := recordOf(t, EmulationOrder{devices.HopperF16(), 3})
			record.GPU = c.gpu
			record.Products[0].D[0] ^= byte(c.wrong)
			name := record.File()
			if c.gpu == "" {
				name = "another.json"
			}
			inRepository(t, name, record)
			i := slices.IndexFunc(r.Claims(), func(c Claim) bool { return c.ID == "gemm-h100" })
			if got := r.Claims()[i]; got.Verdict != c.want || !strings.Contains(got.Why, c.why) {
				t.Errorf("%s: %s, want %s: %s", got.Verdict, got.Why, c.want, c.why)
			}
		})
	}
}
