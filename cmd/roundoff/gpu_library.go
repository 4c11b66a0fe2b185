package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/gpu"
	"github.com/roundofflab/roundoff/pkg/library"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// libraryShapes are the products that are compared first, small ones before
// large ones: a few rows, K = 1, odd sizes, a row, a column, thin, square,
// deep, deep with a tail that was seen to be lost, and a larger square.
var libraryShapes = []library.Shape{
	{M: 8, N: 512, K: 512}, {M: 64, N: 64, K: 1}, {M: 127, N: 129, K: 1001}, {M: 1, N: 1024, K: 4096}, {M: 1024, N: 1, K: 4096},
	{M: 32, N: 2048, K: 1024}, {M: 256, N: 256, K: 512}, {M: 16, N: 16, K: 32768}, {M: 1, N: 8, K: 8648}, {M: 512, N: 512, K: 512},
}

// planKinds are the kinds of factors that plans of cuBLASLt have.
var planKinds = []library.Kind{library.FP16, library.BF16, library.FP8}

// libraryFlags say which products of cuBLASLt are compared with plans.
type libraryFlags struct {
	on         *bool
	shapes     *string
	algorithms *int
}

func newLibraryFlags(flags *flag.FlagSet) libraryFlags {
	return libraryFlags{
		flags.Bool("library", false, "compare products of cuBLASLt with the plans of the configurations that it chooses, of\nthe kinds named, fp16, bf16 and fp8, or of all"),
		flags.String("shapes", "", "with -library, these `products` alone, M x N x K, as in 1x4096x4096,64x64x32768"),
		flags.Int("algorithms", 4, "with -library, of each product, the first of those that cuBLASLt suggests"),
	}
}

// parse returns the shapes and kinds. The error is errUsage, after reporting
// what is wrong.
func (l libraryFlags) parse(flags *flag.FlagSet, words []string) (shapes []library.Shape, kinds []library.Kind, err error) {
	for _, text := range strings.FieldsFunc(*l.shapes, func(r rune) bool { return r == ',' }) {
		s, ok := question.ParseShape(strings.TrimSpace(text))
		if !ok {
			return nil, nil, misuse(flags, "shapes: %q, want M x N x K as in 1x4096x4096", text)
		}
		if err := question.CheckMatrices(question.MostDrawn, s.M, s.N, s.K); err != nil {
			return nil, nil, misuse(flags, "shapes: %q: %v", text, err)
		}
		shapes = append(shapes, s)
	}
	for _, word := range words {
		k, err := library.ParseKind(word)
		if err != nil || !slices.Contains(planKinds, k) {
			return nil, nil, misuse(flags, "%q with library, want fp16, bf16 or fp8", word)
		}
		kinds = append(kinds, k)
	}
	if len(kinds) == 0 {
		kinds = planKinds
	}
	const most = 16
	if *l.algorithms < 1 || *l.algorithms > most {
		return nil, nil, misuse(flags, "algorithms = %d, want 1 to %d", *l.algorithms, most)
	}
	return shapes, kinds, nil
}

// verifyLibrary compares products of cuBLASLt on the GPU with the plans of its
// configurations, writes a row for each, and returns an error if any differs.
// Without shapes it goes through libraryShapes, then draws others, for the time
// or the number of outputs of the effort.
func verifyLibrary(ctx context.Context, e effort, shapes []library.Shape, kinds []library.Kind, algorithms int, stdout io.Writer) error {
	g, err := gpu.Open()
	if err != nil {
		return err
	}
	defer g.Close()
	v := &libraryComparison{g: g, w: stdout, seed: *e.seed, algorithms: algorithms,
		modes: map[string][2]int{}, refused: map[string]int{}, doubted: map[string]int{}}
	noProfile, err := v.header()
	if err != nil {
		return err
	}
	listed := shapes
	if len(shapes) == 0 {
		listed = libraryShapes
	}
	start := time.Now()
	v.enough = func() bool {
		if *e.dots >= 1 {
			return float64(v.outputs) >= *e.dots
		}
		return time.Since(start).Seconds() >= *e.seconds
	}
	rng := rand.New(rand.NewPCG(v.seed, 0))
	// Nothing is drawn if nothing of the list could be compared.
	for i := 0; i < len(listed) || len(shapes) == 0 && v.outputs > 0; i++ {
		shape := library.Shape{}
		if i < len(listed) {
			shape = listed[i]
		} else {
			shape = drawShape(rng, i)
		}
		for _, k := range kinds {
			if v.enough() {
				return errors.Join(v.summary(), noProfile)
			}
			if err := v.product(ctx, shape, k); err != nil {
				return errors.Join(err, v.summary())
			}
		}
	}
	return errors.Join(v.summary(), noProfile)
}

