"""Sees that the playground page works from a file without network, computes in the browser what the program computes
natively, on the shared test vectors too, keeps its state in the address, and can be used by keyboard and with a screen
reader. Leaves pictures in out/playground.
"""

import base64, gzip, json, os, random, re, shlex, shutil, subprocess, sys, time
from pathlib import Path
from urllib.parse import urlencode

import axe_playwright_python

from chromium import chromium, pictured_failure

PAGE = Path(sys.argv[1]).resolve().as_uri()
OUT = Path("out/playground")
SEED = 241118747
NATIVE = OUT / "native"
VECTORS = Path(os.environ.get("ROUNDOFF_VECTORS") or "../shared/vectors")
AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text()
RESTS = 400  # ms, when the address is kept
TABS = ["dot", "line", "product", "figure"]


def native(questions):
    """Returns the answers of the program, built for this machine."""
    lines = "".join(json.dumps(q) + "\n" for q in questions)
    return subprocess.run([NATIVE, "-answer"], input=lines, capture_output=True, text=True, check=True).stdout.splitlines()


def questions():
    """Dot products of all formats in bits, infinities, NaNs and scales included, and some of the other questions."""
    r = random.Random(SEED)
    widths = {"binary16": 16, "bfloat16": 16, "tf32": 19, "binary32": 32, "binary64": 64, "e2m1": 4, "e2m3": 6, "e3m2": 6}
    for f in json.loads(native([{"ask": "factors"}])[0]):
        n = widths.get(f["name"].split()[0], 8)
        for terms in 1, 4, 16, 33, 70:
            for _ in range(5):
                codes = lambda bits, count: [f"0x{r.getrandbits(bits):x}" for _ in range(count)]
                scales = -(-terms // f["block"]) if f["block"] else 0
                yield {"ask": "dot", "format": f["name"], "x": codes(n, terms), "y": codes(n, terms),
                       "scale_x": codes(7, scales), "scale_y": codes(7, scales), "c": r.choice(["", "1", "-0.5"])}
        if not f["block"]:
            yield {"ask": "line", "format": f["name"], "at": str(r.uniform(-4, 4)), "each": 5}
    for device in "paper-f32", "hopper-wgmma-binary16-binary32", "cdna2-mfma-binary16-binary32":
        yield {"ask": "product", "device": device, "m": 4, "n": 4, "k": 100, "distribution": "U(0,1)", "seed": 3, "confidence": 0.9}
    yield {"ask": "dot", "format": "binary16", "x": ["one"], "y": ["1"]}


def opened(browser, state="", **options):
    """Returns the page with a state, ready to be used, without network. It must ask nothing of anybody."""
    context = browser.new_context(**options)
    context.set_offline(True)
    context.set_default_timeout(60_000)  # where much else goes on
    page = context.new_page()
    page.on("request", lambda r: r.url.startswith("file:") or r.url.startswith("blob:") or sys.exit(f"asks for {r.url}"))
    page.on("pageerror", lambda e: sys.exit(f"page error: {e}"))
    page.goto(PAGE + ("#" + (state if isinstance(state, str) else urlencode(state)) if state else ""))
    page.wait_for_selector("html[data-ready]")
    return page


def settled(page):
    """Waits until the page has answered what it was asked last."""
    page.wait_for_selector("main[aria-busy=false]")
    return page


def asked_in(page, questions):
    return page.evaluate("async qs => { const all = []; for (const q of qs) all.push(JSON.stringify(await ask(q))); return all }", questions)


def check_answers(page):
    """The browser's answers must be the native ones, word for word."""
    asked = list(questions())
    for q, want, got in zip(asked, native(asked), asked_in(page, asked), strict=True):
        assert json.loads(got) == json.loads(want), (q, got, want)
    return f"{len(asked)} questions answered as natively"


def check_vectors(page):
    """Every row of every file of test vectors must give the bits that the native program computes, and the graded ones
    those of the file."""
    files = sorted(VECTORS.rglob("*.tcv.gz"))
    if not files:
        return f"test vectors skipped: there are none in {VECTORS}"
    start, rows, graded = time.monotonic(), 0, 0
    for f in files:
        q = [{"ask": "vectors", "file": base64.b64encode(gzip.decompress(f.read_bytes())).decode()}]
        got, want = json.loads(asked_in(page, q)[0]), json.loads(native(q)[0])
        assert got == want and got["rows"] and not got["mismatches"], (f, got, want)
        rows, graded = rows + got["rows"], graded + got["graded"]
    return f"all {rows} rows of {len(files)} files of test vectors ({graded} graded) have the native bits, in {time.monotonic() - start:.0f} s"


def check_address(browser, page):
    """One address restores everything that is shown, and says which part of it is wrong."""
    states = {
        "dot": {"format": "e4m3 × e8m0 per 32", "x": "1 0.1 0x3c", "y": "1 10 -1", "scale_x": "4", "c": "0x1p-3"},
        "line": {"format": "e5m2", "at": "-3.3", "each": "7"},
        "product": {"device": "cdna3-mfma-binary16-binary32", "k": "6", "distribution": "N(0,1)", "seed": "5", "confidence": "0.5"},
        "figure": {"device": "volta-mma-binary16-binary32", "k": "30", "law": "-3", "confidence": "5", "represented": "yes", "seed": "5"},
    }
    for tab, fields in states.items():
        page.click(f"nav a[data-tab={tab}]")
        for name, value in fields.items():
            field = page.locator(f"#{tab} [name={name}]")
            if field.evaluate("f => f.tagName") == "SELECT":
                field.select_option(value)
            elif field.get_attribute("type") == "range":
                field.evaluate("(f, v) => { f.value = v; f.dispatchEvent(new Event('input', {bubbles: true})) }", value)
            else:
                field.fill(value)
        shown = settled(page).inner_text(f"#{tab}")
        page.wait_for_timeout(RESTS)
        again = opened(browser, page.evaluate("location.hash.slice(1)"))
        assert again.inner_text(f"#{tab}") == shown, (tab, shown, again.inner_text(f"#{tab}"))
        again.context.close()
    for state, part in {"ask=dots": "ask", "format=binary16": "ask", "ask=line&format=binary15": "format", "ask=line&each=99": "each",
                        "ask=product&depth=3": "depth", "ask=dot&length=3": "length", "ask=line&item=3": "item", "ask=figure&seed=one": "seed", "ask=figure&k=5.5": "k",
                        "ask=dot&x=1+two&y=1+1": "x, number 2", "ask=dot&x=1&y=1&device=volta": "device",
                        "ask=product&confidence=2": "confidence"}.items():
        wrong = opened(browser, state)
        said = " ".join(wrong.locator(".error:visible").all_inner_texts())
        assert part in said, (state, said)
        wrong.context.close()


def check_hand(browser):
    """While a hand moves a slider the address stays; browsers refuse to change it often. A link that is copied has what
    is set, and a tab that is left, too."""
    page = opened(browser, "ask=line")
    page.evaluate("""() => {
        const replace = history.replaceState.bind(history)
        window.kept = 0
        history.replaceState = (...to) => { if (window.kept++) throw new DOMException("too often", "SecurityError"); replace(...to) }
        const slider = document.querySelector("#line [name=each]")
        for (let i = 0; i < 300; i++) { slider.value = 1 + i % 7; slider.dispatchEvent(new Event("input", {bubbles: true})) }
    }""")
    settled(page).wait_for_timeout(RESTS)
    assert page.evaluate("kept") == 1 and "each=6" in page.url, (page.evaluate("kept"), page.url)
    page.fill("#line [name=at]", "2")  # which cannot be kept
    settled(page).wait_for_timeout(RESTS)
    assert page.evaluate("kept") == 2 and "at=2" not in page.url, page.url
    page.context.close()

    page = opened(browser)
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed')) }")
    page.fill("#dot [name=c]", "17")
    page.click("[data-copy=link]")
    assert "c=17" in page.input_value("#copied"), page.input_value("#copied")
    page.fill("#dot [name=c]", "18")
    page.click("nav a[data-tab=line]")
    page.go_back()
    page.wait_for_selector("#dot:visible")
    assert page.input_value("#dot [name=c]") == "18", page.url
    page.context.close()


def check_end(browser):
    """The page says when its program has ended, and when no program can start."""
    page = opened(browser, "ask=line")
    page.evaluate("() => { const post = Worker.prototype.postMessage; Worker.prototype.postMessage = function (m) { post.call(this, {id: m.id, program: '?'}) } }")
    page.fill("#line [name=at]", "2")
    page.wait_for_function("document.querySelector('#status').textContent.startsWith('The program has ended: ')")
    settled(page).context.close()
    page = browser.new_page()
    page.set_default_timeout(60_000)
    page.on("pageerror", lambda e: sys.exit(f"page error: {e}"))
    refuses = OUT / "refuses.html"
    refuses.write_text(Path(sys.argv[1]).read_text().replace("<head>", '<head><meta http-equiv="Content-Security-Policy" content="worker-src \'none\'">', 1))
    page.goto(refuses.resolve().as_uri())
    page.wait_for_function("document.querySelector('#status').textContent.startsWith('The program cannot run in this browser: ')")
    page.close()


def check_keyboard(browser):
    """From the address bar by the tabulator key alone: to the numbers, to an instruction, whose trace follows, to a slider."""
    page = opened(browser)
    focused = "(document.activeElement.name || document.activeElement.dataset.device || document.activeElement.dataset.tab || '')"

    def tab_to(what):
        for _ in range(60):
            if page.evaluate(focused) == what:
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"the keyboard does not reach {what}")

    tab_to("c")
    page.keyboard.press("Control+A")
    page.keyboard.type("1")
    tab_to("volta-mma-binary16-binary32")
    page.keyboard.press("Enter")
    settled(page)
    assert "volta-mma-binary16-binary32" in page.inner_text("#dot .trace h3"), page.inner_text("#dot .trace")
    assert page.evaluate(focused) == "volta-mma-binary16-binary32", "the focus is lost"
    page.focus("nav a")
    tab_to("figure")
    page.keyboard.press("Enter")
    settled(page)
    tab_to("law")
    before = page.inner_text("#figure .finding")
    page.keyboard.press("ArrowRight")
    assert settled(page).inner_text("#figure .finding") != before, "the slider does not move by keyboard"
    assert page.get_attribute("#figure [name=law]", "aria-valuetext") == "~ U(−0.9,1)"
    page.context.close()


