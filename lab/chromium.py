"""The system's Chromium, and what the tests ask of the figures on a page."""

import base64, contextlib, os, re

from playwright.sync_api import expect, sync_playwright

CHART = "figure > div[id^=roundoff-]"  # of viz.HTML


@contextlib.contextmanager
def chromium():
    expect.set_options(timeout=60_000)  # where much else goes on
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ["CHROMIUM"])
        yield browser
        browser.close()


@contextlib.contextmanager
def pictured_failure(browser, path):
    """Leaves a picture of the last page when what is done with it fails."""
    try:
        yield
    except Exception:
        for page in [p for c in browser.contexts for p in c.pages][-1:]:
            page.screenshot(path=path)
        raise


def outputs(notebook):
    """Returns the HTML of every output of a notebook."""
    return ["".join(o["data"]["text/html"]) for c in notebook["cells"] for o in c.get("outputs", [])
            if "text/html" in o.get("data", {})]


def figures(notebook):
    """Returns how many figures and tables a notebook shows, and how many of them are interactive charts."""
    html = outputs(notebook)
    return sum(h.count("<figure") for h in html), sum(h.count('<div id="roundoff-') for h in html)


# A series is drawn when it has a shape in its colour that is longer than the sample in the legend, 28 px, or as long as
# the way from its first point to its last where that is shorter; one of dots, when it has a dot of their size for each
# of its points.
UNDRAWN = """div => [...div.children].filter(e => !e.classList.contains("roundoff-title")).flatMap(panel => {
    const chart = echarts.getInstanceByDom(panel)
    if (!chart) return ["a panel is no chart"]
    const shapes = [...panel.querySelectorAll("svg path, svg polyline, svg rect")].map(s => {
        const box = s.getBoundingClientRect()
        return {size: Math.max(box.width, box.height), colours: [s.getAttribute("stroke"), s.getAttribute("fill")]}
    })
    const way = s => {
        const at = [s.data[0], s.data.at(-1)].map(p => chart.convertToPixel("grid", p?.value ?? p))
        return Math.max(...[0, 1].map(i => Math.abs(at[0][i] - at[1][i])))
    }
    const undrawn = s => {
        const colour = (s.lineStyle?.color || s.itemStyle?.color || s.color).toLowerCase()
        const own = shapes.filter(shape => shape.colours.some(c => c?.toLowerCase() === colour))
        if (s.type === "scatter") return own.filter(shape => Math.abs(shape.size - s.symbolSize) < 2).length < s.data.length
        return !own.some(shape => shape.size > (s.type === "line" && way(s) > 5 ? Math.min(40, .9 * way(s)) : 40))
    }
    return chart.getOption().series.filter(s => s.symbol !== "none" || s.type !== "scatter").filter(undrawn).map(s => s.name)
})"""


# What is at the middle of the part of an element that is on the screen must be in it.
ON_SCREEN = """element => {
    const box = element.getBoundingClientRect()
    const middle = (low, high, size) => (Math.max(low, 0) + Math.min(high, size)) / 2
    return element.contains(document.elementFromPoint(middle(box.left, box.right, innerWidth), middle(box.top, box.bottom, innerHeight)))
}"""


def show(element):
    """Scrolls to an element and waits until it is there: JupyterLab draws no cell before it is on the screen."""
    element.scroll_into_view_if_needed()
    for _ in range(100):
        if element.evaluate(ON_SCREEN):
            return
        element.page.wait_for_timeout(100)
    raise AssertionError(f"{element.page.url}: {element} is not seen")


# The number of colours that a picture of the page has where an element is; an empty box has one or two.
COLOURS = """async (element, png) => {
    const image = new Image()
    image.src = "data:image/png;base64," + png
    await image.decode()
    const box = element.getBoundingClientRect()
    const context = new OffscreenCanvas(box.width, box.height).getContext("2d")
    context.drawImage(image, -box.left, -box.top)
    return new Set(new Uint32Array(context.getImageData(0, 0, box.width, box.height).data.buffer)).size
}"""