// A libraryComparison compares products of cuBLASLt with plans, and counts.
type libraryComparison struct {
	g          *gpu.GPU
	w          io.Writer
	profile    *library.Profile // nil if none is known of the architecture
	seed       uint64
	algorithms int
	enough     func() bool // whether the time is over or enough is compared

	outputs, differ int
	compared, equal [2]int            // products by the library's first choice, and by others
	modes           map[string][2]int // of plans: equal, compared
	lost            int               // that have a tail suspected to be lost
	refused         map[string]int
	doubted         map[string]int
}

// header finds the profile and writes what is compared. noProfile is an error
// if none is known of the architecture: then configurations are read all the
// same.
func (v *libraryComparison) header() (noProfile, err error) {
	info, err := v.g.Info()
	if err != nil {
		return nil, err
	}
	version := ""
	for _, l := range info.Libraries {
		if l.Name == "libcublasLt" {
			if l.Err != nil {
				return nil, l.Err
			}
			version = l.Version
		}
	}
	fmt.Fprintf(v.w, "%s, compute capability %s, cuBLASLt %s, seed %d\n", info.Name, info.Capability, version, v.seed)
	p, warning, err := library.FindProfile(version, info.Capability)
	var unknown *library.Refusal
	switch {
	case errors.As(err, &unknown):
		fmt.Fprintf(v.w, "No plans: %v\n", err)
		noProfile = err
	case err != nil:
		return nil, err
	default:
		v.profile = &p
		fmt.Fprintf(v.w, "Plans of %s (%s)", p.Name(), p.Measured)
		if warning != "" {
			fmt.Fprintf(v.w, ": %s", warning)
		}
		fmt.Fprintln(v.w)
	}
	_, err = fmt.Fprintf(v.w, "\n%-22s %-9s  #  %-28s %-13s %9s %9s\n", "product", "type", "configuration", "plan", "outputs", "differ")
	return noProfile, err
}

// product compares a product of factors of a kind, with D in the format of the
// library and in binary32. Sizes of 8-bit factors are multiples of 16, rounded
// up, since the library takes no others.
func (v *libraryComparison) product(ctx context.Context, s library.Shape, k library.Kind) error {
	output := tcore.Binary16
	switch k {
	case library.BF16:
		output = tcore.BFloat16
	case library.FP8:
		up := func(n int) int { return (n + 15) / 16 * 16 }
		s = library.Shape{M: up(s.M), N: up(s.N), K: up(s.K)}
	}
	var data []drawnFactors
	for i, draw := range planData {
		data = append(data, draw(rand.New(rand.NewPCG(v.seed, uint64(i+1))), s, k))
	}
	for _, f := range []tcore.Format{output, tcore.Binary32} {
		name := k.String()
		if f != output {
			name += ">fp32"
		}
		if err := v.algorithmsOf(ctx, plannedProduct{s, k, f, name, data}); err != nil {
			return fmt.Errorf("%s of %v: %w", name, s, err)
		}
	}
	return nil
}

// A plannedProduct is what the library is asked for.
type plannedProduct struct {
	library.Shape
	kind   library.Kind
	output tcore.Format
	name   string // of kind and output
	data   []drawnFactors
}

