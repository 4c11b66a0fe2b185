package viz

import (
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"strings"
)

// The library is the unmodified file of the npm package; see echarts/README.md.
var (
	//go:embed echarts/echarts.common.min.js
	library string
	//go:embed draw.js
	drawer string
	//go:embed kernel.js
	connector string
	//go:embed explore.js
	explorer string
)

// Script returns the script element that makes the charts of [HTML]
// interactive; a page needs it once. It contains Apache ECharts, the function
// roundoffDraw(id, options), which draws the options of [Chart.ECharts] into
// the element with that id, and the function roundoffExplore, which adds the
// controls of an [Explorer] and connects them with a kernel. It loads nothing
// from a network. A page that contains it twice runs it once.
//
// The library looks for a module loader before it sets window.echarts. Notebook
// pages have one, so the names that the library looks for are hidden from it.
func Script() string {
	return `<script>(function () { if (window.roundoffDraw) return;
(function () { var define, module, exports;
` + library + `
}).call(globalThis);
` + drawer + connector + explorer + `})();</script>
`
}

// HTML returns the figure element that shows f: a table as an HTML table, any
// other figure as its PNG at half its pixels. The caption is below it, with
// links that save the figure as SVG, PNG and CSV. If the page contains [Script]
// and runs it, an interactive chart replaces the picture of a chart. The
// background is white on dark pages too, since the colours are chosen for
// white. The id must be unique on the page. HTML panics if id is empty or
// contains one of "'<>&\ or a space.
func HTML(f Figure, id string) (string, error) {
	check(id != "" && !strings.ContainsAny(id, "\"'<>& \\"), "id = %q", id)
	var b strings.Builder
	b.WriteString(`<figure style="margin:1em 0;padding:12px;background:#fff;color:#1a1a1a;color-scheme:light;max-width:760px">` + "\n")
	if t, ok := f.(*Table); ok {
		fmt.Fprintf(&b, "<div style=\"overflow-x:auto\">%s</div>\n", t.HTML())
	} else if err := pictureHTML(&b, f, id); err != nil {
		return "", err
	}
	files, err := filesHTML(f)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&b, `<figcaption style="margin-top:8px;max-width:640px;font-size:14px;line-height:1.45;color:#1a1a1a">`+
		"<span>%s</span>\n<small style=\"font-size:12px\">%s</small></figcaption>\n</figure>\n", captionHTML(f), files)
	return b.String(), nil
}

// captionHTML returns the caption with the finding in bold.
func captionHTML(f Figure) string {
	return strings.TrimSpace("<strong>" + html.EscapeString(f.Finding()) + "</strong> " + html.EscapeString(f.Details()))
}

func pictureHTML(b *strings.Builder, f Figure, id string) error {
	png, err := f.PNG()
	if err != nil {
		return err
	}
	w, h := pngSize(png)
	c, interactive := f.(*Chart)
	if interactive {
		fmt.Fprintf(b, `<div id="%s" style="width:%dpx;max-width:100%%;min-height:%dpx">`, id, w, h)
	} else {
		b.WriteString("<div>")
	}
	fmt.Fprintf(b, `<img width="%d" height="%d" style="max-width:100%%;height:auto;background:#fff" alt="%s" src="data:image/png;base64,%s"></div>`+"\n",
		w, h, html.EscapeString(strings.TrimSuffix(f.Finding(), ".")), base64.StdEncoding.EncodeToString(png))
	if !interactive {
		return nil
	}
	options, err := c.ECharts()
	if err != nil {
		return err
	}
	o, err := json.Marshal(options)
	if err != nil {
		return fmt.Errorf("viz: html of %s: %w", f.Name(), err)
	}
	b.WriteString(whenReady("Draw", id, o))
	return nil
}

// whenReady returns the script element that calls a function of [Script] with
// id and data as soon as the page has loaded it.
func whenReady(function, id string, data []byte) string {
	return fmt.Sprintf(`<script>(function wait(n) {
if (window.roundoff%[1]s) window.roundoff%[1]s("%[2]s", %[3]s);
else if (n > 0) setTimeout(wait, 50, n - 1);
})(200);</script>
`, function, id, data)
}

// pngSize returns the size of a picture in units of its sheet, read from the
// header of the PNG file.
func pngSize(png []byte) (w, h int) {
	word := func(at int) int {
		return int(png[at])<<24 | int(png[at+1])<<16 | int(png[at+2])<<8 | int(png[at+3])
	}
	return word(16) / pngScale, word(20) / pngScale
}
