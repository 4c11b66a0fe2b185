package devices

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

var update = flag.Bool("update", false, "write testdata/answers.txt anew, questions that tell every device from its neighbours")

const answersFile = "testdata/answers.txt"

// A question is a dot product of values, which the device converts, or of
// codes, with scales if the device has them.
type question struct {
	x, y, c        []float64 // c contains one number
	cx, cy, sx, sy []uint64
	cc             uint64
}

// ask returns the answer of a device, or a text which says that it cannot
// compute the question.
func (q question) ask(d tcore.Device) (answer string) {
	defer func() {
		if recover() != nil {
			answer = "no device"
		}
	}()
	if q.cx != nil {
		return strconv.FormatUint(d.DotScaled(q.cx, q.cy, q.sx, q.sy, q.cc), 16)
	}
	return text([]float64{d.Dot(q.x, q.y, q.c[0])})
}

// text writes numbers in hexadecimal.
func text(x []float64) string {
	words := make([]string, len(x))
	for i, v := range x {
		if words[i] = strconv.FormatFloat(v, 'x', -1, 64); v == 0 {
			words[i] = strconv.FormatFloat(v, 'g', -1, 64)
		}
	}
	return runs(words)
}

func codes(x []uint64) string {
	if len(x) == 0 {
		return "-"
	}
	words := make([]string, len(x))
	for i, v := range x {
		words[i] = strconv.FormatUint(v, 16)
	}
	return runs(words)
}

// runs joins words, and writes n equal words in a row as w*n. unrun is its
// inverse.
func runs(words []string) string {
	var all []string
	for i := 0; i < len(words); {
		n := 1
		for i+n < len(words) && words[i+n] == words[i] {
			n++
		}
		if all = append(all, words[i]); n > 1 {
			all[len(all)-1] += fmt.Sprintf("*%d", n)
		}
		i += n
	}
	return strings.Join(all, ",")
}

func unrun(text string) (words []string, err error) {
	for w := range strings.SplitSeq(text, ",") {
		n := 1
		if word, times, ok := strings.Cut(w, "*"); ok {
			w = word
			if n, err = strconv.Atoi(times); err != nil {
				return nil, err
			}
		}
		words = append(words, slices.Repeat([]string{w}, n)...)
	}
	return words, nil
}

func (q question) String() string {
	if q.cx != nil {
		return strings.Join([]string{codes(q.cx), codes(q.cy), codes(q.sx), codes(q.sy), codes([]uint64{q.cc})}, " ")
	}
	return strings.Join([]string{text(q.x), text(q.y), text(q.c)}, " ")
}

func parseQuestion(fields []string) (q question, err error) {
	if len(fields) == 5 {
		var c []uint64
		for i, to := range []*[]uint64{&q.cx, &q.cy, &q.sx, &q.sy, &c} {
			if fields[i] == "-" {
				continue
			}
			words, err := unrun(fields[i])
			if err != nil {
				return q, err
			}
			for _, w := range words {
				v, err := strconv.ParseUint(w, 16, 64)
				if err != nil {
					return q, err
				}
				*to = append(*to, v)
			}
		}
		q.cc = c[0]
		return q, nil
	}
	if len(fields) != 3 {
		return q, fmt.Errorf("%d fields, want 3 or 5", len(fields))
	}
	for i, to := range []*[]float64{&q.x, &q.y, &q.c} {
		words, err := unrun(fields[i])
		if err != nil {
			return q, err
		}
		for _, w := range words {
			v, err := strconv.ParseFloat(w, 64)
			if err != nil {
				return q, err
			}
			*to = append(*to, v)
		}
	}
	return q, nil
}

// A neighbour of a device differs from it in one parameter.
type neighbour struct {
	parameter string // as in Core.FractionBits+1
	tcore.Device
}

// neighbours returns the devices that differ from d in one parameter of the
// device, its core or its formats: numbers increased or decreased by one,
// conditions negated, and every other rounding.
func neighbours(d tcore.Device) []neighbour {
	var all []neighbour
	for _, v := range variants("", reflect.ValueOf(d)) {
		all = append(all, neighbour{strings.TrimPrefix(v.path, "."), v.value.Interface().(tcore.Device)})
	}
	return all
}

// mustBeTold reports whether a question must distinguish the neighbour: its
// parameter determines how many terms are added at once, or how.
func (n neighbour) mustBeTold() bool {
	return slices.ContainsFunc([]string{"Terms", "FractionBits", "Rounding", "Group", "Parts"}, func(name string) bool {
		return strings.Contains(n.parameter, "."+name)
	})
}

type variant struct {
	path  string
	value reflect.Value
}

