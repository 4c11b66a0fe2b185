"""Uses the pages of figures with sliders, as `make reproduce` leaves them, without network: by keyboard, in the dark, on a
phone, and back to the page that leads there. Leaves pictures in out/explore, which somebody should look at.
"""

import shutil, sys
from pathlib import Path

from playwright.sync_api import expect

from chromium import CHART, chromium, drawn, pictured_failure, tooltips
from pages import legible, page_in

OUT = Path("out/explore")
PHONE = {"width": 390, "height": 844}
WHOLE = "explore-atlas"  # the page on which all values were drawn in advance, which then need no word


def by_keyboard(page):
    """Each key moves a slider from one value to the next that was drawn in advance, and the figure follows."""
    caption = page.locator("figcaption span")
    for slider in page.locator("input[type=range]").all():
        last = int(slider.get_attribute("max"))
        assert last > 0
        slider.focus()
        seen = {(slider.get_attribute("aria-valuetext"), caption.text_content())}
        page.keyboard.press("Home")
        for i in range(last + 1):
            assert slider.input_value() == str(i), (slider.input_value(), i)
            value = slider.get_attribute("aria-valuetext")
            expect(slider.locator("xpath=following-sibling::output")).to_have_text(value)
            seen.add((value, caption.text_content()))
            page.keyboard.press("ArrowRight")
        assert len(seen) == last + 1, seen  # as many figures as values, the first among them
        assert slider.input_value() == str(last)
    for choice in page.locator("select").all():
        before = caption.text_content()
        choice.focus()
        page.keyboard.press("ArrowDown")
        assert caption.text_content() != before, "the figure does not follow the list"
    drawn(page, 1)


def on_its_way(page, path):
    """The page has a title, says nothing that is not so, and leads back."""
    assert page.title() == page.locator("h1").text_content() != path.stem, page.title()
    note = page.locator("[role=status]").text_content()
    assert ("drawn in advance" in note) != (path.stem == WHOLE), note
    assert "this cell" not in note and "Run the cell" not in note, note
    back, anchor = page.locator("nav a").get_attribute("href").split("#")
    assert f'id="{anchor}"' in (path.parent / back).read_text(), (back, anchor)


def zooms(page):
    """The bar is called what it does, and a button undoes it."""
    chart = page.locator(CHART).first
    expect(chart.get_by_text("zoom", exact=True)).to_be_visible()
    reset = chart.get_by_role("button", name="zoom out")
    expect(reset).to_be_hidden()
    window = """(div, zoom) => [...div.children].map(e => echarts.getInstanceByDom(e)).filter(c => c).map(c => {
        if (zoom) c.dispatchAction({type: "dataZoom", ...zoom})
        return [c.getOption().dataZoom[0].start, c.getOption().dataZoom[0].end].join()
    })"""
    chart.evaluate(window, {"start": 20, "end": 60})
    expect(reset).to_be_visible()
    reset.click()
    assert set(chart.evaluate(window, None)) == {"0,100"}, chart.evaluate(window, None)
    expect(reset).to_be_hidden()


shutil.rmtree(OUT, ignore_errors=True)
OUT.mkdir(parents=True)
told = 0
with chromium() as browser, pictured_failure(browser, OUT / "failure.png"):
    for path in map(Path, sys.argv[1:]):
        for scheme, size in ("light", {"width": 1000, "height": 900}), ("dark", PHONE):
            page = page_in(browser, path, viewport=size, color_scheme=scheme)
            drawn(page, 1)
            legible(page)
            on_its_way(page, path)
            page.screenshot(path=OUT / f"{path.stem}-{scheme}.png", full_page=True)
        by_keyboard(page)
        zooms(page)
        told += tooltips(page)
    assert told > 10, f"{told} tooltips on logarithmic axes"
print(f"explore: {len(sys.argv) - 1} pages, {told} numbers in tooltips on logarithmic axes; pictures are in {OUT}")
