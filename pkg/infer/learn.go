package infer

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// An Answer is a question and the code of the result of the box.
type Answer struct {
	Dot
	D uint64
}

// Learned is what [Learn] finds out of a box.
type Learned struct {
	Shape
	// Record gives all answers of the box. It has no Core if no record that was
	// tried does so.
	Record tcore.Device
	// Alike are the records that differ from Record in one parameter and give the
	// same answers too, and to all of the Undecided dot products drawn since the
	// last one that told two of them apart.
	Alike     []tcore.Device
	Undecided int
	Tried     int      // records of the grammar that were tried
	Asked     int      // dot products that the box computed, those asked twice counted twice
	Checked   int      // random dot products computed to check the record, after it was found
	Agreed    int      // how many of these it gives
	Vectors   []Answer // the answers by which all other records that were tried were dropped

	// Closest is one of the records that give most of the first answers, and
	// Against an answer that it does not give. They are set if there is no Record.
	Closest tcore.Device
	Against *Answer
}

// Explained reports whether a record of the grammar gives all answers.
func (l Learned) Explained() bool { return l.Record.Core != nil }

// How many dot products are asked: of each kind before any record is tried, to
// check the record that is found, and in all; how many of the first are asked
// twice; and how many are drawn without a difference before records count as
// alike.
const (
	firstQuestions = 300
	checkQuestions = 10_000
	mostQuestions  = 100_000
	twice          = 100
	unlike         = 4000
	batch          = 32
	mostTelling    = 4000 // an allowance for questions that tell records apart
)

// Learn derives the record of a box from its answers. It asks at first
// questions of every kind and drops all records of the grammar that answer one
// otherwise, until one is left that answers all as the box does. It then draws
// questions, by emulation, which that record and those that differ from it in
// one parameter answer differently, and asks these. Finally it asks 10,000
// more. A record that an answer contradicts is dropped, and the search goes on.
// It asks at most 100,000 dot products. The same seed draws the same questions.
//
// The error is that of the box or of ctx, or says that the box does not answer
// the same question in the same way, or that its shape is none that a device
// has. That no record explains a box is no error.
func Learn(ctx context.Context, box Box, seed uint64) (Learned, error) {
	l := &learner{ctx: ctx, box: box, drawer: newDrawer(box.Shape(), seed)}
	l.Learned.Shape = box.Shape()
	if err := l.Learned.Shape.check(); err != nil {
		return l.Learned, err
	}
	err := l.learn()
	l.tell()
	return l.Learned, err
}

// A learner learns one box.
type learner struct {
	Learned
	ctx    context.Context
	box    Box
	drawer *drawer

	answers []Answer // all of them
	telling []int    // indices of answers that contradict a record, the last to do so first
}

func (l *learner) learn() error {
	if err := l.askKinds(firstQuestions); err != nil {
		return err
	}
	if err := l.askTwice(); err != nil {
		return err
	}

	result, sum, err := l.precisions()
	if err != nil {
		return err
	}
	all := frames(l.Learned.Shape, result, sum)
	kept, err := l.distinguish(l.filter(all, 0, firstQuestions), []kind{high})
	if err != nil {
		return err
	}
	if len(kept) == 0 {
		return l.closest(all, 0, firstQuestions)
	}
	for d := range l.survivors(l.each(kept, l.nan())) {
		ok, err := l.settle(d)
		if ok || err != nil {
			return err
		}
		if l.Asked+checkQuestions+mostTelling > mostQuestions {
			break
		}
	}
	if err := l.ctx.Err(); err != nil {
		return err
	}
	return l.closest(l.each(kept[:1], l.nan()), firstQuestions, len(l.answers))
}

// survivors yields the records that give all answers of the box so far.
func (l *learner) survivors(records iter.Seq[tcore.Device]) iter.Seq[tcore.Device] {
	return func(yield func(tcore.Device) bool) {
		for some := range l.inFews(records) {
			for _, d := range l.filter(slices.Values(some), 0, len(l.answers)) {
				if l.contradicted(d, 0, len(l.answers)) < 0 && !yield(d) {
					return
				}
			}
		}
	}
}

