package playground

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// answerTo returns the answer to a question as the page reads it.
func answerTo[A any](t *testing.T, question string) (a A) {
	t.Helper()
	text := Answer([]byte(question))
	if strings.HasPrefix(string(text), `{"error"`) {
		t.Fatalf("%s: %s", question, text)
	}
	if err := json.Unmarshal(text, &a); err != nil {
		t.Fatalf("%s: %v", question, err)
	}
	return a
}

const cancelling = `{"ask":"dot","format":"binary16","x":["-4096","-0.5","0xb400","-0x1p-3"],"y":["2048","1","1","0x3c00"],"c":"8388608","device":"hopper-wgmma-binary16-binary32"}`

// The results are those of the devices, in value and in bits, and equal ones
// are in one group.
func TestDot(t *testing.T) {
	a := answerTo[DotAnswer](t, cancelling)
	x, y := []float64{-4096, -0.5, -0.25, -0.125}, []float64{2048, 1, 1, 1}
	groups := map[int]float64{}
	for i, d := range having("binary16") {
		want, row := d.Dot(x, y, 8388608), a.Rows[i]
		if row.Device != d.Name || row.Result != number(want, d.C) {
			t.Errorf("%+v, want %v of %s", row, want, d.Name)
		}
		if v, ok := groups[row.Group]; ok && v != want {
			t.Errorf("%s is in a group with %v and has %v", d.Name, v, want)
		}
		groups[row.Group] = want
	}
	if a.Exact != "-0.875" || a.Groups != len(groups) {
		t.Errorf("exact %s, %d groups, want -0.875, %d", a.Exact, a.Groups, len(groups))
	}
}

// Scales multiply the numbers that they cover; the others are ones.
func TestDotWithScales(t *testing.T) {
	q := Dot{Format: "e4m3 × e8m0 per 32", X: slices.Repeat([]string{"1"}, 33), Y: slices.Repeat([]string{"3"}, 33),
		ScaleX: []string{"4", "0.25"}, Device: devices.BlackwellMXE4M3().Name}
	a, err := q.Answer()
	if err != nil {
		t.Fatal(err)
	}
	if a.Exact != "384.75" || a.Groups != 1 || a.Rows[0].Result.Value != "384.75" || a.Rows[0].Result.Bits != "0x43c06000" {
		t.Errorf("%+v", a)
	}
	if last := a.Trace.Blocks[1].Terms; len(last) != 2 || last[0].Name != "x₃₃y₃₃" || last[0].Value != "0.75" {
		t.Errorf("%+v", last)
	}
	q.ScaleY = []string{"1"}
	if _, err := q.Answer(); err == nil || !strings.Contains(err.Error(), "scales of y: 1, want 2") {
		t.Error(err)
	}
}

// c in bits is a number of some devices alone; the others say so.
func TestDotOfBits(t *testing.T) {
	a := answerTo[DotAnswer](t, `{"ask":"dot","format":"binary16","x":["1"],"y":["1"],"c":"0x3f800000"}`)
	for _, r := range a.Rows {
		if wide := r.Format == "binary32"; wide != (r.Refused == "") || wide && r.Result.Value != "2" {
			t.Errorf("%+v", r)
		}
	}
}

// What a chip returns for a NaN is in no standard: NVIDIA's has all bits set.
func TestDotOfNaN(t *testing.T) {
	for _, r := range answerTo[DotAnswer](t, `{"ask":"dot","format":"binary16","x":["0x7e00"],"y":["1"]}`).Rows {
		d, _ := devices.ByName(r.Device)
		if want := bits(d.DotCodes([]uint64{0x7e00}, []uint64{0x3c00}, 0), d.C); r.Result.Bits != want || r.Result.Value != "NaN" {
			t.Errorf("%s: %+v, want %s", r.Device, r.Result, want)
		}
	}
}

// The picture has every bit of every term, and cuts off what the device does:
// Hopper keeps 25 bits below 2^23.
func TestTrace(t *testing.T) {
	b := answerTo[DotAnswer](t, cancelling).Trace.Blocks[0]
	if b.Top != 23 || b.Last != -2 || len(b.Terms) != 5 || b.Sum.Value != "-0.75" || b.Result.Value != "-0.75" {
		t.Fatalf("%+v", b)
	}
	for _, c := range b.Terms {
		switch c.Lost {
		case "-0.125":
			if c.Kept != 26 || c.Bits != strings.Repeat("0", 26)+"1" {
				t.Errorf("%+v", c)
			}
		case "":
			if c.Kept != len(c.Bits) {
				t.Errorf("%+v loses bits and nothing", c)
			}
		default:
			t.Errorf("%+v", c)
		}
	}
}