def picture(element, path):
    """Takes a picture of the page that shows an element, and sees that it does."""
    show(element)
    png = element.page.screenshot(path=path)
    colours = element.evaluate(COLOURS, base64.b64encode(png).decode())
    assert colours > 20, f"{path} has {colours} colours where a figure should be"


def drawn(page, charts):
    """Sees that every chart on the page is interactive, with marks for each of its series."""
    page.wait_for_function(f"n => document.querySelectorAll('{CHART} svg').length >= n", arg=charts)
    assert page.locator(CHART).count() == charts
    for chart in page.locator(CHART).all():
        show(chart)
        missing = chart.evaluate(UNDRAWN)
        assert not missing, f"{page.title()}: nothing is drawn for {missing}"


# The tooltips at some places of each panel, as text.
TIPS = """div => [...div.children].map(e => echarts.getInstanceByDom(e)).filter(c => c).map(chart => {
    const panel = chart.getDom(), o = chart.getOption(), grid = chart.getModel().getComponent("grid").coordinateSystem.getRect()
    const texts = [.2, .4, .5, .6, .8].map(share => {
        chart.dispatchAction({type: "showTip", x: grid.x + share * grid.width, y: grid.y + grid.height / 2})
        const tip = [...panel.children].find(e => /\\(.*,.*\\)/.test(e.textContent))
        return tip ? tip.innerText : ""
    })
    return {text: texts.join("\\n"), x: o.xAxis[0].logarithmic, y: o.yAxis[0].logarithmic,
            series: o.series.map(s => ({name: s.name, data: s.data}))}
})"""
RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-")


def number(text):
    """Returns the number that a tooltip writes as 6.64×10⁻⁶, 10⁻⁶ or −0.5."""
    factor, times, power = text.rpartition("×")
    if "10" in power and power[2:].translate(RAISED).lstrip("-").isdigit() and power[2:] != power[2:].translate(RAISED):
        return float(factor.translate(RAISED) or 1) * 10.0 ** int(power[2:].translate(RAISED))
    return float(text.translate(RAISED))


def tooltips(page):
    """What the tooltip of each panel tells are points of its curves, as numbers also where the axis is logarithmic."""
    told = 0
    for chart in page.locator(CHART).all():
        chart.scroll_into_view_if_needed()
        for panel in chart.evaluate(TIPS):
            for name, x, y in re.findall(r"(?m)^(.*) \(([^(),]*), ([^(),]*)\)$", panel["text"]):
                data = next(s["data"] for s in panel["series"] if s["name"] == name.strip())
                values = [d["value"] if isinstance(d, dict) else d for d in data]
                points = [(10 ** v[0] if panel["x"] else v[0], 10 ** v[1] if panel["y"] else v[1]) for v in values]
                near = lambda a, b: abs(a - b) <= 6e-3 * abs(b) + 1e-300
                assert any(near(number(x), p) and near(number(y), q) for p, q in points), (name, x, y, panel["x"], panel["y"])
                told += bool(panel["x"] or panel["y"])
    return told


# A figure is seen when its picture has pixels and takes room, or its table has rows.
UNSEEN = """figures => figures.filter(f => {
    const image = f.querySelector("img"), rows = f.querySelectorAll("tr")
    const seen = image || (rows.length > 1 && f.querySelector("table"))
    const box = seen && seen.getBoundingClientRect()
    return !box || box.width < 100 || box.height < 20 || image && !image.naturalWidth
}).map(f => f.innerText)"""


def pictured(page, number):
    """Sees that every figure of the page is there as a picture or a table."""
    found = page.locator("figure")
    expect(found).to_have_count(number, timeout=60_000)  # JupyterLab puts them there one after the other
    for figure in found.all():
        show(figure)
    unseen = found.evaluate_all(UNSEEN)
    assert not unseen, f"{page.url}: no picture of {unseen}"
