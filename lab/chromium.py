"""The system's Chromium, and what the tests ask of the figures on a page."""

import contextlib, os

from playwright.sync_api import sync_playwright

CHART = "figure > div[id^=roundoff-]"  # of viz.HTML


@contextlib.contextmanager
def chromium():
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


# A series is drawn when it has a shape in its colour that is longer than the sample in the legend, 28 px; one of dots,
# when it has a dot of their size for each of its points.
UNDRAWN = """div => [...div.children].flatMap(panel => {
    const chart = echarts.getInstanceByDom(panel)
    if (!chart) return ["a panel is no chart"]
    const shapes = [...panel.querySelectorAll("svg path, svg polyline, svg rect")].map(s => {
        const box = s.getBoundingClientRect()
        return {size: Math.max(box.width, box.height), colours: [s.getAttribute("stroke"), s.getAttribute("fill")]}
    })
    const undrawn = s => {
        const colour = (s.lineStyle?.color || s.itemStyle?.color || s.color).toLowerCase()
        const own = shapes.filter(shape => shape.colours.some(c => c?.toLowerCase() === colour))
        if (s.type === "scatter") return own.filter(shape => Math.abs(shape.size - s.symbolSize) < 2).length < s.data.length
        return !own.some(shape => shape.size > 40)
    }
    return chart.getOption().series.filter(s => s.symbol !== "none" || s.type !== "scatter").filter(undrawn).map(s => s.name)
})"""


def drawn(page, charts):
    """Sees that every chart on the page is interactive, with marks for each of its series."""
    page.wait_for_function(f"n => document.querySelectorAll('{CHART} svg').length >= n", arg=charts)
    assert page.locator(CHART).count() == charts
    for chart in page.locator(CHART).all():
        chart.scroll_into_view_if_needed()
        missing = chart.evaluate(UNDRAWN)
        assert not missing, f"{page.title()}: nothing is drawn for {missing}"


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
    assert found.count() == number, f"{found.count()} figures of {number}"
    for figure in found.all():
        figure.scroll_into_view_if_needed()
    unseen = found.evaluate_all(UNSEEN)
    assert not unseen, f"{page.url}: no picture of {unseen}"
