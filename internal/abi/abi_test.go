package abi

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unsafe"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/exact"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

func never() bool { return false }

// of returns the matrix that lies in data row by row.
func of[E float32 | float64 | uint8 | uint16 | int32](format string, data []E, rows, cols int) *Matrix {
	size := int(unsafe.Sizeof(data[0]))
	return &Matrix{Format: format, Data: unsafe.Pointer(&data[0]), Rows: rows, Columns: cols, RowStride: size * cols, ColumnStride: size}
}

// inBands runs a test with products in one band, as small ones are, and in
// several.
func inBands(t *testing.T, test func(t *testing.T)) {
	t.Run("one_band", test)
	defer func(n int) { bandProducts = n }(bandProducts)
	bandProducts = 1
	t.Run("bands", test)
}

func drawn(n int, seed uint64) []float32 {
	rng, x := rand.New(rand.NewPCG(seed, 0)), make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

func same(x, y []float32) bool {
	for i := range x {
		if math.Float32bits(x[i]) != math.Float32bits(y[i]) {
			return false
		}
	}
	return true
}

// laid returns a matrix of the numbers of x with strides that no row or column
// has, in the same or in another format.
func laid(x []float32, rows, cols int, format string) *Matrix {
	s := stored[format]
	row, col := 3*s.size*cols, 2*s.size
	bytes := make([]byte, row*rows+8)
	m := &Matrix{Format: format, Data: unsafe.Pointer(&bytes[row*(rows-1)+s.size]), Rows: rows, Columns: cols, RowStride: -row, ColumnStride: col, storage: s}
	for i := range rows {
		for j := range cols {
			m.put(i, j, float64(x[i*cols+j]))
		}
	}
	return m
}

// A product is that of the package, however the matrices lie, on devices of all
// kinds.
func TestGEMM(t *testing.T) { inBands(t, testGEMM) }

func testGEMM(t *testing.T) {
	const m, k, n = 37, 50, 29
	x, y, z := drawn(m*k, 1), drawn(k*n, 2), drawn(m*n, 3)
	for _, c := range []struct{ device, in string }{
		{"hopper", "binary16"}, {"hopper", "e4m3"}, {"volta", "binary16"}, {"cdna2", "bfloat16"}, {"ampere", "tf32"}, {"paper-f32", ""}, {"ieee", "binary32"},
	} {
		in := c.in
		if in == "" {
			in = "binary16"
		}
		d, err := question.FindDevice(c.device, in, "binary32")
		if err != nil {
			t.Fatal(err)
		}
		want := matrix.New(m, n)
		machine := tcore.Machine{Device: d, Promote: 0, Output: tcore.Binary32}
		machine.GEMM(blas.NoTrans, blas.NoTrans, 2, blas32.General{Rows: m, Cols: k, Stride: k, Data: x}, blas32.General{Rows: k, Cols: n, Stride: n, Data: y},
			-1, blas32.General{Rows: m, Cols: n, Stride: n, Data: z}, want)
		text := `{"device":"` + c.device + `","in":"` + c.in + `","alpha":2,"beta":-1}`
		for name, p := range map[string][3]*Matrix{
			"as it lies":   {of("binary32", x, m, k), of("binary32", y, k, n), of("binary32", z, m, n)},
			"with strides": {laid(x, m, k, "binary32"), laid(y, k, n, "binary32"), laid(z, m, n, "binary32")},
			"binary64":     {laid(x, m, k, "binary64"), laid(y, k, n, "binary64"), laid(z, m, n, "binary64")},
			"transposed":   {of("binary32", matrix.Transpose(blas32.General{Rows: m, Cols: k, Stride: k, Data: x}).Data, k, m).transposed(), of("binary32", y, k, n), of("binary32", z, m, n)},
			"both transposed": {of("binary32", matrix.Transpose(blas32.General{Rows: m, Cols: k, Stride: k, Data: x}).Data, k, m).transposed(),
				of("binary32", matrix.Transpose(blas32.General{Rows: k, Cols: n, Stride: n, Data: y}).Data, n, k).transposed(), of("binary32", z, m, n)},
		} {
			got := make([]float32, m*n)
			if _, err := GEMM(text, p[0], p[1], p[2], of("binary32", got, m, n), never); err != nil || !same(got, want.Data) {
				t.Errorf("%s, %s: %v, not the bits of the package", c.device, name, err)
			}
			wide := make([]float64, m*n)
			if _, err := GEMM(text, p[0], p[1], p[2], of("binary64", wide, m, n), never); err != nil || wide[m*n-1] != float64(want.Data[m*n-1]) {
				t.Errorf("%s, %s: %v, %v in binary64, want %v", c.device, name, err, wide[m*n-1], want.Data[m*n-1])
			}
		}
	}
}

// Results in the format of the output are its codes, of every row, however they
// lie.
func TestGEMM_of_codes(t *testing.T) {
	inBands(t, func(t *testing.T) {
		const m, k, n = 37, 50, 29
		x, y := drawn(m*k, 1), drawn(k*n, 2)
		for _, f := range []tcore.Format{tcore.Binary16, tcore.BFloat16, tcore.E5M2} {
			d, err := question.FindDevice("hopper", "binary16", "binary32")
			if err != nil {
				t.Fatal(err)
			}
			want := matrix.New(m, n)
			tcore.Machine{Device: d, Output: f}.GEMM(blas.NoTrans, blas.NoTrans, 1, blas32.General{Rows: m, Cols: k, Stride: k, Data: x},
				blas32.General{Rows: k, Cols: n, Stride: n, Data: y}, 0, blas32.General{}, want)
			got := laid(make([]float32, m*n), m, n, f.Name)
			text := `{"device":"hopper-wgmma-binary16-binary32","out":"` + f.Name + `"}`
			if _, err := GEMM(text, of("binary32", x, m, k), of("binary32", y, k, n), nil, got, never); err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
			for e, v := range want.Data {
				if c, code := got.code(e/n, e%n), f.Encode(float64(v), tcore.ToNearestEven); c != code {
					t.Fatalf("%s: (%d, %d) is %#x, want %#x", f.Name, e/n, e%n, c, code)
				}
			}
		}
	})
}

// Bands of any size make one product, and a call that is cancelled ends.
func TestBands(t *testing.T) {
	for _, products := range []int{1, 1 << 20, 1 << 24, 1 << 40} {
		next := 0
		err := bands(100, products, never, func(lo, hi int) error {
			if lo != next || hi <= lo || hi > 100 {
				t.Fatalf("band %d to %d after %d", lo, hi, next)
			}
			next = hi
			return nil
		})
		if err != nil || next != 100 {
			t.Errorf("%v, ended at %d", err, next)
		}
	}
	calls := 0
	if err := bands(100, 1<<24, func() bool { calls++; return calls > 2 }, func(lo, hi int) error { return nil }); err != errCancelled {
		t.Errorf("%v, want that it was cancelled", err)
	}
}

// Sums of integers wrap, as on the device, and C is added.
func TestIntegers(t *testing.T) { inBands(t, testIntegers) }

func testIntegers(t *testing.T) {
	a, b := []uint8{200, 255, 3, 1}, []uint8{255, 7, 128, 0}
	c, d := []int32{1, math.MaxInt32, -5, 0}, make([]int32, 4)
	x, y := of("uint8", a, 2, 2), of("uint8", b, 2, 2)
	if _, err := GEMM(`{"device":"sapphirerapids","in":"uint8","out":"int32","beta":1}`, x, y, of("int32", c, 2, 2), of("int32", d, 2, 2), never); err != nil {
		t.Fatal(err)
	}
	for i := range d {
		want := c[i]
		for k := range 2 {
			want += int32(a[i/2*2+k]) * int32(b[k*2+i%2])
		}
		if d[i] != want {
			t.Errorf("element %d is %d, want %d", i, d[i], want)
		}
	}
}

// A sum has the code of the device, with scales and without.
func TestDot(t *testing.T) { inBands(t, testDot) }

func testDot(t *testing.T) {
	const n, k = 5, 96
	rng := rand.New(rand.NewPCG(9, 0))
	d, err := question.FindDevice("blackwell-tcgen05-mxe4m3-binary32", "e4m3", "binary32")
	if err != nil {
		t.Fatal(err)
	}
	codes := func(n int) []uint8 {
		z := make([]uint8, n)
		for i := range z {
			z[i] = uint8(rng.IntN(256))
		}
		return z
	}
	x, y, sx, sy := codes(n*k), codes(n*k), codes(n*k/32), codes(n*k/32)
	c, got := drawn(n, 1), make([]float32, n)
	if _, err := Dot(`{"device":"`+d.Name+`"}`, of("e4m3", x, n, k), of("e4m3", y, n, k), of("e8m0", sx, n, 3), of("e8m0", sy, n, 3),
		of("binary32", c, n, 1), of("binary32", got, n, 1), never); err != nil {
		t.Fatal(err)
	}
	wide := func(x []uint8) (z []uint64) {
		for _, c := range x {
			z = append(z, uint64(c))
		}
		return z
	}
	for i := range n {
		want := d.DotScaled(wide(x[i*k:][:k]), wide(y[i*k:][:k]), wide(sx[i*3:][:3]), wide(sy[i*3:][:3]), uint64(math.Float32bits(c[i])))
		if uint64(math.Float32bits(got[i])) != want {
			t.Errorf("row %d is %#x, want %#x", i, math.Float32bits(got[i]), want)
		}
	}
}

// Numbers are rounded as by the format, to its codes too, and at random.
func TestRound(t *testing.T) {
	x := drawn(60, 4)
	x[0], x[1], x[2] = float32(math.Inf(-1)), float32(math.NaN()), -1e30
	for _, f := range []tcore.Format{tcore.Binary16, tcore.E4M3, tcore.E2M1, tcore.TF32, tcore.E8M0} {
		for name, mode := range modes {
			d, codes := make([]float32, 60), laid(make([]float32, 60), 6, 10, f.Name)
			for _, z := range []*Matrix{of("binary32", d, 6, 10), codes} {
				if _, err := Round(`{"format":"`+f.Name+`","mode":"`+name+`"}`, of("binary32", x, 6, 10), z); err != nil {
					t.Fatal(err)
				}
			}
			for i, v := range x {
				want := f.Round(float64(v), mode)
				if got := codes.decode(codes.code(i/10, i%10)); float64(d[i]) != want && want == want || got != want && want == want {
					t.Errorf("%v to %s, %s: %v and %v, want %v", v, f.Name, name, d[i], got, want)
				}
			}
		}
	}
	d := make([]float32, 60)
	if _, err := Round(`{"format":"e4m3","stochastic":8,"seed":5}`, of("binary32", x, 6, 10), of("binary32", d, 6, 10)); err != nil {
		t.Fatal(err)
	}
	s := tcore.Stochastic{Seed: 5, Bits: 8}
	for i := 3; i < len(x); i++ {
		if want := s.Round(tcore.E4M3, float64(x[i]), uint64(i)); float64(d[i]) != want {
			t.Errorf("%v at random: %v, want %v", x[i], d[i], want)
		}
	}
}

// Products are exact, and so are those of magnitudes.
func TestExact(t *testing.T) { inBands(t, testExact) }

func testExact(t *testing.T) {
	x, y, d, sizes := drawn(20*30, 1), drawn(30*10, 2), make([]float64, 200), make([]float64, 200)
	a, b := blas32.General{Rows: 20, Cols: 30, Stride: 30, Data: x}, blas32.General{Rows: 30, Cols: 10, Stride: 10, Data: y}
	ab, abs, err := exact.GEMMs(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Exact("", of("binary32", x, 20, 30), laid(y, 30, 10, "binary64"), of("binary64", d, 20, 10), of("binary64", sizes, 20, 10), never); err != nil {
		t.Fatal(err)
	}
	for i := range d {
		if d[i] != ab.Float64().Data[i] || sizes[i] != abs.Float64().Data[i] {
			t.Fatalf("element %d is %v and %v", i, d[i], sizes[i])
		}
	}
}

// What is wrong is named, with its value.
func TestErrors(t *testing.T) {
	x, d := drawn(6, 1), make([]float32, 4)
	a, b, z := of("binary32", x, 2, 3), of("binary32", x, 3, 2), of("binary32", d, 2, 2)
	far := *a
	far.RowStride = math.MaxInt
	narrow := *z
	narrow.RowStride = 4
	gemm := func(text string, a, b, c, d *Matrix) func() (string, error) {
		return func() (string, error) { return GEMM(text, a, b, c, d, never) }
	}
	for want, f := range map[string]func() (string, error){
		`question: unknown field "divice"`:                                 gemm(`{"divice":"hopper"}`, a, b, nil, z),
		`question: unexpected EOF`:                                         gemm(`{"device":`, a, b, nil, z),
		`question: " x" follows the object`:                                gemm(`{} x`, a, b, nil, z),
		`split_k is a string, want one of type int`:                        gemm(`{"split_k":"2"}`, a, b, nil, z),
		`split_k is 0, want 1 or more`:                                     gemm(`{"split_k":0}`, a, b, nil, z),
		`no device "pascal" for binary16`:                                  gemm(`{"device":"pascal"}`, a, b, nil, z),
		`no format "e9m9"`:                                                 gemm(`{"in":"e9m9"}`, a, b, nil, z),
		`a is NULL`:                                                        gemm("", nil, b, nil, z),
		`a is 2 × 3 and b is 2 × 3: they do not fit`:                       gemm("", a, a, nil, z),
		`d is 2 × 3, want 2 × 2`:                                           gemm("", of("binary32", drawn(6, 2), 2, 3), b, nil, of("binary32", drawn(6, 2), 2, 3)),
		`d overlaps a matrix that is read`:                                 gemm("", a, b, nil, of("binary32", x, 2, 2)),
		`alpha is 1e+300, want a number of binary32`:                       gemm(`{"alpha":1e300}`, a, b, nil, z),
		`beta is 1: want c`:                                                gemm(`{"beta":1}`, a, b, nil, z),
		`a has a stride of 9223372036854775807 bytes`:                      gemm("", &far, b, nil, z),
		`d has strides of 4 and 4 bytes, by which`:                         gemm("", a, b, nil, &narrow),
		`a.format is "float"`:                                              gemm("", of("float", x, 2, 3), b, nil, z),
		`b is 0 × 2, want a matrix that is not empty`:                      gemm("", a, of("binary32", x, 0, 2), nil, z),
		`a[0, 1] is 0x40, want a code of e2m1, less`:                       gemm("", of("e2m1", []uint8{1, 64}, 1, 2), of("e2m1", []uint8{1, 2}, 2, 1), nil, of("binary32", d, 1, 1)),
		`recipe: no recipe "q"`:                                            func() (string, error) { return Quantise(`{"recipe":"q"}`, a, nil, nil, nil) },
		`split_k 0, want 1 to`:                                             func() (string, error) { return Bound(`{"split_k":0}`, nil, nil) },
		`tolerance 0, want a number above 0`:                               func() (string, error) { return Advise("", nil, nil) },
		`k 0, want 1 to`:                                                   func() (string, error) { return Predict(`{"k":[0]}`, nil, nil) },
		`a and b are NULL, want matrices`:                                  func() (string, error) { return Tolerance("", nil, nil, nil, nil, nil, nil, nil) },
		`got is 3 × 2, want 2 × 2`:                                         func() (string, error) { return Tolerance("", a, b, nil, nil, b, nil, nil) },
		`limits is of binary32, want binary64`:                             func() (string, error) { return Tolerance("", a, b, nil, nil, nil, nil, z) },
		`want is given with the outputs of another`:                        func() (string, error) { return Tolerance(`{"want":{}}`, a, b, nil, nil, z, nil, nil) },
		`scale_a, scale_b: hopper-wgmma-binary16-binary32 takes no scales`: func() (string, error) { return Tolerance("", a, b, a, nil, nil, nil, nil) },
		`scale_b is not given, and that of the other matrix is`: func() (string, error) {
			return Tolerance(`{"device":"blackwell-tcgen05-mxe4m3-binary32"}`, a, b, of("binary32", []float32{1, 1}, 2, 1), nil, nil, nil, nil)
		},
		`scale_a[1, 0] is 3, want a number of e8m0`: func() (string, error) {
			return Tolerance(`{"device":"blackwell-tcgen05-mxe4m3-binary32"}`, a, b, of("binary32", []float32{1, 3}, 2, 1), nil, nil, nil, nil)
		},
		`orders "all", want split, mixed, machine or any`: func() (string, error) { return Tolerance(`{"orders":"all"}`, a, b, nil, nil, nil, nil, nil) },
		`model is "": want a file, or else the matrices`:  func() (string, error) { return Audit("", nil, nil, never) },
		`b[1, 0] is 0.1, want a number of binary32`:       gemm(`{"in":"binary64","device":"ieee"}`, of("binary32", x, 1, 2), of("binary64", []float64{1, 0.1}, 2, 1), nil, of("binary32", d, 1, 1)),
		`a[0, 0] is 0.1, want a number of binary32`: func() (string, error) {
			tenth := of("binary64", []float64{0.1}, 1, 1)
			return Tolerance(`{"in":"binary64","device":"ieee"}`, tenth, of("binary32", x, 1, 1), nil, nil, nil, nil, nil)
		},
		`a[0, 0] is NaN, want a finite number`: func() (string, error) {
			return Exact("", of("binary32", []float32{float32(math.NaN())}, 1, 1), of("binary32", x, 1, 1), of("binary64", make([]float64, 1), 1, 1), nil, never)
		},
	} {
		if code, text := Call(f); code != Argument || !strings.Contains(text, want) {
			t.Errorf("%d: %s, want %s", code, text, want)
		}
	}
	if code, text := Call(func() (string, error) { return Audit(`{"model":"/none.onnx"}`, nil, nil, never) }); code != Failed {
		t.Errorf("%d: %s, of a file that there is not", code, text)
	}
	if code, text := Call(func() (string, error) { panic("here") }); code != Fault || !strings.Contains(text, "here") {
		t.Errorf("%d: %s, of a panic", code, text)
	}
	if code, _ := Call(func() (string, error) { return "", errCancelled }); code != Cancelled {
		t.Error("a call that is cancelled has another code")
	}
}

// Tolerances are those of the package, and outputs of a sound product within
// them; one that is not is named.
func TestTolerance(t *testing.T) {
	const m, k, n = 9, 50, 7
	x, y := drawn(m*k, 1), drawn(k*n, 2)
	a, b := laid(x, m, k, "binary16"), laid(y, k, n, "binary16")
	got, limits := make([]float32, m*n), make([]float64, m*n)
	if _, err := GEMM(`{"device":"hopper","split_k":2}`, a, b, nil, of("binary32", got, m, n), never); err != nil {
		t.Fatal(err)
	}
	q := question.NewTolerance()
	wideA, _ := a.numbers("a")
	wideB, _ := b.numbers("b")
	q.Operands = &question.Operands{A: wideA, B: wideB}
	want, err := q.Results(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	ask := func() (answer struct {
		Beyond, Outputs int
		Worst           []struct{ Row, Column int }
	}) {
		text, err := Tolerance("", a, b, nil, nil, of("binary32", got, m, n), nil, of("binary64", limits, m, n))
		if err != nil || json.Unmarshal([]byte(text), &answer) != nil {
			t.Fatalf("%v, %s", err, text)
		}
		return answer
	}
	if z := ask(); z.Beyond != 0 || z.Outputs != m*n {
		t.Errorf("%d of %d outputs are beyond", z.Beyond, z.Outputs)
	}
	for i, l := range limits {
		if l != want.Limits.Data[i] {
			t.Fatalf("limit %d is %v, want %v", i, l, want.Limits.Data[i])
		}
	}
	got[3*n+4] += 1
	if z := ask(); z.Beyond != 1 || z.Worst[0].Row != 3 || z.Worst[0].Column != 4 {
		t.Errorf("%+v, want element (3, 4)", z)
	}
}

// A trace has the numbers that the text has.
func TestTrace(t *testing.T) {
	x, y := []float32{1, 2, -4096, -0.5, -0.25, -0.125}, []float32{2048, 1, 1, 1}
	text, err := Trace(`{"device":"hopper"}`, of("binary32", x[2:], 1, 4), of("binary32", y, 4, 1))
	if err != nil {
		t.Fatal(err)
	}
	var z tracedSum
	if err := json.Unmarshal([]byte(text), &z); err != nil || *z.Result != -8388608 || len(z.Blocks) != 1 ||
		*z.Exact != "-8.388608875e+06" || len(z.Blocks[0].Terms) != 17 || *z.Blocks[0].Terms[3].Lost != -0.125 {
		t.Errorf("%v, %s", err, text)
	}
}

// FuzzQuestions puts any text to the functions that read one: each answers, or
// says what is wrong, and none panics.
func FuzzQuestions(f *testing.F) {
	for kind, text := range []string{`{"device":"hopper","in":"e4m3","promote":128}`, `{"device":"volta"}`, `{"row":1,"column":1}`, `{"format":"e4m3","mode":"ToOdd"}`,
		`{"recipe":"nvfp4-te-1x16","side":"b"}`, ``, `{"m":3,"k":70,"dist":"U(0,1)","run":true,"confidence":"0.9"}`,
		`{"tolerance":0.01,"device":"ada"}`, `{"k":[32],"dist":"N(0,1)","recipe":"mxe4m3-rceil","device":"blackwell","m":8,"n":8}`, `{"recipe":"int8-row","promote":0}`, `{"device":"volta","orders":"any","confidence":"always","out":"binary16"}`,
		`{"devices":"hopper/2,ieee","plans":"split","dist":"U(0,1)","k":"16,40","seeds":"1:3","per_output":true}`} {
		f.Add(kind, text)
	}
	x, y := drawn(6, 1), drawn(6, 2)
	f.Fuzz(func(t *testing.T, kind int, text string) {
		if long.MatchString(text) {
			t.Skip("it asks for much")
		}
		a, b := of("binary32", x, 2, 3), of("binary32", y, 3, 2)
		code, said := Call(func() (string, error) {
			d := of("binary32", make([]float32, 9), 2, 2)
			switch uint(kind) % 12 {
			case 0:
				return GEMM(text, a, b, nil, d, never)
			case 1:
				return Dot(text, a, of("binary32", y, 2, 3), nil, nil, nil, of("binary32", make([]float32, 2), 2, 1), never)
			case 2:
				return Trace(text, a, b)
			case 3:
				return Round(text, a, of("binary64", make([]float64, 6), 2, 3))
			case 4:
				return Quantise(text, a, of("e4m3", make([]uint8, 6), 2, 3), nil, of("binary32", make([]float32, 6), 2, 3))
			case 5:
				return Exact(text, a, b, of("binary64", make([]float64, 4), 2, 2), nil, never)
			case 6:
				return Bound(text, nil, nil)
			case 7:
				return Advise(text, nil, nil)
			case 8:
				return Predict(text, nil, nil)
			case 11:
				if strings.Contains(text, "shard") || strings.Contains(text, "files") {
					return "", nil // shards take long, and files are for the fuzzers of package sweep
				}
				return Sweep(text, never)
			case 10:
				return Tolerance(text, a, b, nil, nil, d, nil, of("binary64", make([]float64, 4), 2, 2))
			}
			if strings.Contains(text, "model") {
				return "", nil // files are for the fuzzers of package network
			}
			return Audit(text, a, b, never)
		})
		if code == Fault || code == OK && said != "" && !json.Valid([]byte(said)) || code != OK && said == "" {
			t.Errorf("kind %d, %q: %d, %s", uint(kind)%12, text, code, said)
		}
	})
}

// long matches questions about sizes and digits that take minutes.
var long = regexp.MustCompile(`\d{4}|[eE]\+?\d{2}`)

// The answer says that elements beside scales were rounded, of A or of B.
func TestTolerance_says_what_is_rounded(t *testing.T) {
	ones, tenths := []float32{1, 1}, []float32{0.1, 1}
	for _, c := range []struct {
		a, b    []float32
		rounded bool
	}{{ones, ones, false}, {tenths, ones, true}, {ones, tenths, true}} {
		scale := of("binary32", []float32{1}, 1, 1)
		text, err := Tolerance(`{"device":"blackwell-tcgen05-mxe4m3-binary32"}`, of("binary32", c.a, 1, 2), of("binary32", c.b, 2, 1), scale, scale, nil, nil, nil)
		if err != nil || strings.Contains(text, "A and B are rounded") != c.rounded {
			t.Errorf("%v · %v: %s, %v, want rounded %v", c.a, c.b, text, err, c.rounded)
		}
	}
}
