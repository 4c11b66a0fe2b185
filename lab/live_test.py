"""Moves the controls of a notebook's figures in JupyterLab, at the root of a host and under a base URL as on a hub: by
keyboard, by mouse, after all cells have run, after a lost answer, while the kernel is busy, and after it has ended.
Leaves pictures in out/live, which somebody should look at.
"""

import json, re, shutil, sys, urllib.request
from pathlib import Path

from playwright.sync_api import expect

from chromium import chromium, picture, pictured_failure, show
from server import hosts, jupyterlab, opened, run_all_cells

OUT = Path("out/live")
FOLDER = OUT / "notebooks"  # in this repository, where the kernel finds its packages
SLOW = 120_000
LIVE = re.compile("The kernel computes every value")
BUSY = re.compile("The kernel is busy")
GONE = re.compile("No kernel answers")
SLEEP = 10  # seconds

# Counts the captions that a figure shows from now on.
COUNT = """figure => {
    window.captions = new Set()
    new MutationObserver(() => window.captions.add(figure.querySelector("figcaption span").textContent))
        .observe(figure.querySelector("figcaption span"), {childList: true, characterData: true, subtree: true})
}"""
ACTIVE = "[...document.querySelectorAll('.jp-Cell')].findIndex(c => c.classList.contains('jp-mod-active'))"


def slider(figure, label):
    return figure.get_by_label(label, exact=True)


def by_keyboard(page, figure):
    """The keys move the slider, one value each, and neither the notebook's selection nor its cells."""
    n, caption = slider(figure, "n"), figure.locator("figcaption span")
    show(n)
    n.focus()
    before = page.evaluate(ACTIVE)
    for key, value in ("ArrowRight", "304"), ("ArrowDown", "256"), ("Home", "1"), ("End", "1048576"), ("ArrowLeft", "881744"):
        page.keyboard.press(key)
        expect(n).to_have_attribute("aria-valuetext", value)
        expect(figure.locator("output").first).to_have_text(value)
    expect(caption).to_contain_text("n = 881744", timeout=SLOW)  # which was not drawn in advance
    page.keyboard.press("PageDown")
    below = int(n.get_attribute("aria-valuetext"))
    assert below < 881744 / 2, below
    expect(caption).to_contain_text(f"n = {below}", timeout=SLOW)
    assert page.evaluate(ACTIVE) == before, "the keys select another cell"
    expect(figure.locator("figcaption small a")).to_have_count(3, timeout=SLOW)
    svg = figure.locator("figcaption small a").first.get_attribute("href")
    assert svg.startswith("data:image/svg+xml"), svg[:40]


def by_mouse(page, figure):
    """The figure follows while a slider is dragged, and no more questions are asked than answered."""
    λ = slider(figure, "λ")
    show(λ)
    figure.evaluate(COUNT)
    page.evaluate("""() => {
        const send = WebSocket.prototype.send
        window.asked = 0
        WebSocket.prototype.send = function (text) {
            if (typeof text === "string" && text.includes("ROUNDOFF_SETTING") && !text.includes(":files")) window.asked++
            return send.call(this, text)
        }
    }""")
    box = λ.bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.2, y)
    page.mouse.down()
    for i in range(40):
        page.mouse.move(box["x"] + box["width"] * (0.2 + 0.6 * i / 40), y)
        page.wait_for_timeout(100)
    pictures, asked = page.evaluate("captions.size"), page.evaluate("asked")
    page.mouse.up()
    expect(figure.locator("figcaption span")).to_contain_text(f"λ = {λ.get_attribute('aria-valuetext')} ", timeout=SLOW)
    assert pictures >= 4, f"{pictures} pictures while a slider was dragged for four seconds"
    assert asked <= pictures + 2, f"{asked} questions for {pictures} pictures"
    return pictures


