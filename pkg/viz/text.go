package viz

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"codeberg.org/go-fonts/dejavu/dejavusans"
	"codeberg.org/go-fonts/dejavu/dejavusansbold"
	"codeberg.org/go-fonts/dejavu/dejavusansboldoblique"
	"codeberg.org/go-fonts/dejavu/dejavusansoblique"
	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
)

// fontFamily is the font of all drawings. Texts are measured in the embedded
// DejaVu Sans; the fallbacks have the same width or are narrower.
const fontFamily = "'DejaVu Sans', 'Bitstream Vera Sans', Verdana, sans-serif"

// run is a stretch of text in one style.
type run struct {
	text   string
	italic bool
	script int // +1 raised, -1 lowered
}

const (
	scriptScale = 0.72 // size of a raised or lowered run
	scriptRise  = 0.36 // distance of a superscript from the baseline, in text sizes
	scriptDrop  = 0.16
)

// parse splits a label at its marks *italic*, _{subscript} and ^{superscript};
// subscripts and superscripts may contain italics. A star without a partner, or
// next to a space, is a plain star.
func parse(s string) []run {
	var runs []run
	var plain strings.Builder
	flush := func() {
		if plain.Len() > 0 {
			runs = append(runs, run{text: plain.String()})
			plain.Reset()
		}
	}
	for s != "" {
		if r, n := marked(s); n > 0 {
			flush()
			runs = append(runs, r...)
			s = s[n:]
			continue
		}
		_, n := utf8.DecodeRuneInString(s)
		plain.WriteString(s[:n])
		s = s[n:]
	}
	flush()
	return runs
}

// marked returns the runs of the mark at the start of s and the length of the
// mark, 0 if there is none.
func marked(s string) ([]run, int) {
	if s[0] == '*' {
		end := strings.IndexByte(s[1:], '*') + 1
		if end < 2 || s[1] == ' ' || s[end-1] == ' ' {
			return nil, 0
		}
		return []run{{text: s[1:end], italic: true}}, end + 1
	}
	end := strings.IndexByte(s, '}')
	if end < 3 || s[1] != '{' || s[0] != '_' && s[0] != '^' {
		return nil, 0
	}
	runs := parse(s[2:end])
	for i := range runs {
		runs[i].script = 1
		if s[0] == '_' {
			runs[i].script = -1
		}
	}
	return runs, end + 1
}

// unmarked returns the label without marks, for viewers that show plain text
// only.
func unmarked(s string) string {
	var b strings.Builder
	level := 0
	for _, r := range parse(s) {
		if r.script != level && r.script != 0 {
			b.WriteString(map[int]string{-1: "_", 1: "^"}[r.script])
		}
		level = r.script
		b.WriteString(r.text)
	}
	return b.String()
}

// faces returns the four fonts: upright, oblique, bold, bold oblique.
var faces = sync.OnceValue(func() (f [4]font.Face) {
	files := [4][]byte{dejavusans.TTF, dejavusansoblique.TTF, dejavusansbold.TTF, dejavusansboldoblique.TTF}
	for i, ttf := range files {
		face, err := opentype.Parse(ttf)
		if err != nil {
			panic("viz: embedded font: " + err.Error())
		}
		f[i] = font.Face{Font: font.Font{Typeface: "DejaVu"}, Face: face}
	}
	return f
})

// face returns the font of a run at a size in px.
func face(italic, bold bool, size float64) font.Face {
	i := 0
	if italic {
		i++
	}
	if bold {
		i += 2
	}
	f := faces()[i]
	f.Font.Size = font.Length(size)
	return f
}

// textWidth returns the width of a label in px.
func textWidth(s string, size float64, bold bool) float64 {
	w := 0.0
	for _, r := range parse(s) {
		f := face(r.italic, bold, r.size(size))
		w += float64(f.Width(r.text))
	}
	return w
}

// checkWidth panics if the text is wider than most px.
func checkWidth(argument, text string, size, most float64) {
	w := textWidth(text, size, false)
	check(w <= most, "%s %q is %.0f px wide, want at most %v", argument, text, w, most)
}

func (r run) size(whole float64) float64 {
	if r.script != 0 {
		return scriptScale * whole
	}
	return whole
}

// shift returns by how many px the run is below the baseline.
func (r run) shift(whole float64) float64 {
	switch r.script {
	case 1:
		return -scriptRise * whole
	case -1:
		return scriptDrop * whole
	}
	return 0
}

// glyphBox returns the bounding box of a character in px, y downward.
func glyphBox(f font.Face, r rune) Box {
	var buf sfnt.Buffer
	ppem := fixed.Int26_6(64 * float64(f.Font.Size))
	i, err := f.Face.GlyphIndex(&buf, r)
	if err != nil {
		return Box{}
	}
	b, _, err := f.Face.GlyphBounds(&buf, i, ppem, xfont.HintingNone)
	if err != nil {
		return Box{}
	}
	px := func(v fixed.Int26_6) float64 { return float64(v) / 64 }
	return Box{px(b.Min.X), px(b.Min.Y), px(b.Max.X), px(b.Max.Y)}
}

// isMark reports whether r is a combining mark, such as the hat of d̂.
func isMark(r rune) bool { return unicode.Is(unicode.Mn, r) }
