package abi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/roundofflab/roundoff/pkg/infer"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// emulated returns a box that answers as a device does, by Dot.
func emulated(device string) Box {
	return func(x, y, scaleX, scaleY, c, d *Matrix) error {
		_, err := Dot(fmt.Sprintf(`{"device": %q}`, device), x, y, scaleX, scaleY, c, d, never)
		return err
	}
}

// A box that answers by codes is learned as the device that it is, with the
// text and the JSON of package infer, and by several calls at once.
func TestInfer(t *testing.T) {
	var calls sync.WaitGroup
	for _, c := range []struct {
		device, question string
		k                int
	}{
		{"volta-mma-binary16-binary16", `"out": "binary16"`, 4},
		{"ampere-mma-tf32-binary32", `"in": "tf32"`, 4},
		{"ada-mma-e5m2-binary32", `"in": "e5m2,e5m2"`, 8},
	} {
		calls.Go(func() {
			code, got := Call(func() (string, error) {
				return Infer(fmt.Sprintf(`{%s, "k": %d, "seed": 7}`, c.question, c.k), emulated(c.device), never)
			})
			all := devices.All()
			d := all[slices.IndexFunc(all, func(d tcore.Device) bool { return d.Name == c.device })]
			l, err := infer.Learn(t.Context(), infer.Emulated(d, c.k), 7)
			if err != nil {
				t.Error(err)
			}
			var text bytes.Buffer
			l.Write(&text)
			want, err := json.Marshal(map[string]any{"text": text.String(), "found": l})
			if err != nil {
				t.Error(err)
			}
			if code != OK || !sameJSON(got, string(want)) || !slices.Contains(l.Catalogue(), c.device) {
				t.Errorf("%s: %d, %s\nwant\n%s", c.device, code, got, want)
			}
		})
	}
	calls.Wait()
}

// A box gets the codes of a question as matrices of the formats, each operand
// in its place, and its results are taken from there.
func TestInfer_hands_over_codes(t *testing.T) {
	shape := infer.Shape{A: tcore.E4M3, B: tcore.E5M2, C: tcore.Binary16, Scale: tcore.E8M0, ScaleBlock: 2, K: 4}
	questions := []infer.Dot{
		{X: []uint64{1, 2, 3, 4}, Y: []uint64{5, 6, 7, 8}, ScaleX: []uint64{9, 10}, ScaleY: []uint64{11, 12}, C: 0x1314},
		{X: []uint64{21, 22, 23, 24}, Y: []uint64{25, 26, 27, 28}, ScaleX: []uint64{29, 30}, ScaleY: []uint64{31, 32}, C: 0x3334},
	}
	var seen []string
	b := &foreignBox{shape: shape, answer: func(x, y, scaleX, scaleY, c, d *Matrix) error {
		for _, m := range []*Matrix{x, y, scaleX, scaleY, c} {
			codes := make([]uint64, 0, m.Rows*m.Columns)
			for i := range m.Rows {
				for j := range m.Columns {
					codes = append(codes, m.code(i, j))
				}
			}
			seen = append(seen, fmt.Sprintf("%s %d %d %d", m.Format, m.RowStride, m.ColumnStride, codes))
		}
		d.set(0, 0, 0xabcd)
		d.set(1, 0, 0xef01)
		return d.checkOutput("d", x, y, scaleX, scaleY, c)
	}}
	got, err := b.Dots(t.Context(), questions)
	want := []string{
		"e4m3 4 1 [1 2 3 4 21 22 23 24]", "e5m2 4 1 [5 6 7 8 25 26 27 28]", "e8m0 2 1 [9 10 29 30]", "e8m0 2 1 [11 12 31 32]",
		fmt.Sprintf("binary16 2 2 %d", []int{0x1314, 0x3334}),
	}
	if err != nil || !slices.Equal(got, []uint64{0xabcd, 0xef01}) || fmt.Sprint(seen) != fmt.Sprint(want) {
		t.Errorf("%v, %v: the box has seen\n%q\nwant\n%q", got, err, seen, want)
	}
}

// sameJSON reports whether two texts are the same JSON.
func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// chain adds in binary32 from the last product to the first one, and c to
// their sum.
func chain(x, y, _, _, c, d *Matrix) error {
	f := func(m *Matrix, i, j int) float32 { return math.Float32frombits(uint32(m.code(i, j))) }
	for i := range x.Rows {
		var sum float32
		for j := x.Columns - 1; j >= 0; j-- {
			sum += float32(f(x, i, j) * f(y, i, j))
		}
		d.set(i, 0, uint64(math.Float32bits(sum+f(c, i, 0))))
	}
	return nil
}