func variants(path string, v reflect.Value) (all []variant) {
	add := func(how string, set func(z reflect.Value)) {
		z := reflect.New(v.Type()).Elem()
		z.Set(v)
		set(z)
		all = append(all, variant{path + how, z})
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if d, ok := v.Interface().(tcore.Device); ok && d.ScaleBlock == 0 && strings.HasPrefix(name, "Scale") {
				continue // the device has no scales
			}
			for _, f := range variants(path+"."+name, v.Field(i)) {
				z := reflect.New(v.Type()).Elem()
				z.Set(v)
				z.Field(i).Set(f.value)
				all = append(all, variant{f.path, z})
			}
		}
	case reflect.Interface:
		for _, e := range variants(path, v.Elem()) {
			z := reflect.New(v.Type()).Elem()
			z.Set(e.value)
			all = append(all, variant{e.path, z})
		}
	case reflect.Bool:
		add(" not", func(z reflect.Value) { z.SetBool(!v.Bool()) })
	case reflect.Uint64:
		add("^1", func(z reflect.Value) { z.SetUint(v.Uint() ^ 1) })
	case reflect.Int:
		if mode, ok := v.Interface().(tcore.RoundingMode); ok {
			for m := tcore.ToNearestEven; m <= tcore.ToOdd; m++ {
				if m != mode {
					add(" "+m.String(), func(z reflect.Value) { z.SetInt(int64(m)) })
				}
			}
			break
		}
		add("+1", func(z reflect.Value) { z.SetInt(v.Int() + 1) })
		add("-1", func(z reflect.Value) { z.SetInt(v.Int() - 1) })
		if strings.HasSuffix(path, "ZeroExponent") { // those of different units are far apart
			add("+111", func(z reflect.Value) { z.SetInt(v.Int() + 111) })
			add("-111", func(z reflect.Value) { z.SetInt(v.Int() - 111) })
		}
	}
	return all
}

// randomQuestion returns a difficult random question: terms near the last bit
// kept, sums that nearly cancel, least and greatest numbers, ties, and terms at
// all positions of one block or two.
func randomQuestion(rng *rand.Rand, d tcore.Device) question {
	n := d.BlockTerms() * (1 + rng.IntN(2))
	if rng.IntN(4) == 0 {
		n = 1 + rng.IntN(n)
	}
	center := func(f tcore.Format) int {
		return []int{f.Emin - rng.IntN(f.Precision), 0, f.Emax, f.Emin + rng.IntN(f.Emax-f.Emin+1)}[rng.IntN(4)]
	}
	spread := []int{1, 3, 9, 33}[rng.IntN(4)]
	significand := func(bits int) float64 {
		switch rng.IntN(5) {
		case 0:
			return 1
		case 1:
			return 2 - math.Ldexp(1, 1-bits)
		case 2: // more bits than the format has
			return 1 + rng.Float64()
		case 3: // halfway
			return 1 + math.Ldexp(float64(2*rng.IntN(1<<(bits-1))+1), -bits)
		}
		return 1 + math.Ldexp(float64(rng.IntN(1<<(bits-1))), 1-bits)
	}
	number := func(f tcore.Format, e int) float64 {
		if rng.IntN(200) == 0 {
			return math.Inf(1 - 2*rng.IntN(2))
		}
		x := math.Ldexp(significand(min(f.Precision, 24)), min(max(e, f.Emin-f.Precision), f.Emax+rng.IntN(2)))
		if rng.IntN(2) == 0 {
			x = -x
		}
		return float64(float32(x))
	}
	eA, eB := center(d.A), center(d.B)
	q := question{x: make([]float64, n), y: make([]float64, n), c: []float64{0}}
	share := []int{1, 2, n}[rng.IntN(3)]
	for i := range n {
		if rng.IntN(n) < share {
			q.x[i], q.y[i] = number(d.A, eA+rng.IntN(spread)-spread/2), number(d.B, eB+rng.IntN(spread)-spread/2)
		}
	}
	i, j := rng.IntN(n), rng.IntN(n)
	for k := range n { // the largest product, or a random one
		if rng.IntN(8) > 0 && math.Abs(q.x[k]*q.y[k]) > math.Abs(q.x[i]*q.y[i]) {
			i = k
		}
	}
	switch {
	case rng.IntN(3) == 0 && i != j:
		q.x[j], q.y[j] = -q.x[i], q.y[i]
	case rng.IntN(8) == 0:
		q.x[i] = math.Copysign(0, -1)
	}
	switch rng.IntN(5) {
	case 0:
	case 1:
		q.c[0] = math.Copysign(0, -1)
	case 2:
		q.c[0] = number(d.C, center(d.C))
	case 3: // cancels a product
		q.c[0] = -q.x[i] * q.y[i]
	default:
		q.c[0] = number(d.C, eA+eB+rng.IntN(61)-30)
	}
	if d.ScaleBlock == 0 && rng.IntN(8) > 0 || d.ScaleBlock > 0 && rng.IntN(4) == 0 {
		return q
	}
	z := question{cc: d.C.Encode(q.c[0], tcore.ToNearestEven)}
	if rng.IntN(8) == 0 {
		z.cc = d.C.Encode(math.NaN(), tcore.ToNearestEven)
	}
	for i := range n {
		z.cx, z.cy = append(z.cx, d.A.Encode(q.x[i], d.Convert)), append(z.cy, d.B.Encode(q.y[i], d.Convert))
	}
	for i := 0; d.ScaleBlock > 0 && i < n; i += d.ScaleBlock {
		one := d.Scale.Encode(1, tcore.ToNearestEven)
		scale := func() uint64 {
			switch rng.IntN(4) {
			case 0:
				return rng.Uint64() >> (64 - d.Scale.Bits())
			case 1:
				return one
			}
			return (one + uint64(rng.IntN(41)) - 20) & (1<<d.Scale.Bits() - 1)
		}
		z.sx, z.sy = append(z.sx, scale()), append(z.sy, scale())
	}
	return z
}

