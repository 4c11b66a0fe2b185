package study

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Plus returns the row with the counts of another of the same device, data and
// fault added, as those of another seed.
func (p Planted) Plus(q Planted) Planted {
	sum := func(x, y []int) (z []int) {
		for i := range x {
			z = append(z, x[i]+y[i])
		}
		return z
	}
	p.Faults, p.Above, p.Far, p.Below = p.Faults+q.Faults, p.Above+q.Above, p.Far+q.Far, p.Below+q.Below
	p.Named, p.Outputs = p.Named+q.Named, p.Outputs+q.Outputs
	p.Caught, p.Seen, p.Alarms = sum(p.Caught, q.Caught), sum(p.Seen, q.Seen), sum(p.Alarms, q.Alarms)
	return p
}

// counts returns the places of the counts of a row, in the order of the record.
func (p *Planted) counts() (all []*int) {
	all = []*int{&p.Faults, &p.Above, &p.Far, &p.Below, &p.Named, &p.Outputs}
	for _, list := range []*[]int{&p.Caught, &p.Seen, &p.Alarms} {
		if *list == nil {
			*list = make([]int, len(Criteria))
		}
		for i := range *list {
			all = append(all, &(*list)[i])
		}
	}
	return all
}

// WritePlanted writes rows as CSV.
func WritePlanted(w io.Writer, all []Planted) error {
	c := csv.NewWriter(w)
	head := []string{"device", "data", "fault", "emulated", "faults", "above", "far", "below", "named", "outputs"}
	for _, kind := range []string{"caught", "seen", "alarms"} {
		for _, name := range Criteria {
			head = append(head, kind+"_"+name)
		}
	}
	c.Write(head) // Error returns the first error
	for _, p := range all {
		row := []string{p.Device, p.Data, p.Fault, strconv.FormatBool(p.Emulated)}
		for _, n := range p.counts() {
			row = append(row, strconv.Itoa(*n))
		}
		c.Write(row)
	}
	c.Flush()
	return c.Error()
}

// RecordedPlanted returns what [Plant] found on all [PlantedDevices] with the
// seeds 1 to 3, which make tolerance records in recorded/planted.csv. The error
// says that the record cannot be read.
func RecordedPlanted() ([]Planted, error) {
	f, err := recorded.Open("recorded/planted.csv")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("study: recorded/planted.csv: %d rows, %w", len(rows), err)
	}
	var all []Planted
	for _, row := range rows[1:] {
		p := Planted{Device: row[0], Data: row[1], Fault: row[2], Emulated: row[3] == "true"}
		counts := p.counts()
		if len(row) != 4+len(counts) {
			return nil, fmt.Errorf("study: recorded/planted.csv: a row of %d fields, want %d", len(row), 4+len(counts))
		}
		for i, n := range counts {
			if *n, err = strconv.Atoi(row[4+i]); err != nil {
				return nil, fmt.Errorf("study: recorded/planted.csv: %w", err)
			}
		}
		all = append(all, p)
	}
	return all, nil
}

// total returns the sum of the rows for which is is true.
func total(all []Planted, is func(Planted) bool) (z Planted) {
	z.counts()
	for _, p := range all {
		if is(p) {
			z = z.Plus(p)
		}
	}
	return z
}

// ofThem returns n of m in percent, a dash if m is 0.
func ofThem(n, m int) string {
	switch {
	case m == 0:
		return "–"
	case n == 0:
		return "0 %"
	case n == m:
		return "100 %"
	}
	if x := 100 * float64(n) / float64(m); x > 99.9 {
		return ">99.9 %"
	} else if x >= 0.1 {
		return fmt.Sprintf("%.1f %%", x)
	} else {
		return fmt.Sprintf("%.1g %%", x)
	}
}

// plantedNames are the faults as the tables name them.
var plantedNames = [][2]string{
	{TailFault, "a dropped tail of K"}, {OneScale, "one wrong scale"}, {HalfSums, "sums of parts in binary16"},
	{Swapped, "two swapped rows"}, {OneBit, "one flipped low bit"},
}

