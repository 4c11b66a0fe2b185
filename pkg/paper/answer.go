package paper

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/roundofflab/roundoff/internal/atomicfile"
)

// answer is what all claims together say: the content of answer.json.
type answer struct {
	Sentences []sentence `json:"sentences"`
	Items     []item     `json:"items"`
}

// sentence is one finding. Its words are chosen by the verdicts of the claims
// on which it rests.
type sentence struct {
	Lead    string   `json:"lead"` // what was found
	Rest    string   `json:"rest"` // by which numbers
	Verdict Verdict  `json:"verdict"`
	Claims  []string `json:"claims"` // ids
}

// item is a figure or table of the paper by its name there, with its numbers.
type item struct {
	Name   string `json:"name"`   // such as "Figure 5"
	Figure string `json:"figure"` // the name of the figure that shows it here
	Shows  string `json:"shows"`
	Lines  []line `json:"lines"` // empty if it has no number
}

// line is one number of an item, in the paper and here.
type line struct {
	Quantity string   `json:"quantity"`
	Paper    string   `json:"paper"`
	Here     string   `json:"here"`
	Verdict  Verdict  `json:"verdict"`
	Claims   []string `json:"claims"`
}

// WriteAnswer writes what the claims say together as JSON to answer.json in the
// folder dir: six sentences, and the paper's figures and tables with the
// paper's numbers and ours. The file is replaced atomically. If dir is empty,
// nothing is written. It returns an error if a claim that is needed is not in
// the list, or if writing fails.
func WriteAnswer(dir string, list []Claim) error {
	a, err := answerOf(list)
	if err != nil || dir == "" {
		return err
	}
	data, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return fmt.Errorf("paper: encoding the answer: %w", err)
	}
	if err := atomicfile.WriteFile(filepath.Join(dir, "answer.json"), append(data, '\n')); err != nil {
		return fmt.Errorf("paper: writing the answer: %w", err)
	}
	return nil
}

// answerOf returns the answer, or an error if a claim that it needs is missing.
func answerOf(list []Claim) (answer, error) {
	b := book{claims: map[string]Claim{}}
	for _, c := range list {
		b.claims[c.ID] = c
	}
	a := answer{
		Sentences: []sentence{b.mathematics(), b.gain(), b.single(), b.loose(), b.slip(), b.profile()},
		Items:     b.items(),
	}
	if len(b.missing) > 0 {
		return answer{}, fmt.Errorf("paper: no claims %q for the answer", b.missing)
	}
	return a, nil
}

// book finds claims by their ids and remembers which ones are missing.
type book struct {
	claims  map[string]Claim
	missing []string
}

// measured returns what was measured for a claim.
func (b *book) measured(id string) float64 {
	c := b.claims[id]
	if c.Measured == nil {
		b.missing = append(b.missing, id)
		return math.NaN()
	}
	return *c.Measured
}

// verdict returns Differs if one of the claims differs, otherwise
// CannotBeTested if one of them cannot be tested, otherwise Reproduced.
func (b *book) verdict(ids ...string) Verdict {
	worst := Reproduced
	for _, id := range ids {
		c, ok := b.claims[id]
		switch {
		case !ok:
			b.missing = append(b.missing, id)
		case c.Verdict == Differs, worst == Reproduced:
			worst = c.Verdict
		}
	}
	return worst
}

// count returns how many of the claims have a verdict.
func (b *book) count(v Verdict, ids []string) int {
	n := 0
	for _, id := range ids {
		if b.verdict(id) == v {
			n++
		}
	}
	return n
}

// say returns the sentence that begins with yes if all claims are reproduced,
// otherwise with no.
func (b *book) say(yes, no, rest string, ids ...string) sentence {
	v := b.verdict(ids...)
	if v != Reproduced {
		yes = no
	}
	return sentence{Lead: yes, Rest: rest, Verdict: v, Claims: ids}
}

func (b *book) mathematics() sentence {
	ids := []string{"lemma1-holds", "lemma2-holds", "lemma-fma-exact", "lemma-fma-dbea", "lemma-fma-vibea", "mac-no-violation", "gemm-no-violation"}
	return b.say("The mathematics holds", "The mathematics does not hold as it is stated",
		fmt.Sprintf("%d of %d claims that a bound holds are reproduced; of the products of rounding errors %s keep to the probabilistic bound, and %s were promised.",
			b.count(Reproduced, ids), len(ids), percent(b.measured("lemma2-holds")), percent(Confidence)), ids...)
}

