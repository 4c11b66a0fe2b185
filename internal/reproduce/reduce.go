package reproduce

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/internal/notebook"
)

// reduced returns outputs in the form that is published. A code host removes
// scripts and styles, and may remove SVG and data within HTML, but shows PNG: a
// table becomes a table without styles, any other figure a PNG of few colours,
// and both are followed by their caption. Printed text is one output, the
// first: a kernel passes it on apart from figures, in an order that varies.
// Messages on standard error are left out.
func reduced(outputs []*notebook.Output, figures string) (list []*notebook.Output, err error) {
	text := ""
	for _, o := range outputs {
		page, isHTML := o.Data["text/html"].(string)
		words, isMarkdown := o.Data["text/markdown"].(string)
		switch {
		case o.Type == "stream" && o.Name == "stderr":
		case o.Type == "stream":
			text += o.Text
		case isHTML:
			shown, err := publishedFigure(page, figures)
			if err != nil {
				return nil, err
			}
			list = append(list, shown...)
		case isMarkdown:
			list = append(list, display("text/markdown", words, nil))
		default:
			return nil, fmt.Errorf("no published form of an output of type %s", o.Type)
		}
	}
	if text != "" {
		list = slices.Insert(list, 0, &notebook.Output{Type: "stream", Name: "stdout", Text: text})
	}
	return list, nil
}

func display(mime string, data any, metadata map[string]any) *notebook.Output {
	return &notebook.Output{Type: "display_data", Data: map[string]any{mime: data}, Metadata: metadata}
}

// saved matches the link that saves the data of a figure, in the HTML of
// viz.HTML.
var saved = regexp.MustCompile(`download="([\w-]+)\.csv"`)

// publishedFigure returns the outputs for a figure that a notebook showed as
// HTML, from the files of the figure in the folder dir.
func publishedFigure(page, dir string) ([]*notebook.Output, error) {
	name := saved.FindStringSubmatch(page)
	if name == nil {
		return nil, errors.New("HTML that is no figure has no published form")
	}
	data, err := os.ReadFile(filepath.Join(dir, name[1]+".json"))
	if err != nil {
		return nil, err
	}
	var f Figure
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	if err := f.Check(dir); err != nil {
		return nil, err
	}
	if f.Kind == "table" {
		return []*notebook.Output{display("text/html", plainTable(f.HTML)+captionOf(f), nil)}, nil
	}
	picture, err := f.picture(dir)
	if err != nil {
		return nil, fmt.Errorf("figure %s: %w", f.Name, err)
	}
	return []*notebook.Output{picture, display("text/html", captionOf(f), nil)}, nil
}

// captionOf returns the caption with the finding in bold, each sentence on a
// line of its own, so that versions differ in few lines.
func captionOf(f Figure) string {
	return "<p><strong>" + html.EscapeString(f.Finding) + "</strong>\n" +
		strings.ReplaceAll(html.EscapeString(f.Details), ". ", ".\n") + "</p>\n"
}

var (
	styled    = regexp.MustCompile(` style="(text-align:left)?[^"]*"`)
	cellStart = regexp.MustCompile(`(<tr>|</t[hd]>)(<t[hd])`)
)

// plainTable returns a table without styles, each cell on a line of its own.
// Text stays on the left, where Jupyter would have it on the right.
func plainTable(table string) string {
	table = styled.ReplaceAllString(table, ` style="$1"`)
	table = strings.NewReplacer(` style=""`, "", ` align="left"`, "").Replace(table)
	return cellStart.ReplaceAllString(table, "$1\n$2") + "\n"
}

// mostColours is the number of colours of a published picture: those of curves
// and text, and some between them and white, of which edges are made.
const mostColours = 16

// picture returns the output that shows the figure as PNG. Its plain text is
// what is written in the drawing, so that versions differ visibly where a label
// does. Its metadata name the drawing, by the hash of the SVG, which is the
// same on all machines.
func (f Figure) picture(dir string) (*notebook.Output, error) {
	data, err := os.ReadFile(filepath.Join(dir, f.Name+".png"))
	if err != nil {
		return nil, err
	}
	small, size, err := fewColours(data, mostColours)
	if err != nil {
		return nil, err
	}
	labels, err := labelsOf(f.svg)
	if err != nil {
		return nil, err
	}
	o := display("image/png", base64.StdEncoding.EncodeToString(small)+"\n", map[string]any{
		// viz draws a picture with two pixels per unit of its size.
		"image/png": map[string]any{"alt": strings.TrimSuffix(f.Finding, "."), "width": size.X / 2, "height": size.Y / 2},
		metadataKey: map[string]any{"figure": f.Name, "drawing": fmt.Sprintf("%x", sha256.Sum256(f.svg))},
	})
	o.Data["text/plain"] = f.Name + ": " + f.Finding + "\n" + labels
	return o, nil
}

// labelsOf returns the texts of an SVG, a line each.
func labelsOf(svg []byte) (string, error) {
	var b strings.Builder
	d := xml.NewDecoder(bytes.NewReader(svg))
	within := 0
	for {
		token, err := d.Token()
		if err == io.EOF {
			return b.String(), nil
		}
		if err != nil {
			return "", err
		}
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Local == "text" {
				within++
			}
		case xml.CharData:
			if within > 0 {
				b.Write(token)
			}
		case xml.EndElement:
			if token.Name.Local == "text" {
				within--
				b.WriteByte('\n')
			}
		}
	}
}