// Of the sum the bits are kept that the unit's own results have: 14 on Hopper
// with factors of e4m3, of 17 that this sum has from 2^3 to 2^-13.
func TestTraceOfSum(t *testing.T) {
	a := answerTo[DotAnswer](t, `{"ask":"dot","format":"e4m3","x":["1.875","1.875","1.875","1.875"],"y":["1.875","1.875","1.875","1.875"],"c":"0x1p-13","device":"hopper-wgmma-e4m3-binary32"}`)
	b := a.Trace.Blocks[0]
	if b.Sum.Kept != 14 || len(b.Sum.Bits) != 17 || b.Sum.Value != text(4*1.875*1.875+0x1p-13) || b.Result.Value != text(4*1.875*1.875) {
		t.Errorf("%+v, %+v", b.Sum, b.Result)
	}
}

// A number line has neighbours of the format, each once, around the number.
func TestLine(t *testing.T) {
	for _, at := range []string{"0.1", "-3", "0", "1e-7", "65504", "-1e9", "0x1p-24"} {
		q, _ := json.Marshal(map[string]any{"ask": "line", "format": "binary16", "at": at, "each": 3})
		a := answerTo[LineAnswer](t, string(q))
		if len(a.Numbers) < 4 || len(a.Numbers) > 7 {
			t.Errorf("around %s: %d numbers", at, len(a.Numbers))
		}
		last, found := -2*tcore.Binary16.Max(), false
		for _, n := range a.Numbers {
			x, err := parse(n.Value, tcore.Binary64)
			if err != nil || x <= last || tcore.Binary16.Round(x, tcore.ToNearestEven) != x {
				t.Errorf("around %s: %v after %v, %v", at, n, last, err)
			}
			last, found = x, found || n == a.Rounded || n.Value == a.Largest.Value || n.Value == "-"+a.Largest.Value
		}
		if !found {
			t.Errorf("around %s: %v is not among %v", at, a.Rounded, a.Numbers)
		}
	}
}

// The greatest number has no next one, and yet a spacing: the one below it.
func TestLineAtTheEnd(t *testing.T) {
	for at, want := range map[string]string{"65504": "32", "inf": "32", "-65504": "32", "-inf": "32", "65472": "32", "1": "0.0009765625", "0": "5.960464477539063e-08"} {
		a, err := Line{Format: "binary16", At: at, Each: 1}.Answer()
		if err != nil || a.Spacing != want {
			t.Errorf("around %s: %+v, %v, want a spacing of %s", at, a, err, want)
		}
	}
}

// Of bounds that hold those are drawn that say something: not NaN, which comes
// first in any order, not zero, which no logarithmic axis has, not infinity.
func TestDrawn(t *testing.T) {
	of := func(name string, constant float64, f roundoff.Failure) bound.Result {
		return bound.Result{Bound: name, Constant: constant, Confidence: f, Holds: true}
	}
	results := []bound.Result{of("unknown", math.NaN(), roundoff.Never), of("unlikely", math.NaN(), -1), of("none", 0, -1),
		of("likely", 1e-7, -1), of("tight", 1e-6, roundoff.Never), of("loose", 1e-5, roundoff.Never), of("unlimited", math.Inf(1), -1)}
	slices.SortStableFunc(results, better)
	broken := bound.Result{Bound: "violated", Constant: 1e-9, Confidence: roundoff.Never} // whatever its place
	results = slices.Insert(results, 0, broken)
	var names []string
	for _, r := range (Product{}).drawn(results) {
		names = append(names, r.Bound)
	}
	if !slices.Equal(names, []string{"tight", "likely"}) {
		t.Errorf("%v of %+v", names, results)
	}
}

