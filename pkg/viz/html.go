package viz

import (
	_ "embed"
	"fmt"
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

// HTML returns the [Drawing.HTML] of f, for a page that has no other use for
// the drawing. It panics and returns an error as that and [Draw] do.
func HTML(f Figure, id string) (string, error) {
	d, err := Draw(f)
	if err != nil {
		return "", err
	}
	return d.HTML(id)
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