# Moves a slider one step in each frame, as a hand would, and returns how many pictures were drawn meanwhile, the longest
# time that the page stood still, and after how long the last picture was that of the slider's end.
DRAG = """async () => {
    const slider = document.querySelector("#figure [name=law]"), finding = document.querySelector("#figure .finding")
    let drawn = 0, longest = 0, last = performance.now()
    const observer = new MutationObserver(() => drawn++)
    observer.observe(finding, {childList: true})
    for (let i = 0; i < 40; i++) {
        slider.value = -10 + i % 20
        slider.dispatchEvent(new Event("input", {bubbles: true}))
        for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame)
        longest = Math.max(longest, performance.now() - last)
        last = performance.now()
    }
    while (!finding.textContent.includes("U(0.9,1)")) await new Promise(requestAnimationFrame)
    return {drawn, longest, behind: performance.now() - last}
}"""


def check_accessible(page, name):
    """axe-core must find nothing serious or critical."""
    page.evaluate(AXE)
    for tab in TABS:
        page.click(f"nav a[data-tab={tab}]")
        page.wait_for_selector(f"section#{tab} :is(table, svg)")  # the answer
        settled(page)
        found = [(v["id"], v["impact"], [n["html"][:120] for n in v["nodes"]][:3])
                 for v in page.evaluate("() => axe.run()")["violations"] if v["impact"] in ("serious", "critical")]
        assert not found, (name, tab, found)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{tab} is wider than the screen, {name}"
        page.screenshot(path=OUT / f"{tab}-{name}.png", full_page=True)


