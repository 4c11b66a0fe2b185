package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// largest is the largest number in the text of a plan.
const largest = 1 << 24

// Parse reads a plan as [Plan.String] writes it; the text of the package
// documents the grammar. The Name of the plan is its text. The error names the
// column, from 1, and the word that does not fit, and what would.
func Parse(text string) (Plan, error) {
	r := &reader{text: text, words: split(text)}
	p, err := r.plan()
	if err != nil {
		return Plan{}, fmt.Errorf("plan: %w", err)
	}
	p.Name = p.String()
	return p, nil
}

// A word of a text begins after the byte at.
type word struct {
	text string
	at   int
}

// split returns the words of a text. The signs of the grammar are words by
// themselves.
func split(text string) []word {
	var words []word
	start := -1
	end := func(i int) {
		if start >= 0 {
			words = append(words, word{text[start:i], start})
		}
		start = -1
	}
	for i, r := range text {
		switch {
		case strings.ContainsRune(" \t\n\r", r):
			end(i)
		case strings.ContainsRune("|>+", r):
			end(i)
			words = append(words, word{string(r), i})
		case start < 0:
			start = i
		}
	}
	end(len(text))
	return words
}

// A reader reads a plan word by word.
type reader struct {
	text  string
	words []word
}

// peek returns the next word, "" at the end.
func (r *reader) peek() string {
	if len(r.words) == 0 {
		return ""
	}
	return r.words[0].text
}

// take reports whether the next word is this one, and if so steps over it.
func (r *reader) take(text string) bool {
	if len(r.words) == 0 || r.words[0].text != text {
		return false
	}
	r.words = r.words[1:]
	return true
}

// next returns the next word and steps over it.
func (r *reader) next() word {
	if len(r.words) == 0 {
		return word{"", len(r.text)}
	}
	w := r.words[0]
	r.words = r.words[1:]
	return w
}

// wrong returns the error of a word.
func (r *reader) wrong(w word, format string, values ...any) error {
	found := strconv.Quote(w.text)
	if w.text == "" {
		found = "the end"
	}
	return fmt.Errorf("column %d, %s: %s", 1+utf8.RuneCountInString(r.text[:w.at]), found, fmt.Sprintf(format, values...))
}

func (r *reader) plan() (Plan, error) {
	order, err := r.run()
	for err == nil && r.take("|") {
		order, err = r.parts(order)
	}
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Order: order}
	if r.take(">") {
		w := r.next()
		f, ok := formatNamed(w.text)
		p.Output = f
		p.FusedBeta = w.text == "fused-beta" || ok && r.take("fused-beta")
		if !ok && !p.FusedBeta {
			return Plan{}, r.wrong(w, "want fused-beta or a format, one of %s", formatNames())
		}
	}
	if len(r.words) > 0 {
		return Plan{}, r.wrong(r.next(), "want | and a cut, > and a format, or the end")
	}
	return p, p.Check()
}

func (r *reader) run() (Order, error) {
	first := r.next()
	d, err := r.device(first)
	if err != nil {
		return nil, err
	}
	run := Run{Device: d}
	for {
		w := word{}
		switch r.peek() {
		case "group":
			w, err = r.number(&run.Group)
		case "tile":
			w, err = r.number(&run.Tile)
		default:
			return run, nil
		}
		if err != nil {
			return nil, err
		}
		if run.Tile != 0 && r.peek() == "group" {
			return nil, r.wrong(r.next(), "want group before tile")
		}
		if err := run.check("the run", false); err != nil {
			return nil, r.wrong(w, "%v", err)
		}
	}
}

func (r *reader) device(w word) (tcore.Device, error) {
	name, formats, given := strings.Cut(w.text, "(")
	d, ok := deviceNamed(name)
	if !ok {
		return d, r.wrong(w, "want a device, as roundoff devices lists them, or ieee-fma-x-y of two formats")
	}
	if given {
		first, second, two := strings.Cut(strings.TrimSuffix(formats, ")"), ",")
		a, okA := formatNamed(first)
		b, okB := formatNamed(second)
		ieee := strings.HasPrefix(name, "ieee-")
		if !two || !okA || !okB || !strings.HasSuffix(formats, ")") || !ieee && (!takes(d, a) || !d.Takes(b)) {
			return d, r.wrong(w, "want (x,y) with formats that the device multiplies, such as (%s,%s)", d.A.Name, d.B.Name)
		}
		d.A, d.B = a, b
	}
	if err := (Run{Device: d}).check("the run", false); err != nil {
		return d, r.wrong(w, "%v", err)
	}
	return d, nil
}