def after_a_lost_answer(page, figure):
    """The controls return to what was drawn in advance until the kernel has answered again."""
    page.evaluate("""() => {
        const send = WebSocket.prototype.send
        WebSocket.prototype.send = function (text) {
            if (typeof text === "string" && text.includes("ROUNDOFF_SETTING")) WebSocket.prototype.send = send // and does not
            else return send.call(this, text)
        }
    }""")
    n, said = slider(figure, "n"), figure.locator("[role=status]")
    show(n)
    n.focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("said => said.textContent.startsWith('No kernel answers')", arg=said.element_handle(), timeout=SLOW)
    expect(said).to_have_text(LIVE, timeout=SLOW)
    page.keyboard.press("ArrowRight")
    expect(figure.locator("figcaption span")).to_contain_text(f"n = {n.get_attribute('aria-valuetext')} roundings", timeout=SLOW)


def while_busy(page, figure, last):
    """While another cell runs, the nearest figure drawn in advance is shown, and then the one that was asked for."""
    show(last)
    last.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    expect(last.locator(".jp-InputPrompt")).to_have_text("[*]:")
    n, caption = slider(figure, "n"), figure.locator("figcaption span")
    show(n)
    n.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")  # n = 2
    expect(figure.locator("[role=status]")).to_have_text(BUSY)
    expect(caption).to_contain_text("n = 1 roundings")
    expect(figure.locator("[role=status]")).to_have_text(LIVE, timeout=SLOW)
    expect(caption).to_contain_text("n = 2 roundings", timeout=SLOW)


def after_the_end(page, figure, address):
    """The controls return to what was drawn in advance, and the page says what helps."""
    base, token = re.fullmatch(r"(.*/)lab/.*\?token=(.*)", address).groups()
    kernels = json.load(urllib.request.urlopen(f"{base}api/kernels?token={token}"))
    for k in kernels:
        urllib.request.urlopen(urllib.request.Request(f"{base}api/kernels/{k['id']}?token={token}", method="DELETE"))
    n = slider(figure, "n")
    show(n)
    n.focus()
    page.keyboard.press("ArrowRight")
    expect(figure.locator("[role=status]")).to_have_text(GONE, timeout=SLOW)
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(n).to_have_attribute("aria-valuetext", "16")
    expect(figure.locator("figcaption span")).to_contain_text("n = 16 roundings")


shutil.rmtree(OUT, ignore_errors=True)
FOLDER.mkdir(parents=True)
path = FOLDER / Path(sys.argv[1]).name
notebook = json.loads(Path(sys.argv[1]).read_text())
sleep = {"cell_type": "code", "execution_count": None, "id": "sleep", "metadata": {}, "outputs": [],
         "source": f'import "time"\n\n%%\ntime.Sleep({SLEEP} * time.Second)'}
first_figure = next(i for i, c in enumerate(notebook["cells"]) if "nb.Explore(" in "".join(c["source"])) + 1
with chromium() as browser:
    for base in "/", "/user/x/":
        cells = notebook["cells"] + [sleep] if base == "/" else notebook["cells"][:first_figure]
        path.write_text(json.dumps({**notebook, "cells": cells}))
        with jupyterlab(FOLDER, base=base) as address, pictured_failure(browser, OUT / "failure.png"):
            page = opened(browser, address(path))
            errors = []
            page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
            page.on("pageerror", lambda e: errors.append(str(e)))
            run_all_cells(page)
            figures = page.locator("figure[id$=-card]")
            expect(figures).to_have_count(sum("nb.Explore(" in "".join(c["source"]) for c in cells))
            for figure in figures.all():
                show(figure)
                expect(figure.locator("[role=status]")).to_have_text(LIVE, timeout=SLOW)
            first = figures.first
            by_keyboard(page, first)
            pictures = by_mouse(page, first)
            picture(first, OUT / f"live{base.replace('/', '-')}.png")
            if base == "/":
                after_a_lost_answer(page, first)
                while_busy(page, first, page.locator(".jp-CodeCell").last)
            else:
                after_the_end(page, first, address(path))
            assert not errors, errors
            page.close()
            print(f"live: under {base} all cells ran, then {pictures} pictures followed a hand for four seconds")
    assert all(h.startswith("127.0.0.1:") for h in hosts), f"JupyterLab asked something of {hosts}"
