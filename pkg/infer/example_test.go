package infer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/roundofflab/roundoff/pkg/cpu"
	"github.com/roundofflab/roundoff/pkg/infer"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// Of a matrix unit only the formats and the number of products are told, and
// how it adds is found.
func ExampleLearn() {
	hidden := devices.CDNA3F16()
	l, err := infer.Learn(context.Background(), infer.Emulated(hidden, 8), 1)
	fmt.Printf("%T%+v %v\n", l.Record.Core, l.Record.Core, err)
	fmt.Println(l.Agreed, "of", l.Checked, "random dot products,", l.Asked, "asked")
	// Output:
	// tcore.TwoStage{Terms:8 Parts:1} <nil>
	// 10000 of 10000 random dot products, 11900 asked
}

// A unit that computes no sum is not explained.
func ExampleLearned_Explained() {
	l, err := infer.Learn(context.Background(), zeros{}, 1)
	fmt.Println(l.Explained(), l.Against.D, err)
	// Output: false 0 <nil>
}

type zeros struct{}

func (zeros) Shape() infer.Shape { return infer.ShapeOf(devices.HopperF16(), 4) }

func (zeros) Dots(_ context.Context, q []infer.Dot) ([]uint64, error) {
	return make([]uint64, len(q)), nil
}

// The formats and the number of products are what must be told.
func ExampleShapeOf() {
	s := infer.ShapeOf(devices.HopperE4M3(), 32)
	fmt.Println(s.A.Name, s.B.Name, s.C.Name, s.K)
	// Output: e4m3 e4m3 binary32 32
}

// 1×2 + 3×4 + 5 in codes.
func ExampleEmulated() {
	b := infer.Emulated(devices.VoltaF16(), 2)
	d, err := b.Dots(context.Background(), []infer.Dot{{X: []uint64{0x3c00, 0x4200}, Y: []uint64{0x4000, 0x4400}, C: 0x40a00000}})
	fmt.Printf("%#x %v\n", d, err)
	// Output: [0x41980000] <nil>
}

// The processor's own instruction, if it has it.
func ExampleOf() {
	u, err := cpu.Open(devices.AVX512BF16())
	if errors.Is(err, cpu.ErrNoMatrixUnit) {
		fmt.Println("no unit to ask")
		return
	}
	l, err := infer.Learn(context.Background(), infer.Of(u), 1)
	fmt.Println(l.Catalogue(), err)
}

// A program is asked by its standard input.
func ExampleCommand() {
	s := infer.Shape{A: tcore.Binary16, B: tcore.Binary16, C: tcore.Binary32, K: 2}
	b := infer.Command(s, time.Minute, "tr", "0-9a-f ", "0")
	_, err := b.Dots(context.Background(), []infer.Dot{{X: []uint64{1, 2}, Y: []uint64{3, 4}, C: 5}})
	fmt.Println(err)
	// Output: <nil>
}

// A record is printed as Go has it.
func ExampleLiteral() {
	d := devices.CDNA2BF16()
	d.Name, d.Architecture, d.Instruction = "", "", ""
	fmt.Println(infer.Literal(d))
	// Output: tcore.Device{A: tcore.BFloat16, B: tcore.BFloat16, C: tcore.Binary32, Core: tcore.Pairwise{Terms: 4}}
}

// Records are kept as JSON.
func ExampleWriteJSON() {
	text, err := infer.WriteJSON(devices.AMXBF16())
	d, _ := infer.ReadJSON(text)
	fmt.Printf("%T%+v %v\n", d.Core, d.Core, err)
	// Output: tcore.EvenOdd{Terms:32} <nil>
}

func ExampleReadJSON() {
	_, err := infer.ReadJSON([]byte(`{"Kind": "Kahan"}`))
	fmt.Println(err)
	// Output: infer: no core "Kahan"
}