// takes reports whether the device takes factors x of format f.
func takes(d tcore.Device, f tcore.Format) bool {
	d.B = d.A
	return d.Takes(f)
}

func (r *reader) parts(each Order) (Order, error) {
	p := Parts{Each: each}
	first := word{"", len(r.text)}
	if len(r.words) > 0 {
		first = r.words[0]
	}
	if err := r.cut(&p.Cut); err != nil {
		return nil, err
	}
	if r.take("+") {
		if err := r.merge(&p.Merge, p.Cut); err != nil {
			return nil, err
		}
	}
	if err := p.check("these parts", false); err != nil {
		return nil, r.wrong(first, "%v", err)
	}
	return p, nil
}

// number reads a word and the number that follows it, once.
func (r *reader) number(n *int) (w word, err error) {
	name := r.next()
	if *n != 0 {
		return name, r.wrong(name, "stands twice")
	}
	if *n, err = r.integer(name.text); err != nil {
		return name, err
	}
	return name, nil
}

func (r *reader) integer(after string) (int, error) {
	w := r.next()
	n, err := strconv.Atoi(w.text)
	if err != nil || n < 1 || n > largest {
		return 0, r.wrong(w, "want a number from 1 to %d after %s", largest, after)
	}
	return n, nil
}

// list reads numbers between commas.
func (r *reader) list(after string) ([]int, error) {
	w := r.next()
	var list []int
	at := w.at
	for text := range strings.SplitSeq(w.text, ",") {
		n, err := (&reader{r.text, []word{{text, at}}}).integer(after)
		if err != nil {
			return nil, err
		}
		list, at = append(list, n), at+len(text)+1
	}
	return list, nil
}

func (r *reader) cut(c *Cut) (err error) {
	switch w := r.peek(); w {
	case "every":
		_, err = r.number(&c.Length)
	case "parts":
		if _, err = r.number(&c.Count); err == nil && r.peek() == "grain" {
			_, err = r.number(&c.Grain)
		}
		c.Floor = err == nil && r.take("floor")
	case "lanes":
		if _, err = r.number(&c.Lanes); err != nil {
			return err
		}
		switch r.peek() {
		case "vector":
			_, err = r.number(&c.Vector)
		case "upto":
			_, err = r.number(&c.Vector)
			c.Vector = -c.Vector
		}
		if err == nil && r.peek() == "nominal" {
			_, err = r.number(&c.Nominal)
		}
		if err == nil && r.peek() == "whole" {
			_, err = r.number(&c.Whole)
		}
	case "halves":
		if _, err = r.number(&c.Halves); err == nil && r.peek() == "most" {
			_, err = r.number(&c.Most)
		}
	case "head":
		_, err = r.number(&c.Head)
	case "at":
		r.next()
		c.At, err = r.list(w)
	default:
		err = r.wrong(r.next(), "want every, parts, lanes, at, halves or head")
	}
	return err
}

// mergeWords are the words of a merge, in their order.
var mergeWords = []string{"folds", "butterfly", "zero", "partial", "running", "fused", "fused-second"}

func (r *reader) merge(m *Merge, c Cut) (err error) {
	for before := -1; ; {
		i := slices.Index(mergeWords, r.peek())
		if i < 0 && !slices.Contains([]string{"", "|", ">"}, r.peek()) {
			return r.wrong(r.next(), "want %s, | and a cut, > and a format, or the end", strings.Join(mergeWords, ", "))
		}
		if i < 0 {
			return nil
		}
		w := r.next()
		if i <= before || i == 1 && before == 0 || i == 6 && before == 5 {
			return r.wrong(w, "want it once, in the order %s", strings.Join(mergeWords, ", "))
		}
		before = i
		switch w.text {
		case "folds":
			m.Folds, err = r.list(w.text)
		case "butterfly":
			if m.Folds = halves(max(c.Lanes, c.Count)); m.Folds == nil {
				err = r.wrong(w, "want it of a number of parts or lanes that is a power of two")
			}
		case "zero":
			m.Zero = true
		case "partial":
			m.Partial, err = r.format(w.text)
		case "running":
			m.Running, err = r.format(w.text)
		case "fused":
			m.Scale = Fused
		case "fused-second":
			m.Scale = FusedSecond
		}
		if err != nil {
			return err
		}
	}
}

func (r *reader) format(after string) (tcore.Format, error) {
	w := r.next()
	f, ok := formatNamed(w.text)
	if !ok {
		return f, r.wrong(w, "want a format after %s, one of %s", after, formatNames())
	}
	return f, nil
}