// tenfold reports whether 10 is the power of ten nearest to x.
func tenfold(x float64) bool { return math.Round(math.Log10(x)) == 1 }

func (b *book) gain() sentence {
	dbea, vibea := DefaultGEMM.Constant("DBEA"), DefaultGEMM.Constant("VIBEA")
	converted := dbea.ZetaRepresented / vibea.ZetaRepresented
	yes := "The tenfold gain of probability in matrix products holds, with and without conversion error"
	if !tenfold(converted) {
		yes = "The tenfold gain of probability in matrix products holds without conversion error"
	}
	return b.say(yes, "The tenfold gain of probability in matrix products is not found",
		fmt.Sprintf("the probabilistic bound is %.1f times smaller than the deterministic one (%.1f with the misprint in its union bound mended), and %.1f times where converting the inputs to binary16 counts.",
			b.measured("gemm-ratio"), dbea.Zeta/vibea.Zeta, converted),
		"gemm-ratio", "gemm-order-of-magnitude")
}

func (b *book) single() sentence {
	return b.say("In a single multiply-add probability gains nothing", "In a single multiply-add the two analyses compare otherwise than in the paper",
		fmt.Sprintf("the probabilistic bound is %.1f times the deterministic one without FMA, %.1f times with mixed precision, %.1f times with FMA. The error of mixed precision is %.0f times that of FMA (the paper: nearly %s).",
			b.measured("mac-dbea-tighter-plain"), b.measured("mac-dbea-tighter-mpfma"), b.measured("mac-fma-same-bound"),
			b.measured("mac-mpfma-over-fma"), b.paper("mac-mpfma-over-fma")),
		"mac-dbea-tighter-plain", "mac-dbea-tighter-mpfma", "mac-fma-same-bound", "mac-mpfma-over-fma")
}

func (b *book) loose() sentence {
	return b.say("Both bounds are as loose as the paper says", "How loose the two bounds are differs from what the paper says",
		fmt.Sprintf("in the matrix product the deterministic one is %s times the largest error (the paper: nearly %s), the probabilistic one %s times (nearly %s).",
			digits(b.measured("gemm-dbea-overestimates"), 2), b.paper("gemm-dbea-overestimates"),
			digits(b.measured("gemm-vibea-overestimates"), 2), b.paper("gemm-vibea-overestimates")),
		"gemm-dbea-overestimates", "gemm-vibea-overestimates")
}

func (b *book) slip() sentence {
	const product, power, positive = "gemm-dbea-u-times-1e11", "gemm-dbea-1e2", "gemm-positive-1e-2"
	lead := "Whether O(10²), a bound in Section 4.2, is a slip is not decided"
	switch {
	case b.verdict(power) == Reproduced:
		lead = "O(10²), a bound in Section 4.2, is no slip"
	case b.verdict(product) == Reproduced && b.verdict(power) == Differs:
		lead = "O(10²), a bound in Section 4.2, is a slip"
	case b.verdict(product) == Differs && b.verdict(power) == Differs:
		lead = "The deterministic bound of Section 4.2 is not found, neither u₃₂ × 10¹¹ nor O(10²)"
	}
	return sentence{Lead: lead, Verdict: b.verdict(product, power, positive), Claims: []string{product, power, positive},
		Rest: fmt.Sprintf("u₃₂ × 10¹¹, for which it stands, is %s; measured: %s. The conclusions give O(%s) as the error for data from U(0, 1): measured there %s, for U(−1, 1) %s.",
			digits(u32*1e11, 3), digits(b.measured(power), 4), b.paper(positive), digits(b.measured(positive), 2), digits(b.measured("gemm-error-1e-2"), 2))}
}

// The claims about Table 3.
var profileIDs = []string{"profile-intensity-plain", "profile-intensity-fma", "profile-intensity-mpfma", "profile-rate-plain", "profile-rate-fma",
	"profile-rate-mpfma", "profile-intensity-ratio", "profile-speedup"}

func (b *book) profile() sentence {
	again := b.count(Reproduced, profileIDs)
	lead := "Table 3 can be reproduced in part"
	switch again {
	case 0:
		lead = "Table 3 cannot be reproduced as printed"
	case len(profileIDs):
		lead = "Table 3 is reproduced"
	}
	return sentence{Lead: lead, Verdict: b.verdict(profileIDs...), Claims: profileIDs,
		Rest: fmt.Sprintf("of %d claims %d are reproduced, %d differ, %d cannot be tested. Mixed precision does %.2f times the work of FMA for each byte and is %.2f times as fast on this processor (the paper: %.2f and nearly %s).",
			len(profileIDs), again, b.count(Differs, profileIDs), b.count(CannotBeTested, profileIDs),
			b.measured("profile-intensity-ratio"), b.measured("profile-speedup"), b.value("profile-intensity-ratio"), b.paper("profile-speedup"))}
}

