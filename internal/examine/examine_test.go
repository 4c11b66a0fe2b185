package examine

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"net"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// asked returns f as the caller sees it, over a connection to a process that
// serves it.
func asked[F any](t testing.TB, f F) F {
	here, there := net.Pipe()
	served := make(chan error)
	go func() { served <- Serve(there, f) }()
	t.Cleanup(func() {
		here.Close()
		if err := <-served; err != nil && !errors.Is(err, io.ErrClosedPipe) {
			t.Error(err)
		}
	})
	return Remote(here, reflect.TypeFor[F]()).Interface().(F)
}

// panicked returns the text of the panic of f.
func panicked(f func()) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}

func TestValuesArriveAsTheyWere(t *testing.T) {
	t.Run("numbers", func(t *testing.T) {
		f := asked(t, func(x float64, n int, seed uint64, on bool, s string) (float64, int, uint64, bool, string) {
			return x, n, seed, on, s
		})
		for _, x := range []float64{0, math.Copysign(0, -1), 1, -0.1, math.SmallestNonzeroFloat64, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()} {
			y, n, seed, on, s := f(x, math.MinInt, math.MaxUint64, true, "a\nb\"Δ")
			if math.Float64bits(y) != math.Float64bits(x) && !(math.IsNaN(x) && math.IsNaN(y)) || n != math.MinInt || seed != math.MaxUint64 || !on || s != "a\nb\"Δ" {
				t.Errorf("%v came back as %v, with %v %v %v %q", x, y, n, seed, on, s)
			}
		}
	})
	t.Run("slices", func(t *testing.T) {
		f := asked(t, func(x, y []float64) []float64 {
			x[0] = 99 // of its own copy
			return slices.Concat(x, y)
		})
		x := []float64{1, 2}
		if got := f(x, nil); !slices.Equal(got, []float64{99, 2}) || x[0] != 1 {
			t.Errorf("%v, and x = %v", got, x)
		}
	})
	t.Run("structs", func(t *testing.T) {
		f := asked(t, func(f tcore.Format, m roundoff.MACBound) (tcore.Format, float64) { return f, m.Addend })
		for _, format := range []tcore.Format{tcore.Binary16, tcore.E4M3, tcore.Binary64} {
			if got, x := f(format, roundoff.FMA(0x1p-24)); got != format || x != roundoff.FMA(0x1p-24).Addend {
				t.Errorf("%v came back as %v, with %v", format, got, x)
			}
		}
	})
	t.Run("fractions", func(t *testing.T) {
		f := asked(t, func(x *big.Rat) (*big.Rat, *big.Rat) { return new(big.Rat).Neg(x), nil })
		if got, none := f(big.NewRat(1, 3)); got.Cmp(big.NewRat(-1, 3)) != 0 || none != nil {
			t.Errorf("%v, %v", got, none)
		}
	})
	t.Run("charts", func(t *testing.T) {
		draw := func(nothing bool) *viz.Chart {
			if nothing {
				return nil
			}
			c := viz.NewChart("name", "C.", "")
			c.Panel("", viz.Axis{Label: "x"}, viz.Axis{Label: "y"}).Line(viz.Series{Label: "γ"}, []float64{1, 2}, []float64{3, 4})
			return c
		}
		here, there := net.Pipe()
		go Serve(there, draw)
		defer here.Close()
		f := Remote(here, reflect.TypeFor[func(bool) Sheet]()).Interface().(func(bool) Sheet)
		want, _ := draw(false).CSV()
		if got := f(false); !bytes.Equal(got, want) {
			t.Errorf("%s", got)
		}
		if f(true) != nil {
			t.Error("nil came back as a chart")
		}
	})
}

// recursive adds from left to right, as a student would write it.
func recursive(add func(a, b float64) float64, x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s = add(s, v)
	}
	return s
}