// The sums of pairs are rounded before they are added.
func ExampleTree() {
	fmt.Print(infer.Tree(devices.CDNA2BF16(), 8))
	fmt.Print(infer.Tree(devices.AVX512BF16(), 2))
	// Output:
	// d1 = (c + ((p0 + p1) + (p2 + p3)))
	// d2 = (d1 + ((p4 + p5) + (p6 + p7)))
	// d1 = ((c + p1) + p0)
}

func ExampleFormatByName() {
	f, ok := infer.FormatByName("e4m3")
	fmt.Println(f.Precision, ok)
	// Output: 4 true
}

// Devices of the catalogue that give the same answers as the box.
func ExampleLearned_Catalogue() {
	l, _ := infer.Learn(context.Background(), infer.Emulated(devices.CDNA1F16(), 4), 1)
	fmt.Println(l.Catalogue())
	// Output: [cdna1-mfma-binary16-binary32]
}

// A parameter that the answers do not decide is told with the other values.
func ExampleParameter_String() {
	fmt.Println(infer.Parameter{Name: "FractionBits", Value: "24", Others: []string{"25"}})
	// Output: 24, not told from 25
}

func ExampleLearned_Parameters() {
	l, _ := infer.Learn(context.Background(), infer.Emulated(devices.CDNA1F16(), 4), 1)
	for _, p := range l.Parameters()[:2] {
		fmt.Println(p.Name, p)
	}
	// Output:
	// core ExactSum
	// Terms 4
}

func ExampleLearned_Write() {
	l, err := infer.Learn(context.Background(), zeros{}, 1)
	fmt.Println(err, l.Write(discard{}))
	// Output: <nil> <nil>
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

func ExampleLearned_MarshalJSON() {
	l, _ := infer.Learn(context.Background(), zeros{}, 1)
	text, err := l.MarshalJSON()
	fmt.Println(len(text) > 0, err)
	// Output: true <nil>
}

// In which order an instruction adds 32 products, and c.
func ExampleFindOrder() {
	s, err := infer.FindOrder(context.Background(), infer.Emulated(devices.AVX512F16(), 4), 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Order)
	fmt.Println(s.Agreed, "of", s.Checked)
	// Output:
	// (c + 0 + 1 + 2 + 3)
	// 200 of 200
}

// Two lanes of a tile, the even products and the odd ones.
func ExampleOrder_String() {
	lane := func(first int) *infer.Order {
		return &infer.Order{Parts: []*infer.Order{{Parts: []*infer.Order{{Leaf: first}, {Leaf: first + 2}}}, {Leaf: first + 4}}}
	}
	fmt.Println(&infer.Order{Parts: []*infer.Order{lane(0), lane(1)}})
	// Output:
	// (A + A@1)
	// A = (0 + 2 + 4)
}

// Two products are added, and then c.
func ExampleOrder_Additions() {
	o := infer.Order{Parts: []*infer.Order{{Parts: []*infer.Order{{Leaf: 0}, {Leaf: 1}}}, {Leaf: -1}}}
	fmt.Println(o.Additions(2))
	// Output: [[0 1] [2 -1]]
}

// What roundoff infer --order --json prints, on one line.
func ExampleSummation_MarshalJSON() {
	s := infer.Summation{K: 1, Order: &infer.Order{Parts: []*infer.Order{{Leaf: -1}, {Leaf: 0}}}, Questions: 7, Checked: 5, Agreed: 4}
	text, err := json.Marshal(s)
	fmt.Println(string(text), err)
	// Output: {"K":1,"Questions":7,"Checked":5,"Agreed":4,"Additions":[[-1,0]]} <nil>
}

// What roundoff infer --order prints.
func ExampleSummation_Write() {
	s, err := infer.FindOrder(context.Background(), infer.Emulated(devices.HopperF16(), 32), 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	s.Questions = 0
	if err := s.Write(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Order, found by 0 questions:
	//
	//   [[c + 0 + 1 + … + 15] + 16 + 17 + … + 31]
	//
	// Numbers are products. Terms in parentheses are added from left to right, those in brackets at once;
	// A@8 is A with all numbers increased by 8.
	// Sums are not compared: how terms that are added at once are aligned is no matter of order.
}
