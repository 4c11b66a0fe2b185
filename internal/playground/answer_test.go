package playground

import (
	"encoding/json"
	"strings"
	"testing"

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

// The picture has every bit of every term, and cuts off what the device does:
// Hopper keeps 25 bits below 2^23.
func TestTrace(t *testing.T) {
	b := answerTo[DotAnswer](t, cancelling).Trace.Blocks[0]
	if b.Top != 23 || b.Last != -2 || len(b.Terms) != 5 || b.Sum != "-0.75" {
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
		`{"ask":"dot","format":"binary16","x":["1"],"y":[]}`:                                 "1 x and 0 y",
		`{"ask":"dot","format":"binary16","x":["1","two"],"y":["1","1"]}`:                    "x, number 2",
		`{"ask":"dot","format":"binary16","x":["0x12345"],"y":["1"]}`:                        "not a number of 16 bits",
		`{"ask":"dot","format":"binary16","x":["1"],"y":["1"],"c":"a"}`:                      "c: ",
		`{"ask":"dot","format":"binary16","x":["1"],"y":["1"],"device":"volta"}`:             "no device",
		`{"ask":"line","format":"binary16","at":"0","each":0}`:                               "0 numbers",
		`{"ask":"product","device":"none"}`:                                                  "there is no device",
		`{"ask":"product","device":"paper-f32","m":0,"n":1,"k":1}`:                           "m = 0",
		`{"ask":"product","device":"paper-f32","m":9999,"n":9999,"k":9999,"confidence":0.9}`: "multiplications",
		`{"ask":"product","device":"paper-f32","m":1,"n":1,"k":1,"confidence":2}`:            "confidence 2",
	} {
		if got := string(Answer([]byte(question))); !strings.HasPrefix(got, `{"error":`) || !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", question, got, want)
		}
	}
}

// Every device without scales can be asked for.
func TestDevices(t *testing.T) {
	formats, n := Formats(), 0
	for _, d := range devices.All() {
		if d.ScaleBlock > 0 {
			continue
		}
		n++
		if d.A.Equal(d.B) && len(having(d.A.Name)) == 0 {
			t.Errorf("%s is in no list", d.Name)
		}
	}
	if n != len(Devices()) || len(formats) < 10 {
		t.Errorf("%d devices, want %d; formats %v", len(Devices()), n, formats)
	}
}

// Any text is answered, without a mistake of ours.
func FuzzAnswer(f *testing.F) {
	f.Add(cancelling)
	f.Add(`{"ask":"line","format":"e4m3","at":"-0","each":64}`)
	f.Add(`{"ask":"product","device":"paper-f32","m":2,"n":2,"k":16,"distribution":"N(0,1)","seed":1,"confidence":0.5}`)
	f.Fuzz(func(t *testing.T, question string) {
		if got := string(Answer([]byte(question))); strings.Contains(got, "mistake of the page") {
			t.Errorf("%s: %s", question, got)
		}
	})
}