func TestFunctionsAreCalledWhereTheyAre(t *testing.T) {
	sum := asked(t, recursive)
	calls := 0
	add := func(a, b float64) float64 { calls++; return a + b }
	if s := sum(add, []float64{1, 2, 3}); s != 6 || calls != 3 {
		t.Errorf("sum %v of %d calls", s, calls)
	}
	t.Run("from_any_goroutine", func(t *testing.T) {
		sum := asked(t, func(add func(a, b float64) float64) float64 {
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() { add(1, 2) })
			}
			all.Wait()
			return 0
		})
		calls = 0
		if sum(add); calls != 20 {
			t.Errorf("%d calls, want 20", calls)
		}
	})
	t.Run("not_once_the_call_is_over", func(t *testing.T) {
		var kept func(a, b float64) float64
		f := asked(t, func(add func(a, b float64) float64) float64 {
			if add != nil {
				kept = add
			}
			return kept(1, 2)
		})
		if x := f(add); x != 3 {
			t.Errorf("%v", x)
		}
		if p := panicked(func() { f(nil) }); !strings.Contains(p, "no function 0") {
			t.Errorf("panic %q", p)
		}
	})
	t.Run("panics_come_back", func(t *testing.T) {
		f := asked(t, func(x float64) float64 { panic("not implemented") })
		if p := panicked(func() { f(1) }); p != "not implemented" {
			t.Errorf("panic %q", p)
		}
		if p := panicked(func() { f(1) }); p != "not implemented" {
			t.Errorf("a second time: panic %q", p)
		}
		g := asked(t, func(add func(a, b float64) float64) float64 { return add(1, 2) })
		if p := panicked(func() { g(func(a, b float64) float64 { panic("too much") }) }); !strings.Contains(p, "too much") {
			t.Errorf("panic %q", p)
		}
	})
}

// Serve returns when the caller has gone, even if its function does not return.
func TestTheEndIsHeard(t *testing.T) {
	here, there := net.Pipe()
	served := make(chan error)
	called := make(chan bool)
	go func() { served <- Serve(there, func() { called <- true; select {} }) }()
	go panicked(Remote(here, reflect.TypeFor[func()]()).Interface().(func()))
	<-called
	here.Close()
	select {
	case err := <-served:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it still waits")
	}
}

func TestWhatCannotBeSentIsRefused(t *testing.T) {
	for _, f := range []any{nil, 1, func(chan int) {}, func(any) {}, func(...int) {}, func() struct{ x int } { panic("") },
		func(func() map[int]int) {}, func(*int) {}, (func())(nil)} {
		if p := panicked(func() { Serve(nil, f) }); !strings.HasPrefix(p, "examine: ") {
			t.Errorf("%T: panic %q", f, p)
		}
	}
}

// answers is a connection whose other end sends this text, whatever it
// receives.
type answers struct {
	io.Reader
	io.Writer
}

// Whatever the other end sends, a call returns values that its type allows, or
// panics with a message.
func TestNothingOfTheOtherEndIsTrusted(t *testing.T) {
	type f = func(add func(a, b float64) float64, x []float64) (float64, *big.Rat)
	for _, said := range []string{
		"", "\n", "null\n", "[]\n", "{}\n", "1\n", `{"results":[]}` + "\n", `{"results":["1"]}` + "\n",
		`{"results":[1,"1/2"]}`, `{"results":["x","1/2"]}`, `{"results":["1","1/0"]}`, `{"results":["1","1e999999999"]}`,
		`{"results":["1","` + strings.Repeat("9", longestRat+1) + `"]}`,
		`{"results":["1","0x1p99999999"]}`, `{"results":[["1"],"1"]}`, `{"call":1}`, `{"call":-1,"args":[]}`,
		`{"call":1,"args":["1"]}`, `{"call":9223372036854775808}`, `{"panic":"p"}`, `{"call":0,"panic":"p","results":["1","1"]}`,
		strings.Repeat("[", 100000), strings.Repeat("x", LongestLine+1),
	} {
		g := Remote(answers{strings.NewReader(said), io.Discard}, reflect.TypeFor[f]()).Interface().(f)
		add := func(a, b float64) float64 { return a + b }
		if p := panicked(func() { g(add, []float64{1}) }); p == "" || strings.Contains(p, "runtime error") || strings.Contains(p, "reflect:") {
			t.Errorf("said %.60q: panic %q", said, p)
		}
	}
	type pair struct{ A, B float64 }
	for _, said := range []string{`{"results":[["1"]]}`, `{"results":[["1","2","3"]]}`, `{"results":[[]]}`, `{"results":[null]}`} {
		g := Remote(answers{strings.NewReader(said), io.Discard}, reflect.TypeFor[func() pair]()).Interface().(func() pair)
		if p := panicked(func() { g() }); !strings.Contains(p, " fields of examine.pair, want 2") {
			t.Errorf("said %s: panic %q", said, p)
		}
	}
	g := Remote(answers{strings.NewReader(`{"results":["1","1/2"]}`), io.Discard}, reflect.TypeFor[f]()).Interface().(f)
	if x, r := g(nil, nil); x != 1 || r.Cmp(big.NewRat(1, 2)) != 0 {
		t.Errorf("%v, %v", x, r)
	}
}

