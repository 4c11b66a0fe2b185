"""Pages opened from files, and whether their text can be read."""

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
                    contrast: (Math.max(a, b) + .05) / (Math.min(a, b) + .05), tag: (e.closest("sub, sup") || e).tagName}
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
