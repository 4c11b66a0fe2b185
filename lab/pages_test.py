"""Sees that the pages of `make html` ask nothing of any host, can be read on a phone and in the dark, and show every
figure without scripts, also as GitHub would show the notebooks that are stored. Leaves pictures in out/pages, which somebody should look at.
"""

import json, re, shutil, sys
from pathlib import Path

import bleach

import export
from chromium import chromium, drawn, figures, pictured, tooltips
from pages import legible, page_in

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


shutil.rmtree(OUT, ignore_errors=True)
OUT.mkdir(parents=True)
total = formulas = told = 0
with chromium() as browser:
    for path in map(Path, sys.argv[1:]):
        html = PAGES / (path.stem + ".html")
        shown, charts = figures(json.loads(path.read_text()))
        total += shown
        for scheme in "light", "dark":
            page = page_in(browser, html, viewport=PHONE, color_scheme=scheme)
            drawn(page, charts)
            if scheme == "light":
                told += tooltips(page)
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
assert told > 20, f"{told} points told by tooltips on logarithmic axes"
print(f"pages: {len(sys.argv) - 1} notebooks, {total} figures and tables, {formulas} formulas, {told} points told by tooltips on "
      f"logarithmic axes, no request; pictures are in {OUT}")
