"""Sees that all links of the site lead somewhere, that its pages ask nothing of any host, take at most two seconds of a
processor to be drawn, can be read on a phone, light and dark, and have no serious or critical finding of axe. Leaves
pictures in out/site-pictures.
"""

import array, json, re, shutil, sys, zipfile
from collections import Counter
from html.parser import HTMLParser
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from urllib.parse import unquote, urldefrag

import axe_playwright_python

from chromium import chromium

spec = spec_from_file_location("maker", "lab/site.py")  # import would take Python's own module site
maker = module_from_spec(spec)
spec.loader.exec_module(maker)

SITE, PICTURES = Path("out/site"), Path("out/site-pictures")
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
START, DRAWN = 300_000, 2.0  # bytes of the start page with all that it shows; seconds of a processor to draw a page
ATLAS = Path("pkg/atlas/data")
PHONE = {"width": 390, "height": 844}


class Links(HTMLParser):
    """What a page links to, what it loads, and the anchors that it has."""

    def __init__(self, html):
        super().__init__()
        self.links, self.loads, self.anchors, self.ids = [], [], set(), Counter()
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids.update([given["id"]] if given.get("id") else [])
        self.anchors |= {given[k] for k in ("id", "name") if given.get(k)}
        if tag in ("a", "area") and "href" in given:
            self.links.append(given["href"])
        else:
            self.loads += [given[k] for k in ("src", "href", "data", "poster") if given.get(k) and tag != "form"]


def broken(site):
    """Returns the links of all pages that lead nowhere on the site, what pages load from elsewhere, and what cannot be
    linked to, as something before it has the same id."""
    pages = {p.resolve(): Links(p.read_text()) for p in site.rglob("*.html")}
    for page, found in pages.items():
        for name, times in found.ids.items():
            if times > 1:
                yield f"{page.relative_to(site.resolve())}: {times} times id={name}"
        for url in found.links + found.loads:
            path, anchor = urldefrag(url)
            if url.startswith("data:") or url.startswith("https://") and url in found.links:
                continue
            if anchor == "top" or path.endswith(tuple(maker.ALONE)) and "=" in anchor:  # the state of that page
                anchor = ""
            target = (page.parent / unquote(path)).resolve() if path else page
            if not target.is_file() or anchor and (target not in pages or unquote(anchor) not in pages[target].anchors):
                yield f"{page.relative_to(site.resolve())}: {url}"


def opened(browser, path, scheme):
    """Returns a page, all that it loaded, and the seconds of a processor that it took to draw it."""
    page = browser.new_context(viewport=PHONE, color_scheme=scheme).new_page()
    page.set_default_timeout(60_000)
    loaded, wrong = [], []
    page.on("request", lambda r: loaded.append(r.url) if r.url.startswith("file:") else wrong.append(r.url))
    page.route(lambda url: url.startswith("http"), lambda route: route.abort())
    page.on("pageerror", lambda e: wrong.append(str(e)))
    tools = page.context.new_cdp_session(page)
    tools.send("Performance.enable")
    page.goto(path.resolve().as_uri())
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    seconds = next(m["value"] for m in tools.send("Performance.getMetrics")["metrics"] if m["name"] == "ProcessTime")
    page.wait_for_timeout(300)
    wrong = [w for w in wrong if not w.startswith(("data:", "blob:"))]
    assert not wrong, f"{path}: {wrong}"
    return page, loaded, seconds


def weight(loaded):
    """Returns the bytes of the files at these addresses."""
    return sum(Path(unquote(url[len("file://"):]).partition("#")[0]).stat().st_size for url in set(loaded))


def findings(page):
    """Returns what axe calls serious or critical."""
    page.evaluate(AXE)
    found = page.evaluate("axe.run({resultTypes: ['violations']}).then(r => r.violations)")
    return [f"{v['id']} ({v['impact']}): {n['html'][:120]}" for v in found if v["impact"] in ("serious", "critical") for n in v["nodes"][:3]]


def check(browser, path, scheme):
    """Returns the complaints about a page, after adding its row to the table."""
    page, loaded, seconds = opened(browser, path, scheme)
    for _ in range(2):  # of two threads of a core one may be another's
        if seconds > DRAWN:
            page.context.close()
            page, loaded, again = opened(browser, path, scheme)
            seconds = min(seconds, again)
    name = str(path.relative_to(SITE))
    print(f"{name:42} {scheme:5} {weight(loaded) / 1000:7.0f} kB {seconds:5.2f} s")
    said = [f"takes {seconds:.2f} s"] if seconds > DRAWN else []
    if name == "index.html" and weight(loaded) > START:
        said.append(f"has {weight(loaded)} bytes with what it shows")
    width = page.evaluate("document.scrollingElement.scrollWidth")
    if width > PHONE["width"]:
        said.append(f"is {width} px wide")
    page.screenshot(path=PICTURES / f"{name.replace('/', '-').removesuffix('.html')}-{scheme}.png")
    said += findings(page)
    page.context.close()
    return [f"{name}, {scheme}: {s}" for s in said]