// The order of a sum is a list of additions, however long its chain is.
func TestInfer_order(t *testing.T) {
	for _, k := range []int{1, 3, 3000} {
		code, got := Call(func() (string, error) {
			return Infer(fmt.Sprintf(`{"in": "binary32", "k": %d, "order": true}`, k), chain, never)
		})
		var z struct {
			Text  string
			Found struct {
				Questions, Checked, Agreed int
				Additions                  [][]int
			}
		}
		if err := json.Unmarshal([]byte(got), &z); err != nil || code != OK {
			t.Fatalf("%d, %s: %v", code, got, err)
		}
		// Parts of an addition are sorted by their least products.
		sum, want := k-1, [][]int{}
		for j := k - 2; j >= 0; j-- {
			want, sum = append(want, []int{j, sum}), k+len(want)
		}
		want = append(want, []int{-1, sum})
		if !reflect.DeepEqual(z.Found.Additions, want) || z.Found.Checked != z.Found.Agreed || z.Found.Checked == 0 || !strings.HasPrefix(z.Text, "Order, found by") {
			t.Errorf("k = %d: %.300s, want the additions %.300s", k, got, fmt.Sprint(want))
		}
	}
}

// What is wrong with a question is said before the box is asked, and what is
// wrong with its answers ends the call.
func TestInfer_refuses(t *testing.T) {
	asked := false
	box := func(x, y, scaleX, scaleY, c, d *Matrix) error { asked = true; return nil }
	for question, want := range map[string]string{
		`{"in": "binary17"}`:                  `in "binary17", want a format such as`,
		`{"in": "e4m3,"}`:                     `in "", want a format`,
		`{"in": "e4m3,e4m3,e4m3"}`:            `in "e4m3,e4m3", want a format`,
		`{"out": "e4m3"}`:                     "results in e4m3, want a signed format",
		`{"out": "tf32"}`:                     `out "tf32"`,
		`{"k": 0}`:                            "k is 0, want 1 to 65536",
		`{"k": 65537, "order": true}`:         "k is 65537, want 1 to 65536",
		`{"k": 257}`:                          "K = 257, want 1 to 256",
		`{"k": 4.5}`:                          "k is a number 4.5, want one of type int",
		`{"scale": "e8m0"}`:                   `scale "e8m0" and scale_block 0, want both or neither`,
		`{"scale": "e8m0", "scale_block": 3}`: "ScaleBlock = 3, want a divisor of K = 16",
		`{"scale": "e8m0", "scale_block": 16, "order": true}`:          "no scales",
		`{"in": "e4m3", "out": "binary16", "k": 65000, "order": true}`: "an order of K = 65000",
		`{"device": "volta"}`: `unknown field "device"`,
	} {
		code, got := Call(func() (string, error) { return Infer(question, box, never) })
		if code != Argument || !strings.Contains(got, want) || asked {
			t.Errorf("%s: %d, %s, want %q; asked: %v", question, code, got, want, asked)
		}
	}
	if code, got := Call(func() (string, error) { return Infer("", nil, never) }); code != Argument || got != "box is NULL, want a function" {
		t.Errorf("NULL: %d, %s", code, got)
	}

	n := uint64(0)
	for _, c := range []struct {
		name string
		box  Box
		code int
		want string
	}{
		{"error", func(x, y, scaleX, scaleY, c, d *Matrix) error { return errors.New("box returned 7") }, Failed, "box returned 7 to 1500 dot products"},
		{"changes", func(x, y, scaleX, scaleY, c, d *Matrix) error {
			for i := range d.Rows {
				n++
				d.set(i, 0, n)
			}
			return nil
		}, Failed, "the box changes its answers"},
		{"panic", func(x, y, scaleX, scaleY, c, d *Matrix) error { panic("the box is broken") }, Fault, "the box is broken"},
	} {
		if code, got := Call(func() (string, error) { return Infer("", c.box, never) }); code != c.code || !strings.Contains(got, c.want) {
			t.Errorf("%s: %d, %s, want %d, %q", c.name, code, got, c.code, c.want)
		}
	}
	if code, got := Call(func() (string, error) {
		return Infer(`{"order": true}`, func(x, y, scaleX, scaleY, c, d *Matrix) error {
			for i := range d.Rows {
				d.set(i, 0, 5)
			}
			return nil
		}, never)
	}); code != Failed || !strings.Contains(got, "which is no sum") {
		t.Errorf("no sum: %d, %s", code, got)
	}
}

// A call that is cancelled ends soon, though the box goes on answering.
func TestInfer_cancelled(t *testing.T) {
	for _, order := range []bool{false, true} {
		stop := false
		code, _ := Call(func() (string, error) {
			return Infer(fmt.Sprintf(`{"in": "binary32", "k": 200, "order": %v}`, order), func(x, y, scaleX, scaleY, c, d *Matrix) error {
				stop = true
				return nil
			}, func() bool { return stop })
		})
		if code != Cancelled {
			t.Errorf("order %v: %d, want %d", order, code, Cancelled)
		}
	}
}