func FuzzAnswers(f *testing.F) {
	f.Add([]byte(`{"results":["1","1/2",["a",2,3,4,5,6,7,8],"x,y"]}`))
	f.Add([]byte(`{"call":1,"args":["1","2"]}` + "\n" + `{"results":[null,null,null,null]}`))
	f.Fuzz(func(t *testing.T, said []byte) {
		type call = func(add func(a, b float64) float64) (float64, *big.Rat, tcore.Format, Sheet)
		g := Remote(answers{bytes.NewReader(said), io.Discard}, reflect.TypeFor[call]()).Interface().(call)
		if p := panicked(func() { g(math.Max) }); strings.Contains(p, "runtime error") || strings.Contains(p, "reflect") {
			t.Error(p)
		}
	})
}

// Every message is a line of JSON.
func TestMessagesAreLines(t *testing.T) {
	var asked bytes.Buffer
	f := Remote(answers{strings.NewReader(`{"results":["1"]}`), &asked}, reflect.TypeFor[func(string, []float64) float64]())
	f.Interface().(func(string, []float64) float64)("a\nb", []float64{1})
	lines := bufio.NewScanner(&asked)
	for lines.Scan() {
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil || m.Type != "func(string, []float64) float64" {
			t.Errorf("%s: %v", lines.Bytes(), err)
		}
	}
}

// Another language reads the types of a call.
func TestNotation(t *testing.T) {
	type pair struct {
		N int
		X []*big.Rat
	}
	for _, test := range []struct {
		f    any
		want string
	}{
		{func() {}, "func()"},
		{func(uint64, bool) Sheet { return nil }, "func(uint64, bool) examine.Sheet"},
		{func(func(a, b float64) float64, pair) (x, y *big.Rat) { return nil, nil },
			"func(func(float64, float64) float64, examine.pair{int, []*big.Rat}) (*big.Rat, *big.Rat)"},
	} {
		if got := Notation(reflect.TypeOf(test.f)); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
}

// Several functions have their numbers in their order.
func TestServeSeveral(t *testing.T) {
	here, there := net.Pipe()
	defer here.Close()
	go Serve(there, func() int { return 10 }, func() int { return 11 })
	lines := bufio.NewScanner(here)
	for i, want := range []string{`{"results":[10]}`, `{"results":[11]}`, `{"panic":"there is no function 2"}`} {
		fmt.Fprintf(here, `{"call":%d}`+"\n", i)
		if lines.Scan(); lines.Text() != want {
			t.Errorf("function %d: %s, want %s", i, lines.Text(), want)
		}
	}
}

// BenchmarkAdditions measures a sum that calls back for every addition.
func BenchmarkAdditions(b *testing.B) {
	sum := asked(b, recursive)
	x := make([]float64, 1000)
	for b.Loop() {
		sum(func(a, b float64) float64 { return a + b }, x)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/addition")
}