def column(name):
    """Returns a column of the errors of the atlas, as numpy.load does."""
    with zipfile.ZipFile(ATLAS / "errors.npz") as archive:
        data = archive.read(f"{name}.npy")
    kind = re.search(rb"'descr': '.(..)'", data)[1]
    return array.array({b"u1": "B", b"i4": "i", b"f4": "f"}[kind], data[10 + int.from_bytes(data[8:10], "little"):])


def check_atlas(browser):
    """Sees that the atlas follows its lists by keyboard, keeps its state in the address, tells the numbers that the data set
    has, and has a table without scripts."""
    names, ks = json.loads((ATLAS / "names.json").read_text()), column("k")
    data, k, device = names["data"][0], max(ks), names["devices"][-1]
    cells = zip(column("machine"), column("data"), ks, column("largest"))
    wanted = next(e for *at, e in cells if at == [names["machines"].index(device["machine"]), 0, k])
    page, _, _ = opened(browser, SITE / "atlas.html", "light")
    page.wait_for_selector("html[data-ready]")
    page.select_option("[name=device]", label=device["name"])
    page.select_option("[name=data]", label=data)
    page.focus("[name=k]")
    page.keyboard.press("End")
    said = page.inner_text("#status")
    assert f"K = {k}" in said, said
    largest = float(re.search(r"is (\S+) \|A\|", said)[1])
    assert abs(largest / wanted - 1) < 6e-3, (said, wanted)
    assert page.locator("#plot svg path.series").count() >= 4 and page.locator("#lengths tbody tr").count() == len(set(ks))
    claimed = page.locator("#bounds tbody tr").count()
    page.check("#false")
    assert page.locator("#bounds tbody tr").count() > claimed > 3
    page.select_option("[name=recipe]", label="torchao-e4m3-row")
    recipes = page.inner_text("#recipe")
    assert re.search(r"sums on \S+ make \S+ % of the mean square", recipes), recipes
    assert page.locator("#parts svg path.series").count() >= 4 and page.locator("#shares tbody tr").count() >= len(names["recipes"])
    again, _, _ = opened(browser, SITE / "atlas.html", "dark")
    again.goto(page.url)
    again.wait_for_selector("html[data-ready]")
    assert again.inner_text("#status") == said, (again.url, again.inner_text("#status"), said)
    assert again.inner_text("#recipe") == recipes, (again.url, again.inner_text("#recipe"), recipes)
    again.locator("#plot").scroll_into_view_if_needed()
    again.screenshot(path=PICTURES / "atlas-chosen-dark.png")
    again.locator("#all button").first.press("Enter")
    assert again.inner_text("#one-h") == names["machines"][0], again.inner_text("#one-h")
    plain = browser.new_context(java_script_enabled=False, viewport=PHONE).new_page()
    plain.goto((SITE / "atlas.html").resolve().as_uri())
    assert plain.locator("#all tbody tr").count() > 50 and plain.locator("#shares tbody tr").count() > 50 and not plain.locator("#choice").is_visible()
    plain.screenshot(path=PICTURES / "atlas-plain.png")
    for p in page, again, plain:
        p.context.close()


class Shown(HTMLParser):
    """The text and the titles in some HTML."""

    def __init__(self, html):
        super().__init__()
        self.text, self.titles = "", []
        self.feed(html)

    def handle_data(self, data):
        self.text += data

    def handle_starttag(self, tag, attributes):
        self.titles += [value for name, value in attributes if name == "title"]


def check_markdown():
    """Sees that text comes through Markdown, and HTML in it, as it stands, and that headings have the anchors of GitHub."""
    text = '1. *a* _b_ `c` [d](e) <i>f</i> &amp; $g$ \\h "i" ~~j~~ | # k – Σ'
    shown = Shown(maker.Exporter("").markdown2html(None, f'- {maker.plain(text)}\n\n<p title="{maker.plain(text)}">\n'))
    assert shown.text.strip() == text and shown.titles == [text], (shown.text, shown.titles)
    cells = maker.Exporter("")
    html = "".join(cells.markdown2html(None, m) for m in ("# Bounds & u", "## *Bounds* & u\n\n## a < b"))
    assert list(Links(html).ids) == ["bounds--u", "bounds--u-1", "a--b"], html


check_markdown()
shutil.rmtree(PICTURES, ignore_errors=True)
PICTURES.mkdir(parents=True)
complaints = list(broken(SITE))
only = sys.argv[1:]
with chromium() as browser:
    if not only or "atlas" in only:
        check_atlas(browser)
    for path in sorted(SITE.rglob("*.html")):
        if only and not any(o in str(path) for o in only):
            continue
        for scheme in "light", "dark":
            complaints += check(browser, path, scheme)
assert not complaints, "\n" + "\n".join(complaints)
print(f"site: {len(list(SITE.rglob('*.html')))} pages, all links lead somewhere; pictures are in {PICTURES}")