// settle tells d apart from the records that differ in one parameter, and
// checks it. If the box's answers do not contradict d, it becomes the Record.
func (l *learner) settle(d tcore.Device) (ok bool, err error) {
	near := append([]tcore.Device{d}, l.filter(l.Learned.neighbours(d), 0, len(l.answers))...)
	near, err = l.distinguish(near, allKinds())
	if err != nil || len(near) == 0 || near[0] != d {
		return false, err
	}
	ks := allKinds()
	var qs []Dot
	for i := range checkQuestions {
		qs = append(qs, l.drawer.question(ks[i%len(ks)]))
	}
	from := len(l.answers)
	if err := l.ask(qs); err != nil {
		return false, err
	}
	if l.contradicted(d, from, len(l.answers)) >= 0 {
		return false, nil
	}
	l.Record, l.Alike, l.Checked, l.Agreed = d, near[1:], len(qs), len(qs)
	return true, nil
}

func allKinds() []kind { return []kind{high, mixed, tiny, raw, special} }

// each yields the records of all frames.
func (l *learner) each(frames []tcore.Device, nan uint64) iter.Seq[tcore.Device] {
	return func(yield func(tcore.Device) bool) {
		for _, d := range frames {
			for r := range l.Learned.records(d, nan) {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// ask appends the box's answers.
func (l *learner) ask(questions []Dot) error {
	d, err := l.dots(questions)
	for i, code := range d {
		l.answers = append(l.answers, Answer{questions[i], code})
	}
	return err
}

// dots returns the box's results, or an error if they are not one code of C for
// each question.
func (l *learner) dots(questions []Dot) ([]uint64, error) {
	d, err := l.box.Dots(l.ctx, questions)
	if err != nil {
		return nil, err
	}
	l.Asked += len(questions)
	if len(d) != len(questions) {
		return nil, fmt.Errorf("infer: %d answers to %d questions", len(d), len(questions))
	}
	for i, code := range d {
		if code>>l.C.Bits() != 0 {
			return nil, fmt.Errorf("infer: answer %d is %#x, want a code of %s of %d bits", i, code, l.C.Name, l.C.Bits())
		}
	}
	return d, nil
}

// askKinds asks n questions of each kind, those of the kind high first.
func (l *learner) askKinds(n int) error {
	var qs []Dot
	for _, k := range allKinds() {
		qs = append(qs, l.drawer.questions(n, k)...)
	}
	return l.ask(qs)
}

// askTwice returns an error if the box answers one of the first questions
// otherwise than before. It asks them in another order.
func (l *learner) askTwice() error {
	order := rand.New(rand.NewPCG(1, 1)).Perm(len(l.answers))[:twice]
	qs := make([]Dot, twice)
	for i, k := range order {
		qs[i] = l.answers[k].Dot
	}
	d, err := l.dots(qs)
	if err != nil {
		return err
	}
	for i, k := range order {
		if before := l.answers[k].D; d[i] != before {
			return fmt.Errorf("infer: the box changes its answers: %#x, then %#x to x = %#x, y = %#x, c = %#x", before, d[i], qs[i].X, qs[i].Y, qs[i].C)
		}
	}
	return nil
}

// precisions returns the most significant bits of all results, and of those
// with c = 0 and only the first four products, which meet no other sum.
func (l *learner) precisions() (result, sum int, err error) {
	qs := l.drawer.questions(firstQuestions, high)
	for i := range qs {
		clear(qs[i].X[min(4, l.K):])
		qs[i].C = 0
	}
	from := len(l.answers)
	if err := l.ask(qs); err != nil {
		return 0, 0, err
	}
	for i, a := range l.answers {
		n := significant(l.C.Decode(a.D))
		result = max(result, n)
		if i >= from {
			sum = max(sum, n)
		}
	}
	return result, sum, nil
}

// nan returns the code of the first NaN that the box answered, or 0 if that is
// the code that [tcore.Format.Encode] gives, or if there is none.
func (l *learner) nan() uint64 {
	for _, a := range l.answers {
		if z := l.C.Decode(a.D); z != z {
			if a.D == l.C.Encode(math.NaN(), tcore.ToNearestEven) {
				return 0
			}
			return a.D
		}
	}
	return 0
}

// filter returns the records that give the answers of index from to end, in
// their order. It tries those answers first that contradicted others.
func (l *learner) filter(records iter.Seq[tcore.Device], from, end int) (kept []tcore.Device) {
	for some := range l.inFews(records) {
		at := make([]int, len(some))
		parallel.Each(len(some), func(i int) { at[i] = l.contradicted(some[i], from, end) })
		for i, d := range some {
			if at[i] < 0 {
				kept = append(kept, d)
			} else {
				l.tells(at[i])
			}
		}
		l.Tried += len(some)
	}
	return kept
}

// inFews yields all records, some dozens at a time, in a slice that the next
// ones overwrite. It ends early where ctx does.
func (l *learner) inFews(records iter.Seq[tcore.Device]) iter.Seq[[]tcore.Device] {
	return func(yield func([]tcore.Device) bool) {
		some := make([]tcore.Device, 0, 64)
		for d := range records {
			if some = append(some, d); len(some) < cap(some) {
				continue
			}
			if l.ctx.Err() != nil || !yield(some) {
				return
			}
			some = some[:0]
		}
		if len(some) > 0 {
			yield(some)
		}
	}
}

// contradicted returns the index, from from to end, of an answer that d does
// not give, or -1.
func (l *learner) contradicted(d tcore.Device, from, end int) int {
	for _, i := range l.telling {
		if i >= from && i < end && answer(d, l.answers[i].Dot) != l.answers[i].D {
			return i
		}
	}
	for i, a := range l.answers[from:end] {
		if answer(d, a.Dot) != a.D {
			return from + i
		}
	}
	return -1
}

// tells remembers that answer i contradicts a record.
func (l *learner) tells(i int) {
	at := slices.Index(l.telling, i)
	if at == 0 {
		return
	}
	if at > 0 {
		l.telling = slices.Delete(l.telling, at, at+1)
	}
	l.telling = slices.Insert(l.telling, 0, i)
}

// closest sets Closest and Against: of all records that which gives most of
// some answers of index from to end, the first one if there are several.
func (l *learner) closest(records iter.Seq[tcore.Device], from, end int) error {
	const few = 50
	step, best := max(1, (end-from)/few), -1
	for some := range l.inFews(records) {
		agreed := make([]int, len(some))
		parallel.Each(len(some), func(i int) {
			for k := from; k < end; k += step {
				if answer(some[i], l.answers[k].Dot) == l.answers[k].D {
					agreed[i]++
				}
			}
		})
		for i, n := range agreed {
			if n > best {
				best, l.Closest = n, some[i]
			}
		}
	}
	switch {
	case l.ctx.Err() != nil:
		return l.ctx.Err()
	case best < 0:
		return fmt.Errorf("infer: no record adds %d products of %s × %s in %s, with scales in %q", l.K, l.A.Name, l.B.Name, l.C.Name, l.Scale.Name)
	}
	if at := l.contradicted(l.Closest, from, len(l.answers)); at >= 0 {
		l.Against = &l.answers[at]
	}
	return nil
}

// distinguish draws questions of the kinds in turn until the given number has
// not told two of the records apart, and asks those that do. It compares the
// first record with the last one, and neighbours, with each question. It
// returns the records that give all answers.
func (l *learner) distinguish(records []tcore.Device, ks []kind) ([]tcore.Device, error) {
	l.Undecided = 0
	var telling []Dot
	for draws := 0; len(records) > 1 && l.Undecided < unlike; draws++ {
		if err := l.ctx.Err(); err != nil {
			return nil, err
		}
		q := l.drawer.question(ks[draws%len(ks)])
		l.Undecided++
		i := l.drawer.rng.IntN(len(records) - 1)
		z := answer(records[i], q)
		if z == answer(records[i+1], q) && z == answer(records[0], q) && z == answer(records[len(records)-1], q) {
			continue
		}
		l.Undecided = 0
		if telling = append(telling, q); len(telling) < batch && draws%unlike != unlike-1 {
			continue
		}
		var err error
		if records, err = l.narrow(records, telling); err != nil {
			return nil, err
		}
		telling = nil
	}
	return l.narrow(records, telling)
}

// narrow asks the questions and returns the records that give the answers.
func (l *learner) narrow(records []tcore.Device, questions []Dot) ([]tcore.Device, error) {
	from, tried := len(l.answers), l.Tried
	if err := l.ask(questions); err != nil {
		return nil, err
	}
	records = l.filter(slices.Values(records), from, len(l.answers))
	l.Tried = tried // they were counted before
	return records, nil
}

// tell sets the vectors.
func (l *learner) tell() {
	slices.Sort(l.telling)
	for _, i := range l.telling {
		l.Vectors = append(l.Vectors, l.answers[i])
	}
}