// algorithmsOf compares a product by each of the first algorithms that the
// library suggests.
func (v *libraryComparison) algorithmsOf(ctx context.Context, p plannedProduct) error {
	const asked = 16 // as in the published questions
	factors := p.kind.Factors()
	routine := gpu.Routine{GPU: v.g, A: factors, B: factors, C: tcore.Binary32, Output: p.output, Rows: true}
	list, err := routine.Algorithms(p.M, p.N, p.K, asked)
	if err == nil && len(list) == 0 {
		err = gpu.ErrNotSupported
	}
	if errors.Is(err, gpu.ErrNotSupported) {
		v.refuse(p, 1, "", "cuBLASLt has no algorithm for it")
		return nil
	}
	if err != nil {
		return err
	}
	emulated := map[string][]blas32.General{} // by plan: algorithms may share one
	for i, a := range list[:min(v.algorithms, len(list))] {
		if err := ctx.Err(); err != nil || v.enough() {
			return err
		}
		config := configOf(a)
		var planned library.Planned
		err := errors.New("no profile")
		if v.profile != nil {
			planned, err = v.profile.PlanWith(p.Shape, p.kind, config, library.Options{Output: p.output})
		}
		if err != nil {
			v.refuse(p, i+1, config.String(), question.WithNearest(err).Error())
			continue
		}
		routine.Algorithm = &a
		results, err := computed(ctx, routine, p)
		if errors.Is(err, gpu.ErrNotSupported) {
			v.refuse(p, i+1, config.String(), "cuBLASLt does not compute it by the algorithm that it suggests")
			continue
		}
		if err != nil {
			return err
		}
		emulate := func(of plan.Plan) []blas32.General {
			key := of.String()
			if emulated[key] == nil {
				emulated[key] = p.emulate(of)
			}
			return emulated[key]
		}
		v.row(p, i, config, planned, results, emulate)
	}
	return nil
}

// configOf returns the configuration of an algorithm. Attributes that an old
// library does not have are missing.
func configOf(a gpu.Algorithm) library.Config {
	c := library.Config{
		AlgoID: library.Some(a.ID), TileID: library.Some(a.Tile), SplitKNum: library.Some(a.SplitK), ReductionScheme: library.Some(a.Reduction),
		CTASwizzling: library.Some(a.Swizzle), CustomOption: library.Some(a.Custom), StagesID: library.Some(a.Stages),
	}
	if a.Fields == 9 {
		c.InnerShapeID, c.ClusterShapeID = library.Some(a.InnerShape), library.Some(a.ClusterShape)
	}
	return c
}

// computed returns what the GPU makes of all data by the algorithm of the
// routine.
func computed(ctx context.Context, routine gpu.Routine, p plannedProduct) (results []blas32.General, err error) {
	for _, x := range p.data {
		d := matrix.New(p.M, p.N)
		report, err := routine.Multiply(ctx, blas.NoTrans, blas.NoTrans, 1, x.a, x.b, 0, blas32.General{}, d)
		if err == nil && report.Panels != 1 {
			err = fmt.Errorf("device memory holds it in %d parts alone", report.Panels)
		}
		if err != nil {
			return nil, err
		}
		results = append(results, d)
	}
	return results, nil
}

// emulate returns what a plan makes of all data.
func (p plannedProduct) emulate(of plan.Plan) (results []blas32.General) {
	for _, x := range p.data {
		d := matrix.New(p.M, p.N)
		of.GEMM(blas.NoTrans, blas.NoTrans, 1, x.a, x.b, 0, blas32.General{}, d)
		results = append(results, d)
	}
	return results
}

