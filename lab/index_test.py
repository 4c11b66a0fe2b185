"""Sees that the report of `make reproduce` is one file that answers on its first screen, by itself as well as in its
folder: without requests, on a phone, in the dark and without scripts. Leaves pictures in out/report to be looked at.
"""

import json, shutil, sys, tempfile
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe

from chromium import chromium, pictured_failure

FOLDER = Path(sys.argv[1])
OUT = FOLDER / "report"
WIDE = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
BYTES = 1_500_000
DRAWN = 2000  # ms
LARGE = "figure-fig6-gemm-edf-symmetric"


def opened(browser, path=FOLDER / "index.html", anchor="", **options):
    """Opens a file in a browser that refuses what is neither a file nor part of the page, and fails if it was asked for."""
    page = browser.new_page(**options)
    page.set_default_timeout(60_000)  # where much else goes on
    page.route(lambda url: not url.startswith(("file:", "data:")), lambda r: sys.exit(f"{path} asked for {r.request.url}"))
    page.on("pageerror", lambda e: sys.exit(f"{path}: {e}"))
    page.goto(path.resolve().as_uri() + anchor)
    page.wait_for_timeout(300)
    return page


def unfold(page):
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")


def bottom(element):
    box = element.bounding_box()
    return box["y"] + box["height"]


def clean(page, where):
    """Sees that axe-core finds nothing serious."""
    found = [v for v in Axe().run(page).response["violations"] if v["impact"] in ("serious", "critical")]
    assert not found, f"{where}: " + "\n".join(f"{v['id']}: {v['help']}: {[n['html'][:200] for n in v['nodes'][:3]]}" for v in found)


# The contrast of every shape and every text of the pictures to the card behind them, in the order of the page.
CONTRASTS = """() => {
    const light = c => c.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0)
    return [...document.querySelectorAll(".plate svg")].flatMap(svg => {
        const card = light(getComputedStyle(svg.closest(".plate")).backgroundColor)
        return [...svg.querySelectorAll("text, path, rect, circle, line, polyline, polygon")].flatMap(e =>
            ["fill", "stroke"].filter(p => e.hasAttribute(p) && e.getAttribute(p) !== "none").map(p => {
                const own = light(getComputedStyle(e)[p])
                return {svg: svg.getAttribute("aria-label"), tag: e.tagName, colour: e.getAttribute(p),
                        contrast: (Math.max(own, card) + .05) / (Math.min(own, card) + .05)}
            }))
    })
}"""

# The least size of text in an opened picture, subscripts apart, in pixels of the screen.
LEAST = """plate => Math.min(...[...plate.querySelectorAll("text")].map(t =>
    parseFloat(t.getAttribute("font-size")) * plate.querySelector("svg").getBoundingClientRect().width / plate.querySelector("svg").viewBox.baseVal.width))"""

# The links that are shown, as addresses in the page.
LINKS = """() => [...document.querySelectorAll("a[href]")].filter(a => a.checkVisibility()).map(a => a.getAttribute("href"))"""


def answers(browser):
    """The first screen has the sentences and the top of the table, with what answer.json says."""
    answer = json.loads((FOLDER / "answer.json").read_text())
    page = opened(browser, viewport=WIDE)
    sentences = page.locator(".answer li")
    leads = sentences.locator("strong").all_text_contents()
    assert leads == [s["lead"].replace("_", "") for s in answer["sentences"]], leads
    rows = page.locator(".items tbody").all()
    assert [r.locator("th a").text_content() for r in rows] == [i["name"] for i in answer["items"]]
    assert len(leads) == 6 and len(rows) == 9, (len(leads), len(rows))
    for element in [*sentences.all(), *rows[:3]]:
        assert bottom(element) <= WIDE["height"], f"below the first screen: {element.text_content()}"
    drawn = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    assert drawn <= DRAWN, f"drawn after {drawn:.0f} ms"
    page.screenshot(path=OUT / "wide.png")
    return drawn


def unfolds(browser, **options):
    """What a link or an address leads to is open and on the screen."""
    page = opened(browser, viewport=WIDE, **options)
    assert not page.locator("figure:visible").count(), "a figure is not folded"
    for link in page.locator(".items th a").all():
        target = page.locator(link.get_attribute("href"))
        link.click()
        page.wait_for_timeout(100)
        box = target.bounding_box()
        assert box and 0 <= box["y"] < WIDE["height"], f"{link.text_content()} is not on the screen: {box}"
        assert target.locator(".name").text_content() == link.text_content() + " of the paper"
    page.close()
    page = opened(browser, viewport=WIDE, **options)
    for link in page.locator(".contents a").all()[2:]:
        link.click()
        page.wait_for_timeout(100)
        head = page.locator("details", has=page.locator(f"[id='{link.get_attribute('href')[1:]}']")).locator("h2")
        assert 0 <= head.bounding_box()["y"] < WIDE["height"] / 2, f"{link.text_content()} is not on the screen"
    assert page.evaluate("scrollY") > WIDE["height"] and page.locator(".contents").bounding_box()["y"] == 0, "the contents do not stay"
    page.close()
    page = opened(browser, anchor="#claim-gemm-ratio", viewport=WIDE, **options)
    box = page.locator("#claim-gemm-ratio").bounding_box()
    assert box and 0 <= box["y"] < WIDE["height"], box