// told returns the indices of the neighbours that give another answer to a
// question.
func told(d tcore.Device, near []neighbour, q question) (other []int) {
	answer := q.ask(d)
	for i, n := range near {
		if q.ask(n.Device) != answer {
			other = append(other, i)
		}
	}
	return other
}

// search returns random questions that distinguish a device from its
// neighbours, and the neighbours that the given number of tries does not
// distinguish.
func search(d tcore.Device, tries int) (questions []question, left []neighbour) {
	rng := rand.New(rand.NewPCG(241118747, uint64(len(d.Name))))
	left = neighbours(d)
	for try := 0; try < tries || try < 50*tries && slices.ContainsFunc(left, neighbour.mustBeTold); try++ {
		q := randomQuestion(rng, d)
		if other := told(d, left, q); len(other) > 0 {
			questions = append(questions, q)
			for _, i := range slices.Backward(other) {
				left = slices.Delete(left, i, i+1)
			}
		}
	}
	// Later questions often distinguish the neighbours of earlier ones: drop
	// questions that are not needed.
	for i := len(questions) - 1; i >= 0; i-- {
		fewer := slices.Delete(slices.Clone(questions), i, i+1)
		if len(untold(d, fewer)) == len(left) {
			questions = fewer
		}
	}
	return questions, left
}

// untold returns the neighbours of a device that give the same answers to all
// questions.
func untold(d tcore.Device, questions []question) (same []neighbour) {
	for _, n := range neighbours(d) {
		if !slices.ContainsFunc(questions, func(q question) bool { return q.ask(n.Device) != q.ask(d) }) {
			same = append(same, n)
		}
	}
	return same
}

// taken returns the names of the formats that a device accepts for its second
// factor.
func taken(d tcore.Device) string {
	var names []string
	for _, f := range []tcore.Format{
		tcore.Binary64, tcore.Binary32, tcore.TF32, tcore.BFloat16, tcore.Binary16, tcore.E5M2, tcore.E4M3, tcore.E5M2FNUZ, tcore.E4M3FNUZ,
		tcore.E3M2, tcore.E2M3, tcore.E2M1,
	} {
		if d.Takes(f) {
			names = append(names, f.Name)
		}
	}
	return strings.Join(names, ",")
}

func write(t *testing.T) {
	var b bytes.Buffer
	for _, d := range All() {
		questions, left := search(d, 20000)
		fmt.Fprintf(&b, "%s takes %s\n", d.Name, taken(d))
		for _, q := range questions {
			fmt.Fprintf(&b, "%s = %s\n", q, q.ask(d))
		}
		for _, n := range left {
			fmt.Fprintf(&b, "alike %s\n", n.parameter)
		}
	}
	if err := os.WriteFile(answersFile, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Every device gives the committed answers. Every device that differs from it
// in one parameter gives another answer to at least one question, except those
// listed as alike: either no dot product distinguishes them, for example
// because the exponent of a zero is far below those of all products, or none
// was found.
func TestAnswers(t *testing.T) {
	if *update {
		write(t)
	}
	data, err := os.ReadFile(answersFile)
	if err != nil {
		t.Fatal(err)
	}
	asked, alike := map[string][]question{}, map[string][]string{}
	var d tcore.Device
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if name, formats, ok := strings.Cut(lines.Text(), " takes "); ok {
			if d, ok = ByName(name); !ok {
				t.Fatalf("no device %s: run the test with -update", name)
			}
			if got := taken(d); got != formats {
				t.Errorf("%s takes %s, want %s", name, got, formats)
			}
			asked[name] = nil
			continue
		}
		if parameter, ok := strings.CutPrefix(lines.Text(), "alike "); ok {
			if (neighbour{parameter: parameter}).mustBeTold() {
				t.Errorf("%s: no question tells %s", d.Name, parameter)
			}
			alike[d.Name] = append(alike[d.Name], parameter)
			continue
		}
		text, want, _ := strings.Cut(lines.Text(), " = ")
		q, err := parseQuestion(strings.Fields(text))
		if err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		if got := q.ask(d); got != want {
			t.Errorf("%s answers %s with %s, want %s", d.Name, q, got, want)
		}
		asked[d.Name] = append(asked[d.Name], q)
	}
	for _, d := range All() {
		if _, ok := asked[d.Name]; !ok {
			t.Errorf("%s is asked nothing: run the test with -update", d.Name)
			continue
		}
		for _, n := range untold(d, asked[d.Name]) {
			if !slices.Contains(alike[d.Name], n.parameter) {
				t.Errorf("%s: nothing tells %s", d.Name, n.parameter)
			}
		}
	}
}
