"""JupyterLab on some notebooks, and what the tests do there in a browser."""

import contextlib, re, secrets, signal, socket, subprocess, time, urllib.request

from playwright.sync_api import expect

PROMPTS = ".jp-CodeCell .jp-InputPrompt:not(.jp-Placeholder-prompt)"  # a folded cell has none
FAILURES = ", ".join(f".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.{kind}']" for kind in ("error", "stderr"))
hosts = set()  # that pages asked for something


@contextlib.contextmanager
def jupyterlab(folder, *flags, base="/"):
    """Runs JupyterLab on a folder under a base URL and returns a function from notebooks to their addresses."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    token = secrets.token_hex(16)
    flags = ["--no-browser", "--ip=127.0.0.1", f"--ServerApp.port={port}", f"--IdentityProvider.token={token}",
             f"--ServerApp.base_url={base}", *flags]
    with open(folder.parent / "server.log", "a") as log:
        server = subprocess.Popen(["lab/start.sh", folder, *flags], stdout=log, stderr=log)
    try:
        for _ in range(240):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}{base}api/status?token={token}", timeout=5)
                break
            assert server.poll() is None, f"JupyterLab ended, see {log.name}"
            time.sleep(0.25)
        yield lambda path: f"http://127.0.0.1:{port}{base}lab/workspaces/{path.stem}/tree/{path.name}?token={token}"
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(60)


def opened(browser, address):
    """Returns a page on a notebook whose kernel is ready."""
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.set_default_timeout(180_000)
    page.on("request", lambda r: hosts.add(r.url.split("/")[2]) if r.url.startswith("http") else None)
    page.goto(address)
    page.get_by_text(re.compile(r"Go \(gonb\) \| (Idle|Unknown)")).wait_for()  # GoNB tells its state when it has run a cell
    return page


def run_all_cells(page):
    for _ in range(12):  # JupyterLab drops what is run before it is connected
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.locator(".lm-Menu-item").filter(has_text=re.compile("^Run All Cells")).click()
        with contextlib.suppress(AssertionError):
            expect(page.locator(PROMPTS).first).not_to_have_text("[ ]:", timeout=15_000)
            break
    for prompt in page.locator(PROMPTS).all():
        expect(prompt).to_have_text(re.compile(r"\[\d+\]:"), timeout=300_000)
    page.get_by_text("Go (gonb) | Idle").wait_for()
    failures = page.locator(FAILURES).all_text_contents()
    assert not failures, failures