// row compares and writes the results of an algorithm, number i of the
// library's suggestions.
func (v *libraryComparison) row(p plannedProduct, i int, config library.Config, planned library.Planned, results []blas32.General, emulate func(plan.Plan) []blas32.General) {
	differ, first := differences(p, results, emulate(planned.Plan))
	mode, note := string(planned.Mode), ""
	if s := planned.Suspected; differ > 0 && s != nil {
		if n, _ := differences(p, results, emulate(s.Plan)); n == 0 {
			differ, mode, note = 0, mode+"-tail", fmt.Sprintf("  without the last %d products, as suspected of this configuration\n", s.Lost)
			v.lost++
		}
	}
	mark := ""
	for _, d := range planned.Doubts {
		mark = " ?"
		v.doubted[d.Reason]++
	}
	outputs := len(results) * p.M * p.N
	v.outputs, v.differ = v.outputs+outputs, v.differ+differ
	later, of := min(i, 1), v.modes[mode]
	v.compared[later]++
	of[1]++
	if differ == 0 {
		v.equal[later]++
		of[0]++
	}
	v.modes[mode] = of
	if differ > 0 {
		note = fmt.Sprintf("  %s\n  roundoff plan explain -k %d -plan '%s'\n", first, p.K, planned.Plan)
	}
	fmt.Fprintf(v.w, "%-22v %-9s %2d  %-28s %-13s %9d %9d%s\n%s", p.Shape, p.name, i+1, config, mode, outputs, differ, mark, note)
}

// refuse writes and counts a product that cannot be compared.
func (v *libraryComparison) refuse(p plannedProduct, number int, config, reason string) {
	v.refused[reason]++
	fmt.Fprintf(v.w, "%-22v %-9s %2d  %-28s refused: %s\n", p.Shape, p.name, number, config, reason)
}

// differences returns how many results differ from those of a plan in their
// bits, and tells the first. All NaNs are equal.
func differences(p plannedProduct, results, want []blas32.General) (n int, first string) {
	code := func(x float32) string {
		return fmt.Sprintf("%v (%#0*x)", x, p.output.Bits()/4, p.output.Encode(float64(x), tcore.ToNearestEven))
	}
	for i, d := range results {
		for j, x := range d.Data {
			y := want[i].Data[j]
			if math.Float32bits(x) == math.Float32bits(y) || x != x && y != y {
				continue
			}
			if n++; n == 1 {
				first = fmt.Sprintf("%s data, row %d, column %d: %s, and by the plan %s", p.data[i].name, j/d.Cols, j%d.Cols, code(x), code(y))
			}
		}
	}
	return n, first
}

// summary writes the counts, and returns an error if products differ from their
// plans.
func (v *libraryComparison) summary() error {
	fmt.Fprintln(v.w)
	for i, name := range []string{"first choices", "other choices"} {
		if v.compared[i] > 0 {
			fmt.Fprintf(v.w, "%s: %d of %d have the bits of their plans\n", name, v.equal[i], v.compared[i])
		}
	}
	for _, mode := range slices.Sorted(maps.Keys(v.modes)) {
		fmt.Fprintf(v.w, "  %s: %d of %d\n", mode, v.modes[mode][0], v.modes[mode][1])
	}
	if v.lost > 0 {
		fmt.Fprintf(v.w, "%d of these have lost the tail of K, as suspected\n", v.lost)
	}
	refused := 0
	for _, reason := range slices.Sorted(maps.Keys(v.refused)) {
		refused += v.refused[reason]
		fmt.Fprintf(v.w, "refused %d: %s\n", v.refused[reason], reason)
	}
	for _, reason := range slices.Sorted(maps.Keys(v.doubted)) {
		fmt.Fprintf(v.w, "? %d: %s\n", v.doubted[reason], reason)
	}
	products := v.compared[0] + v.compared[1]
	fmt.Fprintf(v.w, "products=%d outputs=%d disagreements=%d refused=%d\n", products, v.outputs, v.differ, refused)
	if v.differ > 0 {
		return fmt.Errorf("%d of %d products differ from their plans, in %d of %d outputs", products-v.equal[0]-v.equal[1], products, v.differ, v.outputs)
	}
	return nil
}
