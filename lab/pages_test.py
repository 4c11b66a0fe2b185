"""Sees that the pages of `make html` ask nothing of any host, can be read on a phone and in the dark, and show every
figure without scripts, also as GitHub would show the notebooks that are stored. Leaves pictures in out/pages, which somebody should look at.
"""

import json, re, shutil, sys
from pathlib import Path

import bleach

import export
from chromium import chromium, drawn, figures, pictured

OUT = Path("out/pages")
PAGES = Path("out/html")
PHONE = {"width": 390, "height": 844}

# What GitHub publishes of the elements and attributes that it lets through, and the pictures that notebooks carry.
TAGS = set("a b blockquote br caption code dd div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i img li ol p pre span "
           "strong sub sup table tbody td tfoot th thead tr ul".split())
ATTRIBUTES = {"*": ["align", "alt", "height", "title", "width"], "a": ["href"], "img": ["src"]}


def as_on_github(path, folder):
    """Writes a copy of a notebook whose outputs have neither scripts nor styles."""
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            if "text/html" in output.get("data", {}):
                html = re.sub(r"(?s)<(script|style)\b.*?</\1>", "", "".join(output["data"]["text/html"]))
                output["data"]["text/html"] = bleach.clean(
                    html, tags=TAGS, attributes=ATTRIBUTES, protocols={"http", "https", "data"}, strip=True)
    copy = folder / path.name
    copy.write_text(json.dumps(notebook))
    return copy


# Every text, with the contrast to what is behind it, as the Web Content Accessibility Guidelines define it.
CONTRAST = """() => {
    const light = c => [0, 1, 2].map(i => c[i] / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0)
    const rgba = s => s.match(/[\\d.]+/g).map(Number)
    const behind = e => {
        for (; e; e = e.parentElement) {
            const c = rgba(getComputedStyle(e).backgroundColor)
            if (c.length < 4 || c[3] > .99) return c
        }
        return [255, 255, 255]
    }
    return [...document.querySelectorAll("main *")]
        .filter(e => !e.closest("svg, script") && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
        .map(e => {
            const a = light(rgba(getComputedStyle(e).color)), b = light(behind(e))
            return {text: e.textContent.trim().slice(0, 40), size: parseFloat(getComputedStyle(e).fontSize),
                    contrast: (Math.max(a, b) + .05) / (Math.min(a, b) + .05), tag: e.tagName}
        })
}"""

# Formulas that take no room, and TeX that is none.
FORMULAS = """() => [...document.querySelectorAll("math")].filter(m => !m.getBoundingClientRect().width || m.querySelector("merror"))
    .map(m => m.textContent)
    .concat([...document.querySelectorAll(".text *")]
        .filter(e => !e.closest("code, pre, math") && [...e.childNodes].some(n => n.nodeType === 3 && /\\$|\\\\[a-z]+/.test(n.data)))
        .map(e => e.textContent))
    .concat([...document.querySelectorAll("math *")].filter(e => !e.children.length && /\\\\/.test(e.textContent)).map(e => e.textContent))"""


def page_in(browser, path, **options):
    """Opens a file in a browser that refuses all requests, and fails where one was made."""
    page = browser.new_page(**options)
    page.set_default_timeout(120_000)  # where much else goes on
    asked = []

    def refuse(route):
        asked.append(route.request.url)
        route.abort()

    page.route(lambda url: not url.startswith(("file:", "data:")), refuse)
    page.goto(path.resolve().as_uri())
    page.wait_for_timeout(500)
    assert not asked, f"{path} asked for {asked}"
    return page


def legible(page):
    """Sees that text is large and dark, or light, enough, that nothing is cut off at the side, and formulas are whole."""
    width = page.evaluate("document.scrollingElement.scrollWidth")
    assert width <= page.viewport_size["width"], f"{page.title()} is {width} px wide"
    texts = page.evaluate(CONTRAST)
    poor = [t for t in texts if t["contrast"] < 4.5 or t["size"] < 12 and t["tag"] not in ("SUB", "SUP")
            and not t["tag"].islower()]
    assert not poor, poor
    wrong = page.evaluate(FORMULAS)
    assert not wrong, wrong


shutil.rmtree(OUT, ignore_errors=True)
OUT.mkdir(parents=True)
total = formulas = 0
with chromium() as browser:
    for path in map(Path, sys.argv[1:]):
        html = PAGES / (path.stem + ".html")
        shown, charts = figures(json.loads(path.read_text()))
        total += shown
        for scheme in "light", "dark":
            page = page_in(browser, html, viewport=PHONE, color_scheme=scheme)
            drawn(page, charts)
            legible(page)
            page.evaluate("scrollTo(0, 0)")
            page.screenshot(path=OUT / f"{path.stem}-phone-{scheme}.png", full_page=True)
            page.close()
        formulas += page_in(browser, html).locator("math").count()

        page = page_in(browser, html, viewport=PHONE, java_script_enabled=False)
        pictured(page, shown)
        page.close()

        plain = as_on_github(Path("notebooks") / path.name, OUT)
        export.export(plain, plain.with_suffix(".html"))
        page = page_in(browser, plain.with_suffix(".html"), java_script_enabled=False)
        assert page.locator("main script, main [style]").count() == 0
        seen = page.locator("main > img.picture, main > table")
        assert seen.count() == shown, f"{seen.count()} of {shown} figures and tables are seen in {plain.name}: make notebooks"
        assert all(f.bounding_box()["height"] > 20 for f in seen.all()), f"a figure of {plain.name} is empty"
        page.screenshot(path=OUT / f"{path.stem}-github.png", full_page=True)
        page.close()
print(f"pages: {len(sys.argv) - 1} notebooks, {total} figures and tables, {formulas} formulas, no request; pictures are in {OUT}")