// value returns the number that the paper has for a claim.
func (b *book) value(id string) float64 {
	c := b.claims[id]
	if c.Value == nil {
		b.missing = append(b.missing, id)
		return math.NaN()
	}
	return *c.Value
}

// paper returns the number that the paper has for a claim, as text.
func (b *book) paper(id string) string { return printed(b.value(id)) }

// printed returns x as a power of ten if it is one, with at most four digits if
// it is none.
func printed(x float64) string {
	if e := math.Round(math.Log10(x)); e != 0 && e != 1 && math.Abs(x/math.Pow(10, e)-1) < 1e-9 {
		return "10" + superscript(int(e))
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// items returns the paper's figures and tables in its order.
func (b *book) items() []item {
	formats := []string{}
	for _, format := range []string{"binary16", "binary32", "binary64"} {
		formats = append(formats, "format-p-"+format, "format-emin-"+format, "format-emax-"+format)
	}
	return []item{
		{"Figure 1", "fig1-errors", "forward and backward error", []line{}},
		{"Figure 2", "fig2-mpfma", "a mixed-precision multiply-add", []line{
			b.line("share of binary16 products that are exact in binary32", "", "product-exact"),
		}},
		{"Figure 3", "fig3-tensor-core-block", "the block of a tensor core", []line{
			b.line("multiply-adds at once", "", "tc-64-mpfma"),
		}},
		{"Figure 4", "fig4-tensor-core-kernel", "the kernel of a tensor core", []line{
			b.line("additions that round a term, for 64 terms", "", "tc-k-minus-1"),
		}},
		{"Figure 5", "fig5-mac-edf", "errors of a multiply-add", []line{
			b.line("largest error, MPFMA over FMA", "O(%s)", "mac-mpfma-over-fma"),
			b.line("bound over largest error, FMA", "near 1", "mac-fma-tight"),
			b.line("VIBEA over DBEA, without FMA", "above 1", "mac-dbea-tighter-plain"),
			b.line("VIBEA over DBEA, with MPFMA", "above 1", "mac-dbea-tighter-mpfma"),
		}},
		{"Figure 6", "fig6-gemm-edf-symmetric", "errors of a matrix product", []line{
			b.line("largest error", "O(%s)", "gemm-error-1e-2"),
			b.line("largest bound, DBEA", "O(%s)", "gemm-dbea-1e2"),
			b.line("largest bound, VIBEA", "O(%s)", "gemm-vibea-1e1"),
			b.line("DBEA over VIBEA", "nearly %s", "gemm-ratio"),
		}},
		{"Table 1", "table1-formats", "three formats", []line{b.line("p, e_min and e_max", fmt.Sprintf("%d numbers", len(formats)), formats...)}},
		{"Table 2", "table2-tensor-core", "two modes of a tensor core", []line{b.line("rows of unit roundoffs", "2 rows", "table2-row-1", "table2-row-2")}},
		{"Table 3", "table3-mac-profile", "work for each byte, and speed", []line{
			b.line("intensity of FMA", "%s flop/byte", "profile-intensity-fma"),
			b.line("intensity of MPFMA", "%s flop/byte", "profile-intensity-mpfma"),
			b.line("speed of MPFMA", fmt.Sprintf("%.5f “Flops/s”", profileRows[2].PaperRate), "profile-rate-mpfma"),
			b.line("speed, MPFMA over FMA", "nearly %s", "profile-speedup"),
		}},
	}
}

// line returns a number of an item: that of one claim, or how many of several
// are reproduced. The text paper is what the paper says, where %s stands for
// the number of the claim; "" is that number alone.
func (b *book) line(quantity, paper string, ids ...string) line {
	l := line{Quantity: quantity, Paper: paper, Verdict: b.verdict(ids...), Claims: ids}
	switch {
	case len(ids) > 1:
		l.Here = fmt.Sprintf("%d of %d the same", b.count(Reproduced, ids), len(ids))
		return l
	case paper == "":
		l.Paper = b.paper(ids[0])
	case strings.Contains(paper, "%s"):
		l.Paper = strings.Replace(paper, "%s", b.paper(ids[0]), 1)
	}
	l.Here = short(b.measured(ids[0]))
	if unit := b.claims[ids[0]].Unit; unit != "" {
		l.Here += " " + unit
	}
	return l
}
