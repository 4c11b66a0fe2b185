"""Sees that the playground page works from a file without network, computes in the browser what the program computes
natively, keeps its state in the address, and can be used by keyboard. Leaves pictures in out/playground.
"""

import json, random, shutil, subprocess, sys, time
from pathlib import Path
from urllib.parse import urlencode

from chromium import chromium, pictured_failure

PAGE = Path(sys.argv[1]).resolve().as_uri()
OUT = Path("out/playground")
SEED = 241118747
NATIVE = ["go", "run", "./cmd/playground", "-answer"]


def questions():
    """Dot products of all formats in bits, infinities and NaNs included, and some of the other questions."""
    r = random.Random(SEED)
    bits = {"binary16": 16, "bfloat16": 16, "tf32": 19, "binary32": 32, "binary64": 64}
    formats = json.loads(subprocess.run(NATIVE, input='{"ask":"formats"}\n', capture_output=True, text=True, check=True).stdout)
    for f in formats:
        n = bits.get(f) or {"e2m1": 4, "e2m3": 6, "e3m2": 6}.get(f, 8)
        for terms in 1, 4, 16, 33:
            for _ in range(5):
                code = lambda: f"0x{r.getrandbits(n):x}"
                yield {"ask": "dot", "format": f, "x": [code() for _ in range(terms)], "y": [code() for _ in range(terms)],
                       "c": r.choice(["", "1", "-0.5"])}
        yield {"ask": "line", "format": f, "at": str(r.uniform(-4, 4)), "each": 5}
    for device in "paper-f32", "hopper-wgmma-binary16-binary32", "cdna2-mfma-binary16-binary32":
        yield {"ask": "product", "device": device, "m": 4, "n": 4, "k": 100, "distribution": "U(0,1)", "seed": 3, "confidence": 0.9}
    yield {"ask": "dot", "format": "binary16", "x": ["one"], "y": ["1"]}


def opened(browser, state="", **options):
    """Returns the page with a state, ready to be used, without network. It must ask nothing of anybody."""
    context = browser.new_context(**options)
    context.set_offline(True)
    page = context.new_page()
    page.on("request", lambda r: r.url.startswith("file:") or r.url.startswith("blob:") or sys.exit(f"asks for {r.url}"))
    page.on("pageerror", lambda e: sys.exit(f"page error: {e}"))
    page.goto(PAGE + ("#" + urlencode(state) if state else ""))
    page.wait_for_selector("html[data-ready]")
    return page


shutil.rmtree(OUT, ignore_errors=True)
OUT.mkdir(parents=True)
with chromium() as browser, pictured_failure(browser, OUT / "failed.png"):
    start = time.monotonic()
    page = opened(browser, viewport={"width": 1100, "height": 900})
    first = time.monotonic() - start
    page.screenshot(path=OUT / "dot.png", full_page=True)

    asked = list(questions())
    native = subprocess.run(NATIVE, input="".join(json.dumps(q) + "\n" for q in asked), capture_output=True, text=True, check=True)
    here = page.evaluate("qs => qs.map(q => roundoff(JSON.stringify(q)))", asked)
    for q, want, got in zip(asked, native.stdout.splitlines(), here, strict=True):
        assert got == want, (q, got, want)

    # Everything is in the address.
    page.fill("#dot textarea[name=x]", "1 0.1 0x3c01")
    page.fill("#dot textarea[name=y]", "1 10 -1")
    page.select_option("#dot select[name=format]", "bfloat16")
    answer, address = page.inner_text("#dot .answer"), page.url
    again = browser.new_page()
    again.goto(address)
    again.wait_for_selector("html[data-ready]")
    assert again.inner_text("#dot .answer") == answer, "another answer at the same address"

    # What is wrong is said, and does not stay when it is mended.
    page.fill("#dot textarea[name=x]", "1 two 3")
    assert "number 2" in page.inner_text("#dot .error"), page.inner_text("#dot .error")
    page.fill("#dot textarea[name=x]", "1 2 3")
    assert page.is_hidden("#dot .error")

    # By keyboard: from the numbers to an instruction, whose trace then follows.
    page.select_option("#dot select[name=format]", "binary16")
    page.focus("#dot input[name=c]")
    for _ in range(3):
        page.keyboard.press("Tab")
    chosen = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("Enter")
    assert chosen in page.inner_text("#dot .trace h3"), (chosen, page.inner_text("#dot .trace"))

    for tab in "line", "product":
        page.click(f"nav a[data-tab={tab}]")
        page.wait_for_selector(f"#{tab} .answer table")
        page.screenshot(path=OUT / f"{tab}.png", full_page=True)
    page.focus("#product input[name=k]")
    before = page.inner_text("#product .answer")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#product .answer") != before, "the slider does not move by keyboard"

    phone = opened(browser, viewport={"width": 390, "height": 844}, color_scheme="dark")
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth"), "wider than a phone"
    phone.screenshot(path=OUT / "phone-dark.png", full_page=True)

    plain = browser.new_context(java_script_enabled=False).new_page()
    plain.goto(PAGE)
    assert "switched off" in plain.inner_text("body")
print(f"playground: {len(asked)} questions answered as natively, first answer after {first:.1f} s; pictures are in {OUT}")
