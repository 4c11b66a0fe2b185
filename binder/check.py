"""Runs in the image, without a network: the user, the size, Binder's launch line, the time to the first figure, and
all notebooks; with the argument few only so many that they import every package that all of them import.
"""

import json, os, re, secrets, signal, subprocess, sys, time, urllib.request
from pathlib import Path

import nbclient, nbformat
from jupyter_client.manager import start_new_kernel

HOME = Path.home()
PARTS = {  # what takes room; the rest is Debian
    "/opt/go": "Go", "/opt/gopath": "Go modules", "/opt/gocache": "compiled packages", f"{HOME}/.venv": "JupyterLab",
    f"{HOME}/.bin": "gonb, goimports, gopls", str(HOME): "the repository",
}
GIGABYTES, SECONDS = 3, 20


def size():
    """Returns the bytes on disk of each part; a file with several names counts once."""
    parts, seen = dict.fromkeys([*PARTS.values(), "Debian and Python"], 0), set()
    for folder, folders, files in os.walk("/"):
        folders[:] = [f for f in folders if not os.path.ismount(os.path.join(folder, f))]
        part = next((name for path, name in PARTS.items() if (folder + "/").startswith(path + "/")), "Debian and Python")
        for status in (os.lstat(os.path.join(folder, f)) for f in files):
            if status.st_ino not in seen:
                seen.add(status.st_ino)
                parts[part] += status.st_blocks * 512
    return parts


def secret(root):
    """Returns what students may not see: all of the course but released notebooks without solutions, the tests of
    its checks, which answer every question, and the history, which holds them too."""
    released = root / "notebooks" / "assignments" / "release"
    files = [p for p in (root / "notebooks").rglob("*") if p.is_file()]
    marked = [p for p in files if b"BEGIN SOLUTION" in p.read_bytes() or b"BEGIN HIDDEN TESTS" in p.read_bytes()]
    course = [p for p in files if released.parent in p.parents and released not in p.parents]
    return sorted({*map(str, [*marked, *course, *root.glob("pkg/course/*_test.go"), *root.glob(".git")])})


# Binder looks for JupyterLab with the Python on the path and becomes it; older hubs start the notebook server.
LAUNCHERS = {
    "Binder's launch line": ["python3", "-c", "import os, sys, jupyterlab.labapp; os.execvp('jupyter-lab', ['jupyter-lab', *sys.argv[1:]])"],
    "that of older hubs": ["jupyter", "notebook"],
}


def answers(launcher, port, base, token):
    """Returns what JupyterLab, launched as Binder does it except for the interface, says of its page and its kernels."""
    app = [f"base_url={base}", f"token={token}", "trust_xheaders=True", "default_url=/lab", "allow_origin=*"]
    line = [*launcher, "--ip=127.0.0.1", f"--port={port}", *(f"--NotebookApp.{a}" for a in app),
            *(f"--ServerApp.{a}" for a in app)]
    with open("/tmp/launch.log", "w") as log:
        server = subprocess.Popen(line, stdout=log, stderr=log)
    try:
        for _ in range(240):
            assert server.poll() is None, Path(log.name).read_text()
            try:
                page = urllib.request.urlopen(f"http://127.0.0.1:{port}{base}lab?token={token}", timeout=10)
                kernels = urllib.request.urlopen(f"http://127.0.0.1:{port}{base}api/kernelspecs?token={token}", timeout=10)
                return page.status, json.load(kernels)["kernelspecs"]
            except OSError:
                time.sleep(0.25)
        sys.exit("JupyterLab does not answer\n" + Path(log.name).read_text())
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(30)


def first_figure(path):
    """Returns the seconds from the start of a kernel to the first figure of a notebook."""
    start = time.monotonic()
    manager, client = start_new_kernel(kernel_name="gonb", cwd=path.parent, stderr=subprocess.DEVNULL)
    try:
        for cell in nbformat.read(path, as_version=4).cells:
            message = client.execute(cell.source) if cell.cell_type == "code" else None
            while message:
                answer = client.get_iopub_msg(timeout=120)
                if "<figure" in answer["content"].get("data", {}).get("text/html", ""):
                    return time.monotonic() - start
                if answer["parent_header"].get("msg_id") == message and answer["content"].get("execution_state") == "idle":
                    break
        sys.exit(f"{path} shows no figure")
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def imports(path):
    """Returns the packages that the cells of a notebook import."""
    cells = nbformat.read(path, as_version=4).cells
    return {package for c in cells if c.cell_type == "code" for package in re.findall(r'(?m)^\s*(?:import )?(?:[\w.]+ )?"(\S+)"$', c.source)}


def few(notebooks):
    """Returns notebooks that together import all that these do: each imports most of what is still wanting."""
    wanted = {path: imports(path) for path in notebooks}
    chosen, left = [], set().union(*wanted.values())
    while left:
        chosen.append(max(notebooks, key=lambda path: len(wanted[path] & left)))
        left -= wanted[chosen[-1]]
    return sorted(chosen)


def run(path):
    """Runs a notebook; a cell that fails raises an error."""
    notebook = nbformat.read(path, as_version=4)
    start = time.monotonic()
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="gonb", resources={"metadata": {"path": path.parent}}).execute(
        stderr=subprocess.DEVNULL)
    assert any(cell.get("outputs") for cell in notebook.cells), f"{path} shows nothing"
    print(f"image: {path.name} ran, {time.monotonic() - start:.0f} s", flush=True)


assert os.getuid() == 1000, f"user id {os.getuid()}"
assert len(Path("/proc/net/route").read_text().splitlines()) <= 1, "there is a network"
closed = secret(Path())
assert not closed, f"the image holds solutions, submissions or history: {closed}"
parts = size()
for name, bytes in sorted(parts.items(), key=lambda part: -part[1]):
    print(f"image: {bytes / 1e6:6.0f} MB {name}")
total = sum(parts.values()) / 1e9
print(f"image: {total:.2f} GB in all", flush=True)
assert total < GIGABYTES

notebooks = sorted(Path("notebooks").resolve().glob("*.ipynb"))
seconds = first_figure(next(n for n in notebooks if n.name.startswith("06")))
print(f"image: first figure of notebook 6 after {seconds:.1f} s", flush=True)
assert seconds < SECONDS
for port, (name, launcher) in enumerate(LAUNCHERS.items(), 8888):
    status, kernels = answers(launcher, port, "/user/reader/", secrets.token_hex(16))
    assert status == 200 and kernels["gonb"]["spec"]["display_name"] == "Go (gonb)", (name, status, kernels)
    print(f"image: {name} answers, kernels", *kernels, flush=True)
for notebook in few(notebooks) if sys.argv[1:] == ["few"] else notebooks:
    run(notebook)