def enlarges(browser, scheme, **options):
    """A picture that is tapped fills the phone, its text can be read, and it can be closed."""
    page = opened(browser, anchor="#" + LARGE, viewport=PHONE, color_scheme=scheme, device_scale_factor=2, **options)
    plate = page.locator(f"#{LARGE} .plate")
    small = plate.evaluate(LEAST)
    plate.locator(".open").click()
    page.wait_for_timeout(200)
    assert plate.bounding_box() == {"x": 0, "y": 0, **PHONE}, plate.bounding_box()
    assert plate.evaluate(LEAST) >= 11 > small, (small, plate.evaluate(LEAST))
    page.screenshot(path=OUT / f"large-{scheme}.png")
    plate.locator(".close").click()
    page.wait_for_timeout(200)
    assert plate.bounding_box()["width"] < PHONE["width"]
    if options.get("java_script_enabled", True):
        plate.locator(".open").click()
        page.keyboard.press("Escape")
        page.wait_for_timeout(200)
        assert plate.bounding_box()["width"] < PHONE["width"], "Escape does not close it"


def fits(browser, scheme):
    """Nothing is wider than a phone, no head of a table higher than its rows can explain, and axe-core is content."""
    page = opened(browser, viewport=PHONE, color_scheme=scheme)
    page.screenshot(path=OUT / f"phone-{scheme}.png")
    clean(page, f"phone, {scheme}, folded")
    unfold(page)
    assert page.evaluate("document.scrollingElement.scrollWidth") <= PHONE["width"]
    heads = page.locator("figure thead").evaluate_all("heads => heads.map(h => h.getBoundingClientRect().height)")
    assert len(heads) > 10 and max(heads) < 130, heads
    prose = page.locator(".prose").evaluate_all("tables => tables.map(t => t.scrollWidth - t.clientWidth)")
    assert prose and not any(prose), f"tables of text are {prose} px too wide"
    clean(page, f"phone, {scheme}")
    page.evaluate("scrollTo(0, 9999)")
    page.locator(".up").click()
    page.wait_for_timeout(200)
    assert page.evaluate("scrollY") == 0, "there is no way up"


def shines(browser):
    """Text of pictures can be read, and what can be seen by day can be seen in the dark."""
    by = {}
    for scheme in "light", "dark":
        page = opened(browser, viewport=WIDE, color_scheme=scheme)
        unfold(page)
        clean(page, f"wide, {scheme}")
        by[scheme] = page.evaluate(CONTRASTS)
        page.goto(page.url + "#" + LARGE)
        page.wait_for_timeout(200)
        page.screenshot(path=OUT / f"figure-{scheme}.png")
    assert len(by["light"]) == len(by["dark"]) > 1000
    for day, night in zip(by["light"], by["dark"]):
        for c in day, night:
            assert c["tag"] != "text" or c["contrast"] >= 4.4, c
        assert night["contrast"] >= 0.75 * day["contrast"], (day, night)
    return len(by["light"])


def stands_alone(browser):
    """In its folder the page leads only to what is there; as a single file it leads nowhere else."""
    page = opened(browser, viewport=WIDE)
    unfold(page)
    links = page.evaluate(LINKS)
    missing = [a for a in links if not a.startswith(("#", "https://arxiv.org/")) and not (FOLDER / a).exists()]
    assert not missing, f"links to what is not there: {missing}"
    pages = [a for a in links if a.startswith("html/")]
    assert len(pages) == len(list((FOLDER / "notebooks").glob("*.ipynb"))), f"links to pages of notebooks: {pages}"
    with tempfile.TemporaryDirectory() as folder:
        sent = Path(shutil.copy(FOLDER / "index.html", folder))
        page = opened(browser, sent, "#%", viewport=WIDE)  # a name that is none
        unfold(page)
        dead = [a for a in page.evaluate(LINKS) if not a.startswith(("#", "https://arxiv.org/"))]
        assert not dead, f"a file that is sent links {dead}"
        assert page.locator(".apart").is_visible()
        assert page.locator(".plate svg").first.is_visible()
    return len(links)


def filters(browser):
    """The table of claims shows those with one verdict, also without scripts."""
    claims = json.loads((FOLDER / "claims.json").read_text())
    page = opened(browser, anchor="#claims", viewport=WIDE, java_script_enabled=False)
    for verdict in "reproduced", "differs":
        page.locator(f"label[for=show-{verdict}]").click()
        shown = page.locator(".claims tbody tr:visible").count()
        assert shown == sum(c["verdict"] == verdict for c in claims), f"{shown} claims: {verdict}"


shutil.rmtree(OUT, ignore_errors=True)
OUT.mkdir(parents=True)
size = (FOLDER / "index.html").stat().st_size
assert size < BYTES, f"{size} bytes"
with chromium() as browser, pictured_failure(browser, OUT / "failed.png"):
    drawn = answers(browser)
    for scripts in True, False:
        unfolds(browser, java_script_enabled=scripts)
        enlarges(browser, "dark" if scripts else "light", java_script_enabled=scripts)
    for scheme in "light", "dark":
        fits(browser, scheme)
    shapes = shines(browser)
    links = stands_alone(browser)
    filters(browser)
print(f"report: {size / 1e3:.0f} kB, drawn after {drawn:.0f} ms; {shapes} painted shapes in light and dark, {links} links; "
      f"axe-core is content; pictures are in {OUT}")
