package viz

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
)

// Drawing is a figure and its files, for whoever both shows and stores them:
// to draw a figure takes longer than either.
type Drawing struct {
	Figure        Figure
	SVG, PNG, CSV []byte
}

// Draw returns the drawing of f. It panics as the methods of f do, and returns
// the error of the first that fails.
func Draw(f Figure) (d Drawing, err error) {
	d.Figure = f
	if d.SVG, err = f.SVG(); err != nil {
		return d, err
	}
	if d.PNG, err = f.PNG(); err != nil {
		return d, err
	}
	d.CSV, err = f.CSV()
	return d, err
}

// HTML returns the figure element that shows the figure: a table as an HTML
// table, any other figure as its PNG at half its pixels. The caption is below
// it, with links that save the figure as SVG, PNG and CSV. If the page contains
// [Script] and runs it, an interactive chart replaces the picture of a chart.
// The background is white on dark pages too, since the colours are chosen for
// white. The id must be unique on the page. HTML panics if id is empty or
// contains one of "'<>&\ or a space.
func (d Drawing) HTML(id string) (string, error) {
	check(id != "" && !strings.ContainsAny(id, "\"'<>& \\"), "id = %q", id)
	var b strings.Builder
	b.WriteString(`<figure style="margin:1em 0;padding:12px;background:#fff;color:#1a1a1a;color-scheme:light;max-width:760px">` + "\n")
	if t, ok := d.Figure.(*Table); ok {
		fmt.Fprintf(&b, "<div style=\"overflow-x:auto\">%s</div>\n", t.HTML())
	} else if err := d.picture(&b, id); err != nil {
		return "", err
	}
	fmt.Fprintf(&b, `<figcaption style="margin-top:8px;max-width:640px;font-size:14px;line-height:1.45;color:#1a1a1a">`+
		"<span>%s</span>\n<small style=\"font-size:12px\">%s</small></figcaption>\n</figure>\n", captionHTML(d.Figure), d.links())
	return b.String(), nil
}

// captionHTML returns the caption with the finding in bold.
func captionHTML(f Figure) string {
	return strings.TrimSpace("<strong>" + html.EscapeString(f.Finding()) + "</strong> " + html.EscapeString(f.Details()))
}

// picture writes the PNG as an element of HTML and, for a chart, the script
// that replaces it.
func (d Drawing) picture(b *strings.Builder, id string) error {
	w, h := pngSize(d.PNG)
	c, interactive := d.Figure.(*Chart)
	if interactive {
		fmt.Fprintf(b, `<div id="%s" style="width:%dpx;max-width:100%%;min-height:%dpx">`, id, w, h)
	} else {
		b.WriteString("<div>")
	}
	fmt.Fprintf(b, `<img width="%d" height="%d" style="max-width:100%%;height:auto;background:#fff" alt="%s" src="data:image/png;base64,%s"></div>`+"\n",
		w, h, html.EscapeString(strings.TrimSuffix(d.Figure.Finding(), ".")), base64.StdEncoding.EncodeToString(d.PNG))
	if !interactive {
		return nil
	}
	options, err := c.ECharts()
	if err != nil {
		return err
	}
	o, err := json.Marshal(options)
	if err != nil {
		return fmt.Errorf("viz: html of %s: %w", d.Figure.Name(), err)
	}
	b.WriteString(whenReady("Draw", id, o))
	return nil
}

// links returns elements of HTML that save the files. They contain the files,
// so that they work on a page without any others.
func (d Drawing) links() string {
	var b strings.Builder
	for _, file := range []struct{ ext, data string }{
		{"svg", "image/svg+xml;base64," + base64.StdEncoding.EncodeToString(d.SVG)},
		{"png", "image/png;base64," + base64.StdEncoding.EncodeToString(d.PNG)},
		{"csv", "text/csv;charset=utf-8," + url.PathEscape(string(d.CSV))},
	} {
		fmt.Fprintf(&b, ` <a download="%s.%s" href="data:%s" style="color:#0072b2">%s</a>`,
			d.Figure.Name(), file.ext, html.EscapeString(file.data), strings.ToUpper(file.ext))
	}
	return b.String()
}

// pngSize returns the size of a picture in units of its sheet, read from the
// header of the PNG file.
func pngSize(png []byte) (w, h int) {
	word := func(at int) int {
		return int(png[at])<<24 | int(png[at+1])<<16 | int(png[at+2])<<8 | int(png[at+3])
	}
	return word(16) / pngScale, word(20) / pngScale
}