// PlantedTable returns a table in Markdown of what the criteria catch, by
// fault: the tolerance of all that were planted, and each criterion of those
// above rounding size, or with far of those above ten times that; and which
// sound products they refuse.
func PlantedTable(all []Planted, far bool) string {
	var b strings.Builder
	b.WriteString("| | planted | `assert_close`, of all | above | `assert_close` | with `emulate=\"bits\"` | `allclose`, 1e-5, 1e-8 | 1e-2, 1e-2 | 6√(2K)u |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	row := func(name string, is func(Planted) bool) {
		z := total(all, is)
		emulated := total(all, func(p Planted) bool { return is(p) && p.Emulated })
		above, caught, aboveEmulated, caughtEmulated := z.Above, z.Caught, emulated.Above, emulated.Caught
		if far {
			above, caught, aboveEmulated, caughtEmulated = z.Far, z.Seen, emulated.Far, emulated.Seen
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %d | %s | %s | %s | %s | %s |\n", name, z.Faults, ofThem(z.Caught[0]+z.Below, z.Faults), above, ofThem(caught[0], above),
			ofThem(caughtEmulated[1], aboveEmulated), ofThem(caught[2], above), ofThem(caught[3], above), ofThem(caught[4], above))
	}
	for _, fault := range plantedNames {
		row(fault[1], func(p Planted) bool { return p.Fault == fault[0] })
	}
	row("**all**", func(p Planted) bool { return p.Fault != NoFault })
	if far {
		return b.String()
	}
	z := total(all, func(p Planted) bool { return p.Fault == NoFault })
	fmt.Fprintf(&b, "| sound products refused | %d | | | %s | %s | %s | %s | %s |\n", z.Faults, ofThem(z.Caught[0], z.Faults), ofThem(z.Caught[1], z.Faults),
		ofThem(z.Caught[2], z.Faults), ofThem(z.Caught[3], z.Faults), ofThem(z.Caught[4], z.Faults))
	fmt.Fprintf(&b, "| their outputs refused | %d | | | %s | %s | %s | %s | %s |\n", z.Outputs, ofThem(z.Alarms[0], z.Outputs), ofThem(z.Alarms[1], z.Outputs),
		ofThem(z.Alarms[2], z.Outputs), ofThem(z.Alarms[3], z.Outputs), ofThem(z.Alarms[4], z.Outputs))
	return b.String()
}

// PlantedNamed returns a sentence on how often the first cause that a report
// names is the fault that was planted.
func PlantedNamed(all []Planted) string {
	var words []string
	for _, fault := range plantedNames {
		z := total(all, func(p Planted) bool { return p.Fault == fault[0] })
		words = append(words, fmt.Sprintf("%s %s", fault[1], ofThem(z.Named, z.Caught[0]+z.Below)))
	}
	return "The first cause that the report names is the fault, of those that `assert_close` catches: " + strings.Join(words, ", ") + ".\n"
}

// PlantedDevicesTable returns a table in Markdown with a row for each device:
// the shares of faults above rounding size that are caught, and of outputs of
// sound products that are refused.
func PlantedDevicesTable(all []Planted) string {
	var b strings.Builder
	b.WriteString("| Device | above | caught | bits above | caught | with `emulate` | sound outputs refused | `allclose` | 1e-2 | 6√(2K)u |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	var names []string
	for _, p := range all {
		if !slices.Contains(names, p.Device) {
			names = append(names, p.Device)
		}
	}
	for _, name := range names {
		of := func(is func(Planted) bool) Planted {
			return total(all, func(p Planted) bool { return p.Device == name && is(p) })
		}
		other := of(func(p Planted) bool { return p.Fault != NoFault && p.Fault != OneBit })
		bits := of(func(p Planted) bool { return p.Fault == OneBit })
		emulated := of(func(p Planted) bool { return p.Fault == OneBit && p.Emulated })
		sound := of(func(p Planted) bool { return p.Fault == NoFault })
		fmt.Fprintf(&b, "| %s | %d | %s | %d | %s | %s | %s | %s | %s | %s |\n", name, other.Above, ofThem(other.Caught[0], other.Above), bits.Above,
			ofThem(bits.Caught[0], bits.Above), ofThem(emulated.Caught[1], emulated.Above), ofThem(sound.Alarms[0], sound.Outputs),
			ofThem(sound.Alarms[2], sound.Outputs), ofThem(sound.Alarms[3], sound.Outputs), ofThem(sound.Alarms[4], sound.Outputs))
	}
	return b.String()
}