// No valid bound is exceeded by the errors that are shown.
func TestProduct(t *testing.T) {
	for _, device := range []string{"hopper-wgmma-binary16-binary32", "paper-f32", "cdna3-mfma-binary16-binary32"} {
		a := answerTo[ProductAnswer](t, `{"ask":"product","device":"`+device+`","m":8,"n":8,"k":256,"distribution":"U(-1,1)","seed":1,"confidence":0.99}`)
		largest, err := parse(a.Largest, tcore.Binary64)
		if err != nil || len(a.Curves) != 3 {
			t.Fatalf("%s: %v, %d curves", device, err, len(a.Curves))
		}
		for i, x := range a.Curves[0].Values {
			for _, bound := range a.Curves[1:] {
				if x > bound.Values[i] {
					t.Errorf("%s: %s is below the error at %d of %d", device, bound.Name, i, len(bound.Values))
				}
			}
		}
		valid := 0
		for _, b := range a.Bounds {
			constant, err := parse(b.Constant, tcore.Binary64)
			if err != nil {
				t.Fatal(err)
			}
			if b.Holds {
				valid++
				if constant < largest {
					t.Errorf("%s: %s is %v, an error %v", device, b.Name, constant, largest)
				}
			}
		}
		if valid == 0 {
			t.Errorf("%s: no bound is valid", device)
		}
	}
}

// A wrong question is answered by what is wrong with it.
func TestWrongQuestions(t *testing.T) {
	for question, want := range map[string]string{
		``:                           "JSON",
		`{"ask":"nothing"}`:          `ask is \"nothing\"`,
		`{"ask":"dot","format":"x"}`: "no device multiplies",
		`{"ask":"dot","format":"binary16","x":["1"],"y":[]}`:                                           "1 x and 0 y",
		`{"ask":"dot","format":"binary16","x":["1","two"],"y":["1","1"]}`:                              "x, number 2",
		`{"ask":"dot","format":"binary16","x":["0x12345"],"y":["1"]}`:                                  "not a number of 16 bits",
		`{"ask":"dot","format":"binary16","x":["1"],"y":["1"],"c":"a"}`:                                "c: ",
		`{"ask":"dot","format":"binary16","x":["1"],"y":["1"],"device":"volta"}`:                       `device: there is no \"volta\"`,
		`{"ask":"dot","format":"binary16","x":["1"],"y":["1"],"scale_x":["1"]}`:                        "scales of x: binary16 takes none",
		`{"ask":"copy","as":"C","format":"binary16","x":["1"],"y":["1"]}`:                              `as: \"C\"`,
		`{"ask":"line","format":"binary16","at":"0","each":0}`:                                         "each: 0 numbers",
		`{"ask":"line","format":"binary16","at":"zero","each":1}`:                                      "at: ",
		`{"ask":"vectors","file":"?"}`:                                                                 "file: ",
		`{"ask":"vectors","file":"e30K"}`:                                                              "want tcvec1",
		`{"ask":"product","device":"none"}`:                                                            "device: there is no",
		`{"ask":"product","device":"paper-f32","confidence":0.9,"m":0,"n":1,"k":1}`:                    "m = 0",
		`{"ask":"product","device":"paper-f32","confidence":0.9,"m":2,"n":1,"k":1,"rows":3}`:           "rows = 3, want 0 to 2",
		`{"ask":"product","device":"paper-f32","confidence":0.9,"m":9999,"n":9999,"k":9}`:              "outputs",
		`{"ask":"product","device":"paper-f32","confidence":0.9,"m":999,"n":999,"k":9999}`:             "multiplications",
		`{"ask":"product","device":"paper-f32","m":1,"n":1,"k":1,"confidence":2}`:                      "confidence: 2",
		`{"ask":"product","device":"paper-f32","m":1,"n":1,"k":1,"confidence":0.5,"distribution":"U"}`: "distribution",
	} {
		if got := string(Answer([]byte(question))); !strings.HasPrefix(got, `{"error":`) || !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", question, got, want)
		}
	}
}

// Every device can be asked for a dot product, and all without scales for a
// product of matrices.
func TestDevices(t *testing.T) {
	listed := map[string]bool{}
	for _, format := range Formats() {
		for _, d := range having(format) {
			listed[d.Name] = true
		}
	}
	plain := 0
	for _, d := range devices.All() {
		if !listed[d.Name] {
			t.Errorf("%s is in no list", d.Name)
		}
		if d.ScaleBlock == 0 {
			plain++
		}
	}
	if plain != len(Devices()) {
		t.Errorf("%d devices without scales, want %d", len(Devices()), plain)
	}
}