def check_copies(page):
    """What is copied as a test vector is a file that the command reads. Without a clipboard it stands in a box."""
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed')) }")
    page.click("nav a[data-tab=dot]")
    settled(page).click("[data-copy=vector]")
    page.wait_for_selector("#copied")
    text = page.input_value("#copied")
    with_shell = OUT / "copied"
    with_shell.mkdir()
    command = re.sub("^roundoff ", lambda _: shlex.quote(str(Path(".bin/roundoff").resolve())) + " ", text, flags=re.M)
    done = subprocess.run(["sh", "-e"], input=command, cwd=with_shell, capture_output=True, text=True)
    assert done.returncode == 0 and "rows=1 graded=1 mismatches=0" in done.stdout, (text, done)


shutil.rmtree(OUT, ignore_errors=True)
OUT.mkdir(parents=True)
subprocess.run(["go", "build", "-buildvcs=false", "-o", NATIVE, "./cmd/playground"], check=True)
subprocess.run(["go", "build", "-buildvcs=false", "-o", ".bin/roundoff", "./cmd/roundoff"], check=True)
with chromium() as browser, pictured_failure(browser, OUT / "failed.png"):
    page = opened(browser, viewport={"width": 1100, "height": 900})
    first = page.evaluate("performance.getEntriesByName('ready')[0].startTime") / 1000
    said = [check_answers(page), check_vectors(page)]
    check_copies(page)
    check_address(browser, page)
    check_hand(browser)
    check_end(browser)
    check_keyboard(browser)

    # What is wrong is said, and does not stay when it is mended.
    page.click("nav a[data-tab=dot]")
    page.fill("#dot textarea[name=x]", "1 two 3")
    assert "number 2" in settled(page).inner_text("#dot .error"), page.inner_text("#dot .error")
    page.fill("#dot textarea[name=x]", "1 2 3")
    settled(page)
    assert page.is_hidden("#dot .error")

    page.click("nav a[data-tab=figure]")
    drag = settled(page).evaluate(DRAG)
    assert drag["drawn"] >= 4, drag
    said.append(f"{drag['drawn']} pictures in 40 steps of a slider, {drag['behind']:.0f} ms behind")

    for name, options in {"light": {}, "dark": {"color_scheme": "dark"}, "phone": {"viewport": {"width": 390, "height": 844}}}.items():
        check_accessible(opened(browser, **options), name)

    plain = browser.new_context(java_script_enabled=False).new_page()
    plain.goto(PAGE)
    assert "switched off" in plain.inner_text("body") and "cuts off" in plain.inner_text("body")
print(f"playground: first answer after {first:.2f} s; {'; '.join(said)}; pictures are in {OUT}")
