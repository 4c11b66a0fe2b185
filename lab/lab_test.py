"""Does in JupyterLab what a reader does: runs all cells of the notebooks named, looks at the charts, saves, and
opens what was saved where no script runs. Leaves pictures in out/browser, which somebody should look at.
"""

import contextlib, json, shutil, sys
from pathlib import Path

from playwright.sync_api import TimeoutError, expect

import export
from chromium import CHART, chromium, drawn, figures, picture, pictured, pictured_failure
from server import hosts, jupyterlab, opened, run_all_cells

OUT = Path("out/browser")
FOLDER = OUT / "notebooks"  # in this repository, where the kernel finds its packages
UNFINISHED = 'import "github.com/roundofflab/roundoff/pkg/paper"\n\n%%\npaper.DefaultGEMM.R'


def save(page, path):
    """Saves with the keyboard and returns the notebook as the file has it."""
    before = path.stat().st_mtime_ns
    page.keyboard.press("Control+s")
    expect(page.locator(".jp-mod-dirty")).to_have_count(0)
    while path.stat().st_mtime_ns == before:
        page.wait_for_timeout(100)
    return json.loads(path.read_text())


def completes(browser, address):
    """Tab and Shift+Tab must answer with what gopls knows of the package."""
    page = opened(browser, address)
    page.locator(".jp-CodeCell .cm-content").click()
    page.keyboard.press("Control+End")
    offers = page.locator(".jp-Completer-item", has_text="Run")
    for _ in range(12):  # gopls reads the packages first, and GoNB does not wait for it on a slow machine
        page.keyboard.press("Tab")
        with contextlib.suppress(TimeoutError):
            offers.first.wait_for(timeout=15_000)
            break
    expect(offers.first).to_be_visible()
    page.screenshot(path=OUT / "completion.png")
    offers.first.click()  # what is offered first may change while gopls reads
    expect(page.locator(".jp-CodeCell .cm-content")).to_contain_text("paper.DefaultGEMM.Run")
    page.keyboard.press("Shift+Tab")
    expect(page.locator(".jp-Tooltip")).to_contain_text("GEMMResult", timeout=60_000)
    page.screenshot(path=OUT / "hover.png")
    page.close()


shutil.rmtree(OUT, ignore_errors=True)
FOLDER.mkdir(parents=True)
notebooks = [Path(shutil.copy(n, FOLDER)) for n in sys.argv[1:]]
unfinished = FOLDER / "unfinished.ipynb"
cell = {"cell_type": "code", "execution_count": None, "id": "a", "metadata": {}, "outputs": [], "source": UNFINISHED}
unfinished.write_text(json.dumps({**json.loads(notebooks[0].read_text()), "cells": [cell]}))

with chromium() as browser:
    with jupyterlab(FOLDER) as address, pictured_failure(browser, OUT / "failure.png"):
        completes(browser, address(unfinished))
        print("lab: gopls completes and explains")
        for path in notebooks:
            page = opened(browser, address(path))
            run_all_cells(page)
            saved = save(page, path)
            shown, charts = figures(saved)
            assert charts, f"{path} shows no chart"
            drawn(page, charts)
            picture(page.locator(CHART).first, OUT / f"{path.stem}.png")
            page.close()
            print(f"lab: {path.name} ran, {charts} charts are drawn, {shown} figures saved")

    # Another JupyterLab has not seen them run, does not trust them, and runs none of their scripts.
    with jupyterlab(FOLDER, "--NotebookNotary.db_file=:memory:") as address:
        for path in notebooks:
            page = opened(browser, address(path))
            pictured(page, figures(json.loads(path.read_text()))[0])
            assert page.locator(f"{CHART} svg").count() == 0
            picture(page.locator("figure").first, OUT / f"{path.stem}-untrusted.png")
            page.close()
    assert all(h.startswith("127.0.0.1:") for h in hosts), f"JupyterLab asked something of {hosts}"

    context = browser.new_context(java_script_enabled=False)
    for path in notebooks:
        page = context.new_page()
        export.export(path, path.with_suffix(".html"))
        page.goto(path.with_suffix(".html").resolve().as_uri())
        pictured(page, figures(json.loads(path.read_text()))[0])
        page.screenshot(path=OUT / f"{path.stem}-no-script.png", full_page=True)
print("lab: without scripts every figure is there as a picture or a table; pictures of all this are in", OUT)