// The first rows of a product are the same however many are computed, and its
// bounds are those of all.
func TestRows(t *testing.T) {
	q := Product{Device: "paper-f32", M: 64, N: 2, K: 100, Distribution: "U(-1,1)", Seed: 1, Confidence: 0.9, Draw: []string{"vibea", "dbea"}}
	all, err := q.Answer()
	if err != nil {
		t.Fatal(err)
	}
	q.Rows = 8
	few, err := q.Answer()
	if err != nil {
		t.Fatal(err)
	}
	if few.Outputs != 16 || all.Outputs != 128 || !slices.Equal(few.Bounds, all.Bounds) || few.Curves[1].Name != "vibea" || few.Curves[2].Name != "dbea" {
		t.Errorf("%d and %d outputs, %+v, %+v", few.Outputs, all.Outputs, few.Curves, few.Bounds)
	}
	for i, c := range few.Curves {
		for _, v := range c.Values {
			if !slices.Contains(all.Curves[i].Values, v) {
				t.Errorf("%s: %v is not among all", c.Name, v)
			}
		}
	}
}

// The bounds that the page draws for the paper's machine are those of its
// Figure 6, by the theorem for the paper's block width.
func TestFigure6(t *testing.T) {
	q := Product{Device: "paper-f32", M: 1024, N: 8, K: 1 << 15, Rows: 1, Distribution: "U(-1,1)", Seed: 1, Confidence: 0.99, Represented: true}
	theorem := roundoff.GEMM{M: q.M, N: q.N, K: q.K, Block: tcore.PaperF32.Block, Roundoffs: tcore.PaperF32.Roundoffs()}
	λ := theorem.Lambda(roundoff.FailureOf(q.Confidence), roundoff.Corrected)
	for _, represented := range []bool{false, true} {
		q.Represented = represented
		a, err := q.Answer()
		if err != nil {
			t.Fatal(err)
		}
		ζ := theorem.Zeta
		if represented {
			ζ = theorem.ZetaRepresented
		}
		for name, want := range map[string]float64{"dbea": ζ(roundoff.DBEA), "vibea": ζ(roundoff.VIBEA{Lambda: λ})} {
			i := slices.IndexFunc(a.Bounds, func(b BoundRow) bool { return b.Name == name })
			if got, err := parse(a.Bounds[i].Constant, tcore.Binary64); err != nil || math.Abs(got/want-1) > 1e-9 || !a.Bounds[i].Holds {
				t.Errorf("%s, represented %v: %+v, %v, want %v", name, represented, a.Bounds[i], err, want)
			}
		}
	}
}

// A number survives being written as its value, in hexadecimal and as its bits.
func FuzzNumber(f *testing.F) {
	f.Add("0.1", uint8(0))
	f.Add("0x1.8p3", uint8(3))
	f.Add("0b1010", uint8(7))
	f.Add("−1e-45", uint8(1))
	f.Add("nan", uint8(5))
	formats := []tcore.Format{tcore.Binary16, tcore.BFloat16, tcore.TF32, tcore.Binary32, tcore.Binary64, tcore.E4M3, tcore.E5M2, tcore.E2M1, tcore.E8M0, tcore.UE4M3, tcore.E4M3FNUZ}
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		format := formats[int(which)%len(formats)]
		x, err := parse(text, format)
		if err != nil {
			return
		}
		n := number(x, format)
		for _, s := range []string{n.Value, n.Hex, n.Bits} {
			if y, err := parse(s, format); err != nil || !same(x, y) || math.Signbit(x) != math.Signbit(y) && x == x {
				t.Errorf("%q in %s is %v, but %q is %v, %v", text, format.Name, x, s, y, err)
			}
		}
	})
}

// Any text is answered, without a mistake of ours.
func FuzzAnswer(f *testing.F) {
	f.Add(cancelling)
	f.Add(`{"ask":"copy","as":"vector","format":"e2m1 × ue4m3 per 16","x":["1","nan"],"y":["6","inf"],"scale_x":["-1"],"c":"0x7fc00000"}`)
	f.Add(`{"ask":"vectors","file":"e30K"}`)
	f.Add(`{"ask":"line","format":"e4m3","at":"-0","each":64}`)
	f.Add(`{"ask":"product","device":"paper-f32","m":2,"n":2,"k":16,"distribution":"N(0,1)","seed":1,"confidence":0.5}`)
	f.Fuzz(func(t *testing.T, question string) {
		if got := string(Answer([]byte(question))); strings.Contains(got, "mistake of the page") {
			t.Errorf("%s: %s", question, got)
		}
	})
}
